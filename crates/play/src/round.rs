//! The loop that keeps many games going.

use std::ops::ControlFlow;

use mcts::{Evaluate, EvaluateError};
use record::GameRecord;

/// A game in progress, between rounds of evaluation.
pub trait Contest {
    /// Hands positions to the models; `pushed[i]` counts those in the batch of `models[i]`, and is kept up to date.
    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]);

    /// Takes the answers, makes all moves that are due, and returns the record when the game is over.
    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<GameRecord>;
}

/// What a [`run`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rounds of evaluation.
    pub rounds: u64,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions whose evaluation was known from before.
    pub recalled: u64,
}

/// Plays games until `start` has no more and all are finished, or `watch` breaks; unfinished games are given up then.
///
/// At most `slots` games are in progress. `finish` gets every record; `watch` is asked once in each round.
///
/// # Errors
/// A model failed.
pub fn run<G: Contest>(
    models: &mut [&mut dyn Evaluate],
    slots: usize,
    start: &mut dyn FnMut() -> Option<G>,
    finish: &mut dyn FnMut(GameRecord),
    watch: &mut dyn FnMut(Counts) -> ControlFlow<()>,
) -> Result<Counts, EvaluateError> {
    let mut counts = Counts::default();
    let mut games: Vec<G> = Vec::with_capacity(slots);
    let mut pushed = vec![0; models.len()];
    loop {
        while games.len() < slots {
            let Some(game) = start() else { break };
            games.push(game);
        }
        if games.is_empty() || watch(counts).is_break() {
            return Ok(counts);
        }
        pushed.fill(0);
        games.iter_mut().for_each(|game| game.push(models, &mut pushed));
        for (model, _) in models.iter_mut().zip(&pushed).filter(|(_, pushed)| **pushed > 0) {
            model.evaluate()?;
        }
        counts.rounds += 1;
        counts.recalled = models.iter().map(|model| model.recalled()).sum();
        counts.evaluations += pushed.iter().map(|&pushed| pushed as u64).sum::<u64>();
        games.retain_mut(|game| game.take(models).map(&mut *finish).is_none());
    }
}
