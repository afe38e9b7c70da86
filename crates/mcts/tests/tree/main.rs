//! The search from outside: its arithmetic, and what holds in every tree.

mod arithmetic;
mod common;
mod first_play;
mod golden;
mod gumbel;
mod laws;
mod passing;
mod root;
