//! What every request passes: the rules of hosts, origins and sessions, and the headers of every response.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use crate::{Access, App, sign_in};

/// Bytes of a request's body, unless a route sets another limit.
pub(crate) const MOST_BODY: usize = 64 << 10;

/// Scripts, styles and data come from this server only; nothing is embedded elsewhere; forms stay here.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src \
                      'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Headers of every response. Browsers send no origin with forms where there is no referrer at all.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

const SEC_FETCH_SITE: &str = "sec-fetch-site";
const SEC_FETCH_MODE: &str = "sec-fetch-mode";

/// The middleware.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = match check(app.access(), &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.response(&request),
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Why a request goes no further.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Host(String),
    Origin,
    Session,
}

impl Refusal {
    fn response(self, request: &Request) -> Response {
        match self {
            Refusal::Host(host) => {
                tracing::debug!(host, "host refused");
                let text = format!("host \"{host}\" is not served; start the server with --allow-host {host}\n");
                (StatusCode::MISDIRECTED_REQUEST, text).into_response()
            }
            Refusal::Origin => {
                (StatusCode::FORBIDDEN, "only pages of this server may send this request\n").into_response()
            }
            Refusal::Session if wants_page(request) => Redirect::to(&sign_in::address(request.uri())).into_response(),
            Refusal::Session => (StatusCode::UNAUTHORIZED, "sign in first, or send the token\n").into_response(),
        }
    }
}

fn check(access: &Access, request: &Request) -> Result<(), Refusal> {
    let headers = request.headers();
    let host = single(headers, header::HOST.as_str());
    let host = host.filter(|host| access.hosts.admit(host)).ok_or_else(|| {
        let shown = headers.get(header::HOST).map_or_else(String::new, |host| format!("{host:?}"));
        Refusal::Host(shown.trim_matches('"').to_owned())
    })?;
    if !origin_is_own(access, request, host) {
        return Err(Refusal::Origin);
    }
    let path = request.uri().path();
    let is_open = path == sign_in::PATH || path == "/healthz" || path.starts_with("/assets/");
    if is_open || access.admits(given_session(access, headers).as_deref()) { Ok(()) } else { Err(Refusal::Session) }
}

/// Pages from elsewhere may link to this server, and that is all. What changes something, or stays open, must say that
/// it comes from a page of this server.
fn origin_is_own(access: &Access, request: &Request, host: &str) -> bool {
    let headers = request.headers();
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD) && !is_upgrade(headers);
    let site = single(headers, SEC_FETCH_SITE);
    let is_own = |site: &str| matches!(site, "same-origin" | "none");
    let is_link = || is_read && single(headers, SEC_FETCH_MODE) == Some("navigate");
    if headers.contains_key(SEC_FETCH_SITE) && !(site.is_some_and(is_own) || is_link()) {
        return false;
    }
    match single(headers, header::ORIGIN.as_str()) {
        Some(origin) => access.hosts.admit_origin(origin, host, access.is_tls),
        // A header that is there twice counts as a foreign one; browsers send one with all that changes something.
        None => is_read && !headers.contains_key(header::ORIGIN),
    }
}

/// The value of a header that is there once.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE)
}

/// Whether a person waits for a page.
fn wants_page(request: &Request<Body>) -> bool {
    let accepts = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.contains("text/html"));
    request.method() == Method::GET && request.headers().get(header::ACCEPT).is_some_and(accepts)
}

/// The session of a browser, or that of the token which a program sends.
fn given_session(access: &Access, headers: &HeaderMap) -> Option<String> {
    if let Some(token) = single(headers, header::AUTHORIZATION.as_str()).and_then(|text| text.strip_prefix("Bearer ")) {
        return access.session_of(token.trim()).map(str::to_owned);
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
    let pairs = cookies.flat_map(|cookies| cookies.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == access.cookie).map(|(_, value)| value.to_owned()).next()
}
