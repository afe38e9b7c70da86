//! Files that a browser keeps, each with its name.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// A file with this content.
pub(crate) fn file(content: impl Into<Body>, kind: &'static str, name: &str) -> Response {
    let content: Body = content.into();
    let named = format!("attachment; filename=\"{name}\"");
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, named)];
    (headers, content).into_response()
}

/// The same where the content is packed, or does not pack.
pub(crate) fn packed_file(content: impl Into<Body>, kind: &'static str, name: &str) -> Response {
    let mut response = file(content, kind, name);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("identity"));
    response
}

/// A table as Parquet, with a name without its ending.
pub(crate) fn parquet(content: impl Into<Body>, name: &str) -> Response {
    packed_file(content, "application/vnd.apache.parquet", &format!("{name}.parquet"))
}
