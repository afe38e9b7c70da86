//! The search: PUCT or Gumbel search over positions of Go, three verbs and no network.
//!
//! [`Search::select`] walks down the tree and hands out a [`Leaf`], a position that wants an evaluation. The caller has
//! it scored by whatever implements [`Evaluator`], together with the leaves of many other games, and [`Search::expand`]
//! puts the evaluation into the tree and backs it up. [`Search::advance`] plays a move and keeps what is known below
//! it; [`Search::begin_move`] says how the moves of the new root are explored. Between `select` and `expand` a virtual
//! loss keeps other selections of the same batch away.
//!
//! Values are kept for Black everywhere; [`Value`] is the only place where they are negated.

mod avoid;
pub mod choice;
mod depth;
mod evaluator;
mod formula;
mod gumbel;
mod halving;
pub mod math;
mod noise;
mod puct;
mod purpose;
mod results;
pub mod sample;
mod search;
mod settings;
mod target;
mod tree;
mod value;
mod winrate;

pub use avoid::Avoid;
pub use depth::Depth;
pub use evaluator::{Draw, EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets};
pub use noise::Noise;
pub use purpose::Purpose;
pub use results::{LARGEST_TREE, MOST_VISITS, RootMove};
pub use search::{Leaf, Search, Selected};
pub use settings::{Algorithm, FirstPlay, Gumbel, Settings};
pub use value::Value;
pub use winrate::six_places;
