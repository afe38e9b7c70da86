//! From the name of a player to a player.

use config::{ModelId, Overrides, PlayerId, RunConfig};
use gtp::engines::{Declarations, Engine};
use mcts::{Evaluator, Settings};
use net::{Device, Precision};
use play::{Budget, By, Cached, RandomModel, Side, Uniform};
use store::{Store, StoreError};

use crate::EvaluatorError;

/// A player, ready for any number of threads.
pub struct Player {
    id: PlayerId,
    kind: Kind,
}

enum Kind {
    Model(Searcher),
    Engine(Engine),
}

/// A model together with its search settings.
pub struct Searcher {
    id: ModelId,
    settings: Settings,
    budget: Budget,
    model: Model,
}

enum Model {
    Uniform,
    Random,
    Trained(Box<net::Model>),
}

/// Where players come from.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Where models are.
    pub store: &'a Store,
    /// The run whose games are played.
    pub config: &'a RunConfig,
    /// Programs that may play.
    pub engines: &'a Declarations,
    /// Where networks run.
    pub device: Device,
    /// Positions that a network evaluates at a time.
    pub batch: usize,
}

impl Player {
    /// Opens a player.
    ///
    /// # Errors
    /// There is no such player, or it cannot be used: see [`Searcher::open`] for models.
    pub fn open(source: &Source<'_>, id: &PlayerId) -> Result<Player, EvaluatorError> {
        let kind = match id {
            PlayerId::Model { id, settings } => {
                let Source { store, config, device, batch, .. } = *source;
                Kind::Model(Searcher::open_with(store, config, id, settings, device, batch)?)
            }
            PlayerId::Engine(name) => Kind::Engine(Engine::find(name, source.engines)?),
        };
        Ok(Player { id: id.clone(), kind })
    }

    /// The player's name.
    pub fn id(&self) -> &PlayerId {
        &self.id
    }

    /// What it plays with, if it is no model.
    pub fn engine(&self) -> Option<&Engine> {
        match &self.kind {
            Kind::Engine(engine) => Some(engine),
            Kind::Model(_) => None,
        }
    }

    /// What it plays with, if it is a model.
    pub fn searcher(&self) -> Option<&Searcher> {
        match &self.kind {
            Kind::Model(searcher) => Some(searcher),
            Kind::Engine(_) => None,
        }
    }

    /// The player as a side of a match, where its model, if it has one, is the one at `place`.
    pub(crate) fn side(&self, place: usize) -> Side {
        let by = match &self.kind {
            Kind::Model(Searcher { settings, budget, .. }) => By::Model { place, settings: *settings, budget: *budget },
            Kind::Engine(_) => By::Guest,
        };
        Side { name: self.id.to_string(), by }
    }
}

impl Searcher {
    /// Opens a model for the games of a run. Built-in models search as the run does; trained ones, of whichever run, as
    /// they were published, and evaluate `batch` positions at a time.
    ///
    /// # Errors
    /// There is no such model, its weights are damaged or for another board, or the device cannot be used.
    pub fn open(
        store: &Store,
        config: &RunConfig,
        id: &ModelId,
        device: Device,
        batch: usize,
    ) -> Result<Searcher, EvaluatorError> {
        Searcher::open_with(store, config, id, &Overrides::NONE, device, batch)
    }

    fn open_with(
        store: &Store,
        config: &RunConfig,
        id: &ModelId,
        overrides: &Overrides,
        device: Device,
        batch: usize,
    ) -> Result<Searcher, EvaluatorError> {
        let (search, model) = match id {
            ModelId::Uniform => (config.search.clone(), Model::Uniform),
            ModelId::Random => (config.search.clone(), Model::Random),
            ModelId::Trained { run, number } => {
                let (card, weights) = store.run(run).models().get(*number).map_err(|error| absent(id, error))?;
                if card.size != config.game.size {
                    let (model, found, wanted) = (id.clone(), card.size, config.game.size);
                    return Err(EvaluatorError::OtherBoard { model, found, wanted });
                }
                let model = net::Model::open(&weights, device, Precision::Auto, batch);
                let model =
                    model.map_err(|source| EvaluatorError::Open { model: id.clone(), source: Box::new(source) })?;
                (card.search, Model::Trained(Box::new(model)))
            }
        };
        let published = RunConfig { search, ..config.clone() };
        let wrong = |source| EvaluatorError::Settings { player: format!("{id}{overrides}"), source };
        let RunConfig { search, game, evaluate, .. } = overrides.apply(&published).map_err(wrong)?;
        let budget = Budget { visits: evaluate.visits, leaves: search.leaves };
        Ok(Searcher { id: id.clone(), settings: Settings::new(&search, &game), budget, model })
    }

    /// The model's id.
    pub fn id(&self) -> &ModelId {
        &self.id
    }

    /// How it searches.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Leaves of a game that may wait for the same batch.
    pub fn leaves(&self) -> usize {
        self.budget.leaves
    }

    /// What scores its positions, for one thread, with so many bytes for what it is asked again.
    pub fn evaluator(&self, cache: usize) -> Box<dyn Evaluator> {
        match &self.model {
            Model::Uniform => Box::new(Uniform::new()),
            Model::Random => Box::new(RandomModel::new()),
            Model::Trained(model) => Box::new(Cached::new(model.network(), model.shape().size, cache)),
        }
    }
}

/// Says which model is not there, rather than which file.
fn absent(model: &ModelId, error: StoreError) -> EvaluatorError {
    match error {
        StoreError::NotFound { .. } => EvaluatorError::Missing { model: model.clone(), source: error },
        _ => error.into(),
    }
}
