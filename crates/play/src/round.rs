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

    /// The model that positions will be handed to next; `None` when it is no model that the game waits for.
    fn model(&self) -> Option<usize>;

    /// Hands positions to that model; `pushed[i]` counts those in the batch of `models[i]`, and is kept up to date.
    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]);

    /// Takes the answers, makes all moves that are due, and returns what the game leaves behind when it is over.
    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<Self::Finished>;
}

/// What a [`run`] has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Batches evaluated, by whichever model.
    pub rounds: u64,
    /// Positions evaluated.
    pub evaluations: u64,
    /// Positions whose evaluation was known from before.
    pub recalled: u64,
}

/// What a game waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For room in the batch of its model.
    Room,
    /// For what it has handed to this model.
    Answers(usize),
    /// For nothing: it can be asked whether it moves.
    Nothing,
}

/// Plays `games`, and those that `start` adds, until there are none, or `watch` breaks; unfinished games are left in `games`
/// then, none of them waiting for an answer.
///
/// `start` is asked when fewer than `slots` games are in progress. `finish` gets what every game leaves behind; `watch` is
/// asked once in each round.
///
/// A round evaluates the batches that are full, or the fullest one when no game can go on without: with two models and
/// twice as many games as a batch has places, every batch is full.
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
    let mut waits: Vec<Waits> = vec![Waits::Nothing; games.len()];
    let mut pushed = vec![0; models.len()];
    let mut due = vec![false; models.len()];
    loop {
        while games.len() < slots {
            let Some(game) = start() else { break };
            games.push(game);
        }
        waits.resize(games.len(), Waits::Nothing);
        let leaving = games.is_empty() || watch(counts).is_break();
        if leaving && pushed.iter().all(|&pushed| pushed == 0) {
            return Ok(counts);
        }
        let mut moves = false;
        for (game, waits) in games.iter_mut().zip(&mut waits) {
            if leaving || matches!(waits, Waits::Answers(_)) {
                continue;
            }
            *waits = hand_over(game, models, &mut pushed);
            moves |= *waits == Waits::Nothing && game.model().is_some();
        }
        choose(models, &pushed, leaving, &mut due);
        if !moves && !due.contains(&true) {
            choose_fullest(&pushed, &mut due);
        }
        if !leaving && !due.contains(&true) && games.iter().all(|game| game.model().is_none()) {
            std::thread::sleep(NAP);
        }
        for (place, model) in models.iter_mut().enumerate().filter(|(place, _)| due[*place]) {
            model.evaluate()?;
            counts.rounds += 1;
            counts.evaluations += std::mem::take(&mut pushed[place]) as u64;
        }
        counts.recalled = models.iter().map(|model| model.recalled()).sum();
        let mut place = 0;
        games.retain_mut(|game| {
            let ready = match waits[place] {
                Waits::Answers(model) => due[model],
                Waits::Nothing => !leaving,
                Waits::Room => false,
            };
            let finished = if ready { game.take(models).map(&mut *finish) } else { None };
            if ready {
                waits[place] = Waits::Nothing;
            }
            match finished {
                None => place += 1,
                Some(()) => drop(waits.remove(place)),
            }
            finished.is_none()
        });
    }
}

/// Lets a game hand its positions over, if there is room for them.
fn hand_over<G: Contest>(game: &mut G, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]) -> Waits {
    let Some(model) = game.model() else {
        game.push(models, pushed);
        return Waits::Nothing;
    };
    let before = pushed[model];
    if before >= models[model].batch() {
        return Waits::Room;
    }
    game.push(models, pushed);
    if pushed[model] > before { Waits::Answers(model) } else { Waits::Nothing }
}

/// The models that are to evaluate now: those whose batch is full. When nothing is to be left behind, all that have any
/// positions.
fn choose(models: &[&mut dyn Evaluate], pushed: &[usize], all: bool, due: &mut [bool]) {
    for (place, due) in due.iter_mut().enumerate() {
        *due = pushed[place] > 0 && (all || pushed[place] >= models[place].batch());
    }
}

fn choose_fullest(pushed: &[usize], due: &mut [bool]) {
    let waiting = (0..pushed.len()).filter(|&place| pushed[place] > 0);
    if let Some(fullest) = waiting.max_by_key(|&place| pushed[place]) {
        due[fullest] = true;
    }
}
