//! The rules of Go, by example and by law.

mod boards;
mod canonical;
mod diagrams;
mod facts;
mod human_games;
mod pass_alive;
mod random_play;
mod reference;
mod rewind;
mod sgf_nonsense;
mod sgf_read;
mod sgf_write;
mod slow_tactics;
mod small_boards;
mod symmetry;
mod tactics;
mod types;
