//! A server on this machine that answers as it is told, wrongly too, and keeps what it was asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What one connection gets.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    head: String,
    body: Vec<Vec<u8>>,
    before: Duration,
    between: Duration,
    repeated: usize,
}

impl Reply {
    /// A status with a body of JSON.
    pub fn json(status: u16, body: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status} Told\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        Self { head, body: vec![body.as_bytes().to_vec()], repeated: 1, ..Self::default() }
    }

    /// A stream of events, each given by its data; the connection ends behind the last.
    pub fn events(data: &[&str]) -> Self {
        Self::stream(data.iter().map(|data| format!("data: {data}\n\n").into_bytes()).collect())
    }

    /// A stream of bytes in parts.
    pub fn stream(parts: Vec<Vec<u8>>) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n".to_owned();
        Self { head, body: parts, repeated: 1, ..Self::default() }
    }

    /// A stream of chat completions that says `text` and ends well.
    pub fn chat(text: &str) -> Self {
        let word = |text: &str| {
            format!(
                "{{\"id\":\"c-1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{}}}}}]}}",
                quoted(text)
            )
        };
        let (one, two) = text.split_at(text.floor_char_boundary(text.len() / 2));
        let end = "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";
        Self::events(&[&word(one), &word(two), end, "[DONE]"])
    }

    /// A stream of a message of Anthropic that says `text` and ends well.
    pub fn messages(text: &str) -> Self {
        let delta = format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":{}}}}}",
            quoted(text)
        );
        let end = "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}";
        Self::events(&["{\"type\":\"message_start\"}", &delta, end, "{\"type\":\"message_stop\"}"])
    }

    /// With another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.head.extend([name, ": ", value, "\r\n"]);
        self
    }

    /// With its parts over and over.
    #[must_use]
    pub fn times(self, times: usize) -> Self {
        Self { repeated: times, ..self }
    }

    /// With nothing for so long before it, and between its parts.
    #[must_use]
    pub fn slowly(self, before: Duration, between: Duration) -> Self {
        Self { before, between, ..self }
    }

    fn send(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        std::thread::sleep(self.before);
        stream.write_all(self.head.as_bytes())?;
        stream.write_all(b"connection: close\r\n\r\n")?;
        for part in (0..self.repeated).flat_map(|_| &self.body) {
            stream.write_all(part)?;
            std::thread::sleep(self.between);
        }
        stream.flush()
    }
}

/// `text` as a string of JSON.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' | '\\' => out.extend(['\\', char]),
            '\n' => out.push_str("\\n"),
            char if char.is_control() => out.extend([format!("\\u{:04x}", u32::from(char))]),
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

/// A server that gives one reply to each connection, in order, and the last one to all others.
#[derive(Debug)]
pub struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts it; it goes on until the process ends.
    ///
    /// # Panics
    /// When this machine gives no port.
    #[expect(clippy::expect_used, reason = "a test cannot go on without its server")]
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for (stream, at) in listener.incoming().zip(0..) {
                let (Ok(stream), Some(reply)) = (stream, replies.get(at).or(replies.last()).cloned()) else {
                    continue;
                };
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || serve(stream, &reply, &kept));
            }
        });
        Self { address, requests }
    }

    /// Its address, as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it was asked so far: heads and bodies.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().map(|requests| requests.clone()).unwrap_or_default()
    }
}

fn serve(mut stream: TcpStream, reply: &Reply, kept: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream) else { return };
    if let Ok(mut kept) = kept.lock() {
        kept.push(request);
    }
    // A client that has gone away is what some tests are about.
    drop(reply.send(&mut stream));
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        let len = stream.read(&mut buffer).ok().filter(|len| *len > 0)?;
        bytes.extend_from_slice(buffer.get(..len)?);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let lower = head.to_ascii_lowercase();
        let length =
            lower.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        if body.len() >= length.unwrap_or(0) {
            return Some(text.into_owned());
        }
    }
}
