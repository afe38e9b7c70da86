//! The search from outside: its arithmetic, and what holds in every tree.

mod arithmetic;
mod common;
mod golden;
mod laws;
