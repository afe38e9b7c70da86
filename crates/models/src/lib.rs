//! From the name of a model to an evaluator.
//!
//! [`ModelName`] is a name as typed: `v15-330`, `v15` for the newest model of run `v15`, `uniform`, `random`,
//! `9x9-demo`, or a file of weights. [`Models`] finds the [`ModelSource`] that is named, in a store, among the built-in
//! models, or as a file. Two functions open whatever is named: [`Models::weights`] reads the [`NamedWeights`], and
//! [`ConfiguredModel::open`] opens a model with the configuration that it plays by. [`Model`] is the network, ready for
//! any number of threads, and hands out one [`Evaluator`](mcts::Evaluator) for each. A [`Place`] says where it runs: on
//! a device, or on inference servers. [`Searcher`] is a model with its search settings.
//!
//! Games, matches and ratings are stored under the id of a model. Commands that store them read its name by
//! [`model_with_id`] and [`player_with_id`], which refuse files.

mod configured;
mod demo;
mod error;
mod evaluation_set;
mod evaluations;
mod first;
mod model;
mod name;
mod named_weights;
mod place;
mod registry;
mod remote_model;
mod searcher;
mod shape;
mod source;
mod version;

pub use configured::ConfiguredModel;
pub use error::ModelError;
pub use evaluation_set::set_prefix;
pub use evaluations::{
    EvaluationCache, EvaluationCacheError, EvaluationCacheOptions, Lookups, MergedSegments, SegmentSource,
};
pub use model::Model;
pub use name::{ModelName, NoIdError, model_with_id, player_with_id};
pub use named_weights::NamedWeights;
pub use place::Place;
pub use registry::Models;
pub use remote::Priority;
pub use remote_model::{RemoteModel, evaluate_class, lost_at_stop};
pub use searcher::Searcher;
pub use shape::shape_of;
pub use source::{ModelSource, WeightsFile};
