//! How a file of evaluations begins and ends.

/// The first bytes of the prelude.
pub(super) const MAGIC: [u8; 4] = *b"TGEC";
/// The last bytes of the footer.
pub(super) const MAGIC_END: [u8; 4] = *b"CEGT";
/// The version of the format that this crate reads and writes.
pub const VERSION: u16 = 2;
/// Bytes before the first head.
pub(super) const PRELUDE: usize = 20;
/// Bytes after the second head.
pub(super) const FOOTER: usize = 24;
