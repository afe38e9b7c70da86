//! The version of the format of configuration files.

/// The version of the format that this crate reads and writes.
pub const SCHEMA: u32 = 2;
