//! Analysis of games: searches of many positions at once, and reports.
//!
//! The cast: an [`Engine`] has worker threads that search the positions of its [`Task`]s, the most urgent first, and
//! hands out [`Event`]s while it does. A [`Report`] is an [`Analysis`] in the words of KataGo's analysis protocol,
//! which is how this project stores analyses, too. [`annotated`] writes a game with its reports as SGF, and [`losses`]
//! lists its bad moves. A [`katago::Server`] speaks the protocol with front ends.

mod analysis;
mod analysis_options;
mod annotated;
pub mod book;
mod candidates;
mod engine;
mod file;
pub mod katago;
mod katrain;
mod origin;
mod priorities;
mod queue;
mod report;
mod review;
mod running;

pub use analysis::{Analysis, Candidate};
pub use analysis_options::{AnalysisOptions, BATCH};
pub use annotated::{Annotation, annotated, annotated_tree};
pub use candidates::{candidates, position_after};
pub use engine::Engine;
pub use file::{AnalysisFile, FORMAT, FileError, Header, VERSION};
pub use origin::Origin;
pub use queue::{Event, Listener, Task, TaskId};
pub use report::{MoveInfo, Perspective, Report, ReportStyle, RootInfo};
pub use review::{Loss, losses};
