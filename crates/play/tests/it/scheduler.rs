//! When batches are flushed, and games begin.

use std::cell::RefCell;
use std::ops::ControlFlow;

use go::{Game, Size};
use mcts::{Draw, Evaluator, Request};
use play::{BatchedGame, Selfplay, SelfplaySpec, run};
use testing::Known;

use crate::{batched, config, play};

/// Caches drop in a flush what they returned.
#[test]
fn model_that_evaluates_nothing_is_flushed() {
    let config = config(&[]);
    let mut known = Known::default();
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "known", "0", index, None));
    play(&mut [&mut known], 4, (0..4).map(start));
    // The root is no visit.
    let searches = 4 * (config.search.visits as usize + 1);
    let kept = known.most.get();
    assert!(kept <= searches, "{kept} kept, of {}", known.all);
    assert!(known.all > 4 * searches, "games of more than four moves: {}", known.all);
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
    let batches = |searches: usize| -> Vec<usize> {
        let batches = RefCell::default();
        let game = Game::new(Size::new(3).expect("a size"));
        let scripted = |searches| Scripted { game: game.clone(), searches, is_last: false };
        play(&mut [&mut batched(2, &batches)], 2, [0, searches].map(scripted).into_iter());
        // A flush without positions evaluates nothing.
        batches.into_inner().into_iter().filter(|&size| size > 0).collect()
    };
    assert_eq!(batches(3), [2], "a few moves that are in the tree make no batch smaller");
    assert_eq!(batches(1000), [1, 1], "and a game that replays from a cache does not hold up the others");
}

#[test]
fn run_begins_no_game_after_a_break() {
    // In the second round the second game is over, too, or the first one waits alone in its batch.
    for (searches, in_progress) in [(0, 0), (3, 1)] {
        let game = Game::new(Size::new(3).expect("a size"));
        let (mut begun, mut finished, mut rounds, mut games) = (0, 0, 0, Vec::new());
        let mut start = || {
            begun += 1;
            Some(Scripted { game: game.clone(), searches: (begun - 1) * searches, is_last: false })
        };
        let mut watch = |_: &[Scripted]| {
            rounds += 1;
            if rounds < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let batches = RefCell::default();
        run(&mut [&mut batched(2, &batches)], &mut games, 2, &mut start, &mut |()| finished += 1, &mut watch)
            .expect("the model works");
        assert_eq!((begun, finished, games.len()), (2, 2 - in_progress, in_progress));
    }
}
