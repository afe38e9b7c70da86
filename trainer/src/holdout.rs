//! The examples that are never trained on.

use record::Example;
use store::{Run, StoreError};

/// Examples of the holdout that are measured for each model, at most: the newest ones. The standard error of an accuracy is
/// then about 1 %.
pub const HOLDOUT: usize = 16_384;

/// The newest examples that are never trained on, at most `most`, of models before `generation`. Files that cannot be read
/// are passed over: nothing depends on any one of them.
pub(crate) fn holdout(run: &Run, generation: u32, most: usize) -> Result<Vec<Example>, StoreError> {
    let mut examples = Vec::new();
    for model in (0..generation).rev() {
        for file in run.games().holdout_files(model)?.into_iter().rev() {
            match run.holdout().read(&file) {
                Ok(rows) => examples.extend(rows.to_examples()),
                Err(error) if error.is_damage() => tracing::warn!(%error, "skipped a damaged file of the holdout"),
                Err(error) => return Err(error),
            }
            if examples.len() >= most {
                examples.truncate(most);
                return Ok(examples);
            }
        }
    }
    Ok(examples)
}
