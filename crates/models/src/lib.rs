//! From the name of a model to an evaluator.
//!
//! [`ModelName`] is a name as typed: `v15-330`, `v15` for the newest model of run `v15`, `uniform`, `random`, `9x9-demo`, or a file
//! of weights. [`Models`] finds the named model in a store or among the built-in ones. [`Model`] is the network, ready for any
//! number of threads, and hands out one [`Evaluator`](mcts::Evaluator) for each. [`Searcher`] is a model with its search settings.

mod demo;
mod error;
mod model;
mod name;
mod registry;
mod searcher;

pub use error::ModelError;
pub use model::Model;
pub use name::ModelName;
pub use registry::Models;
pub use searcher::Searcher;
