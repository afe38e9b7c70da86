//! The measured network: random weights of a shape, or a trained model.

use std::fmt;
use std::path::PathBuf;

use anyhow::Context;
use config::{ConfigError, MOST_BLOCKS, MOST_FILTERS, Preset, RunConfig};
use go::{MAX_SIDE, Size};
use models::{ModelName, Models};
use net::{Shape, Weights};
use serde::Serialize;
use store::Store;

/// The default networks, as blocks and filters.
const TOWERS: [(usize, usize); 2] = [(4, 32), (6, 64)];

/// Which tower.
#[derive(clap::Args, Debug)]
pub(super) struct SubjectArgs {
    /// Board size [default: that of --config, or 9]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: Option<usize>,
    /// Residual blocks of a network with random weights [default: those of --config, or 4, then 6]
    #[arg(long, value_name = "N", requires = "filters", allow_negative_numbers = true, value_parser = runtime::within(0..=MOST_BLOCKS))]
    blocks: Option<usize>,
    /// Channels of that network [default: those of --config, or 32, then 64]
    #[arg(long, value_name = "N", requires = "blocks", allow_negative_numbers = true, value_parser = runtime::within(1..=MOST_FILTERS))]
    filters: Option<usize>,
    /// Model, with the configuration of its run: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or a file
    /// of weights, with configs/9x9.toml [default: random weights]
    #[arg(long, value_name = "MODEL|FILE", conflicts_with_all = ["size", "blocks", "filters", "config"])]
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
    pub(super) fn made_up(config: RunConfig) -> Subject {
        let shape = Shape::new(&config.game, &config.network);
        Subject { name: "made up".to_owned(), config, weights: Weights::synthetic(shape, 1) }
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
        let towers = match (self.blocks.zip(self.filters), &self.config) {
            (Some(tower), _) => vec![Some(tower)],
            (None, Some(_)) => vec![None],
            (None, None) => TOWERS.map(Some).to_vec(),
        };
        towers.into_iter().map(|tower| self.made_up(tower)).collect()
    }

    /// A network with random weights, of so many blocks and filters, or as the configuration has it.
    fn made_up(&self, tower: Option<(usize, usize)>) -> anyhow::Result<Subject> {
        let mut given: Vec<String> = self.size.iter().map(|size| format!("game.size={size}")).collect();
        if let Some((blocks, filters)) = tower {
            given.push(format!("network.blocks={blocks}"));
            given.push(format!("network.filters={filters}"));
            given.push("train.grow=[]".to_owned());
        }
        given.extend_from_slice(&self.overrides);
        Ok(Subject::made_up(self.read(&given)?))
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        subject: SubjectArgs,
    }

    fn towers(args: &[&str]) -> Vec<String> {
        let program = Program::parse_from(["bench"].iter().chain(args));
        let subjects = program.subject.subjects("/absent/store").unwrap();
        subjects.iter().map(|subject| subject.tower().to_string()).collect()
    }

    #[test]
    fn networks_are_those_of_the_configuration_unless_arguments_say_otherwise() {
        let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../configs/tiny.toml");
        assert_eq!(towers(&[]), ["9x9 4x32", "9x9 6x64"]);
        assert_eq!(towers(&["--size", "7"]), ["7x7 4x32", "7x7 6x64"]);
        assert_eq!(towers(&["--config", tiny]), ["5x5 1x8"]);
        assert_eq!(towers(&["--config", tiny, "--size", "7"]), ["7x7 1x8"]);
        assert_eq!(towers(&["--config", tiny, "--blocks", "2", "--filters", "16"]), ["5x5 2x16"]);
        assert!(Program::try_parse_from(["bench", "--config", tiny, "--model", "9x9-demo"]).is_err());
    }
}
