//! When batches are flushed.

use go::{Game, Size};
use mcts::{Draw, EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};
use play::{BatchedGame, Selfplay, SelfplaySpec};

use crate::{config, play};

/// An evaluator that knows every position, as a cache may.
#[derive(Default)]
struct Known {
    policy: Vec<f32>,
    /// Positions since the last flush, which a cache would keep.
    kept: usize,
    most: usize,
    all: usize,
}

impl Evaluator for Known {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let moves = request.game.size().moves();
        self.policy = vec![1.0 / moves as f32; moves];
        self.all += 1;
        self.kept += 1;
        self.most = self.most.max(self.kept);
        Ticket::new(0, self.kept)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.kept = 0;
        Ok(())
    }

    fn is_ready(&self, _: Ticket) -> bool {
        true
    }

    fn get(&self, _: Ticket) -> Evaluation<'_> {
        Evaluation { policy: &self.policy, value: Value::ZERO }
    }

    fn pending(&self) -> usize {
        0
    }

    fn capacity(&self) -> usize {
        8
    }
}

/// Caches drop in a flush what they returned.
#[test]
fn model_that_evaluates_nothing_is_flushed() {
    let config = config(&[]);
    let mut known = Known::default();
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "known", "0", index, None));
    play(&mut [&mut known], 4, (0..4).map(start));
    // The root is no visit.
    let searches = 4 * (config.search.visits as usize + 1);
    assert!(known.most <= searches, "{} kept, of {}", known.most, known.all);
    assert!(known.all > 4 * searches, "games of more than four moves: {}", known.all);
}

/// A network with batches of two positions, and the sizes of those that it evaluated.
#[derive(Default)]
struct Pairs {
    tickets: Tickets,
    batches: Vec<usize>,
}

impl Evaluator for Pairs {
    fn submit(&mut self, _: Request<'_>) -> Ticket {
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        let pending = self.tickets.pending();
        if pending > 0 {
            self.batches.push(pending);
        }
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, _: Ticket) -> Evaluation<'_> {
        unreachable!("nothing is read")
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        2
    }
}

/// A game with so many searches that need no evaluation, and then one that needs one and is the last.
struct Scripted {
    game: Game,
    searches: usize,
    is_last: bool,
}

impl BatchedGame for Scripted {
    type Finished = ();

    fn model(&self) -> Option<usize> {
        Some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        if self.searches > 0 {
            self.searches -= 1;
            return;
        }
        let _unread = models[0].submit(Request { game: &self.game, komi: 7.0, draw: Draw::PLAIN });
        self.is_last = true;
    }

    fn take(&mut self, _: &[&mut dyn Evaluator]) -> Option<()> {
        self.is_last.then_some(())
    }
}

#[test]
fn batch_waits_for_games_that_need_no_evaluation_but_not_for_ever() {
    let batches = |searches: usize| {
        let mut pairs = Pairs::default();
        let game = Game::new(Size::new(3).expect("a size"));
        let scripted = |searches| Scripted { game: game.clone(), searches, is_last: false };
        play(&mut [&mut pairs], 2, [0, searches].map(scripted).into_iter());
        pairs.batches
    };
    assert_eq!(batches(3), [2], "a few moves that are in the tree make no batch smaller");
    assert_eq!(batches(1000), [1, 1], "and a game that replays from a cache does not hold up the others");
}
