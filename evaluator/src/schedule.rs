//! Schedules of matches: given pairs, and pairs whose games are most informative.

use std::collections::VecDeque;

use config::PlayerId;
use ratings::pairing::Objective;
use runtime::{Step, Waiting};

use crate::driver::{Event, Schedule, Session};
use crate::{EvaluatorError, RatedRun};

/// Polls for a new model after which everything is listed again.
const LOOKS: u32 = 10;

/// What a schedule does where there is nothing to play and later models may change that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenIdle {
    /// It waits for them.
    Wait,
    /// It ends.
    End,
}

/// Pairs that play one after the other.
#[derive(Debug)]
pub(crate) struct Pairs {
    pairs: VecDeque<[PlayerId; 2]>,
    /// The games of each, earlier ones included; `None` for as many more as the run wants.
    games: Option<u64>,
}

impl Pairs {
    /// One pair.
    pub(crate) fn of(pair: [PlayerId; 2], games: Option<u64>) -> Pairs {
        Pairs { pairs: VecDeque::from([pair]), games }
    }

    /// Every two models of the run, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn round_robin(rated: &RatedRun, games: Option<u64>) -> Result<Pairs, EvaluatorError> {
        let models: Vec<PlayerId> = rated.paired_models()?.into_iter().map(PlayerId::from).collect();
        let pairs = (0..models.len()).rev().flat_map(|one| (0..one).rev().map(move |other| (one, other)));
        let pairs = pairs.map(|(one, other)| [models[one].clone(), models[other].clone()]);
        Ok(Pairs::all(rated, pairs.collect(), games))
    }

    /// One player against several others.
    pub(crate) fn against(
        rated: &RatedRun,
        player: &PlayerId,
        others: impl IntoIterator<Item = PlayerId>,
        games: Option<u64>,
    ) -> Pairs {
        let others = others.into_iter().filter(|other| other != player);
        Pairs::all(rated, others.map(|other| [player.clone(), other]).collect(), games)
    }

    /// All pairs of players that were selected, of which there may be none.
    fn all(rated: &RatedRun, pairs: VecDeque<[PlayerId; 2]>, games: Option<u64>) -> Pairs {
        if pairs.is_empty() {
            warn_of_no_pair();
        }
        Pairs { pairs, games: Some(games.unwrap_or_else(|| per_pair(rated))) }
    }
}

/// The command succeeds, and a script would take it for one that has played.
fn warn_of_no_pair() {
    tracing::warn!("there are not two players to pair");
}

/// Games that the run wants of a pair.
fn per_pair(rated: &RatedRun) -> u64 {
    rated.config().evaluate.games_per_pair as u64
}

impl Schedule for Pairs {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        let Some([one, other]) = self.pairs.pop_front() else { return Ok(Step::Finished) };
        let rated = session.arena.rated();
        let met = u64::from(rated.score([&one, &other])?.games);
        // Where an interrupted match has played an opening with one colour, the other one belongs to it.
        let wanted = self.games.unwrap_or((met + per_pair(rated)).next_multiple_of(2));
        if met < wanted {
            session.play([&one, &other], wanted)?;
        } else {
            session.end([&one, &other])?;
        }
        Ok(Step::Worked)
    }
}

/// Pairs that are chosen by the information of their games, one after the other.
#[derive(Debug)]
pub(crate) struct Uncertain {
    objective: Objective,
    /// Pairs that are still to be played.
    left: u64,
    /// What to do while no two players can be paired.
    when_idle: WhenIdle,
    /// The model that is waited for, and how often it was polled for.
    waiting: Option<(u32, u32)>,
}

impl Uncertain {
    /// So many pairs.
    pub(crate) fn new(objective: Objective, pairs: u64, when_idle: WhenIdle) -> Uncertain {
        Uncertain { objective, left: pairs, when_idle, waiting: None }
    }

    /// Whether the run may have two players by now. Polls for the next model, and every few polls for all players,
    /// since engines may have played in the meantime.
    fn may_pair(&mut self, rated: &RatedRun) -> Result<bool, EvaluatorError> {
        let Some((next, looks)) = &mut self.waiting else { return Ok(true) };
        *looks += 1;
        Ok(*looks >= LOOKS || rated.run().models().exists(*next)?)
    }
}

impl Schedule for Uncertain {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        let waiting = || Ok(Step::Waiting(Waiting::new("two players to pair")));
        if self.left == 0 {
            return Ok(Step::Finished);
        }
        if !self.may_pair(session.arena.rated())? {
            return waiting();
        }
        let Some(proposal) = session.propose(self.objective)? else {
            if self.when_idle == WhenIdle::End {
                warn_of_no_pair();
                return Ok(Step::Finished);
            }
            let next = session.arena.rated().run().models().newest()?.map_or(1, |newest| newest + 1);
            self.waiting = Some((next, 0));
            return waiting();
        };
        self.waiting = None;
        let players = [&proposal.first, &proposal.second];
        tracing::info!(first = %players[0], second = %players[1], reason = %proposal.reason, "paired");
        let games = per_pair(session.arena.rated());
        session.report(Event::Begun { players: players.map(PlayerId::clone), games });
        if session.play_proposed(&proposal)? {
            self.left -= 1;
            session.end(players)?;
        } else {
            tracing::info!("pair already claimed by another evaluator");
        }
        Ok(Step::Worked)
    }
}
