//! The selfplay stage: plays games with a model and publishes them, many to a file.
//!
//! The cast: the [`Driver`] plays one job after the other, each with the newest model. A job is played by [`play()`]
//! (`pool`), which deals its games to worker threads (`shares`). Each thread (`worker`) keeps games going on a network
//! of its own, and takes games of others when its own are begun. Finished records come back over one channel to the
//! calling thread, which publishes them (`collector`, `writer`). Which games are wanted follows from what is published
//! already, so the work can be killed and restarted at any time, and resumes.
//!
//! Between two jobs games are finished first, or handed to the newer model where they are ([`InProgressGames`]), as the
//! run's configuration says. When the process is to stop they are discarded, or handed off in the store (`handoff`), as
//! the job says.

mod collector;
pub mod command;
mod driver;
mod error;
mod game_limit;
mod handoff;
mod job;
mod live;
mod pool;
mod report;
mod series;
mod shared;
mod shares;
mod threshold;
mod worker;
mod writer;

pub use driver::{Driver, Event, Games, Options, lease};
pub use error::SelfplayError;
pub use handoff::InProgressGames;
pub use job::{Extent, Follow, Job, JobProgress, OnShutdown};
pub use pool::play;
pub use report::Console;
pub use threshold::Threshold;
