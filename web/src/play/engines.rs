//! Models that are open, each with an engine that searches for all visitors.

mod comparison;

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread;

use analysis::{AnalysisOptions, BATCH, Engine};
use config::{ModelId, ModelIdError, ModelRef};
use cpu::CpuError;
use go::{Scoring, Size, SizeError};
use mcts::Evaluator;
use models::{EvaluationCacheOptions, ModelError, ModelName, ModelSource, Models, Place, Searcher, shape_of};
use net::{Inputs, Shape};
use runtime::Stop;

use comparison::{Comparison, Comparisons};

use super::files::OfferedFile;
use super::predictor::Predictor;

/// Bytes of the cache of an evaluator that estimates dead stones.
const SMALL_CACHE: usize = 1 << 20;

/// How models are opened.
#[derive(Clone, Debug)]
pub(super) struct EnginesOptions {
    /// Where networks run.
    pub(super) place: Place,
    /// Threads of each model.
    pub(super) threads: usize,
    /// Bytes of the cache of each thread.
    pub(super) cache: usize,
    /// Evaluations that outlive the process.
    pub(super) kept: Option<EvaluationCacheOptions>,
    /// Models that are open at a time.
    pub(super) most: usize,
    /// Files that visitors can choose.
    pub(super) files: Vec<OfferedFile>,
    /// Ends the waits of searches for inference servers.
    pub(super) stop: Stop,
}

/// The models that are open.
pub(super) struct Engines {
    options: EnginesOptions,
    comparisons: Comparisons,
    /// `None` when the server stops.
    open: Mutex<Option<OpenModels>>,
}

struct OpenModels {
    models: Arc<Models>,
    /// The least recently used first.
    places: Vec<Arc<ModelPlace>>,
    /// The last versions of models that were open.
    versions: HashMap<String, String>,
}

/// The place of a model. Who opens it holds its lock meanwhile.
pub(super) struct ModelPlace {
    name: String,
    /// `None` before it is open, and when it could not be opened.
    model: Mutex<Option<Arc<OpenModel>>>,
}

impl ModelPlace {
    pub(super) fn lock(&self) -> MutexGuard<'_, Option<Arc<OpenModel>>> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Result<MutexGuard<'_, Option<Arc<OpenModel>>>, EnginesError> {
        match self.model.try_lock() {
            Ok(model) => Ok(model),
            Err(TryLockError::Poisoned(error)) => Ok(error.into_inner()),
            Err(TryLockError::WouldBlock) => Err(EnginesError::Opening { model: self.name.clone() }),
        }
    }
}

impl OpenModels {
    /// The place of a model, now the last; where there are too many it replaces one that is not in use.
    fn place(&mut self, name: &str, most: usize) -> Result<Arc<ModelPlace>, EnginesError> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        if self.places.len() >= most {
            // Without other holders of the place its model is not being opened.
            let is_idle = |place: &Arc<ModelPlace>| {
                Arc::strong_count(place) == 1 && place.lock().as_ref().is_none_or(|model| Arc::strong_count(model) == 1)
            };
            let idle = self.places.iter().position(is_idle).ok_or(EnginesError::Busy { most })?;
            self.places.remove(idle);
        }
        let place = Arc::new(ModelPlace { name: name.to_owned(), model: Mutex::default() });
        self.places.push(Arc::clone(&place));
        Ok(place)
    }

    /// The place that a model has, now the last.
    fn known(&mut self, name: &str) -> Option<Arc<ModelPlace>> {
        let known = self.places.iter().position(|place| place.name == name)?;
        self.places[known..].rotate_left(1);
        self.places.last().cloned()
    }
}

/// A model with its engine.
pub(super) struct OpenModel {
    /// Its id.
    pub(super) name: String,
    /// What tells it from others that had the name before, or have it after it; see [`Models::version`].
    pub(super) version: Option<String>,
    /// Whether it is still that of its name.
    comparison: Arc<Comparison>,
    /// The only board; `None` for models that play on any.
    size: Option<Size>,
    /// How its games end.
    pub(super) scoring: Scoring,
    /// Its input planes.
    pub(super) inputs: Inputs,
    /// The seed of draws.
    pub(super) seed: u64,
    /// Its auxiliary heads, once they were wanted; `None` when it has none.
    predictor: OnceLock<Option<Predictor>>,
    /// Held by the request that reads the heads.
    reading: Mutex<()>,
    /// `None` only while it is closed.
    parts: Option<(Engine, Arc<Searcher>)>,
}

/// A model that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum EnginesError {
    /// No name of a model.
    #[error(transparent)]
    Name(#[from] ModelIdError),
    /// It cannot be opened.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// As many models are in use as may be open.
    #[error("all models that may be open ({most}) are in use; try again in a minute")]
    Busy {
        /// Models that may be open.
        most: usize,
    },
    /// Another request opens it, or reads its auxiliary heads; or it was replaced meanwhile.
    #[error("{model} is being opened; try again in a minute")]
    Opening {
        /// The model.
        model: String,
    },
    /// The server stops.
    #[error("the server stops; try again when it is back")]
    Stopped,
    /// Its configuration has no board.
    #[error("{model}: {source}")]
    Size {
        /// The model.
        model: String,
        /// What is wrong with it.
        source: SizeError,
    },
    /// It is for another board.
    #[error("{model} plays on {wanted}x{wanted}, and the board is {found}x{found}; choose a model for this board")]
    Board {
        /// The model.
        model: String,
        /// Its board.
        wanted: Size,
        /// The board of the game.
        found: Size,
    },
    /// Its weights are none.
    #[error("{model}: {source}")]
    Weights {
        /// The model.
        model: String,
        /// What is wrong with them.
        source: CpuError,
    },
    /// There can be no thread.
    #[error("cannot start a thread for {model}: {source}")]
    Thread {
        /// The model.
        model: String,
        /// Why.
        source: io::Error,
    },
}

impl Engines {
    /// No model is open yet.
    pub(super) fn new(models: Models, options: EnginesOptions) -> Engines {
        let open = OpenModels { models: Arc::new(models), places: Vec::new(), versions: HashMap::new() };
        Engines { options, comparisons: Comparisons::DEFAULT, open: Mutex::new(Some(open)) }
    }

    /// Files that visitors can choose.
    pub(super) fn files(&self) -> &[OfferedFile] {
        &self.options.files
    }

    /// The models that can be opened.
    ///
    /// # Errors
    /// The server stops.
    pub(super) fn models(&self) -> Result<Arc<Models>, EnginesError> {
        self.lock().as_ref().map(|open| Arc::clone(&open.models)).ok_or(EnginesError::Stopped)
    }

    /// The model of this name for a board of this size, if it is open. It reads nothing and never waits: whether the
    /// name still means it is found out behind the caller, and counts at the next use.
    pub(super) fn already_open(&self, name: &str, size: Size) -> Option<Arc<OpenModel>> {
        let model_name = self.named(name).ok()?;
        let name = match &model_name {
            ModelName::Model(ModelRef::Exact(id)) => id.to_string(),
            ModelName::Model(ModelRef::Newest(_)) => return None,
            ModelName::File(_) => name.to_owned(),
        };
        let models = self.models().ok()?;
        let place = self.lock().as_mut()?.known(&name)?;
        let found = place.model.try_lock().ok()?.clone()?;
        if found.comparison.is_replaced() {
            return None;
        }
        self.compare(models, model_name, &found);
        found.check(size).is_ok().then_some(found)
    }

    /// The model of this name for a board of this size. Opening one takes as long as its weights are read; meanwhile
    /// other models are handed out and opened. One that was replaced, as in a run that is begun again, is opened anew.
    ///
    /// # Errors
    /// There is no such model, it cannot be opened, or it is for another board; another request opens it; too many
    /// others are in use.
    pub(super) fn open(&self, name: &str, size: Size) -> Result<Arc<OpenModel>, EnginesError> {
        let models = self.models()?;
        let (name, model_name) = match self.named(name)? {
            ModelName::Model(model) => {
                let id = models.resolve(&model)?;
                (id.to_string(), ModelName::Model(ModelRef::Exact(id)))
            }
            file @ ModelName::File(_) => (name.to_owned(), file),
        };
        let place = self.lock().as_mut().ok_or(EnginesError::Stopped)?.place(&name, self.options.most)?;
        // Two visitors who want the same model open it once, and the second need not occupy a thread meanwhile.
        let mut model = place.try_lock()?;
        let found = match model.clone().filter(|model| !model.comparison.is_replaced()) {
            Some(found) => found,
            None => {
                let opened = self.load(&models, &name, &model_name);
                if let (Err(_), Some(known)) = (&opened, &*model) {
                    known.comparison.stays(self.comparisons.away);
                }
                let opened = Arc::new(opened?);
                if model.replace(Arc::clone(&opened)).is_some() {
                    tracing::info!(model = %name, "model replaced");
                }
                if let (Some(open), Some(version)) = (self.lock().as_mut(), &opened.version) {
                    open.versions.insert(name, version.clone());
                }
                opened
            }
        };
        drop(model);
        self.compare(models, model_name, &found);
        found.check(size)?;
        Ok(found)
    }

    /// As [`Engines::open`], with the auxiliary heads of the model. Their weights are read for the first such request.
    ///
    /// # Errors
    /// As [`Engines::open`]; the weights cannot be read, or another request reads them.
    pub(super) fn open_with_heads(&self, name: &str, size: Size) -> Result<Arc<OpenModel>, EnginesError> {
        let model = self.open(name, size)?;
        self.read_heads(&model)?;
        Ok(model)
    }

    fn read_heads(&self, model: &OpenModel) -> Result<(), EnginesError> {
        let name = &model.name;
        // One request reads them, and the others need not occupy threads meanwhile.
        let _reading = match model.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Err(EnginesError::Opening { model: name.clone() }),
        };
        if !model.has_heads_read() {
            let models = self.models()?;
            let model_name = self.named(name)?;
            let weights = models.find(&model_name)?.weights(&models)?;
            // Heads of another model do not belong to this tower. It is opened anew with the next request.
            if models.version(&model_name)? != model.version {
                model.comparison.replaced();
                return Err(EnginesError::Opening { model: name.clone() });
            }
            let read = Predictor::read(&weights);
            let read = read.map_err(|source| EnginesError::Weights { model: name.clone(), source })?;
            // Nothing else sets them meanwhile.
            let _ = model.predictor.set(read);
        }
        Ok(())
    }

    /// The version of a model when it was opened last; `None` if it never was, and for built-in models.
    pub(super) fn version(&self, name: &str) -> Option<String> {
        self.lock().as_ref()?.versions.get(name).cloned()
    }

    /// Finds out, behind the caller, whether another model has the name of an open one. Built-in models never change.
    fn compare(&self, models: Arc<Models>, name: ModelName, model: &OpenModel) {
        if let Some(version) = model.version.clone() {
            model.comparison.begin(self.comparisons, version, move || models.version(&name));
        }
    }

    /// Closes all models, and waits for their threads and for evaluations that are published. It may not be called by
    /// an async thread.
    pub(super) fn close(&self) {
        self.options.stop.request();
        let Some(OpenModels { places, .. }) = self.lock().take() else { return };
        let models = places.iter().filter_map(|place| place.lock().take());
        models.filter_map(Arc::into_inner).for_each(|mut model| drop(model.parts.take()));
    }

    /// The place of a model, which is not open.
    #[cfg(test)]
    pub(super) fn place(&self, name: &str) -> Arc<ModelPlace> {
        self.lock().as_mut().and_then(|open| open.place(name, self.options.most).ok()).expect("there is a place")
    }

    fn lock(&self) -> MutexGuard<'_, Option<OpenModels>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The meaning of a name that a visitor chose. Only the operator names files by their paths.
    fn named(&self, name: &str) -> Result<ModelName, EnginesError> {
        match self.options.files.iter().find(|file| file.name == name) {
            Some(file) => Ok(ModelName::File(file.path.clone())),
            None => Ok(ModelName::Model(name.parse()?)),
        }
    }

    fn load(&self, models: &Models, name: &str, model_name: &ModelName) -> Result<OpenModel, EnginesError> {
        // Before the weights, so that others that come meanwhile are noticed.
        let version = models.version(model_name)?;
        let comparison = Arc::new(Comparison::new(self.comparisons.every));
        let model = models.find(model_name)?;
        let config = models.configuration(&model, None, &[])?;
        let searcher = Searcher::open(models, &config, &model, &self.options.place, BATCH)?;
        let searcher = Arc::new(searcher.keeping(self.options.kept.as_ref())?);
        let options = AnalysisOptions::new(searcher.settings(), searcher.budget(), self.options.threads, config.seed);
        let (evaluators, cache) = (Arc::clone(&searcher), self.options.cache);
        let engine = Engine::start(options, move || evaluators.evaluator(cache));
        let engine = engine.map_err(|source| EnginesError::Thread { model: name.to_owned(), source })?;
        let shape = match &model {
            ModelSource::Id(ModelId::Trained { run, number }) => {
                let metadata = models.run(run)?.models().metadata(*number).map_err(ModelError::from)?;
                shape_of(&metadata)
            }
            ModelSource::Id(ModelId::Uniform | ModelId::Random) => Ok(Shape::new(&config.game, &config.network)),
            ModelSource::File(file) => Ok(file.shape()),
        };
        let shape = shape.map_err(|source| EnginesError::Size { model: name.to_owned(), source })?;
        let Shape { size, inputs, ownership, score, .. } = shape;
        let predictor = OnceLock::new();
        if !(ownership || score) || model.is_built_in() {
            let _ = predictor.set(None);
        }
        tracing::info!(model = name, "model opened");
        Ok(OpenModel {
            name: name.to_owned(),
            version,
            comparison,
            size: (!model.is_built_in()).then_some(size),
            scoring: config.game.scoring,
            inputs,
            seed: config.seed,
            predictor,
            reading: Mutex::default(),
            parts: Some((engine, searcher)),
        })
    }
}

impl OpenModel {
    /// Its engine.
    pub(super) fn engine(&self) -> &Engine {
        &self.parts().0
    }

    /// An evaluator besides those of the engine.
    pub(super) fn evaluator(&self) -> Box<dyn Evaluator> {
        self.parts().1.evaluator(SMALL_CACHE)
    }

    /// Whether [`OpenModel::predictor`] is known.
    pub(super) fn has_heads_read(&self) -> bool {
        self.predictor.get().is_some()
    }

    /// Its auxiliary heads; `None` when it has none, or before they are read.
    pub(super) fn predictor(&self) -> Option<&Predictor> {
        self.predictor.get().and_then(Option::as_ref)
    }

    /// A request that reads the auxiliary heads for as long as it holds this.
    #[cfg(test)]
    pub(super) fn heads_read_by_another(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().expect("nothing panics with it")
    }

    fn parts(&self) -> &(Engine, Arc<Searcher>) {
        self.parts.as_ref().expect("they are only taken when nothing has the model any more")
    }

    fn check(&self, found: Size) -> Result<(), EnginesError> {
        match self.size {
            Some(wanted) if wanted != found => Err(EnginesError::Board { model: self.name.clone(), wanted, found }),
            _ => Ok(()),
        }
    }
}

impl Drop for OpenModel {
    fn drop(&mut self) {
        // An engine waits for its threads when it is dropped, and the last who wanted the model may be one of them.
        let Some(parts) = self.parts.take() else { return };
        if let Err(error) = thread::Builder::new().name("close-model".to_owned()).spawn(move || drop(parts)) {
            tracing::error!(%error, "cannot start a thread to close a model");
        }
    }
}

#[cfg(test)]
mod tests;
