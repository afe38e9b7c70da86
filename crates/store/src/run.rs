//! A run: its repositories, one for each kind of object.

use std::sync::Arc;

use config::RunName;
use object_store::path::Path;

use crate::archives::Archives;
use crate::champions::Champions;
use crate::checkpoints::Checkpoints;
use crate::claims::Claims;
use crate::error::StoreError;
use crate::examples::Examples;
use crate::files::{EXAMPLES, HOLDOUT};
use crate::folder::RunFolder;
use crate::games::Games;
use crate::leases::Leases;
use crate::live::LiveGames;
use crate::logs::Logs;
use crate::marks::Marks;
use crate::matches::Matches;
use crate::models::Models;
use crate::pairings::Pairings;
use crate::pruning::Pruning;
use crate::quarantine::Quarantine;
use crate::ratings::Ratings;
use crate::resign::ResignThresholds;
use crate::retirements::Retirements;
use crate::shards::Shards;
use crate::store::Store;
use crate::unfinished::UnfinishedGames;

/// One run in a store. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Run(Arc<Repositories>);

/// The fields of `Repositories`, and the methods of `Run` that hand them out.
macro_rules! repositories {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {
        #[derive(Debug)]
        struct Repositories {
            at: RunFolder,
            $($name: $type,)*
        }

        impl Run {
            $($(#[$doc])* pub fn $name(&self) -> &$type {
                &self.0.$name
            })*
        }
    };
}

repositories! {
    /// The games of self-play.
    games: Games,
    /// The examples to train on.
    examples: Examples,
    /// The examples of holdout games.
    holdout: Examples,
    /// The archives of games.
    archives: Archives,
    /// The deletion of old objects, and of what killed writers left behind.
    pruning: Pruning,
    /// The damaged files that were moved out of the way.
    quarantine: Quarantine,
    /// The handed-off games.
    unfinished: UnfinishedGames,
    /// The models.
    models: Models,
    /// The shards: what each model is trained on.
    shards: Shards,
    /// The checkpoints of training.
    checkpoints: Checkpoints,
    /// The logs of training.
    logs: Logs,
    /// The resignation thresholds.
    resign: ResignThresholds,
    /// The results of matches.
    matches: Matches,
    /// The ratings fitted to them.
    ratings: Ratings,
    /// The games that evaluators are playing.
    claims: Claims,
    /// The pairs that were chosen to play.
    pairings: Pairings,
    /// The models that passed a promotion test.
    champions: Champions,
    /// The models that were retired.
    retirements: Retirements,
    /// The leases of names.
    leases: Leases,
    /// The games that viewers see as they are played.
    live: LiveGames,
}

impl Run {
    pub(crate) fn new(store: Store, name: RunName) -> Run {
        let at = RunFolder { store, name };
        let archives = Archives::new(at.clone(), Marks::new(at.clone()));
        let games = Games::new(at.clone(), archives.clone());
        Run(Arc::new(Repositories {
            examples: Examples { folder: EXAMPLES, archives: archives.clone() },
            holdout: Examples { folder: HOLDOUT, archives: archives.clone() },
            pruning: Pruning::new(at.clone(), archives.clone()),
            quarantine: Quarantine { at: at.clone() },
            unfinished: UnfinishedGames::new(at.clone(), games.clone()),
            models: Models::new(at.clone()),
            shards: Shards { at: at.clone() },
            checkpoints: Checkpoints { at: at.clone() },
            logs: Logs { at: at.clone() },
            resign: ResignThresholds::new(at.clone()),
            matches: Matches::new(at.clone()),
            ratings: Ratings::new(at.clone()),
            claims: Claims::new(at.clone()),
            pairings: Pairings { at: at.clone() },
            champions: Champions { at: at.clone() },
            retirements: Retirements { at: at.clone() },
            leases: Leases { at: at.clone() },
            live: LiveGames { at: at.clone() },
            archives,
            games,
            at,
        }))
    }

    /// The name of the run.
    pub fn name(&self) -> &RunName {
        &self.0.at.name
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        &self.0.at.store
    }

    pub(crate) fn folder(&self) -> &RunFolder {
        &self.0.at
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
