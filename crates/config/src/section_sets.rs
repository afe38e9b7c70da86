//! The sections that games depend on, and the digest that identifies a configuration.

use sha2::{Digest, Sha256};

use crate::{Evaluate, Game, Resign, RunConfig, Search, Selfplay};

/// What self-play games depend on: sections of the configuration of a run, and its digest.
#[derive(Clone, Debug, PartialEq)]
pub struct SelfplayConfig {
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
    /// The digest of the whole configuration.
    pub digest: String,
}

/// What match games depend on.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchConfig {
    /// `seed`.
    pub seed: u64,
    /// Section `game`.
    pub game: Game,
    /// Section `search`.
    pub search: Search,
    /// Section `evaluate`.
    pub evaluate: Evaluate,
    /// The digest of the whole configuration.
    pub digest: String,
}

impl SelfplayConfig {
    /// Settings for a model, after the schedule by model number. Model 0 is `random`.
    pub fn at(&self, model: u32) -> SelfplayConfig {
        SelfplayConfig { search: self.search.at(model), ..self.clone() }
    }
}

impl From<&RunConfig> for SelfplayConfig {
    fn from(config: &RunConfig) -> SelfplayConfig {
        let digest = config.digest();
        let RunConfig { seed, game, search, selfplay, resign, .. } = config.clone();
        SelfplayConfig { seed, game, search, selfplay, resign, digest }
    }
}

impl From<&RunConfig> for MatchConfig {
    fn from(config: &RunConfig) -> MatchConfig {
        let digest = config.digest();
        let RunConfig { seed, game, search, evaluate, .. } = config.clone();
        MatchConfig { seed, game, search, evaluate, digest }
    }
}

impl RunConfig {
    /// Settings for the self-play games of a model; model 0 is `random`.
    pub fn at(&self, model: u32) -> SelfplayConfig {
        SelfplayConfig::from(self).at(model)
    }

    /// Identifies this configuration: the first 16 hexadecimal digits of the SHA-256 of [`RunConfig::to_toml`] without the
    /// last section, `[retention]`, on which nothing depends that is published.
    pub fn digest(&self) -> String {
        let text = self.to_toml();
        let text = text.split("\n[retention]").next().unwrap_or(&text);
        format!("{:.16x}", Sha256::digest(text.as_bytes()))
    }
}
