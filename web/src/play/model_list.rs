//! The models that visitors can choose.

use config::{ModelId, Preset};
use models::{ModelError, Models};
use serde::Serialize;
use store::{Run, StoreError};

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

/// The runs that have models, then the demo and the built-in models. A run that cannot be used is omitted with a warning.
///
/// # Errors
/// The store cannot be reached.
pub(super) fn choices(models: &Models) -> Result<Vec<Choice>, ModelError> {
    let mut choices = Vec::new();
    for name in models.runs()? {
        match choice(&models.run(&name)?) {
            Ok(choice) => choices.extend(choice),
            Err(error @ (StoreError::Unreachable { .. } | StoreError::Refused { .. })) => return Err(error.into()),
            // Visitors can still play the models of other runs.
            Err(error) => tracing::warn!(run = %name, %error, "omitted an unreadable run from the list of models"),
        }
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

/// A run as visitors choose it; `None` while it is being started, without a configuration or a model.
fn choice(run: &Run) -> Result<Option<Choice>, StoreError> {
    let (Some(config), Some(newest)) = (run.config()?, run.models().newest()?) else { return Ok(None) };
    let config = config.of_model(newest);
    Ok(Some(Choice {
        run: run.name().to_string(),
        models: Some([1, newest]),
        size: Some(config.game.size),
        komi: config.game.komi,
        visits: config.search.visits,
        predicts: config.network.ownership || config.network.score,
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bytes::Bytes;
    use store::{ModelMetadata, Store};

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

    #[test]
    fn run_with_a_damaged_configuration_is_omitted() {
        let (folder, config) = (tempfile::tempdir().expect("a folder"), Preset::Tiny.config());
        let store = Store::open(folder.path().to_str().expect("UTF-8")).expect("a store");
        for name in ["damaged", "good"] {
            let run = store.run(&name.parse().expect("a name"));
            run.create(&config).expect("a run");
            let metadata = ModelMetadata::new(run.name(), 1, 0, &config);
            run.models().publish(&metadata, Bytes::from_static(b"weights")).expect("a model");
        }
        fs::write(folder.path().join("damaged/run.toml"), "[game").expect("a file");
        let choices = choices(&Models::new(store)).expect("a store");
        let names: Vec<&str> = choices.iter().map(|choice| &*choice.run).collect();
        assert_eq!(names, ["good", "9x9-demo", "uniform", "random"]);
    }
}
