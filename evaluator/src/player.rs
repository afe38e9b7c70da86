//! From the name of a player to a player.

use config::{PlayerId, RunConfig};
use gtp::engines::{Engine, EngineSpecs};
use models::{EvaluationCacheOptions, Models, Place, Searcher};
use play::{By, Side};

use crate::EvaluatorError;

/// A player, ready for any number of threads.
pub(crate) struct Player {
    id: PlayerId,
    kind: Kind,
}

enum Kind {
    Model(Searcher),
    Engine(Engine),
}

/// Where players come from.
#[derive(Clone, Copy)]
pub(crate) struct PlayerSource<'a> {
    /// Where models are.
    pub models: &'a Models,
    /// The run whose games are played.
    pub config: &'a RunConfig,
    /// Programs that may play.
    pub engines: &'a EngineSpecs,
    /// Where networks run.
    pub place: &'a Place,
    /// Positions that a network evaluates at a time.
    pub batch: usize,
    /// Where evaluations outlive the process, if they do.
    pub evaluations: Option<&'a EvaluationCacheOptions>,
}

impl Player {
    /// Opens a player.
    ///
    /// # Errors
    /// There is no such player, or it cannot be used: see [`Searcher::open`] for models.
    pub(crate) fn open(source: &PlayerSource<'_>, id: &PlayerId) -> Result<Player, EvaluatorError> {
        let kind = match id {
            PlayerId::Model { id, settings } => {
                let PlayerSource { models, config, place, batch, evaluations, .. } = *source;
                let searcher = Searcher::open_with(models, config, id, settings, place, batch)?;
                Kind::Model(searcher.keeping(evaluations)?)
            }
            PlayerId::Engine(name) => Kind::Engine(Engine::find(name, source.engines)?),
        };
        Ok(Player { id: id.clone(), kind })
    }

    /// The player's name.
    pub(crate) fn id(&self) -> &PlayerId {
        &self.id
    }

    /// What it plays with, if it is no model.
    pub(crate) fn engine(&self) -> Option<&Engine> {
        match &self.kind {
            Kind::Engine(engine) => Some(engine),
            Kind::Model(_) => None,
        }
    }

    /// What it plays with, if it is a model.
    pub(crate) fn searcher(&self) -> Option<&Searcher> {
        match &self.kind {
            Kind::Model(searcher) => Some(searcher),
            Kind::Engine(_) => None,
        }
    }

    /// The player as a side of a match, where its model, if it has one, is the one at this index of the list of
    /// [`play::run`].
    pub(crate) fn side(&self, model: usize) -> Side {
        let by = match &self.kind {
            Kind::Model(searcher) => By::Model { model, settings: searcher.settings(), budget: searcher.budget() },
            Kind::Engine(_) => By::ExternalPlayer,
        };
        Side { name: self.id.to_string(), by }
    }
}
