//! What no single room can check.

mod rooms;

use std::path::PathBuf;

/// The root of the repository.
fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
