//! What no single room can check.

mod killed;
mod programs;
mod python;
mod readme;
mod rooms;
mod twice;
