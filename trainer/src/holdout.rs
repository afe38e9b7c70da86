//! The examples that are never trained on.

use record::Example;
use store::{Run, StoreError};

/// Examples of the holdout that are measured for each model, at most: the newest ones. The standard error of an
/// accuracy is then about 1 %.
pub const MOST_HOLDOUT_POSITIONS: usize = 16_384;

/// The newest examples that are never trained on, at most `most`, of models before `generation`. Files that cannot be
/// read are passed over: nothing depends on any one of them.
pub(crate) fn holdout(run: &Run, generation: u32, most: usize) -> Result<Vec<Example>, StoreError> {
    let mut examples = Vec::new();
    for model in (0..generation).rev() {
        for file in run.games().holdout_files(model)?.into_iter().rev() {
            match run.holdout().read(&file) {
                Ok(rows) => examples.extend(rows.to_examples()),
                Err(error) if error.is_skippable() => tracing::warn!(%error, "skipped a file of the holdout"),
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

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{GameRecord, synthetic};
    use store::{FileRef, Stem, Store};

    use super::*;

    fn game(index: u64) -> GameRecord {
        GameRecord { holdout: true, ..synthetic::game("r-1", "w", index, Size::new(5).unwrap(), 20) }
    }

    /// The examples of games of these numbers.
    fn examples(games: &[u64]) -> Vec<Example> {
        games.iter().flat_map(|&index| game(index).examples().unwrap()).collect()
    }

    #[test]
    fn newest_files_of_earlier_models_come_first() {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        // Models 0 to 3 have two files each, of one game.
        for (index, model) in (0..).zip([0, 0, 1, 1, 2, 2, 3, 3]) {
            let file = FileRef { model, stem: Stem::new("w", index).unwrap() };
            run.games().publish_as(&file, &[game(index)]).unwrap();
        }
        assert_eq!(holdout(&run, 3, usize::MAX).unwrap(), examples(&[5, 4, 3, 2, 1, 0]), "none of model 3");
        let most = examples(&[5]).len() + 1;
        assert_eq!(holdout(&run, 3, most).unwrap(), examples(&[5, 4])[..most]);
    }
}
