//! The search: PUCT over positions of Go, three verbs and no network.
//!
//! [`Search::select`] walks down the tree and hands out a [`Leaf`], a position that wants an evaluation.
//! The caller has it scored by whatever implements [`Evaluate`], together with the leaves of many other games, and
//! [`Search::expand`] puts the answer into the tree and backs it up. [`Search::advance`] plays a move and keeps what
//! is known below it. Between `select` and `expand` a virtual loss keeps other selections of the same batch away.
//!
//! Values are kept for Black everywhere; [`Value`] is the only place where they are turned round.

pub mod choice;
mod evaluate;
pub mod formula;
mod noise;
mod search;
mod tree;
mod value;

pub use evaluate::{Draw, Evaluate, EvaluateError, Evaluation};
pub use noise::Noise;
pub use search::{Leaf, RootMove, Search, Selected, Settings};
pub use value::Value;
