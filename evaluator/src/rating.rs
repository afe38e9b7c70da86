//! A run as its matches show it: results, ratings, and the models that take part.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use config::{ModelId, PlayerId, PlayerRef, RunConfig, RunName};
use models::{ModelError, Models};
use ratings::pairing;
use ratings::{PairResults, PlayerScore, Prior, RatingError, Ratings};
use record::GameSummary;
use store::{Run, Stem};

use crate::EvaluatorError;
use crate::pool::Pool;
use crate::rate::{self, AnchorChoice, RateError};
use crate::table::Table;

/// A run with its results. No player is open, so that reading, rating and retiring need no device.
pub struct RatedRun {
    models: Models,
    pub(crate) run: Run,
    config: RunConfig,
    /// Whether retired models are shown, paired and tested.
    including_retired: bool,
    /// The results of these files.
    pool: Mutex<Option<(Vec<Stem>, Arc<Pool>)>>,
}

impl RatedRun {
    /// A run of a store, or the demo's run, which is in memory.
    ///
    /// # Errors
    /// The run does not exist, or the store cannot be read.
    pub fn open(models: Models, name: &RunName) -> Result<RatedRun, EvaluatorError> {
        let run = models.run(name)?;
        let config = run.config()?.ok_or_else(|| ModelError::no_run(&run))?;
        Ok(RatedRun { models, run, config, including_retired: false, pool: Mutex::default() })
    }

    /// The same run with retired models in its tables, reports, pairings and promotion tests.
    #[must_use]
    pub(crate) fn including_retired(self) -> RatedRun {
        RatedRun { including_retired: true, ..self }
    }

    /// The run in its store.
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// The configuration of the run.
    pub(crate) fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The models that players can have.
    pub(crate) fn models(&self) -> &Models {
        &self.models
    }

    /// The player that is meant: the named one, or the newest model of the named run.
    ///
    /// # Errors
    /// The run has no model yet, or the store cannot be read.
    pub(crate) fn resolve(&self, player: &PlayerRef) -> Result<PlayerId, EvaluatorError> {
        match player {
            PlayerRef::Exact(id) => Ok(id.clone()),
            PlayerRef::Newest(run, settings) => {
                let id = self.models.resolve(&config::ModelRef::Newest(run.clone()))?;
                Ok(PlayerId::Model { id, settings: settings.clone() })
            }
        }
    }

    /// The results of all matches of the run. Where no file of them is new, the matches are only listed.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn pool(&self) -> Result<Arc<Pool>, EvaluatorError> {
        let files = self.run.matches().files()?;
        let mut known = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, pool)) = &*known
            && *of == files
        {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(Pool::new(self.run.matches().all()?));
        *known = Some((files, Arc::clone(&pool)));
        Ok(pool)
    }

    /// How the first of two players has done against the other so far.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn score(&self, [one, other]: [&PlayerId; 2]) -> Result<PlayerScore, EvaluatorError> {
        Ok(self.pool()?.score(one, other))
    }

    /// The models of the run that play matches, oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn paired_models(&self) -> Result<Vec<ModelId>, EvaluatorError> {
        let unpaired = self.unpaired()?;
        let paired = self.run.models().list()?.into_iter().filter(|number| !unpaired.contains(number));
        Ok(paired.map(|number| self.run.name().model(number)).collect())
    }

    /// The models that a new one meets, nearest first: of the models that are measured (`evaluate.every`), those at
    /// Fibonacci's distances before it that exist and play matches, and `random` where the run is not so old.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn ancestors(&self, player: &PlayerId) -> Result<Vec<ModelId>, EvaluatorError> {
        let PlayerId::Model { id: ModelId::Trained { run, number }, .. } = player else { return Ok(Vec::new()) };
        let mut older = self.models.run(run)?.models().list()?;
        if run == self.run.name() {
            let unpaired = self.unpaired()?;
            older.retain(|number| !unpaired.contains(number));
        }
        let known = measured_before(*number, self.config.evaluate.every).filter(|at| *at == 0 || older.contains(at));
        Ok(known.map(|at| if at == 0 { ModelId::Random } else { run.model(at) }).collect())
    }

    /// The models that tables, reports, pairings and promotion tests leave out: the retired ones, unless they are
    /// included.
    pub(crate) fn hidden(&self) -> Result<BTreeSet<u32>, EvaluatorError> {
        if self.including_retired { Ok(BTreeSet::new()) } else { Ok(self.run.retirements().retired()?) }
    }

    /// The models that play no matches: the retired ones; where these are included, those without weights.
    pub(crate) fn unpaired(&self) -> Result<BTreeSet<u32>, EvaluatorError> {
        let mut unpaired = BTreeSet::new();
        for number in self.run.retirements().retired()? {
            // Only retired models lose their weights.
            if !self.including_retired || self.run.models().weights_are_deleted(number)? {
                unpaired.insert(number);
            }
        }
        Ok(unpaired)
    }

    /// By player of the results: whether it is a hidden model of the run, with whatever settings.
    pub(crate) fn hidden_players(&self, results: &PairResults) -> Result<Vec<bool>, EvaluatorError> {
        let hidden = self.hidden()?;
        let number = |player: &String| facts::players_model(self.run.name(), player);
        Ok(results
            .players()
            .iter()
            .map(|player| number(player).is_some_and(|number| hidden.contains(&number)))
            .collect())
    }

    /// By player of the results: the number of a model of the run.
    pub(crate) fn ages(&self, results: &PairResults) -> Vec<Option<u32>> {
        results.players().iter().map(|player| facts::own_model(self.run.name(), player)).collect()
    }

    /// The model of this number; `random` is number 0.
    pub(crate) fn numbered(&self, number: u32) -> ModelId {
        if number == 0 { ModelId::Random } else { self.run.name().model(number) }
    }

    /// The number of a player that is a model of this run.
    pub(crate) fn number(&self, id: &PlayerId) -> Option<u32> {
        facts::players_model(self.run.name(), &id.to_string())
    }

    /// Fits ratings under the prior of a run.
    pub(crate) fn fit(
        &self,
        results: &PairResults,
        change: impl Fn(Prior) -> Prior,
    ) -> Result<Ratings, EvaluatorError> {
        let (ratings, step) = Ratings::of_runs(results, change).map_err(|source| self.unrated(source))?;
        tracing::debug!(players = results.players().len(), step, "rated");
        Ok(ratings)
    }

    /// Rates every player with results, publishes the ratings if they are new, and returns them as a table.
    ///
    /// # Errors
    /// The store cannot be used, or the results cannot be rated.
    pub(crate) fn rate(&self) -> Result<Table, EvaluatorError> {
        let table = self.rate_with(&[], &[])?;
        let rows = table.rows();
        let stored = match self.run.ratings().newest() {
            // The next file takes its place: ratings follow from the results.
            Err(error) if error.is_skippable() => {
                tracing::warn!(%error, "the stored ratings cannot be read; publishing them again");
                None
            }
            stored => stored?,
        };
        if !rows.is_empty() && stored.as_deref() != Some(rows) {
            self.run.ratings().publish(rows)?;
        }
        Ok(table)
    }

    /// As [`RatedRun::rate`], for commands that show a run, which may be one that others may only read: the ratings are
    /// then not published.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub(crate) fn rate_to_show(&self) -> Result<Table, EvaluatorError> {
        match self.rate() {
            Err(EvaluatorError::Store(error)) if error.is_refused() => {
                tracing::warn!(%error, "ratings are not published");
                self.rate_with(&[], &[])
            }
            rated => rated,
        }
    }

    /// Rates every player with results, in the matches of other runs too, on the scale of some whose ratings are known.
    /// That is not published: the stored ratings of a run are on one scale for ever.
    ///
    /// Runs are tied by players who have played in both, such as engines. On another size of board, the same engine is
    /// another player. Games that two runs of one seed have both played count once.
    ///
    /// # Errors
    /// A run does not exist or plays on another size of board, the store cannot be used, an anchor has not played, or
    /// the results cannot be rated.
    pub(crate) fn rate_with(&self, others: &[RunName], anchors: &[AnchorChoice]) -> Result<Table, EvaluatorError> {
        let mut runs = vec![(self.config.clone(), self.run.matches().all()?)];
        for name in others {
            let (run, config) = self.other(name)?;
            let keys = keys_of_play(&self.config, &config);
            if !keys.is_empty() {
                let keys = keys.join(", ");
                tracing::warn!(run = %name, keys, "plays differently: only engines are the same players in both runs");
            }
            let mut games = run.matches().all()?;
            runs.iter().for_each(|earlier| drop_same_games(&mut games, &config, earlier));
            runs.push((config, games));
        }
        let results = Pool::new(runs.into_iter().flat_map(|(_, games)| games)).results([]);
        let known = rate::anchors(&results, anchors).map_err(|source| self.without_anchor(source))?;
        let ratings = self.fit(&results, |prior| prior.anchored(&known))?;
        let names = anchors.iter().map(|anchor| format!("{} = {}", anchor.player, anchor.elo));
        let ages = self.ages(&results);
        let hidden = self.hidden_players(&results)?;
        Ok(Table::new(&results, &ratings, &ages, &hidden).anchored(names.collect()))
    }

    /// Makes sure that each anchor has results in these runs, or is one of the players who may get some.
    ///
    /// # Errors
    /// An anchor that is none of them, or is there twice; as [`RatedRun::other`].
    pub(crate) fn check_anchors(
        &self,
        others: &[RunName],
        anchors: &[AnchorChoice],
        playing: Vec<PlayerId>,
    ) -> Result<(), EvaluatorError> {
        let mut games = self.run.matches().all()?;
        for name in others {
            games.extend(self.other(name)?.0.matches().all()?);
        }
        let known = rate::anchors(&Pool::new(games).results(playing), anchors);
        known.map(drop).map_err(|source| self.without_anchor(source))
    }

    /// Another run, whose results are to be included, and its configuration.
    ///
    /// # Errors
    /// The run does not exist or is on another board, or the store cannot be reached.
    pub(crate) fn other(&self, name: &RunName) -> Result<(Run, RunConfig), EvaluatorError> {
        let run = self.models.run(name)?;
        let config = run.config()?.ok_or_else(|| ModelError::no_run(&run))?;
        let (size, own) = (config.game.size, self.config.game.size);
        if size != own {
            return Err(EvaluatorError::OtherBoard { run: name.clone(), size, own });
        }
        Ok((run, config))
    }

    fn without_anchor(&self, source: RateError) -> EvaluatorError {
        EvaluatorError::Anchor { run: self.run.name().clone(), source: Box::new(source) }
    }

    fn unrated(&self, source: RatingError) -> EvaluatorError {
        EvaluatorError::Rating { run: self.run.name().clone(), source }
    }
}

/// Keys in which two runs differ and which decide how their models play matches.
fn keys_of_play(one: &RunConfig, other: &RunConfig) -> Vec<String> {
    let decides = |key: &str| key == "evaluate.visits" || key.starts_with("game.") || key.starts_with("search.");
    one.differences(other).into_iter().map(|difference| difference.key).filter(|key| decides(key)).collect()
}

/// Drops the games of a run that an earlier one has, too. Their ids differ with the digests of the configurations, and
/// the games with the seed, the openings and the keys of play alone. Engines do not search, and published models search
/// as their own run says.
fn drop_same_games(
    games: &mut Vec<GameSummary>,
    config: &RunConfig,
    (earlier, played): &(RunConfig, Vec<GameSummary>),
) {
    if earlier.seed != config.seed || earlier.evaluate.opening_moves != config.evaluate.opening_moves {
        return;
    }
    let keys = keys_of_play(earlier, config);
    let is_same = |game: &GameSummary| {
        let players: [Option<PlayerId>; 2] = [&game.black, &game.white].map(|player| player.parse().ok());
        keys.iter().all(|key| {
            let is_without: fn(&PlayerId) -> bool = match key.split('.').next() {
                Some("search") => has_own_search,
                Some("evaluate") => is_engine,
                _ => |_| false,
            };
            players.iter().all(|player| player.as_ref().is_some_and(is_without))
        })
    };
    let played: BTreeSet<_> = played.iter().map(series_and_number).collect();
    games.retain(|game| !(played.contains(&series_and_number(game)) && is_same(game)));
}

fn is_engine(player: &PlayerId) -> bool {
    matches!(player, PlayerId::Engine(_))
}

/// Whether a player searches in all runs alike.
fn has_own_search(player: &PlayerId) -> bool {
    is_engine(player) || matches!(player, PlayerId::Model { id: ModelId::Trained { .. }, .. })
}

/// What the seed of a match game follows from, beside that of its run.
fn series_and_number(game: &GameSummary) -> (&str, &str, u64) {
    (&game.black, &game.white, game.index)
}

/// Of the models that are measured, those at distances 1, 2, 3, 5, 8, … before one; 0 is `random`. The others have no
/// games.
fn measured_before(number: u32, every: u32) -> impl Iterator<Item = u32> {
    let before = number.div_ceil(every);
    pairing::fibonacci().map_while(move |distance| before.checked_sub(distance)).map(move |nth| nth * every)
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use runtime::Stop;

    use super::*;
    use crate::Arena;
    use crate::tests::fixture::{PAIR, arena, store};

    #[test]
    fn results_are_put_together_again_where_a_file_is_new() {
        let mut arena = arena(&store(), 1);
        let pool = |arena: &Arena| arena.rated.pool().expect("memory can be read");
        let before = pool(&arena);
        assert!(Arc::ptr_eq(&before, &pool(&arena)));
        arena.play_match(PAIR, 2, &Stop::never(), &mut |_| {}).expect("the players can play");
        assert_eq!((before.games(), pool(&arena).games()), (0, 2));
    }

    #[test]
    fn runs_play_differently_by_rules_search_and_visits() {
        let tiny = |changes: &[&str]| Preset::Tiny.with(changes).expect("the overrides are good");
        let other = tiny(&["seed=2", "game.komi=5.5", "search.reuse=false", "train.l2=0.3", "evaluate.visits=5"]);
        assert_eq!(keys_of_play(&tiny(&[]), &other), ["game.komi", "search.reuse", "evaluate.visits"]);
        assert!(keys_of_play(&tiny(&[]), &tiny(&["loop.models=3"])).is_empty());
    }

    fn before(number: u32, every: u32) -> Vec<u32> {
        measured_before(number, every).collect()
    }

    #[test]
    fn ancestors_are_at_fibonacci_distances() {
        assert_eq!(before(1, 1), [0]);
        assert_eq!(before(9, 1), [8, 7, 6, 4, 1]);
    }

    #[test]
    fn ancestors_are_models_that_are_measured() {
        assert_eq!(before(4, 4), [0]);
        assert_eq!(before(36, 4), [32, 28, 24, 16, 4]);
        // The last of a run is measured, whatever its number.
        assert_eq!(before(37, 4), [36, 32, 28, 20, 8]);
        assert_eq!(before(2, 4), [0]);
    }
}
