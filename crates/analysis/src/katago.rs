//! KataGo's analysis protocol (<https://github.com/lightvector/KataGo/blob/master/docs/Analysis_Engine.md>): one JSON
//! object a line in both directions, and responses in the order in which searches end.
//!
//! A line is a [`Query`]: positions of a game, or an action. [`Server::line`] checks it, hands the positions to an
//! [`Engine`](crate::Engine) and writes responses, warnings and errors.

mod fields;
mod query;
mod rules;
mod server;

use go::Size;

use crate::ReportStyle;

pub use query::{Action, Position, Query};
pub use server::Server;

/// Moves of a variation where a query does not say, as in KataGo.
pub const VARIATION: usize = 15;

/// Model and version of a server, and the defaults of queries.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The name of the model.
    pub model: String,
    /// The version of the program.
    pub version: String,
    /// The only board, if there is only one.
    pub size: Option<Size>,
    /// White's compensation.
    pub komi: f32,
    /// Visits, the evaluation of the position itself included.
    pub visits: u32,
    /// What reports contain.
    pub style: ReportStyle,
}

/// A query that cannot be served, with the field that has the problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The problem.
    pub reason: String,
    /// The field.
    pub field: &'static str,
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
    Err(Refusal { reason: reason.into(), field })
}
