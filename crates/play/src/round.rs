//! The loop that keeps many games going.

use std::ops::ControlFlow;
use std::time::Duration;

use mcts::{Evaluate, EvaluateError};

/// How long to sleep when every game waits for a player outside.
const NAP: Duration = Duration::from_micros(200);

/// A game in progress, between rounds of evaluation.
pub trait Contest {
    /// What a game leaves behind.
    type Finished;

    /// Hands positions to the models; `pushed[i]` counts those in the batch of `models[i]`, and is kept up to date.
    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]);

    /// Takes the answers, makes all moves that are due, and returns what the game leaves behind when it is over.
    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<Self::Finished>;

    /// Whether it is somebody outside that the game waits for now, and no model.
    fn waits(&self) -> bool {
        false
    }
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

/// Plays `games`, and those that `start` adds, until there are none, or `watch` breaks; unfinished games are left in `games`
/// then, none of them waiting for an answer.
///
/// `start` is asked when fewer than `slots` games are in progress. `finish` gets what every game leaves behind; `watch` is asked once in
/// each round.
///
/// # Errors
/// A model failed.
pub fn run<G: Contest>(
    models: &mut [&mut dyn Evaluate],
    games: &mut Vec<G>,
    slots: usize,
    start: &mut dyn FnMut() -> Option<G>,
    finish: &mut dyn FnMut(G::Finished),
    watch: &mut dyn FnMut(Counts) -> ControlFlow<()>,
) -> Result<Counts, EvaluateError> {
    let mut counts = Counts::default();
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
        if pushed.iter().all(|&pushed| pushed == 0) && games.iter().all(Contest::waits) {
            std::thread::sleep(NAP);
        }
        for (model, _) in models.iter_mut().zip(&pushed).filter(|(_, pushed)| **pushed > 0) {
            model.evaluate()?;
        }
        counts.rounds += 1;
        counts.recalled = models.iter().map(|model| model.recalled()).sum();
        counts.evaluations += pushed.iter().map(|&pushed| pushed as u64).sum::<u64>();
        games.retain_mut(|game| game.take(models).map(&mut *finish).is_none());
    }
}
