//! Analysis of models: whether they read ladders, how deep their searches go, how noisy their policy targets are, how
//! good their values are, and what their networks contain. Each module is a command of `tengen study`.

mod batched_search;
mod deep_positions;
mod depth;
mod error;
mod evalcache;
pub mod inspect;
mod ladders;
mod model;
mod positions;
mod statistics;
mod targets;
mod values;

#[cfg(any(test, feature = "testing"))]
pub use deep_positions::read_response;
pub use error::StudyError;
use runtime::Stop;

/// A study of a model.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Test how often a model reads ladders correctly
    Ladders(ladders::Args),
    /// Measure search depth by the initial value of an edge
    Depth(depth::Args),
    /// Measure the noise of the policy targets that a model's searches produce
    Targets(targets::Args),
    /// Measure values and moves of a model against those of deep searches
    Values(values::Args),
    /// Search positions of games deeply with an engine that speaks KataGo's analysis protocol, for `values`
    Positions(deep_positions::Args),
    /// Measure size, speed and error of the evaluation cache
    Evalcache(evalcache::Args),
    /// Write an HTML page with the weights of one or more networks
    Inspect(inspect::Args),
}

/// Runs a study on models of a store.
///
/// # Errors
/// No such model, one that cannot be opened, or a page that cannot be written.
pub fn run(store: &str, command: &Command, stop: &Stop) -> anyhow::Result<()> {
    match command {
        Command::Ladders(args) => ladders::run(store, args, stop),
        Command::Depth(args) => depth::run(store, args, stop),
        Command::Targets(args) => targets::run(store, args, stop),
        Command::Values(args) => values::run(store, args, stop),
        Command::Positions(args) => deep_positions::run(args, stop),
        Command::Evalcache(args) => evalcache::run(store, args, stop),
        Command::Inspect(args) => inspect::run(store, args),
    }
}
