//! Helpers of the tests of the sections.

use crate::{Preset, RunConfig};

/// Minigo's configuration with overrides.
pub(crate) fn minigo(overrides: &[&str]) -> RunConfig {
    Preset::Minigo.with(overrides).expect("the test overrides keys that exist")
}

/// The error of Minigo's configuration with overrides.
pub(crate) fn error(overrides: &[&str]) -> String {
    Preset::Minigo.with(overrides).unwrap_err().to_string()
}
