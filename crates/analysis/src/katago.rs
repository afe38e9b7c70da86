//! KataGo's analysis protocol (<https://github.com/lightvector/KataGo/blob/master/docs/Analysis_Engine.md>): one JSON object a line
//! in both directions, and responses in the order in which searches end.
//!
//! A line is a [`Query`]: positions of a game, or an action. [`Server::line`] checks it, hands the positions to an
//! [`Engine`](crate::Engine) and writes responses, warnings and errors.

mod fields;
mod options;
mod query;
mod rules;
mod server;

pub use options::ServerOptions;
pub use query::{Action, Position, Query};
pub use server::Server;

/// A query that cannot be served, with the field that has the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The problem.
    pub reason: String,
    /// The field; `None` when it is the query as a whole.
    pub field: Option<&'static str>,
}

/// A part of a query that is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The reason.
    pub reason: String,
    /// The field.
    pub field: String,
}

pub(crate) fn refuse<T>(field: &'static str, reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { reason: reason.into(), field: Some(field) })
}
