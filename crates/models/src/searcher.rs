//! A model together with its search settings.

use std::sync::Arc;

use config::{MOST_LEAVES, ModelId, Overrides, RunConfig, Selfplay};
use mcts::{Evaluator, Settings};
use net::Precision;
use play::Budget;

use crate::model::Trained;
use crate::{EvaluationCache, EvaluationCacheOptions, Model, ModelError, ModelSource, Models, Place, WeightsFile};

/// A model together with its search settings.
pub struct Searcher {
    name: String,
    settings: Settings,
    budget: Budget,
    model: Model,
    /// Whether evaluations may outlive the process.
    keeps: bool,
    kept: Option<Arc<EvaluationCache>>,
}

impl Searcher {
    /// Opens a model for the games of a run. Built-in models and files search as the run does; trained ones, of
    /// whichever run, as they were published. A network evaluates `batch` positions at a time.
    ///
    /// # Errors
    /// There is no such model, its weights are damaged or for another board, or the device cannot be used. Inference
    /// servers evaluate models of their stores, and no files.
    pub fn open(
        models: &Models,
        config: &RunConfig,
        model: &ModelSource,
        place: &Place,
        batch: usize,
    ) -> Result<Searcher, ModelError> {
        match model {
            ModelSource::Id(id) => Searcher::open_with(models, config, id, &Overrides::NONE, place, batch),
            ModelSource::File(file) => Searcher::of_file(file, config, place, batch),
        }
    }

    /// The same for a model with an id, with overrides of the search settings, of the precision of inference, which is
    /// otherwise [`Precision::Auto`], and with `evalcache=off` for [`Searcher::keeping`] to keep nothing.
    ///
    /// # Errors
    /// As [`Searcher::open`]; an override that is no setting; a precision that is none or that the device lacks, or any
    /// other than [`Precision::Auto`] of a network on inference servers.
    pub fn open_with(
        models: &Models,
        config: &RunConfig,
        id: &ModelId,
        overrides: &Overrides,
        place: &Place,
        batch: usize,
    ) -> Result<Searcher, ModelError> {
        let name = id.to_string();
        let player = || format!("{id}{overrides}");
        let precision = overrides.precision().map_or(Ok(Precision::Auto), str::parse);
        let precision = precision.map_err(|source| ModelError::Precision { player: player(), source })?;
        if matches!(id, ModelId::Trained { .. }) && !place.has_precision_of(overrides) {
            return Err(ModelError::PrecisionOnServer { player: player() });
        }
        let keeps = overrides.evalcache().is_none();
        if let Some(value) = overrides.evalcache().filter(|&value| value != "off") {
            return Err(ModelError::EvaluationCache { player: player(), value: value.to_owned() });
        }
        let (search, model) = match id {
            ModelId::Uniform => (config.search.clone(), Model::Uniform),
            ModelId::Random => (config.search.clone(), Model::Random),
            ModelId::Trained { run, .. } => {
                let (metadata, model) = Model::trained(&models.run(run)?, id, place, precision, batch)?;
                same_board(&name, metadata.size, config)?;
                (metadata.search, model)
            }
        };
        let published = RunConfig { search, selfplay: for_any_search(&config.selfplay), ..config.clone() };
        let wrong = |source| ModelError::Settings { player: player(), source };
        Ok(Searcher { keeps, ..Searcher::new(name, &overrides.apply(&published).map_err(wrong)?, model) })
    }

    fn of_file(file: &WeightsFile, config: &RunConfig, place: &Place, batch: usize) -> Result<Searcher, ModelError> {
        if place.servers().is_some() {
            return Err(ModelError::FileOnServer { path: file.path().to_owned() });
        }
        let name = file.path().display().to_string();
        same_board(&name, file.shape().size.side(), config)?;
        let devices = place.devices();
        let model = net::Model::new(&file.weights, devices.clone(), Precision::Auto, batch);
        let trained = model.and_then(|model| Trained::new(model, &file.bytes, devices, Precision::Auto));
        let trained = trained.map_err(|source| ModelError::unusable_file(file.path(), source))?;
        Ok(Searcher::new(name, config, Model::Trained(Box::new(trained))))
    }

    fn new(name: String, config: &RunConfig, model: Model) -> Searcher {
        let budget = Budget { visits: config.evaluate.visits, leaves: config.search.leaves };
        Searcher { name, settings: Settings::new(&config.search, &config.game), budget, model, keeps: true, kept: None }
    }

    /// The same with evaluations that outlive the process; built-in models have none, and players with `evalcache=off`.
    /// Where inference servers evaluate, one of them has to respond.
    ///
    /// # Errors
    /// The store of the evaluations cannot be used.
    pub fn keeping(self, options: Option<&EvaluationCacheOptions>) -> Result<Searcher, ModelError> {
        let Some(options) = options.filter(|_| self.keeps) else { return Ok(self) };
        Ok(Searcher { kept: self.model.kept(&self.name, options)?, ..self })
    }

    /// The evaluations that outlive the process, if it keeps any.
    pub fn kept(&self) -> Option<&EvaluationCache> {
        self.kept.as_deref()
    }

    /// The id of the model, or the name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The SHA-256 of the weights that were opened, in hexadecimal digits; `None` for a built-in model, which has none.
    pub fn weights_digest(&self) -> Option<String> {
        Some(self.model.weights_digest()?.to_string())
    }

    /// Its search settings.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The search budget of a move of a match.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// An evaluator for one thread, with so many bytes for its cache.
    pub fn evaluator(&self, cache: usize) -> Box<dyn Evaluator> {
        self.model.evaluator_keeping(cache, self.kept.clone())
    }
}

/// Self-play settings that suit every search. Those of a run are for games of its own models, and no player uses them;
/// checked with the search of another run's model, they would refuse it.
fn for_any_search(selfplay: &Selfplay) -> Selfplay {
    let batch = selfplay.batch.max(MOST_LEAVES);
    Selfplay { choice_moves: 0, full_search_fraction: 1.0, batch, ..selfplay.clone() }
}

fn same_board(model: &str, found: usize, config: &RunConfig) -> Result<(), ModelError> {
    let wanted = config.game.size;
    if found == wanted { Ok(()) } else { Err(ModelError::OtherBoard { model: model.to_owned(), found, wanted }) }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use evalcache::{Steps, Symmetries};
    use net::{Device, Shape, Weights};
    use remote::Priority;
    use runtime::{DeviceArgs, InferenceArgs, ResourceArgs, Stop};
    use sha2::{Digest, Sha256};
    use store::Store;

    use super::*;

    #[test]
    fn demo_searches_as_published_unless_overridden() {
        let models = Models::new(Store::in_memory().unwrap());
        let config = Preset::NineByNine.config();
        let id = models.resolve(&"9x9-demo".parse().unwrap()).unwrap();
        let open = |overrides: &Overrides| {
            Searcher::open_with(&models, &config, &id, overrides, &Device::Cpu.into(), 8).map(|found| found.budget())
        };
        assert_eq!(open(&Overrides::NONE).unwrap().visits, config.evaluate.visits);
        assert_eq!(open(&"visits=7+precision=f32".parse().unwrap()).unwrap().visits, 7);
        assert!(matches!(open(&"precision=f64".parse().unwrap()), Err(ModelError::Precision { .. })));
        assert!(matches!(open(&"evalcache=on".parse().unwrap()), Err(ModelError::EvaluationCache { .. })));
        assert!(matches!(open(&"visitz=7".parse().unwrap()), Err(ModelError::Settings { .. })));
    }

    /// Servers have a precision of their own: the results would be those of a player that did not play.
    #[test]
    fn player_with_a_precision_of_its_own_is_refused_where_servers_evaluate() {
        let models = Models::new(Store::in_memory().unwrap());
        let config = Preset::NineByNine.config();
        let demo = models.resolve(&"9x9-demo".parse().unwrap()).unwrap();
        let devices = DeviceArgs { device: "cpu".to_owned(), threads: Some(1) };
        let inference = InferenceArgs {
            // No connection is needed.
            inference: Some("http://127.0.0.1:1".to_owned()),
            inference_deadline: 250,
            inference_encoding: "f32".to_owned(),
            inference_ca: None,
            inference_cert: None,
            inference_key: None,
            inference_token_file: None,
        };
        let resources = ResourceArgs { devices, cache_mib: 0 };
        let place = Place::open(&resources, &inference, "test", Priority::Interactive, &Stop::never()).unwrap();
        let open = |id: &ModelId, overrides: &str| {
            let overrides = if overrides.is_empty() { Overrides::NONE } else { overrides.parse().unwrap() };
            Searcher::open_with(&models, &config, id, &overrides, &place, 8).map(drop)
        };
        for precision in ["precision=f32", "precision=int16", "precision=bf16", "visits=7+precision=f32"] {
            let error = open(&demo, precision).unwrap_err();
            assert!(matches!(error, ModelError::PrecisionOnServer { .. }), "{precision}: {error}");
        }
        open(&ModelId::Random, "precision=f32").unwrap();
        for allowed in ["", "precision=auto", "visits=7"] {
            open(&demo, allowed).unwrap();
        }
    }

    /// They are of the run, and the search is of a model of another one, or overridden.
    #[test]
    fn search_that_contradicts_self_play_settings_opens() {
        let models = Models::new(Store::in_memory().unwrap());
        let demo = models.resolve(&"9x9-demo".parse().unwrap()).unwrap();
        let open = |settings: &[&str], id: &ModelId, overrides: &Overrides| {
            let config = Preset::NineByNine.with(settings).unwrap();
            Searcher::open_with(&models, &config, id, overrides, &Device::Cpu.into(), 8).map(|found| found.budget())
        };
        // The demo searches with Gumbel and 32 visits.
        let puct = ["search.algorithm=puct", "selfplay.choice_moves=30"];
        assert_eq!(open(&puct, &demo, &Overrides::NONE).unwrap().leaves, 1);
        assert_eq!(open(&puct, &ModelId::Random, &"algorithm=gumbel".parse().unwrap()).unwrap().leaves, 1);
        let fast =
            ["search.phases=[]", "search.visits=40", "selfplay.full_search_fraction=0.25", "selfplay.fast_visits=35"];
        assert_eq!(open(&fast, &demo, &Overrides::NONE).unwrap().leaves, 1);
        let small = ["selfplay.batch=8"];
        assert_eq!(open(&small, &demo, &"leaves=16".parse().unwrap()).unwrap().leaves, 16);
        let too_many = open(&small, &demo, &"leaves=17".parse().unwrap());
        assert!(matches!(too_many, Err(ModelError::Settings { .. })), "the search itself is checked");
    }

    /// A file may be replaced at any time, and its name stays.
    #[test]
    fn digest_is_that_of_the_weights_that_search() {
        let models = Models::new(Store::in_memory().unwrap());
        let config = Preset::NineByNine.config();
        let open = |model: &ModelSource| Searcher::open(&models, &config, model, &Device::Cpu.into(), 8).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("net.safetensors");
        let shape = Shape { blocks: 1, filters: 8, ..Shape::plain(go::Size::new(9).unwrap()) };
        let write = |seed| {
            let bytes = Weights::synthetic(shape, seed).to_bytes();
            std::fs::write(&path, &bytes).unwrap();
            format!("{:x}", Sha256::digest(&bytes))
        };
        let first = write(1);
        let found = ModelSource::File(WeightsFile::read(&path).unwrap());
        assert_ne!(write(2), first);
        let opened = open(&found);
        write(3);
        assert_eq!(opened.weights_digest(), Some(first));

        let demo = "9x9-demo".parse().unwrap();
        let bytes = models.weights(&demo).unwrap().bytes;
        let expected = format!("{:x}", Sha256::digest(&bytes));
        assert_eq!(open(&models.find(&demo).unwrap()).weights_digest(), Some(expected));
        assert_eq!(open(&models.find(&"uniform".parse().unwrap()).unwrap()).weights_digest(), None);
    }

    #[test]
    fn players_without_evalcache_keep_nothing() {
        let models = Models::new(Store::in_memory().unwrap());
        let config = Preset::NineByNine.config();
        let id = models.resolve(&"9x9-demo".parse().unwrap()).unwrap();
        let (steps, symmetries) = (Steps::S2048, Symmetries::Canonical);
        let options = EvaluationCacheOptions { store: Store::in_memory().unwrap(), steps, symmetries, copies: None };
        let keeps = |overrides: &Overrides| {
            let opened = Searcher::open_with(&models, &config, &id, overrides, &Device::Cpu.into(), 8).unwrap();
            opened.keeping(Some(&options)).unwrap().kept().is_some()
        };
        assert!(keeps(&Overrides::NONE));
        assert!(!keeps(&"evalcache=off".parse().unwrap()));
    }
}
