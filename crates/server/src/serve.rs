//! Transports: standard input and output, or HTTP on this machine.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServiceExt as _, service::ServerInitializeError};
use strongroom::{Error, Result};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use crate::handler::Evidence;

/// The path that requests go to.
pub const PATH: &str = "/mcp";

/// How long what still runs at the end may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a client may take to send the head of a request.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);

/// The largest request, in bytes: questions are short.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// The fewest characters of a token.
const TOKEN_CHARS_MIN: usize = 16;

/// What a client must know to be served over HTTP.
#[derive(Clone)]
pub struct Token(Arc<str>);

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

impl Token {
    /// A token of at least 16 visible ASCII characters.
    ///
    /// # Errors
    /// `InvalidInput` of anything else.
    pub fn new(text: &str) -> Result<Self> {
        if text.len() < TOKEN_CHARS_MIN || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid_input(format!(
                "a token has at least {TOKEN_CHARS_MIN} characters, letters, digits and signs without blanks"
            )));
        }
        Ok(Self(text.into()))
    }

    /// Whether the request carries it. How long this takes does not tell how much of it was right.
    fn is_in(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(AUTHORIZATION).map(hyper::header::HeaderValue::as_bytes).unwrap_or_default();
        let (scheme, given) = given.split_at_checked(7).unwrap_or_default();
        let differing = given.iter().zip(self.0.bytes()).fold(0, |all, (one, two)| all | (one ^ two));
        scheme.eq_ignore_ascii_case(b"bearer ") && given.len() == self.0.len() && differing == 0
    }
}

/// Serves standard input and output until the client closes them.
///
/// # Errors
/// `Unavailable` when the streams cannot be used, `InvalidInput` when the client does not speak the protocol.
pub fn stdio(server: Evidence) -> Result<()> {
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let served = match server.serve(rmcp::transport::stdio_pipes()).await {
            Ok(served) => served,
            // A client that leaves before it says anything wanted nothing.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(
                    Error::invalid_input("the client does not begin as the protocol says").caused_by(error)
                );
            }
        };
        let ended = served.waiting().await;
        ended.map(drop).map_err(|error| Error::bug("the server ended unexpectedly").caused_by(error))
    });
    runtime.shutdown_timeout(PATIENCE);
    ended
}

/// Serves HTTP at `address`, which must be one of this machine's own, until the process ends; `listening` is told the
/// address once requests are taken.
///
/// # Errors
/// `InvalidInput` of an address that others can reach, `Unavailable` when it cannot be listened on.
pub fn http(
    server: Evidence,
    address: SocketAddr,
    token: &Token,
    listening: &mut dyn FnMut(SocketAddr),
) -> Result<()> {
    if !address.ip().is_loopback() {
        return Err(Error::invalid_input(format!("{address} is not an address of this machine alone")));
    }
    runtime()?.block_on(async {
        let failed = |error| Error::unavailable(format!("{address} cannot be listened on")).caused_by(error);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let own = listener.local_addr().map_err(failed)?;
        let service = service(server, own.port());
        listening(own);
        loop {
            // One connection that cannot be taken is no reason to stop.
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let (service, token) = (service.clone(), token.clone());
            tokio::spawn(async move {
                let answer = hyper::service::service_fn(move |request| {
                    let (service, token) = (service.clone(), token.clone());
                    async move { Ok::<_, Infallible>(answer(&service, &token, request).await) }
                });
                let mut connection = hyper::server::conn::http1::Builder::new();
                connection.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
                // A connection that breaks concerns its client alone.
                drop(connection.serve_connection(TokioIo::new(stream), answer).await);
            });
        }
    })
}

type Service = StreamableHttpService<Evidence, LocalSessionManager>;

fn service(server: Evidence, port: u16) -> Service {
    let hosts = ["localhost", "127.0.0.1", "[::1]"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.iter().flat_map(|host| [(*host).to_owned(), format!("{host}:{port}")]))
        .with_allowed_origins(hosts.map(|host| format!("http://{host}:{port}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(REQUEST_BYTES_MAX);
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

async fn answer(
    service: &Service,
    token: &Token,
    request: Request<Incoming>,
) -> Response<BoxBody<Bytes, Infallible>> {
    if !token.is_in(request.headers()) {
        let mut response = plain(StatusCode::UNAUTHORIZED, "a bearer token is needed\n");
        response.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return response;
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "requests go to /mcp\n");
    }
    service.handle(request).await
}

fn plain(status: StatusCode, words: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(words.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

fn runtime() -> Result<Runtime> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| Error::unavailable("no threads can be started").caused_by(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_must_be_the_same_to_the_last_character() {
        let token = Token::new("0123456789abcdef").unwrap();
        let fits = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, value.parse().unwrap());
            token.is_in(&headers)
        };
        assert!(fits("Bearer 0123456789abcdef") && fits("bearer 0123456789abcdef"));
        for wrong in ["", "Bearer", "Bearer ", "0123456789abcdef", "Basic 0123456789abcdef"] {
            assert!(!fits(wrong), "{wrong}");
        }
        for wrong in ["0123456789abcdeF", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!fits(&format!("Bearer {wrong}")), "{wrong}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
        assert_eq!(format!("{token:?}"), "Token(..)");
        for wrong in ["short", "with blanks in it, long", "0123456789abcde\n"] {
            assert!(Token::new(wrong).is_err());
        }
    }
}
