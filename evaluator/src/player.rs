//! From the name of a model to a player.

use config::{ModelId, RunConfig};
use mcts::{Evaluate, Settings};
use net::{Device, Precision};
use play::{RandomModel, Side, Uniform};
use store::{Store, StoreError};

use crate::EvaluatorError;

/// A model together with the search settings it was published with, ready for any number of threads.
pub struct Player {
    id: ModelId,
    settings: Settings,
    leaves: usize,
    model: Model,
}

enum Model {
    Uniform,
    Random,
    Trained(Box<net::Model>),
}

impl Player {
    /// Opens a player for the games of a run. Built-in models search as the run does; trained ones, of whichever run,
    /// as they were published, and evaluate `batch` positions at a time.
    ///
    /// # Errors
    /// There is no such model, its weights are damaged or for another board, or the device cannot be used.
    pub fn open(
        store: &Store,
        config: &RunConfig,
        id: &ModelId,
        device: Device,
        batch: usize,
    ) -> Result<Player, EvaluatorError> {
        let (search, model) = match id {
            ModelId::Uniform => (config.search.clone(), Model::Uniform),
            ModelId::Random => (config.search.clone(), Model::Random),
            ModelId::Trained { run, number } => {
                let (card, weights) = store.run(run).model(*number).map_err(|error| absent(id, error))?;
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
        let settings = Settings::new(&search, &config.game);
        Ok(Player { id: id.clone(), settings, leaves: search.leaves, model })
    }

    /// The model's id.
    pub fn id(&self) -> &ModelId {
        &self.id
    }

    /// The player as a side of a match, where its model is the one at `place`.
    pub(crate) fn side(&self, place: usize) -> Side {
        Side { name: self.id.to_string(), model: place, settings: self.settings, leaves: self.leaves }
    }

    /// How the player searches.
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Leaves of a game that may wait for the same batch.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// What scores the player's positions, for one thread, with so many bytes for what it is asked again.
    pub fn evaluator(&self, cache: usize) -> Box<dyn Evaluate> {
        match &self.model {
            Model::Uniform => Box::new(Uniform::new()),
            Model::Random => Box::new(RandomModel::new()),
            Model::Trained(model) => Box::new(model.network(cache)),
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
