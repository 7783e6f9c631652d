//! Requests of `object_store` over the HTTP client that the program has anyway; redirections are not followed.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use object_store::{ClientConfigKey, Result};
use ureq::Agent;

use super::OBJECT_BYTES_MAX;

/// How long a connection may take to come about, and a request with its answer.
const CONNECT: Duration = Duration::from_secs(5);
const REQUEST: Duration = Duration::from_secs(20);

/// Makes clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> Result<HttpClient> {
        let plain =
            options.get_config_value(&ClientConfigKey::AllowHttp).is_some_and(|value| value == "true");
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .https_only(!plain)
            .user_agent(concat!("strongroom/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(CONNECT))
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(REQUEST))
            .build();
        Ok(HttpClient::new(Client(config.into())))
    }
}

#[derive(Debug)]
struct Client(Agent);

type Called<'f> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>;

impl HttpService for Client {
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> Called<'f>
    where
        's: 'f,
        Self: 'f,
    {
        let agent = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            // A request's body is a body like a response's, and that one can be collected.
            let body = HttpResponseBody::new(body).bytes().await?;
            let request = ureq::http::Request::from_parts(parts, body);
            let sent = tokio::task::spawn_blocking(move || send(&agent, request)).await;
            sent.map_err(|error| HttpError::new(HttpErrorKind::Unknown, error))?
        })
    }
}

fn send<B: AsRef<[u8]>>(agent: &Agent, request: ureq::http::Request<B>) -> Result<HttpResponse, HttpError> {
    let (parts, body) = request.into_parts();
    let request = ureq::http::Request::from_parts(parts, body.as_ref());
    let reply = agent.run(request).map_err(failed)?;
    let (parts, mut body) = reply.into_parts();
    let bytes = body.with_config().limit(OBJECT_BYTES_MAX).read_to_vec().map_err(failed)?;
    Ok(HttpResponse::from_parts(parts, bytes.into()))
}

/// What a failure means for whoever might try again.
fn failed(error: ureq::Error) -> HttpError {
    let kind = match &error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed => HttpErrorKind::Connect,
        ureq::Error::Timeout(_) => HttpErrorKind::Timeout,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => HttpErrorKind::Connect,
        ureq::Error::Io(_) => HttpErrorKind::Interrupted,
        ureq::Error::BodyExceedsLimit(_) => HttpErrorKind::Decode,
        _ => HttpErrorKind::Unknown,
    };
    HttpError::new(kind, error)
}
