//! Responses that S3 itself does not give: faults, and the one to a missing bucket.

use std::io;

use bytes::Bytes;
use futures::stream;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use hyper::{Response, StatusCode};

pub(crate) type Answer = Response<UnsyncBoxBody<Bytes, s3s::StdError>>;

/// A response with this status and body.
pub(crate) fn response(status: StatusCode, body: String) -> Answer {
    let mut response = Response::new(Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}

/// The response of S3 when the bucket is not there.
pub(crate) fn no_such_bucket() -> Answer {
    let body = "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>";
    response(StatusCode::NOT_FOUND, body.to_owned())
}

/// Half of a response, and then the end of the connection. A response without a body is lost as a whole.
pub(crate) async fn cut(answer: Response<s3s::Body>) -> io::Result<Answer> {
    let (head, body) = answer.into_parts();
    let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
    if body.is_empty() {
        return Err(io::Error::other("answer lost"));
    }
    let half = Frame::data(body.slice(..body.len() / 2));
    let frames = [Ok(half), Err(s3s::StdError::from("cut off"))];
    Ok(Response::from_parts(head, StreamBody::new(stream::iter(frames)).boxed_unsync()))
}
