//! A model behind an endpoint as a summariser, over HTTP.

use std::io::Read as _;
use std::time::Duration;

use strongroom::summariser::{Request, Summariser};
use strongroom::{Error, Result};
use ureq::http::Uri;
use ureq::{Agent, Body};

use crate::dialect::{Dialect, Draft, End};
use crate::events::Events;
use crate::key::Key;
use crate::limits::{Deadline, Limits, pause};

/// Where a model is, and how it is asked.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The dialect.
    pub dialect: Dialect,
    /// The address under which its requests stand, e.g. `https://api.openai.com/v1`.
    pub endpoint: String,
    /// The model's name.
    pub model: String,
    /// The key, where one is needed.
    pub key: Option<Key>,
    /// A proxy, e.g. `http://proxy:3128`.
    pub proxy: Option<String>,
    /// The limits.
    pub limits: Limits,
}

/// A model behind an endpoint.
#[derive(Debug)]
pub struct Endpoint {
    settings: Settings,
    name: String,
    agent: Agent,
}

impl Endpoint {
    /// A client for `settings`. Nothing is connected yet.
    ///
    /// # Errors
    /// `InvalidInput` of an address that is none, that holds a password, or to which a key would go unencrypted over a
    /// network; and of a proxy that is none.
    pub fn new(settings: Settings) -> Result<Self> {
        let wrong = |why: &str| Error::invalid_input(format!("the endpoint of the summarizer {why}"));
        let uri: Uri = settings.endpoint.parse().map_err(|_| wrong("is no address"))?;
        let host = uri.host().ok_or_else(|| wrong("names no host"))?;
        if uri.authority().is_some_and(|own| own.as_str().contains('@')) {
            return Err(wrong("holds a password; name a key instead"));
        }
        let local = matches!(host, "localhost" | "[::1]") || host.starts_with("127.");
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if local || settings.key.is_none() => {}
            Some("http") => return Err(wrong("is not encrypted, and the key would go over the network")),
            _ => return Err(wrong("is neither https nor http")),
        }
        let proxy = settings.proxy.as_deref().map(ureq::Proxy::new).transpose();
        let proxy = proxy.map_err(|_| Error::invalid_input("the proxy is no address"))?;
        let limits = &settings.limits;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy)
            .user_agent(concat!("strongroom/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_per_read(Some(limits.idle))
            .build();
        let name = format!("{}:{}", settings.dialect.word(), settings.model);
        Ok(Self { agent: config.into(), name, settings })
    }

    /// One try, in the time that is left.
    fn attempt(&self, body: &str, left: Duration) -> Tried {
        let dialect = self.settings.dialect;
        let key = self.settings.key.as_ref().map(Key::reveal);
        let mut request = self.agent.post(dialect.address(&self.settings.endpoint));
        for (name, value) in dialect.headers(key) {
            request = request.header(name, value);
        }
        let request =
            request.header("content-type", "application/json").header("accept", "text/event-stream");
        let sent = request.config().timeout_global(Some(left)).build().send(body);
        match sent {
            Ok(reply) => self.reply(reply),
            Err(error) => Tried::Again(words(&error), None),
        }
    }

    fn reply(&self, reply: ureq::http::Response<Body>) -> Tried {
        let status = reply.status().as_u16();
        let header =
            |name: &str| reply.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let after = header("retry-after").and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        let json = header("content-type").is_some_and(|kind| kind.contains("json"));
        let body = self.read(reply, if json { Shape::Json } else { Shape::Events });
        match status {
            200..=299 => body.map_or_else(|failed| failed, judge),
            300..=399 => Tried::Never("it sends the request elsewhere; name the right endpoint".to_owned()),
            _ => {
                let word = body
                    .ok()
                    .and_then(|draft| draft.error)
                    .map_or_else(String::new, |word| format!(" ({word})"));
                let why = format!("status {status}{word}");
                if AGAIN.contains(&status) { Tried::Again(why, after) } else { Tried::Never(why) }
            }
        }
    }

    /// Reads a reply up to its end.
    fn read(&self, reply: ureq::http::Response<Body>, mut shape: Shape) -> Result<Draft, Tried> {
        let mut reader = reply.into_body().into_reader();
        let (mut draft, mut events, mut whole) = (Draft::default(), Events::default(), Vec::new());
        let (mut buffer, mut bytes) = ([0; 8 << 10], 0);
        loop {
            let part = match reader.read(&mut buffer) {
                Ok(len) => buffer.get(..len).unwrap_or_default(),
                Err(error) if bytes == 0 || draft.end == End::Open => {
                    return Err(Tried::Again(format!("the reply breaks off: {}", words_of_io(&error)), None));
                }
                Err(_) => break,
            };
            if part.is_empty() {
                break;
            }
            if bytes == 0 && part.trim_ascii_start().starts_with(b"{") {
                shape = Shape::Json;
            }
            bytes += part.len();
            if bytes > self.settings.limits.reply_bytes_max {
                let max = self.settings.limits.reply_bytes_max;
                return Err(Tried::Never(format!("the reply is longer than {max} bytes")));
            }
            match shape {
                Shape::Json => whole.extend_from_slice(part),
                Shape::Events => {
                    events.push(part).iter().for_each(|data| self.settings.dialect.read(data, &mut draft));
                }
            }
        }
        let rest = match shape {
            Shape::Json => Some(String::from_utf8_lossy(&whole).into_owned()),
            Shape::Events => events.rest(),
        };
        rest.iter().for_each(|data| self.settings.dialect.read(data, &mut draft));
        Ok(draft)
    }
}

/// What a whole reply comes to.
fn judge(draft: Draft) -> Tried {
    match draft {
        Draft { error: Some(word), .. } if word.contains("overloaded") || word.contains("rate_limit") => {
            Tried::Again(word, None)
        }
        Draft { error: Some(word), .. } => Tried::Never(word),
        Draft { understood: false, .. } => {
            Tried::Never("the reply is not what such an endpoint gives".to_owned())
        }
        Draft { end: End::Refused, .. } => Tried::Never("the model refused".to_owned()),
        Draft { end: End::Open, .. } => Tried::Again("the reply breaks off".to_owned(), None),
        Draft { end: End::Cut, text, .. } => Tried::Draft(whole_sentences(&text).to_owned()),
        Draft { end: End::Whole, text, .. } => Tried::Draft(text),
    }
}

/// In which shape a reply comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Events,
    /// One object: an error, or a server that does not stream.
    Json,
}

/// What comes of a try.
enum Tried {
    Draft(String),
    /// It may go well another time, not before this has passed.
    Again(String, Option<Duration>),
    Never(String),
}

/// Statuses after which another try may go well.
const AGAIN: [u16; 8] = [408, 429, 500, 502, 503, 504, 522, 529];

impl Summariser for Endpoint {
    fn name(&self) -> &str {
        &self.name
    }

    fn draft(&self, request: &Request) -> Result<String> {
        let limits = &self.settings.limits;
        let deadline = Deadline::of(limits);
        let body = self.settings.dialect.body(&self.settings.model, request)?;
        let failed = |why: String| Error::unavailable(why);
        let over =
            |last: &str| failed(format!("no draft within {} s; at last: {last}", limits.total.as_secs_f32()));
        let mut last = "nothing was tried".to_owned();
        for tries in 1..=limits.tries.max(1) {
            let Some(left) = deadline.left() else { return Err(over(&last)) };
            let after = match self.attempt(&body, left) {
                Tried::Draft(draft) => return Ok(draft),
                Tried::Never(why) => return Err(failed(why)),
                Tried::Again(why, after) => {
                    last = why;
                    after
                }
            };
            if tries < limits.tries {
                let wait = after.unwrap_or_else(|| pause(limits, tries));
                if deadline.left().is_none_or(|left| wait >= left) {
                    return Err(over(&last));
                }
                std::thread::sleep(wait);
            }
        }
        Err(failed(format!("{last}, {} times", limits.tries.max(1))))
    }
}

/// A text up to the end of its last whole sentence.
fn whole_sentences(text: &str) -> &str {
    let end = text.rfind(['.', '!', '?', '\n', '。', '！', '？']);
    let end = end
        .map_or(0, |at| at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8));
    text.get(..end).unwrap_or_default()
}

/// An error in words of ours: those of libraries may hold addresses.
fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "it takes too long".to_owned(),
        ureq::Error::HostNotFound => "its host is not known".to_owned(),
        ureq::Error::Io(error) => words_of_io(error),
        ureq::Error::ConnectionFailed => "it cannot be reached".to_owned(),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "the encrypted connection fails".to_owned(),
        _ => "the request fails".to_owned(),
    }
}

fn words_of_io(error: &std::io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<ureq::Error>());
    match error.kind() {
        _ if matches!(inner, Some(ureq::Error::Timeout(_))) => "it takes too long".to_owned(),
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock => "it takes too long".to_owned(),
        kind => kind.to_string(),
    }
}
