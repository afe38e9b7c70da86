//! The rules of Go, by example and by law.

mod boards;
mod diagrams;
mod dice;
mod facts;
mod pass_alive;
mod random_play;
mod reference;
mod rewind;
mod small_boards;
mod symmetry;
mod types;
