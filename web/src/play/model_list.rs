//! The models that visitors can choose.

use config::{ModelId, Preset};
use models::{ModelError, Models};
use serde::Serialize;

/// A run with models, for the lists of pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Choice {
    /// Its name.
    pub(super) run: String,
    /// Numbers of its first and its newest model; `None` for a built-in model, whose name is that of the run.
    pub(super) models: Option<[u32; 2]>,
    /// Side of the board; `None` where the model plays on any.
    pub(super) size: Option<usize>,
    /// Komi of its games.
    pub(super) komi: f32,
    /// Visits of its games.
    pub(super) visits: u32,
    /// Whether its networks predict ownership or the score.
    pub(super) predicts: bool,
}

/// The runs that have models, then the demo and the built-in models.
///
/// # Errors
/// The store cannot be read.
pub(super) fn choices(models: &Models) -> Result<Vec<Choice>, ModelError> {
    let mut choices = Vec::new();
    for name in models.runs()? {
        let run = models.run(&name)?;
        // A run that is being started has none of these.
        let (Some(config), Some(newest)) = (run.config()?, run.models().newest()?) else { continue };
        let config = config.of_model(newest);
        choices.push(Choice {
            run: name.to_string(),
            models: Some([1, newest]),
            size: Some(config.game.size),
            komi: config.game.komi,
            visits: config.search.visits,
            predicts: config.network.ownership || config.network.score,
        });
    }
    let plain = Preset::NineByNine.config();
    choices.extend(ModelId::BUILT_IN.map(|model| Choice {
        run: model.to_string(),
        models: None,
        size: None,
        komi: plain.game.komi,
        visits: plain.search.visits,
        predicts: false,
    }));
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use store::Store;

    use super::*;

    #[test]
    fn empty_store_offers_the_demo_and_the_built_in_models() {
        let models = Models::new(Store::in_memory().expect("memory"));
        let choices = choices(&models).expect("a store");
        let names: Vec<(&str, Option<usize>)> = choices.iter().map(|choice| (&*choice.run, choice.size)).collect();
        assert_eq!(names, [("9x9-demo", Some(9)), ("uniform", None), ("random", None)]);
        assert_eq!(choices[0].models, Some([1, 1]));
    }

    #[test]
    fn runs_without_models_are_not_offered() {
        let store = Store::in_memory().expect("memory");
        store.run(&"v1".parse().expect("a name")).create(&Preset::Tiny.config()).expect("memory");
        let choices = choices(&Models::new(store)).expect("a store");
        assert!(choices.iter().all(|choice| choice.run != "v1"));
    }
}
