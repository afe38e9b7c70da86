//! Which model is how strong: who plays whom, and what the results say.
pub mod doubts;
pub mod matrix;
pub mod pairing;
pub mod ratings;
pub mod table;
pub mod tally;
