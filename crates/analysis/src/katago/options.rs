//! Options of a server.

use go::Size;

use crate::ReportStyle;

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
