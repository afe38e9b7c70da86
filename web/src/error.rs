//! Errors: why a server does not start, and why a page is not shown.

use std::io;
use std::path::PathBuf;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use exit_class::{Classified, ExitClass};
use maud::{Markup, html};
use models::ModelError;
use runtime::{PemError, TokenError};
use store::StoreError;

use crate::view::{Navigation, Section, View};

/// Why the server does not start.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The address cannot be used.
    #[error("cannot serve at {address}; name a free HOST:PORT, such as 127.0.0.1:0 for any")]
    Address {
        /// As it was typed.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The address is open to other machines, without protection.
    #[error(
        "{address} is open to other machines: add --token-file, or --tls-cert and --tls-key, or --read-only, or serve \
         at 127.0.0.1"
    )]
    Open {
        /// As it was typed.
        address: String,
    },
    /// Other machines could connect to what is for this one.
    #[error("{address} is not a loopback address: use 127.0.0.1, or `tengen serve`")]
    NotLocal {
        /// As it was typed.
        address: String,
    },
    /// The token cannot be used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The certificate or its key cannot be used.
    #[error(transparent)]
    Pem(#[from] PemError),
    /// TLS does not take the certificate.
    #[error("certificate {}: {reason}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// Visitors could not tell two files apart.
    #[error("{} and {} have the same name; rename one of them", one.display(), other.display())]
    SameName {
        /// A file of weights.
        one: PathBuf,
        /// Another one.
        other: PathBuf,
    },
    /// Models or their evaluations cannot be used.
    #[error(transparent)]
    Models(#[from] ModelError),
    /// The opening book cannot be used.
    #[error(transparent)]
    Book(#[from] analysis::FileError),
    /// The system has no resources left.
    #[error("cannot start the web server: {0}")]
    Threads(io::Error),
}

impl Classified for WebError {
    fn class(&self) -> ExitClass {
        match self {
            WebError::Threads(_) => ExitClass::Failure,
            WebError::Models(error) => error.class(),
            _ => ExitClass::Configuration,
        }
    }
}

/// A page, or why there is none.
pub(crate) type Page = Result<Response, PageError>;

/// Why a page is not shown. [`framed`] makes a page of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PageError {
    /// There is no such thing.
    #[error("no {0}")]
    NotFound(String),
    /// The request makes no sense.
    #[error("{0}")]
    Bad(String),
    /// The server has too much to do.
    #[error("the server is busy; try again in a few seconds")]
    Busy,
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store could not be read before.
    #[error(transparent)]
    Unreadable(std::sync::Arc<StoreError>),
    /// A bug, or a damaged object.
    #[error("{0}")]
    Failed(String),
}

impl PageError {
    fn status(&self) -> StatusCode {
        let of_store = |error: &StoreError| match error {
            StoreError::NotFound { .. } => StatusCode::NOT_FOUND,
            error if error.class() == ExitClass::StoreUnreachable => StatusCode::BAD_GATEWAY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        match self {
            PageError::NotFound(_) => StatusCode::NOT_FOUND,
            PageError::Bad(_) => StatusCode::BAD_REQUEST,
            PageError::Busy => StatusCode::SERVICE_UNAVAILABLE,
            PageError::Store(error) => of_store(error),
            PageError::Unreadable(error) => of_store(error),
            PageError::Failed(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn content(&self) -> Markup {
        html! {
            h1 { (self.status().canonical_reason().unwrap_or("Error")) }
            p { (self.to_string()) }
            p { a href="/" { "All runs" } }
        }
    }
}

/// What is shown of an error, in a response without content.
#[derive(Clone)]
struct Explanation(Markup);

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let status = self.status();
        if status.is_server_error() && !matches!(self, PageError::Busy) {
            tracing::warn!(error = %self, "page not served");
        }
        let mut response = status.into_response();
        response.extensions_mut().insert(Explanation(self.content()));
        if matches!(self, PageError::Busy) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}

/// The middleware that puts errors into pages of the application, whose navigation they do not know.
pub(crate) async fn framed(State(navigation): State<Navigation>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let Some(Explanation(content)) = response.extensions_mut().remove() else { return response };
    let page = View::new(navigation, "Error", Section::None).page(&content);
    (response.status(), std::mem::take(response.headers_mut()), page).into_response()
}
