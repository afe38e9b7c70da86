//! A run, and what is done to measure it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cli::Stop;
use config::{ModelId, ModelRef, PlayerId, PlayerRef, RunConfig, RunName};
use go::Size;
use gtp::engines::{Declarations, Identity};
use net::Device;
use play::{Seed, game_seed};
use rand::SeedableRng;
use ratings::pairing::{self, Choice, InFlight, Question, Reason, Rule};
use ratings::{Prior, RatingError, Ratings, Tally};
use store::{Claim, Run, Stem, Store};

use crate::meeting::{self, Meeting, Progress};
use crate::monitor::{self, Monitor};
use crate::pool::{self, Pool};
use crate::rate::{self, AnchorChoice, RateError};
use crate::table::Table;
use crate::{EvaluatorError, Player, Source};

mod comparison;
mod gate;
mod ladder;
mod pace;
mod retirement;

pub use comparison::Comparison;
pub use gate::Promotion;
pub use ladder::{Ladder, Play};
pub use retirement::{Deletion, Retirement};

use pace::Pace;

/// What was claimed this long ago is not being played any more.
const CLAIM_LASTS: Duration = Duration::from_secs(1800);

/// Pairs that are drawn before it is believed that none is free: all have a retired model, or others are playing them.
const DRAWS: usize = 1000;

/// What this machine lends to the work.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where networks run.
    pub device: Device,
    /// Worker threads.
    pub threads: usize,
    /// Bytes for evaluations that are needed again, for each side in each thread.
    pub cache: usize,
    /// Whether games say when they were played.
    pub times: bool,
    /// The programs that may play here.
    pub engines: Declarations,
    /// Who writes the results; evaluators of one run have different names.
    pub worker: String,
}

/// A run whose models are measured.
pub struct Arena {
    store: Store,
    run: Run,
    config: RunConfig,
    place: Place,
    /// The last two players that met; the next pair often has one of them.
    players: Vec<Player>,
    /// How long games take.
    pace: Pace,
    /// Whether retired models are shown and paired.
    including_retired: bool,
}

/// How one player has done against another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Games between them.
    pub games: u64,
    /// Points that the first of them made; a draw is half a point.
    pub points: f64,
}

/// Two players who should meet, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// One of them.
    pub first: PlayerId,
    /// The other.
    pub second: PlayerId,
    /// Why these two.
    pub reason: Reason,
    /// Games between them that others were playing when they were chosen.
    in_flight: u32,
}

impl Arena {
    /// The arena of a run in a store.
    ///
    /// # Errors
    /// The run does not exist, the store cannot be read, or the worker's name cannot be part of a file's name.
    pub fn open(store: &Store, name: &RunName, place: Place) -> Result<Arena, EvaluatorError> {
        // A name that cannot be written under is found out now, not when games have been played.
        Stem::now(&place.worker)?;
        let run = store.run(name);
        let no_run = || EvaluatorError::NoRun { run: name.clone(), store: store.root().to_owned() };
        let config = run.config()?.ok_or_else(no_run)?;
        Ok(Arena {
            store: store.clone(),
            run,
            config,
            place,
            players: Vec::new(),
            pace: Pace::default(),
            including_retired: false,
        })
    }

    /// The run.
    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// The configuration of the run.
    pub fn config(&self) -> &RunConfig {
        &self.config
    }

    /// The programs that may play.
    pub fn engines(&self) -> &Declarations {
        &self.place.engines
    }

    /// The model that a person means: the one they name, or the newest of the run they name.
    ///
    /// # Errors
    /// The run has no model yet, or the store cannot be read.
    pub fn resolve_model(&self, model: &ModelRef) -> Result<ModelId, EvaluatorError> {
        match model {
            ModelRef::Exact(id) => Ok(id.clone()),
            ModelRef::Newest(run) => {
                let newest = self.store.run(run).models().newest()?;
                newest.map(|number| run.model(number)).ok_or_else(|| EvaluatorError::NoModel(run.clone()))
            }
        }
    }

    /// The player that a person means: the one they name, or the newest model of the run they name.
    ///
    /// # Errors
    /// The run has no model yet, or the store cannot be read.
    pub fn resolve(&self, player: &PlayerRef) -> Result<PlayerId, EvaluatorError> {
        match player {
            PlayerRef::Exact(id) => Ok(id.clone()),
            PlayerRef::Newest(run, settings) => {
                let id = self.resolve_model(&ModelRef::Newest(run.clone()))?;
                Ok(PlayerId::Model { id, settings: settings.clone() })
            }
        }
    }

    /// Everything that was played in the run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn pool(&self) -> Result<Pool, EvaluatorError> {
        Ok(Pool::new(self.run.matches().all()?))
    }

    /// Lets two players meet until they have played `wanted` games against each other, those of earlier meetings
    /// included, so that a meeting that was interrupted can be repeated. Points are those of `one`.
    ///
    /// # Errors
    /// A player cannot be opened or fails, or the store refuses the results. Results that were published stay.
    pub fn meet(
        &mut self,
        [one, other]: [&PlayerId; 2],
        wanted: u64,
        stop: &Stop,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Progress, EvaluatorError> {
        if one == other {
            return Err(EvaluatorError::Itself(one.to_string()));
        }
        self.play([one, other], self.missing([one, other], wanted)?, stop, watch)
    }

    /// How many games [`Arena::meet`] would play now. That may be more than are wanted less those that were played, since
    /// these may be of a longer meeting that was interrupted, and have later openings.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn left(&self, pair: [&PlayerId; 2], wanted: u64) -> Result<u64, EvaluatorError> {
        Ok(self.missing(pair, wanted)?.len() as u64)
    }

    /// The games of a meeting that were not played.
    fn missing(&self, [one, other]: [&PlayerId; 2], wanted: u64) -> Result<Vec<u64>, EvaluatorError> {
        Ok(meeting::missing(&self.pool()?.played(one.min(other), one.max(other)), wanted))
    }

    /// Lets two players play these games of their series. Points are those of `one`.
    fn play(
        &mut self,
        [one, other]: [&PlayerId; 2],
        games: Vec<u64>,
        stop: &Stop,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Progress, EvaluatorError> {
        // Either order of the two is one series of games.
        let (first, second) = (one.min(other), one.max(other));
        if games.is_empty() {
            return Ok(Progress::default());
        }
        self.seat([first, second])?;
        let player = |id: &PlayerId| self.players.iter().find(|player| player.id() == id).expect("both were seated");
        let Place { threads, cache, times, ref worker, .. } = self.place;
        let config = &self.config;
        let meeting = Meeting {
            run: &self.run,
            config,
            first: player(first),
            second: player(second),
            games,
            threads,
            cache,
            times,
            worker,
        };
        let seen_by_one = |progress: Progress| if first == one { progress } else { progress.turned() };
        let (began, mut monitor) = (Instant::now(), Monitor::default());
        let played = meeting.play(stop, &mut |progress| {
            monitor.note(progress);
            watch(seen_by_one(progress));
        })?;
        self.pace.note([first, second], played.finished, began.elapsed());
        Ok(seen_by_one(played))
    }

    /// How two players have done against each other so far.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn score(&self, [one, other]: [&PlayerId; 2]) -> Result<Score, EvaluatorError> {
        let tally = self.pool()?.tally([one.clone(), other.clone()]);
        let place = |id: &PlayerId| tally.place(&id.to_string()).expect("both are in the tally");
        let (games, points) = tally.between(place(one), place(other));
        Ok(Score { games: games.into(), points })
    }

    /// The pair that a rule chooses among the run's models, `random`, the programs of this place, and everybody who has
    /// played; `None` when there
    /// are not two.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub fn propose(&self, rule: Rule) -> Result<Option<Proposal>, EvaluatorError> {
        let pool = self.pool()?;
        let models = self.models()?.into_iter().chain([ModelId::Random]).map(PlayerId::from);
        let engines = self.place.engines.engine.iter().map(|engine| PlayerId::Engine(engine.name.clone()));
        let tally = pool.tally(models.chain(engines).collect::<Vec<_>>());
        let (ratings, _) = Ratings::of_runs(&tally, |prior| prior).map_err(|source| self.unrated(source))?;
        let ages = self.ages(&tally);
        monitor::note_ratings(&tally, &ratings, &ages);
        // The games so far are part of the seed, so that the same question gets another answer when something is new;
        // so is the worker, so that several at once share near-ties among them.
        let mut rng = Seed::seed_from_u64(game_seed(self.config.seed, &self.place.worker, "pair", pool.games() as u64));
        let games = u32::try_from(self.config.evaluate.games_per_pair).unwrap_or(u32::MAX);
        let in_flight = self.in_flight(&tally)?;
        let hidden = self.hidden_players(&tally)?;
        let is_retired = |player: usize| hidden[player];
        // Nothing is learned for what it costs; rules that do not look at the cost are asked again.
        let players: Vec<Option<PlayerId>> = tally.players().iter().map(|name| name.parse().ok()).collect();
        let seconds = |player: usize| self.pace.of(players[player].as_ref());
        // What others are playing is left to them, as long as there is another pair.
        let active = (0..players.len()).filter(|&player| !is_retired(player)).count();
        let all_are_playing = in_flight.pairs() >= active * active.saturating_sub(1) / 2;
        let is_free = |one: usize, other: usize| {
            let is_taken = in_flight.between(one, other) > 0 && !all_are_playing;
            !is_retired(one) && !is_retired(other) && !is_taken
        };
        let cost =
            |one: usize, other: usize| if is_free(one, other) { seconds(one) + seconds(other) } else { f64::INFINITY };
        let question = Question { ratings: &ratings, ages: &ages, in_flight: &in_flight, games, cost: &cost };
        let id = |player: usize| tally.players()[player].parse().ok();
        Ok(draw_free(&question, rule, &is_free, &mut rng).and_then(|choice| {
            let in_flight = in_flight.between(choice.first, choice.second);
            let (first, second) = id(choice.first).zip(id(choice.second))?;
            Some(Proposal { first, second, reason: choice.reason, in_flight })
        }))
    }

    /// What other evaluators are playing now.
    fn in_flight(&self, tally: &Tally) -> Result<InFlight, EvaluatorError> {
        let mut in_flight = InFlight::default();
        for claim in self.run.claims().list(CLAIM_LASTS)? {
            if let (Some(first), Some(second)) = (tally.place(&claim.first), tally.place(&claim.second)) {
                in_flight.add(first, second, u32::try_from(claim.numbers.len()).unwrap_or(u32::MAX));
            }
        }
        Ok(in_flight)
    }

    /// Lets a proposed pair play as many more games as the run wants, and lets other evaluators know. `None` when others have
    /// begun with this pair since it was proposed: what it would teach now is another question.
    ///
    /// # Errors
    /// As [`Arena::meet`].
    pub fn meet_proposed(
        &mut self,
        proposal: &Proposal,
        stop: &Stop,
        watch: &mut dyn FnMut(Progress),
    ) -> Result<Option<Progress>, EvaluatorError> {
        let Proposal { first, second, .. } = proposal;
        let Some(claim) = self.claim(proposal)? else { return Ok(None) };
        let played = self.play([first, second], claim.numbers.clone(), stop, watch);
        self.run.claims().release(&claim)?;
        cli::metrics::PAIRS.add(1);
        played.map(Some)
    }

    /// Claims the next block of a pair's games of which some are neither played nor claimed; `None` when others have claimed
    /// games of this pair since it was proposed.
    fn claim(&self, proposal: &Proposal) -> Result<Option<Claim>, EvaluatorError> {
        let [one, other] = [&proposal.first, &proposal.second];
        let (first, second) = (one.to_string(), other.to_string());
        let size = self.config.evaluate.games_per_pair as u64;
        loop {
            let claims = self.run.claims().list(CLAIM_LASTS)?.into_iter().filter(|claim| claim.is_of(&first, &second));
            let claimed: BTreeSet<u64> = claims.flat_map(|claim| claim.numbers).collect();
            if claimed.len() > proposal.in_flight as usize {
                return Ok(None);
            }
            // After the claims: the games of one that is released meanwhile are among the results.
            let played = self.pool()?.played(one.min(other), one.max(other));
            let free = |number: &u64| !played.contains(number) && !claimed.contains(number);
            let first_free = (0..).find(free).expect("nobody plays all numbers");
            let block = first_free / size * size..(first_free / size + 1) * size;
            let claim = Claim { first: first.clone(), second: second.clone(), numbers: block.filter(free).collect() };
            if !self.run.claims().take(&self.place.worker, &claim)? {
                continue;
            }
            // Somebody may have claimed, played and released them while this claim was under way.
            let played = self.pool()?.played(one.min(other), one.max(other));
            if claim.numbers.iter().all(|number| !played.contains(number)) {
                return Ok(Some(claim));
            }
            self.run.claims().release(&claim)?;
        }
    }

    /// The models of the run, oldest first, without those that are hidden.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn models(&self) -> Result<Vec<ModelId>, EvaluatorError> {
        let hidden = self.hidden()?;
        let shown = self.run.models().list()?.into_iter().filter(|number| !hidden.contains(number));
        Ok(shown.map(|number| self.run.name().model(number)).collect())
    }

    /// The models that a new one meets: those at Fibonacci's distances before it that exist and are not hidden, and `random`
    /// where the run is not so old.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn ancestors(&self, player: &PlayerId) -> Result<Vec<ModelId>, EvaluatorError> {
        let PlayerId::Model { id: ModelId::Trained { run, number }, .. } = player else { return Ok(Vec::new()) };
        let mut older = self.store.run(run).models().list()?;
        if run == self.run.name() {
            let hidden = self.hidden()?;
            older.retain(|number| !hidden.contains(number));
        }
        let at = |distance: u32| {
            number.checked_sub(distance).map(|at| if at == 0 { ModelId::Random } else { run.model(at) })
        };
        let known = |id: &ModelId| match id {
            ModelId::Trained { number, .. } => older.contains(number),
            ModelId::Uniform | ModelId::Random => true,
        };
        Ok(pairing::fibonacci().map_while(at).filter(known).collect())
    }

    /// By player of a tally: whether it is a retired model of the run, with whatever settings, that is not included.
    fn hidden_players(&self, tally: &Tally) -> Result<Vec<bool>, EvaluatorError> {
        let hidden = self.hidden()?;
        let number = |player: &String| pool::model_number(self.run.name(), player);
        Ok(tally.players().iter().map(|player| number(player).is_some_and(|number| hidden.contains(&number))).collect())
    }

    /// By player of a tally: the number of a model of the run.
    fn ages(&self, tally: &Tally) -> Vec<Option<u32>> {
        tally.players().iter().map(|player| pool::age(self.run.name(), player)).collect()
    }

    /// Rates everybody who has played, publishes the ratings if they are new, and returns them as a table.
    ///
    /// # Errors
    /// The store cannot be used, or the results cannot be rated.
    pub fn rate(&self) -> Result<Table, EvaluatorError> {
        let table = self.rate_with(&[], &[])?;
        let rows = table.rows();
        if !rows.is_empty() && self.run.ratings().newest()?.as_ref() != Some(&rows) {
            self.run.ratings().publish(&rows)?;
        }
        Ok(table)
    }

    /// Rates everybody who has played, in the matches of other runs too, on the scale of some whose ratings are known. That is
    /// not published: what is stored of a run is on one scale for ever.
    ///
    /// Runs are tied by players who have played in both, such as engines.
    ///
    /// # Errors
    /// A run does not exist, the store cannot be used, an anchor has not played, or the results cannot be rated.
    pub fn rate_with(&self, others: &[RunName], anchors: &[AnchorChoice]) -> Result<Table, EvaluatorError> {
        let mut results = self.run.matches().all()?;
        for name in others {
            let run = self.store.run(name);
            if !run.exists()? {
                return Err(EvaluatorError::NoRun { run: name.clone(), store: self.store.root().to_owned() });
            }
            results.extend(run.matches().all()?);
        }
        let tally = Pool::new(results).tally([]);
        let known = rate::anchors(&tally, anchors).map_err(|source| self.without_anchor(source))?;
        let change = |prior: Prior| prior.anchored(&known);
        let (ratings, step) = Ratings::of_runs(&tally, change).map_err(|source| self.unrated(source))?;
        tracing::debug!(players = tally.players().len(), step, "rated");
        let names = anchors.iter().map(|anchor| format!("{} = {}", anchor.player, anchor.elo));
        let ages = self.ages(&tally);
        if others.is_empty() && anchors.is_empty() {
            monitor::note_ratings(&tally, &ratings, &ages);
        }
        let hidden = self.hidden_players(&tally)?;
        Ok(Table::hiding(&tally, &ratings, &ages, &hidden).anchored(names.collect()))
    }

    fn without_anchor(&self, source: RateError) -> EvaluatorError {
        EvaluatorError::Anchor { run: self.run.name().clone(), source: Box::new(source) }
    }

    fn unrated(&self, source: RatingError) -> EvaluatorError {
        EvaluatorError::Rating { run: self.run.name().clone(), source }
    }

    /// Opens the players that are not open, and closes those that are not asked for.
    fn seat(&mut self, ids: [&PlayerId; 2]) -> Result<(), EvaluatorError> {
        self.players.retain(|player| ids.contains(&player.id()));
        for id in ids {
            if !self.players.iter().any(|player| player.id() == id) {
                let source = Source {
                    store: &self.store,
                    config: &self.config,
                    engines: &self.place.engines,
                    device: self.place.device,
                    batch: self.config.selfplay.batch,
                };
                let player = Player::open(&source, id)?;
                self.introduce(&player)?;
                self.players.push(player);
            }
        }
        Ok(())
    }

    /// Sees whether a program works, and that it is the one that has played under its name before.
    fn introduce(&self, player: &Player) -> Result<(), EvaluatorError> {
        let Some(engine) = player.engine() else { return Ok(()) };
        let size = Size::new(self.config.game.size).expect("the configuration was checked");
        let Some(found) = engine.identify(size)? else { return Ok(()) };
        let known: Identity = self.run.engines().remember(engine.name(), &found)?;
        if known == found {
            return Ok(());
        }
        Err(EvaluatorError::OtherEngine { name: engine.name().clone(), known: Box::new(known), found: Box::new(found) })
    }
}

/// A pair that a rule chooses and that is free; `None` where none is.
fn draw_free(
    question: &Question,
    rule: Rule,
    is_free: &dyn Fn(usize, usize) -> bool,
    rng: &mut Seed,
) -> Option<Choice> {
    (0..DRAWS)
        .map_while(|_| pairing::pairs(question, rule, 1, rng).pop())
        .find(|choice| is_free(choice.first, choice.second))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod engine_tests;

#[cfg(test)]
mod simulation;
