//! The models that visitors can choose, and the runs that they can watch.

use config::{ModelId, Preset, RunConfig, RunName};
use models::{ModelError, Models};
use serde::Serialize;

use crate::run_list::Entry;

/// A run with models, for the lists of pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ModelChoice {
    /// Its name.
    pub(super) run: String,
    /// The range of the numbers of its models, of which some may have no weights any more; `None` for a built-in model,
    /// whose name is that of the run.
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

/// Those of these runs that have models, then the demo and the built-in models. A run that cannot be used is omitted
/// with a warning.
///
/// # Errors
/// The store cannot be reached.
pub(super) fn choices(models: &Models, runs: &[Entry]) -> Result<Vec<ModelChoice>, ModelError> {
    let mut choices = Vec::new();
    for Entry { name, facts } in runs {
        match facts {
            // A run has no model while it is being started.
            Ok(facts) => choices.extend(facts.newest_model.map(|newest| choice(name, &facts.config, newest))),
            // Visitors can still play the models of other runs.
            Err(error) => tracing::warn!(run = %name, %error, "omitted an unreadable run from the list of models"),
        }
    }
    if let Some(demo) = models.demo()?
        && let (Some(config), Some(newest)) = (demo.config()?, demo.models().newest()?)
    {
        choices.push(choice(demo.name(), &config, newest));
    }
    let plain = Preset::NineByNine.config();
    choices.extend(ModelId::BUILT_IN.map(|model| ModelChoice {
        run: model.to_string(),
        models: None,
        size: None,
        komi: plain.game.komi,
        visits: plain.search.visits,
        predicts: false,
    }));
    Ok(choices)
}

/// The runs whose games can be watched, also those that have no model yet: their first games are of `random`.
pub(super) fn watchable(runs: &[Entry]) -> Vec<RunName> {
    runs.iter().filter(|run| run.facts.is_ok()).map(|run| run.name.clone()).collect()
}

/// A run as visitors choose it.
fn choice(run: &RunName, config: &RunConfig, newest: u32) -> ModelChoice {
    let config = config.of_model(newest);
    ModelChoice {
        run: run.to_string(),
        models: Some([1, newest]),
        size: Some(config.game.size),
        komi: config.game.komi,
        visits: config.search.visits,
        predicts: config.network.ownership || config.network.score,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bytes::Bytes;
    use store::{ModelMetadata, Store};

    use super::*;
    use crate::run_list::RunList;

    /// What visitors of a store can choose.
    fn offered(store: Store) -> Vec<ModelChoice> {
        let (runs, _) = RunList::default().list(&store).expect("a store");
        choices(&Models::new(store), &runs).expect("a store")
    }

    fn names(choices: &[ModelChoice]) -> Vec<&str> {
        choices.iter().map(|choice| &*choice.run).collect()
    }

    #[test]
    fn empty_store_offers_the_demo_and_the_built_in_models() {
        let choices = offered(Store::in_memory().expect("memory"));
        let names: Vec<(&str, Option<usize>)> = choices.iter().map(|choice| (&*choice.run, choice.size)).collect();
        assert_eq!(names, [("9x9-demo", Some(9)), ("uniform", None), ("random", None)]);
        assert_eq!(choices[0].models, Some([1, 1]));
    }

    #[test]
    fn runs_without_models_are_not_offered() {
        let store = Store::in_memory().expect("memory");
        store.run(&"v1".parse().expect("a name")).create(&Preset::Tiny.config()).expect("memory");
        assert_eq!(names(&offered(store)), ["9x9-demo", "uniform", "random"]);
    }

    #[test]
    fn runs_are_watched_before_they_have_models_and_under_the_name_of_the_demo() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path().to_str().expect("UTF-8")).expect("a store");
        let watched = || {
            let (runs, _) = RunList::default().list(&store).expect("a store");
            watchable(&runs).iter().map(RunName::to_string).collect::<Vec<_>>()
        };
        assert_eq!(watched(), [""; 0], "nothing is built in");
        for name in ["9x9-demo", "damaged", "young"] {
            store.run(&name.parse().expect("a name")).create(&Preset::Tiny.config()).expect("a run");
        }
        fs::write(folder.path().join("damaged/run.toml"), "[game").expect("a file");
        assert_eq!(watched(), ["9x9-demo", "young"]);
    }

    #[test]
    fn run_of_the_name_of_the_demo_is_offered_instead_of_it() {
        let (store, config) = (Store::in_memory().expect("memory"), Preset::Tiny.config());
        let run = store.run(&"9x9-demo".parse().expect("a name"));
        run.create(&config).expect("memory");
        for number in [1, 2] {
            let metadata = ModelMetadata::new(run.name(), number, 0, &config);
            run.models().publish(&metadata, Bytes::from_static(b"weights")).expect("memory");
        }
        let choices = offered(store);
        assert_eq!(names(&choices), ["9x9-demo", "uniform", "random"]);
        assert_eq!((choices[0].models, choices[0].size), (Some([1, 2]), Some(config.game.size)));
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
        assert_eq!(names(&offered(store)), ["good", "9x9-demo", "uniform", "random"]);
    }
}
