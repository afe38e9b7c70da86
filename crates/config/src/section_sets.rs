//! The sections that games depend on, and the digest that identifies a configuration.

use sha2::{Digest, Sha256};

use crate::{Evaluate, Game, Resign, RunConfig, Search, Selfplay};

/// What games depend on: sections of the configuration of a run, and its digest.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayConfig {
    /// `seed`.
    pub seed: u64,
    /// Section `game`.
    pub game: Game,
    /// Section `search`.
    pub search: Search,
    /// Section `selfplay`.
    pub selfplay: Selfplay,
    /// Section `resign`.
    pub resign: Resign,
    /// Section `evaluate`.
    pub evaluate: Evaluate,
    /// The digest of the whole configuration.
    pub digest: String,
}

impl PlayConfig {
    /// Settings for a model, after the schedule by model number. Model 0 is `random`.
    pub fn at(&self, model: u32) -> PlayConfig {
        PlayConfig { search: self.search.at(model), ..self.clone() }
    }

    /// Games that a thread of self-play keeps in progress, so that their leaves fill a batch.
    pub fn selfplay_slots(&self) -> usize {
        self.selfplay.batch / self.search.leaves
    }
}

impl From<&RunConfig> for PlayConfig {
    fn from(config: &RunConfig) -> PlayConfig {
        let digest = config.digest();
        let RunConfig { seed, game, search, selfplay, resign, evaluate, .. } = config.clone();
        PlayConfig { seed, game, search, selfplay, resign, evaluate, digest }
    }
}

impl RunConfig {
    /// Settings for the self-play games of a model; model 0 is `random`.
    pub fn at(&self, model: u32) -> PlayConfig {
        PlayConfig::from(self).at(model)
    }

    /// Identifies this configuration: the first 16 hexadecimal digits of the SHA-256 of [`RunConfig::to_toml`] without
    /// the last section, `[retention]`, on which nothing depends that is published.
    pub fn digest(&self) -> String {
        let text = self.to_toml();
        let text = text.split("\n[retention]").next().unwrap_or(&text);
        format!("{:.16x}", Sha256::digest(text.as_bytes()))
    }
}
