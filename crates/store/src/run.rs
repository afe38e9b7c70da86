//! A run: its repositories, one for each kind of object.

use std::sync::Arc;

use config::RunName;
use object_store::path::Path;

use crate::archives::Archives;
use crate::checkpoints::Checkpoints;
use crate::claims::Claims;
use crate::error::StoreError;
use crate::examples::Examples;
use crate::files::{EXAMPLES, HOLDOUT};
use crate::folder::RunFolder;
use crate::games::Games;
use crate::in_progress::InProgress;
use crate::leases::Leases;
use crate::logs::Logs;
use crate::matches::Matches;
use crate::models::Models;
use crate::pairings::{Engines, Pairings};
use crate::promotions::{Promotions, Retirements};
use crate::quarantine::Quarantine;
use crate::ratings::Ratings;
use crate::resign::ResignThresholds;
use crate::shards::Shards;
use crate::store::Store;

/// One run in a store. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Run(Arc<Repositories>);

#[derive(Debug)]
struct Repositories {
    at: RunFolder,
    games: Arc<Games>,
    examples: Examples,
    holdout: Examples,
    archives: Arc<Archives>,
    quarantine: Quarantine,
    in_progress: InProgress,
    models: Models,
    shards: Shards,
    checkpoints: Checkpoints,
    logs: Logs,
    resign: ResignThresholds,
    matches: Matches,
    ratings: Ratings,
    claims: Claims,
    pairings: Pairings,
    engines: Engines,
    promotions: Promotions,
    retirements: Retirements,
    leases: Leases,
}

impl Run {
    pub(crate) fn new(store: Store, name: RunName) -> Run {
        let at = RunFolder::new(store, name);
        let archives = Arc::new(Archives::new(at.clone()));
        let games = Arc::new(Games::new(at.clone(), archives.clone()));
        Run(Arc::new(Repositories {
            examples: Examples::new(EXAMPLES, archives.clone()),
            holdout: Examples::new(HOLDOUT, archives.clone()),
            in_progress: InProgress::new(at.clone(), games.clone()),
            quarantine: Quarantine::new(at.clone()),
            models: Models::new(at.clone()),
            shards: Shards::new(at.clone()),
            checkpoints: Checkpoints::new(at.clone()),
            logs: Logs::new(at.clone()),
            resign: ResignThresholds::new(at.clone()),
            matches: Matches::new(at.clone()),
            ratings: Ratings::new(at.clone()),
            claims: Claims::new(at.clone()),
            pairings: Pairings::new(at.clone()),
            engines: Engines::new(at.clone()),
            promotions: Promotions::new(at.clone()),
            retirements: Retirements::new(at.clone()),
            leases: Leases::new(at.clone()),
            archives,
            games,
            at,
        }))
    }

    /// The name of the run.
    pub fn name(&self) -> &RunName {
        self.0.at.name()
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        self.0.at.store()
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        &self.0.at
    }

    /// The games of self-play.
    pub fn games(&self) -> &Games {
        &self.0.games
    }

    /// The examples to train on.
    pub fn examples(&self) -> &Examples {
        &self.0.examples
    }

    /// The examples of holdout games.
    pub fn holdout(&self) -> &Examples {
        &self.0.holdout
    }

    /// The archives of games.
    pub fn archives(&self) -> &Archives {
        &self.0.archives
    }

    /// The damaged files that were moved out of the way.
    pub fn quarantine(&self) -> &Quarantine {
        &self.0.quarantine
    }

    /// The games that were left before their end.
    pub fn in_progress(&self) -> &InProgress {
        &self.0.in_progress
    }

    /// The models.
    pub fn models(&self) -> &Models {
        &self.0.models
    }

    /// The shards: what each model is trained on.
    pub fn shards(&self) -> &Shards {
        &self.0.shards
    }

    /// The checkpoints of training.
    pub fn checkpoints(&self) -> &Checkpoints {
        &self.0.checkpoints
    }

    /// The logs of training.
    pub fn logs(&self) -> &Logs {
        &self.0.logs
    }

    /// The resignation thresholds.
    pub fn resign(&self) -> &ResignThresholds {
        &self.0.resign
    }

    /// The results of matches.
    pub fn matches(&self) -> &Matches {
        &self.0.matches
    }

    /// The ratings fitted to them.
    pub fn ratings(&self) -> &Ratings {
        &self.0.ratings
    }

    /// The games that evaluators are playing.
    pub fn claims(&self) -> &Claims {
        &self.0.claims
    }

    /// The pairs that were chosen to play.
    pub fn pairings(&self) -> &Pairings {
        &self.0.pairings
    }

    /// The other programs that play matches.
    pub fn engines(&self) -> &Engines {
        &self.0.engines
    }

    /// The models that passed a promotion test.
    pub fn promotions(&self) -> &Promotions {
        &self.0.promotions
    }

    /// The models that were retired.
    pub fn retirements(&self) -> &Retirements {
        &self.0.retirements
    }

    /// The leases of names.
    pub fn leases(&self) -> &Leases {
        &self.0.leases
    }
}

impl Store {
    /// A run in this store, whether it exists or not.
    pub fn run(&self, name: &RunName) -> Run {
        Run::new(self.clone(), name.clone())
    }

    /// The runs that exist, in order of name.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn runs(&self) -> Result<Vec<RunName>, StoreError> {
        let mut runs = Vec::new();
        for name in self.folders(&Path::default())?.iter().filter_map(|folder| folder.parse::<RunName>().ok()) {
            if self.run(&name).exists()? {
                runs.push(name);
            }
        }
        Ok(runs)
    }
}
