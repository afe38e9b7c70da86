//! Loops in plain Rust that the compiler makes for an instruction set.

/// Plain Rust to be compiled for each instruction set. Functions that it calls have to be inlined for that.
pub(crate) trait Plain {
    /// What it does; to be `#[inline(always)]`.
    fn run(self);
}
