//! A client that writes and reads the protocol's lines itself, so that it can also be wrong.

use std::time::Duration;

use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use strongroom::desk::Desk;
use strongroom_server::Evidence;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// How long any answer may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A connected client.
pub(crate) struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    next: u64,
    /// Notifications that came in between.
    pub(crate) noted: Vec<Value>,
    /// What the server said of itself.
    pub(crate) hello: Value,
}

impl Client {
    /// Serves `desk` and says hello to it.
    pub(crate) async fn connect(desk: Desk) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let served = Evidence::new(desk).serve(theirs).await.unwrap();
            served.waiting().await.unwrap();
        });
        let (read, write) = tokio::io::split(ours);
        let mut client =
            Self { read: BufReader::new(read), write, next: 0, noted: Vec::new(), hello: Value::Null };
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
                            "clientInfo": { "name": "test", "version": "1" } });
        client.hello = client.request("initialize", hello).await["result"].clone();
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        client
    }

    pub(crate) async fn write(&mut self, line: &str) {
        self.write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Sends a request and gives its number.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&request.to_string()).await;
        id
    }

    /// The next response, with its number.
    pub(crate) async fn response(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = tokio::time::timeout(PATIENCE, self.read.read_line(&mut line)).await;
            assert!(read.expect("the server answers in time").unwrap() > 0, "the server has closed");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"].is_null() {
                return message;
            }
            self.noted.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        loop {
            let response = self.response().await;
            if response["id"] == id {
                return response;
            }
        }
    }

    /// The result of a call, errors of the tool included.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let response = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert!(response["result"].is_object(), "{response}");
        response["result"].clone()
    }

    /// The object a call gives back; the call must go well.
    pub(crate) async fn object(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"].clone()
    }

    /// What a call that goes wrong says.
    pub(crate) async fn error(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        assert!(result["structuredContent"].is_null(), "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}
