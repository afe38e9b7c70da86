//! The loop that keeps many games going.

use std::ops::ControlFlow;
use std::time::Duration;

use mcts::{EvaluateError, Evaluator};

/// How long to sleep when every game waits for a player outside.
const NAP: Duration = Duration::from_micros(200);

/// Searches that needed no evaluation, for each game in progress, after which a batch is evaluated though it is not
/// full. Caches drop what they returned in a flush alone, and a search of 800 visits on 19x19 is 1.2 MB of it. Without
/// a cache, games that find all visits in their trees make fewer such searches before the others have filled the batch.
const SEARCHES: usize = 2;

/// A game in progress, between rounds of evaluation.
pub trait BatchedGame {
    /// The result of a game.
    type Finished;

    /// The model that positions will be handed to next; `None` when it is no model that the game waits for.
    fn model(&self) -> Option<usize>;

    /// Submits positions to that model.
    fn submit(&mut self, models: &mut [&mut dyn Evaluator]);

    /// Called several times a second while evaluations are waited for; returns whether the game does not want its own
    /// any more. A game may end its work in it, such as by sending a result. It is called for games that wait for
    /// nothing, too, and again after it has returned true.
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

/// Plays `games`, and those that `start` adds, until there are none, or `watch` breaks; unfinished games are left in
/// `games` then, none of them waiting for an evaluation.
///
/// Each round begins with `watch`, which gets the games in progress. `start` is called when fewer than `slots` games
/// are in progress, and never after a break. `finish` gets what every game leaves behind.
///
/// A round evaluates the batches that are full, or the fullest one when no game can go on without: with two models and
/// twice as many games as a batch has places, every batch is full. Where evaluations are ready at once, it also flushes
/// models that have nothing to evaluate, since that is when caches drop what games have taken. A batch that a server
/// keeps waiting is abandoned once all games of it [have given up](BatchedGame::poll).
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
    let mut scheduler = Scheduler::new(games, models.len());
    let mut broken = false;
    loop {
        broken = broken || watch(scheduler.games).is_break();
        if !broken {
            scheduler.begin_games(slots, start);
        }
        let leaving = broken || scheduler.games.is_empty();
        if leaving && models.iter().all(|model| model.pending() == 0) {
            return Ok(());
        }
        let moves = !leaving && scheduler.submit_all(models);
        scheduler.choose_due(models, leaving, moves);
        if !leaving && scheduler.waits_outside() {
            std::thread::sleep(NAP);
        }
        scheduler.flush_due(models)?;
        scheduler.take_ready(models, leaving, finish);
    }
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
    /// For its removal: it is over.
    Removal,
}

/// The games in progress, and the models as far as they concern them.
struct Scheduler<'a, G> {
    games: &'a mut Vec<G>,
    /// What each game waits for.
    waits: Vec<Waits>,
    /// The models that are to evaluate in this round.
    due: Vec<bool>,
    /// Searches without an evaluation since the last flush of each model.
    ready_at_once: Vec<usize>,
}

impl<'a, G: BatchedGame> Scheduler<'a, G> {
    fn new(games: &'a mut Vec<G>, models: usize) -> Scheduler<'a, G> {
        let waits = vec![Waits::Nothing; games.len()];
        Scheduler { games, waits, due: vec![false; models], ready_at_once: vec![0; models] }
    }

    /// Fills the free slots, as far as there are games to begin.
    fn begin_games(&mut self, slots: usize, start: &mut dyn FnMut() -> Option<G>) {
        while self.games.len() < slots {
            let Some(game) = start() else { break };
            self.games.push(game);
            self.waits.push(Waits::Nothing);
        }
    }

    /// Lets all games submit that wait for no evaluation. Returns whether one of them continues without any.
    fn submit_all(&mut self, models: &mut [&mut dyn Evaluator]) -> bool {
        let mut moves = false;
        for (game, waits) in self.games.iter_mut().zip(&mut self.waits) {
            if matches!(waits, Waits::Evaluations(_)) {
                continue;
            }
            let model = game.model();
            *waits = submit(game, models);
            if *waits == Waits::Nothing {
                // A search that is over by now waits for no model any more.
                moves |= game.model().is_some();
                model.into_iter().for_each(|model| self.ready_at_once[model] += 1);
            }
        }
        moves
    }

    /// Chooses the models that are to evaluate now: those whose batch is full, or that had too many searches without an
    /// evaluation, and the fullest one when there is none of these and no game `moves`. When no position may wait, all
    /// that have any positions. A flush of none costs nothing.
    fn choose_due(&mut self, models: &[&mut dyn Evaluator], all: bool, moves: bool) {
        let most = SEARCHES * self.games.len();
        for ((model, &searches), due) in models.iter().zip(&self.ready_at_once).zip(&mut self.due) {
            *due = match model.pending() {
                0 => searches > 0,
                pending => all || pending >= model.capacity() || searches >= most,
            };
        }
        if !moves && !self.due.contains(&true) {
            let waiting = (0..models.len()).filter(|&model| models[model].pending() > 0);
            if let Some(fullest) = waiting.max_by_key(|&model| models[model].pending()) {
                self.due[fullest] = true;
            }
        }
    }

    /// Whether nothing can be evaluated, and every game waits for a player outside.
    fn waits_outside(&self) -> bool {
        !self.due.contains(&true) && self.games.iter().all(|game| game.model().is_none())
    }

    /// Evaluates the batches that are due.
    fn flush_due(&mut self, models: &mut [&mut dyn Evaluator]) -> Result<(), EvaluateError> {
        for (number, model) in models.iter_mut().enumerate() {
            if self.due[number] {
                self.flush(&mut **model, number)?;
                self.ready_at_once[number] = 0;
            }
        }
        Ok(())
    }

    /// Evaluates the batch of a model, unless its games give up meanwhile.
    fn flush(&mut self, model: &mut dyn Evaluator, number: usize) -> Result<(), EvaluateError> {
        let (games, waits) = (&mut *self.games, &self.waits);
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

    /// Lets the games take that wait no more, and removes those that are over. A game without evaluations makes no move
    /// when the run is `leaving`.
    fn take_ready(&mut self, models: &[&mut dyn Evaluator], leaving: bool, finish: &mut dyn FnMut(G::Finished)) {
        for (game, waits) in self.games.iter_mut().zip(&mut self.waits) {
            let ready = match *waits {
                Waits::Evaluations(model) => self.due[model],
                Waits::Nothing => !leaving,
                Waits::Slot | Waits::Removal => false,
            };
            if ready {
                let finished = game.take(models).map(&mut *finish);
                *waits = if finished.is_some() { Waits::Removal } else { Waits::Nothing };
            }
        }
        let mut places = self.waits.iter();
        self.games.retain(|_| places.next() != Some(&Waits::Removal));
        self.waits.retain(|waits| *waits != Waits::Removal);
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
