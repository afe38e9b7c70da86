//! The loop that keeps many games going.

use std::ops::ControlFlow;
use std::time::Duration;

use mcts::{EvaluateError, Evaluator};

/// How long to sleep when every game waits for a player outside.
const NAP: Duration = Duration::from_micros(200);

/// Searches that needed no evaluation, for each game in progress, after which a batch is evaluated though it is not full.
/// Caches drop what they returned in a flush alone, and a search of 800 visits on 19x19 is 1.2 MB of it. Without a cache,
/// games that find all visits in their trees make fewer such searches before the others have filled the batch.
const SEARCHES: usize = 2;

/// A game in progress, between rounds of evaluation.
pub trait BatchedGame {
    /// The result of a game.
    type Finished;

    /// The model that positions will be handed to next; `None` when it is no model that the game waits for.
    fn model(&self) -> Option<usize>;

    /// Submits positions to that model.
    fn submit(&mut self, models: &mut [&mut dyn Evaluator]);

    /// Called several times a second while evaluations are waited for; returns whether the game does not want its own any more.
    /// A game may end its work in it, such as by sending a result. It is called for games that wait for nothing, too, and
    /// again after it has returned true.
    fn poll(&mut self) -> bool {
        false
    }

    /// Takes back what it submitted, because no game of the batch wants its evaluations. [`BatchedGame::take`] follows.
    fn take_back(&mut self) {
        // A game that never gives up has nothing to take back.
    }

    /// Takes the evaluations, makes all moves that are due, and returns the result of the game when it is over.
    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<Self::Finished>;
}

/// The state of a game in the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waits {
    /// For a slot in the batch of its model.
    Slot,
    /// For the evaluations of what it submitted to this model.
    Evaluations(usize),
    /// For nothing: it may move.
    Nothing,
}

/// Plays `games`, and those that `start` adds, until there are none, or `watch` breaks; unfinished games are left in `games`
/// then, none of them waiting for an evaluation.
///
/// `start` is called when fewer than `slots` games are in progress. `finish` gets what every game leaves behind; `watch` gets
/// the games in progress once in each round.
///
/// A round evaluates the batches that are full, or the fullest one when no game can go on without: with two models and
/// twice as many games as a batch has places, every batch is full. Where evaluations are ready at once, it also flushes
/// models that have nothing to evaluate, since that is when caches drop what games have taken. A batch that a server keeps
/// waiting is abandoned once all games of it [have given up](BatchedGame::poll).
///
/// # Errors
/// A model failed.
pub fn run<G: BatchedGame>(
    models: &mut [&mut dyn Evaluator],
    games: &mut Vec<G>,
    slots: usize,
    start: &mut dyn FnMut() -> Option<G>,
    finish: &mut dyn FnMut(G::Finished),
    watch: &mut dyn FnMut(&[G]) -> ControlFlow<()>,
) -> Result<(), EvaluateError> {
    let mut waits: Vec<Waits> = vec![Waits::Nothing; games.len()];
    let mut due = vec![false; models.len()];
    // Searches without an evaluation since the last flush of each model.
    let mut ready_at_once = vec![0_usize; models.len()];
    loop {
        while games.len() < slots {
            let Some(game) = start() else { break };
            games.push(game);
        }
        waits.resize(games.len(), Waits::Nothing);
        let leaving = games.is_empty() || watch(games).is_break();
        if leaving && models.iter().all(|model| model.pending() == 0) {
            return Ok(());
        }
        let mut moves = false;
        for (game, waits) in games.iter_mut().zip(&mut waits) {
            if leaving || matches!(waits, Waits::Evaluations(_)) {
                continue;
            }
            let model = game.model();
            *waits = submit(game, models);
            if *waits == Waits::Nothing {
                moves |= game.model().is_some();
                model.into_iter().for_each(|model| ready_at_once[model] += 1);
            }
        }
        choose(models, leaving, &ready_at_once, SEARCHES * games.len(), &mut due);
        if !moves && !due.contains(&true) {
            choose_fullest(models, &mut due);
        }
        if !leaving && !due.contains(&true) && games.iter().all(|game| game.model().is_none()) {
            std::thread::sleep(NAP);
        }
        for (number, model) in models.iter_mut().enumerate().filter(|(number, _)| due[*number]) {
            flush(&mut **model, number, games, &waits)?;
        }
        ready_at_once.iter_mut().zip(&due).filter(|(_, due)| **due).for_each(|(count, _)| *count = 0);
        let mut place = 0;
        games.retain_mut(|game| {
            let ready = match waits[place] {
                Waits::Evaluations(model) => due[model],
                Waits::Nothing => !leaving,
                Waits::Slot => false,
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

/// Lets a game submit its positions, if its model's batch has a free slot.
fn submit<G: BatchedGame>(game: &mut G, models: &mut [&mut dyn Evaluator]) -> Waits {
    let Some(model) = game.model() else {
        game.submit(models);
        return Waits::Nothing;
    };
    let before = models[model].pending();
    if before >= models[model].capacity() {
        return Waits::Slot;
    }
    game.submit(models);
    if models[model].pending() > before { Waits::Evaluations(model) } else { Waits::Nothing }
}

/// Evaluates the batch of a model, unless its games give up meanwhile.
fn flush<G: BatchedGame>(
    model: &mut dyn Evaluator,
    number: usize,
    games: &mut [G],
    waits: &[Waits],
) -> Result<(), EvaluateError> {
    let own = Waits::Evaluations(number);
    let mut is_unwanted = false;
    let flushed = model.flush_until(&mut || {
        is_unwanted = true;
        for (game, waits) in games.iter_mut().zip(waits) {
            let gives_up = game.poll();
            is_unwanted &= gives_up || *waits != own;
        }
        is_unwanted
    });
    if flushed.is_ok() || !is_unwanted {
        return flushed;
    }
    games.iter_mut().zip(waits).filter(|(_, waits)| **waits == own).for_each(|(game, _)| game.take_back());
    Ok(())
}

/// The models that are to evaluate now: those whose batch is full, or that had `most` searches without an evaluation. When
/// no position may wait, all that have any positions. A flush of none costs nothing.
fn choose(models: &[&mut dyn Evaluator], all: bool, ready_at_once: &[usize], most: usize, due: &mut [bool]) {
    for ((model, &searches), due) in models.iter().zip(ready_at_once).zip(due) {
        *due = match model.pending() {
            0 => searches > 0,
            pending => all || pending >= model.capacity() || searches >= most,
        };
    }
}

fn choose_fullest(models: &[&mut dyn Evaluator], due: &mut [bool]) {
    let waiting = (0..models.len()).filter(|&model| models[model].pending() > 0);
    if let Some(fullest) = waiting.max_by_key(|&model| models[model].pending()) {
        due[fullest] = true;
    }
}
