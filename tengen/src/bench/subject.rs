//! The measured network: random weights of a shape, or a trained model.

use std::fmt;
use std::path::PathBuf;

use anyhow::Context;
use config::{ConfigError, Preset, RunConfig};
use models::{ModelName, Models};
use net::{Shape, Weights};
use runtime::Classify;
use serde::Serialize;
use store::Store;

/// The default networks, as blocks and filters.
const TOWERS: [(usize, usize); 2] = [(4, 32), (6, 64)];

/// Which tower.
#[derive(clap::Args, Debug)]
pub(super) struct SubjectArgs {
    /// Board size
    #[arg(long, default_value = "9", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2..=19_usize))]
    size: usize,
    /// Residual blocks of a network with random weights [default: 4, and then 6]
    #[arg(long, value_name = "N", requires = "filters", allow_negative_numbers = true, value_parser = runtime::within(0..=80_usize))]
    blocks: Option<usize>,
    /// Channels of that network [default: 32, and then 64]
    #[arg(long, value_name = "N", requires = "blocks", allow_negative_numbers = true, value_parser = runtime::within(1..=1024_usize))]
    filters: Option<usize>,
    /// Model, with the configuration of its run: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or a file of
    /// weights, with configs/9x9.toml [default: random weights]
    #[arg(long, value_name = "MODEL|FILE", conflicts_with_all = ["size", "blocks", "filters"])]
    model: Option<ModelName>,
    /// Configuration of a network with random weights [default: configs/9x9.toml]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Override a key of the configuration, such as search.visits=50; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

/// A network and how it plays.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) config: RunConfig,
    pub(super) weights: Weights,
}

/// The network that a case is about.
#[derive(Serialize)]
pub(super) struct Tower {
    pub(super) model: String,
    board: usize,
    blocks: usize,
    filters: usize,
}

impl fmt::Display for Tower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tower { board, blocks, filters, .. } = self;
        write!(f, "{board}x{board} {blocks}x{filters}")
    }
}

impl Subject {
    /// A network with random weights.
    pub(super) fn made_up(config: RunConfig) -> anyhow::Result<Subject> {
        let shape = Shape::new(&config.game, &config.network).misconfigured()?;
        Ok(Subject { name: "made up".to_owned(), config, weights: Weights::synthetic(shape, 1) })
    }

    pub(super) fn tower(&self) -> Tower {
        let Shape { size, blocks, filters, .. } = self.weights.shape();
        Tower { model: self.name.clone(), board: size.side(), blocks, filters }
    }
}

impl SubjectArgs {
    pub(super) fn subjects(&self, store: &str) -> anyhow::Result<Vec<Subject>> {
        if let Some(model) = &self.model {
            return Ok(vec![self.trained(&Models::new(Store::open_or_empty(store)?), model)?]);
        }
        let towers = match (self.blocks, self.filters) {
            (Some(blocks), Some(filters)) => vec![(blocks, filters)],
            _ => TOWERS.to_vec(),
        };
        towers.into_iter().map(|tower| self.made_up(tower)).collect()
    }

    fn made_up(&self, (blocks, filters): (usize, usize)) -> anyhow::Result<Subject> {
        let tower = [
            format!("game.size={}", self.size),
            format!("network.blocks={blocks}"),
            format!("network.filters={filters}"),
            "train.grow=[]".to_owned(),
        ];
        Subject::made_up(self.read(&[&tower[..], &self.overrides].concat())?)
    }

    fn read(&self, overrides: &[String]) -> Result<RunConfig, ConfigError> {
        match &self.config {
            Some(path) => runtime::configuration(path, overrides),
            None => Preset::NineByNine.with(overrides),
        }
    }

    fn trained(&self, models: &Models, named: &ModelName) -> anyhow::Result<Subject> {
        let model = models.find(named)?;
        let config = models.configuration(&model, None, &self.overrides)?;
        let weights = Weights::from_bytes(&model.weights(models)?);
        let weights = weights.with_context(|| format!("model {model} cannot be opened"))?;
        Ok(Subject { name: model.to_string(), config, weights })
    }
}
