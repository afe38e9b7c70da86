//! Evaluations of networks in few bytes, and files of them.
//!
//! [`Tables`] are models of which moves a network likes: [`Tables::encode`] writes the policy and the value of one
//! evaluation by them and an arithmetic coder. At 2,048 steps that takes 43 bytes on 19x19 instead of 1,452, and 15 on
//! 9x9 instead of 332 (`experiments/0105-evaluation-cache-19x19`). All of it is integers that are part of a file, so
//! that a file means the same on every machine and in every release.

mod built_in;
mod codec;
pub mod compression_steps;
mod exact;
mod fit;
mod fixed;
mod key;
mod layout;
mod parts;
mod range;
mod sample;
pub mod segment;
mod squash;
mod steps;
mod tables;
mod view;
mod walk;

pub use fit::fit;
pub use key::{BOARDS, Key};
pub use sample::Sample;
pub use segment::{Head, KomiCoding, ReadError, Segment, SegmentBytes, SegmentError, Set, SourceError, Symmetries};
pub use steps::Steps;
pub use tables::Tables;
pub use view::View;
