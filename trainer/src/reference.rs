//! Human games that every model of a run is measured on, as in Minigo's figure 3.
//!
//! The run does not train on them, so they compare its models on one scale. Games of the run cannot, since they change
//! with the models.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use config::RunConfig;
use record::{DeepPosition, Example};
use store::{Run, Source, SourceKind, StoreError};

use crate::supervised::{games, spread, squared_error};
use crate::{TrainerError, files};

/// Positions of human games that a model is measured on, at most. The standard error of an accuracy is then below 1 %.
pub(crate) const POSITIONS: usize = 4096;

/// Positions of human games, the same for every model.
///
/// Which they are follows from the collection alone: every so manyth of all positions. So runs of one board can be
/// compared.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The positions.
    pub examples: Vec<Example>,
    /// The squared error of the best value for Black without the board.
    pub constant: f32,
    /// Games that they are from.
    pub games: usize,
    /// Unusable records.
    pub left_out: usize,
    source: Source,
}

impl Reference {
    /// Chooses positions of a collection of SGF, plain or gzipped. An unusable record is omitted.
    ///
    /// # Errors
    /// A collection that cannot be unpacked, or that has no game for the board of the run.
    pub fn read(config: &RunConfig, name: &str, file: &[u8]) -> Result<Reference, TrainerError> {
        let (mut found, mut seen, mut left_out) = (Vec::new(), HashSet::new(), Vec::new());
        for record in games(config, name, file)? {
            match record {
                Ok(game) if !seen.insert(game.record.id) => {}
                Ok(game) => found.push(game),
                Err(why) => left_out.push(why),
            }
        }
        let examples = spread(&found, POSITIONS)?;
        if examples.is_empty() {
            let why = left_out.first().map_or_else(String::new, |why| format!(", the first because {why}"));
            let problem = format!("no game to measure models on; unusable records: {}{why}", left_out.len());
            return Err(TrainerError::Collection { name: name.to_owned(), problem });
        }
        let black: f64 = examples.iter().map(|example| f64::from(example.outcome.as_i8())).sum();
        let constant = squared_error((black / examples.len() as f64) as f32, &examples);
        let source = Source::new(SourceKind::Games, name, file);
        Ok(Reference { examples, constant, games: found.len(), left_out: left_out.len(), source })
    }

    /// Whether the first model of a run has trained on these games, so that they tell less than they seem to.
    ///
    /// # Errors
    /// A store that cannot be read.
    fn was_trained_on(&self, run: &Run) -> Result<bool, StoreError> {
        if !run.models().exists(1)? {
            return Ok(false);
        }
        Ok(run.models().metadata(1)?.origin.iter().any(|source| source.sha256 == self.source.sha256))
    }
}

/// What every model is measured on beside the validation set.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Human games.
    pub human: Option<Reference>,
    /// Positions whose root values and visits are those of deep searches.
    pub deep: Option<Vec<Example>>,
}

/// Files for the evaluation of models.
#[derive(clap::Args, Clone, Debug)]
pub struct ReferenceArgs {
    /// Evaluate every model on several thousand positions of these human games: .sgf or .sgf.gz, of the run's board
    /// size [default: none]
    #[arg(long, env = "TENGEN_EVAL_SGF", value_name = "FILE")]
    eval_sgf: Option<PathBuf>,
    /// Evaluate every model on these positions of `tengen study positions`, with the results of deep searches [default:
    /// none]
    #[arg(long, env = "TENGEN_EVAL_POSITIONS", value_name = "FILE")]
    eval_positions: Option<PathBuf>,
}

impl ReferenceArgs {
    /// Whether anything was given.
    pub(crate) fn is_given(&self) -> bool {
        self.eval_sgf.is_some() || self.eval_positions.is_some()
    }

    /// The positions of the files.
    ///
    /// # Errors
    /// A file that cannot be read, or that has no game or position for the board of the run.
    pub fn open(&self, run: &Run, config: &RunConfig) -> Result<References, TrainerError> {
        let human = self.eval_sgf.as_deref().map(|path| human(path, run, config)).transpose()?;
        let deep = self.eval_positions.as_deref().map(|path| deep(path, config)).transpose()?;
        Ok(References { human, deep })
    }
}

fn human(path: &Path, run: &Run, config: &RunConfig) -> Result<Reference, TrainerError> {
    let (name, bytes) = files::read(path)?;
    let reference = Reference::read(config, &name, &bytes)?;
    let Reference { examples, games, left_out, .. } = &reference;
    tracing::info!(games, positions = examples.len(), left_out, "human games for evaluation");
    if reference.was_trained_on(run)? {
        tracing::warn!(
            run = %run.name(),
            file = %path.display(),
            "the first model was trained on the human games for evaluation; its accuracy is biased"
        );
    }
    Ok(reference)
}

/// The positions of a file of `tengen study positions`, as examples.
fn deep(path: &Path, config: &RunConfig) -> Result<Vec<Example>, TrainerError> {
    let fail = |problem: String| TrainerError::Collection { name: path.display().to_string(), problem };
    let text = String::from_utf8(files::read(path)?.1).map_err(|error| fail(error.to_string()))?;
    let komi = config.game.komi;
    let positions =
        DeepPosition::read_all(&text, config.game.board(), komi).map_err(|error| fail(error.to_string()))?;
    if positions.is_empty() {
        return Err(fail("no positions".to_owned()));
    }
    tracing::info!(positions = positions.len(), file = %path.display(), "positions of deep searches for evaluation");
    Ok(positions.iter().zip(0..).map(|(position, number)| position.example(komi, number)).collect())
}
