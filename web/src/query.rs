//! Parameters of an address.

use std::error::Error;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::PageError;

/// The parameters of an address. Those that cannot be read become a page that names them.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = PageError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Query<T>, PageError> {
        let read = axum::extract::Query::try_from_uri(&parts.uri);
        read.map(|axum::extract::Query(parameters)| Query(parameters)).map_err(|error| {
            let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
            PageError::Bad(format!("the address has a parameter that cannot be read: {reason}"))
        })
    }
}
