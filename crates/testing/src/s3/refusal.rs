//! What a server says when it does not want to serve a request, each in the words of a real one.

use hyper::{Method, StatusCode};

use super::response::{Answer, response};

/// Why requests are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The client's clock is more than 15 minutes off, so that its signatures are not believed, as S3 says it.
    ClockSkew,
    /// Nothing can be written any more, as MinIO says it.
    Full,
    /// The client may read and not write, in the words of S3.
    ReadOnly,
    /// The client may write, delete and ask whether there is an object, but not read it, in the words of S3.
    WriteOnly,
}

impl Refusal {
    /// Whether requests of this kind are refused.
    pub(crate) fn meets(self, method: &Method) -> bool {
        match self {
            Refusal::ClockSkew => true,
            Refusal::Full => method == Method::PUT,
            Refusal::ReadOnly => [Method::PUT, Method::DELETE, Method::POST].contains(method),
            Refusal::WriteOnly => method == Method::GET,
        }
    }

    /// The response. One to a HEAD has no body, so that only the code is left of it.
    pub(crate) fn answer(self, method: &Method) -> Answer {
        let (status, code, message) = match self {
            Refusal::ClockSkew => (
                StatusCode::FORBIDDEN,
                "RequestTimeTooSkewed",
                "The difference between the request time and the current time is too large.",
            ),
            Refusal::Full => (
                StatusCode::INSUFFICIENT_STORAGE,
                "XMinioStorageFull",
                "Storage backend has reached its minimum free drive threshold. Please delete a few objects to proceed.",
            ),
            Refusal::ReadOnly | Refusal::WriteOnly => (StatusCode::FORBIDDEN, "AccessDenied", "Access Denied"),
        };
        let body = match *method {
            Method::HEAD => String::new(),
            _ => format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>{message}</Message></Error>"
            ),
        };
        response(status, body)
    }
}

/// The response to a request to delete objects that the client may not delete: it succeeds, and each object has an
/// error.
pub(crate) fn not_deleted(request: &str) -> Answer {
    let keys = request.split("<Key>").skip(1).filter_map(|rest| Some(rest.split_once("</Key>")?.0));
    let error =
        |key: &str| format!("<Error><Key>{key}</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error>");
    let errors: String = keys.map(error).collect();
    response(StatusCode::OK, format!("<DeleteResult>{errors}</DeleteResult>"))
}
