//! Files that a browser keeps, each with its name.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

/// Bytes of a body that the connection takes at a time. It drops a body with the last of them, and not when they are
/// sent.
pub(crate) const PART: usize = 64 << 10;

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

/// The same response, whose body keeps a place until the client has taken all but the last part.
///
/// # Errors
/// The body cannot be read.
pub(crate) async fn keeping(response: Response, permit: OwnedSemaphorePermit) -> Result<Response, axum::Error> {
    let (head, body) = response.into_parts();
    let rest = body.collect().await?.to_bytes();
    Ok(Response::from_parts(head, Body::new(Kept { rest, _permit: permit })))
}

/// A body in memory, with a place among those.
struct Kept {
    rest: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let part = self.rest.len().min(PART);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(part)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
