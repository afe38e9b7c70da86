//! What one model has of the configuration of its run, and the digest that identifies it.

use std::ops::Deref;

use sha2::{Digest, Sha256};

use crate::RunConfig;

/// The configuration in force for one model: the schedules by model number are applied.
///
/// It belongs to the run, so its digest is the run's.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelConfig {
    config: RunConfig,
    digest: String,
}

impl RunConfig {
    /// The configuration in force for a model; model 0 is `random`.
    pub fn at(&self, model: u32) -> ModelConfig {
        ModelConfig { config: self.of(model), digest: self.digest() }
    }

    /// Identifies this configuration: the first 16 hexadecimal digits of the SHA-256 of [`RunConfig::to_toml`].
    pub fn digest(&self) -> String {
        let sum = Sha256::digest(self.to_toml().as_bytes());
        sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl ModelConfig {
    /// The digest of the run's configuration.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl Deref for ModelConfig {
    type Target = RunConfig;

    fn deref(&self) -> &RunConfig {
        &self.config
    }
}
