//! `evaluator retire`, `unretire` and `delete-retired-weights`.

use std::str::FromStr;

use config::{ModelId, RunName};
use runtime::Notes;

use crate::RatedRun;
use crate::rate::MOST_ELO;

/// Arguments of `evaluator retire`.
#[derive(clap::Args, Debug)]
pub(super) struct RetireArgs {
    /// Model, or a number of Elo: retires all models that are more than that behind the best with 97.5 % confidence.
    /// Never the newest or the champion; by Elo none with fewer than 16 games or restored before
    #[arg(value_name = "ELO|MODEL", allow_negative_numbers = true)]
    pub(super) which: Which,
}

/// Arguments of `evaluator unretire`.
#[derive(clap::Args, Debug)]
pub(super) struct UnretireArgs {
    /// Retired model: v15-330
    pub(super) model: ModelId,
}

/// Which models are retired.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Which {
    /// Those that are so many Elo behind the best.
    Behind(f64),
    /// This one.
    Model(ModelId),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Which, String> {
        match (text.parse::<f64>(), text.parse()) {
            (Ok(elo), _) if (0.0..=MOST_ELO).contains(&elo) => Ok(Which::Behind(elo)),
            (Err(_), Ok(model)) => Ok(Which::Model(model)),
            _ => Err(format!("{text} is neither Elo in {:?} nor a model such as v15-330", 0.0..=MOST_ELO)),
        }
    }
}

impl Which {
    /// The run of the model.
    pub(super) fn run(&self) -> Option<&RunName> {
        match self {
            Which::Behind(_) => None,
            Which::Model(model) => model.run(),
        }
    }
}

/// Retires models, and prints the ratings of the others.
pub(super) fn run(rated: &RatedRun, args: &RetireArgs) -> anyhow::Result<()> {
    // The ratings of the others are stored although the reader of the list has seen enough.
    let mut notes = Notes::default();
    match &args.which {
        Which::Behind(bound) => rated.retire(*bound)?.iter().for_each(|retired| notes.print(retired)),
        Which::Model(model) => {
            rated.retire_model(model)?;
            notes.print(format_args!("{model} is retired"));
        }
    }
    notes.print(rated.rate()?);
    notes.finish()
}

/// Brings a model back, and prints the ratings.
pub(super) fn unretire(rated: &RatedRun, UnretireArgs { model }: &UnretireArgs) -> anyhow::Result<()> {
    rated.unretire(model)?;
    let mut notes = Notes::default();
    notes.print(format_args!("{model} is back"));
    notes.print(rated.rate()?);
    notes.finish()
}

/// Deletes the weights of the retired models.
pub(super) fn delete_weights(rated: &RatedRun) -> anyhow::Result<()> {
    rated.delete_retired_weights()?.iter().try_for_each(runtime::print)
}
