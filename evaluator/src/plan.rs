//! The schedule of a run (`tengen run`, `evaluator --schedule`): how its models become rated.
//!
//! A [`MatchPlan`] has the matches of a new model, or those of the finished run. Pairs that are chosen by what their
//! games tell are kept in the store before they play, so that a run that is killed anywhere continues with the same
//! games. [`RunSchedule`] follows the models of a run from plan to plan.

use std::collections::VecDeque;
use std::ops::Range;

use config::{Pairing, PlayerId};
use play::{GameRng, game_seed};
use rand::SeedableRng;
use runtime::{Step, Waiting};
use store::Pairing as Planned;

use crate::driver::{Schedule, Session};
use crate::{Arena, EvaluatorError, RatedRun, WhenIdle};

/// The matches of every model of a run that is to be measured, as it appears, and those of the finished run.
#[derive(Debug)]
pub struct RunSchedule {
    /// What to do when all matches of the models that exist are played.
    when_idle: WhenIdle,
    /// The newest model whose matches are all played; 0 before the first.
    measured: u32,
    plan: Option<MatchPlan>,
    /// Whether the finished run has its final matches.
    finished: bool,
}

/// Matches that are still to be played.
#[derive(Debug)]
struct MatchPlan {
    newest: u32,
    /// Whether they are the final ones of the run.
    last: bool,
    /// Pairs, and the games between them, earlier ones included.
    pairs: VecDeque<([PlayerId; 2], u64)>,
    /// Pairs after these, each chosen by what the results before it leave unknown.
    turns: Range<usize>,
    /// The margin at which no more final pairs are chosen, 0 for none; `None` for the pairs of a new model.
    margin: Option<f64>,
}

impl MatchPlan {
    /// What the configuration wants for a new model.
    fn of_model(rated: &RatedRun, newest: u32) -> Result<MatchPlan, EvaluatorError> {
        let evaluate = &rated.config().evaluate;
        let (count, games) = (evaluate.pairs_per_model, evaluate.games_per_pair as u64);
        let none = MatchPlan { newest, last: false, pairs: VecDeque::new(), turns: 0..0, margin: None };
        let against = |other: u32| (pair(rated, newest, other), games);
        Ok(match evaluate.pairing {
            Pairing::Fibonacci => {
                let new = PlayerId::from(rated.numbered(newest));
                let ancestors = rated.ancestors(&new)?.into_iter().take(count);
                MatchPlan { pairs: ancestors.map(|old| ([new.clone(), old.into()], games)).collect(), ..none }
            }
            Pairing::Informed if rated.unpaired()?.contains(&newest) => none,
            Pairing::Informed if rated.ladder(newest)?.models() < 2 => MatchPlan { pairs: [against(0)].into(), ..none },
            Pairing::Informed => MatchPlan { turns: 0..count, ..none },
        })
    }

    /// What the configuration wants when the run has all its models: the last one against `random` and the model half
    /// its age, and then the final pairs.
    fn last(rated: &RatedRun, newest: u32) -> MatchPlan {
        let (evaluate, run_loop) = (&rated.config().evaluate, &rated.config().run_loop);
        let margin = Some(f64::from(run_loop.final_margin));
        let pairs = final_pairs(rated, newest).map(|pair| (pair, run_loop.final_games as u64)).collect();
        let first = evaluate.pairs_per_model;
        MatchPlan { newest, last: true, pairs, turns: first..first + run_loop.final_pairs, margin }
    }

    /// The next two players, and how many games they are to have played against each other.
    fn next(&mut self, rated: &RatedRun) -> Result<Option<([PlayerId; 2], u64)>, EvaluatorError> {
        // Weights of a model that was retired since may be gone.
        let can_play = |pair: &[PlayerId; 2]| -> Result<bool, EvaluatorError> {
            let unpaired = rated.unpaired()?;
            Ok(pair.iter().all(|id| rated.number(id).is_none_or(|number| !unpaired.contains(&number))))
        };
        while let Some((pair, games)) = self.pairs.pop_front() {
            if can_play(&pair)? {
                return Ok(Some((pair, games)));
            }
        }
        for turn in self.turns.by_ref() {
            let Some(Planned { first, second, games }) = planned(rated, self.newest, turn, self.margin)? else { break };
            let pair = [first, second];
            if can_play(&pair)? {
                return Ok(Some((pair, games)));
            }
        }
        self.turns = 0..0;
        Ok(None)
    }
}

impl RunSchedule {
    /// The schedule of a run.
    pub fn new(when_idle: WhenIdle) -> RunSchedule {
        RunSchedule { when_idle, measured: 0, plan: None, finished: false }
    }

    /// The plan of the next model to measure: at first the last one that is there, then each after the one before.
    fn begin(&mut self, rated: &RatedRun) -> Result<Step, EvaluatorError> {
        let config = rated.config();
        let newest = rated.run().models().newest()?.unwrap_or(0);
        if self.finished {
            return Ok(Step::Finished);
        }
        let due = match self.measured {
            0 => Some(config.last_evaluated(newest)).filter(|&model| model > 0),
            measured => (measured + 1..=newest).find(|&model| config.is_evaluated(model)),
        };
        if let Some(due) = due {
            self.plan = Some(MatchPlan::of_model(rated, due)?);
            return Ok(Step::Worked);
        }
        if self.when_idle == WhenIdle::End {
            return Ok(Step::Finished);
        }
        let next = (newest + 1..).find(|&model| config.is_evaluated(model)).expect("the last model is evaluated");
        Ok(Step::Waiting(Waiting::new(format!("model {next}"))))
    }

    /// Rates the models once the matches of a plan are played.
    fn end(&mut self, session: &mut Session<'_>, plan: MatchPlan) -> Result<(), EvaluatorError> {
        let MatchPlan { newest, last, .. } = plan;
        let table = session.rate()?;
        let rated = session.arena.rated();
        let name = rated.numbered(newest).to_string();
        if let Some(row) = table.rows().iter().find(|row| row.player == name) {
            let (elo, margin) = (row.elo.round(), row.margin().round());
            tracing::info!(model = name, elo, margin, "rated");
        }
        self.measured = newest;
        self.finished = last;
        let has_all = newest >= rated.config().run_loop.models;
        self.plan = (has_all && !last).then(|| MatchPlan::last(rated, newest));
        Ok(())
    }
}

impl Schedule for RunSchedule {
    fn step(&mut self, session: &mut Session<'_>) -> Result<Step, EvaluatorError> {
        let Some(mut plan) = self.plan.take() else { return self.begin(session.arena.rated()) };
        while let Some(([one, other], games)) = plan.next(session.arena.rated())? {
            if u64::from(session.arena.rated().score([&one, &other])?.games) < games {
                self.plan = Some(plan);
                session.play([&one, &other], games)?;
                return Ok(Step::Worked);
            }
        }
        self.end(session, plan)?;
        Ok(Step::Worked)
    }

    /// The table of the finished run, and the score of its last model against those it has met.
    fn conclusion(&self, arena: &Arena) -> Result<Option<String>, EvaluatorError> {
        let rated = arena.rated();
        if !self.finished {
            return Ok(None);
        }
        let mut text = rated.rate()?.to_string();
        for [one, other] in final_pairs(rated, self.measured) {
            let score = rated.score([&one, &other])?;
            if score.games == 0 {
                continue;
            }
            text += &format!("\n{one} won {} of {} games against {other}", score.points, score.games);
        }
        Ok(Some(text))
    }
}

/// The last model of a run against `random` and against the model half its age, which is `random` for the first one.
fn final_pairs(rated: &RatedRun, newest: u32) -> impl Iterator<Item = [PlayerId; 2]> {
    let half = Some(newest / 2).filter(|&half| half > 0);
    [0].into_iter().chain(half).map(move |other| pair(rated, newest, other))
}

fn pair(rated: &RatedRun, one: u32, other: u32) -> [PlayerId; 2] {
    [one, other].map(|number| rated.numbered(number).into())
}

/// The pair of a turn: the one that was chosen before, or a new one; `None` where there are not two models, or all that
/// was asked is known.
fn planned(rated: &RatedRun, newest: u32, turn: usize, margin: Option<f64>) -> Result<Option<Planned>, EvaluatorError> {
    if let Some(known) = rated.run().pairings().get(newest, turn)? {
        return Ok(Some(known));
    }
    let ladder = rated.ladder(newest)?;
    let bridge = if margin.is_some() { ladder.bridge(&rated.unpaired()?) } else { None };
    // A bridge comes first: a model that has no games is not among those whose ratings the margin is about.
    if bridge.is_none() && margin.is_some_and(|margin| margin > 0.0 && ladder.margin() <= margin) {
        return Ok(None);
    }
    let games = rated.config().evaluate.games_per_pair;
    // The turn and not the number of games so far: the choice depends on results, and not on other evaluators.
    let index = u64::from(newest) << 32 | turn as u64;
    let mut rng = GameRng::seed_from_u64(game_seed(rated.config().seed, "ladder", "pair", index));
    let chosen = || ladder.choose(games, &mut rng).map(|(first, second, reason)| (first, second, reason.to_string()));
    let bridged = bridge.map(|(first, second)| (first, second, "between two models that are far apart".to_owned()));
    let Some((first, second, reason)) = bridged.or_else(chosen) else { return Ok(None) };
    let [first, second] = pair(rated, first, second);
    tracing::debug!(%first, %second, %reason, "paired");
    let played = u64::from(rated.score([&first, &second])?.games);
    // Of an interrupted match an opening may be played with one colour only.
    let pair = Planned { first, second, games: (played + games as u64).next_multiple_of(2) };
    Ok(Some(rated.run().pairings().remember(newest, turn, &pair)?))
}

#[cfg(test)]
mod tests;
