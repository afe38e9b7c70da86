//! How long a thread waits for its network.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use go::Game;
use mcts::{Draw, Evaluate, EvaluateError, Evaluation, Pushed};

/// A model that notes the nanoseconds its thread waits for batches: until the answers are there, other threads' batches that
/// the device takes first included. The clock is read twice a batch.
pub(crate) struct Timed<'a> {
    pub(crate) model: Box<dyn Evaluate>,
    pub(crate) waited: &'a AtomicU64,
}

impl Evaluate for Timed<'_> {
    fn push(&mut self, game: &Game, komi: f32, draw: Draw) -> Pushed {
        self.model.push(game, komi, draw)
    }

    fn known(&self) -> Evaluation<'_> {
        self.model.known()
    }

    fn batch(&self) -> usize {
        self.model.batch()
    }

    fn recalled(&self) -> u64 {
        self.model.recalled()
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        let began = Instant::now();
        let done = self.model.evaluate();
        self.waited.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        done
    }

    fn answer(&self, index: usize) -> Evaluation<'_> {
        self.model.answer(index)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use go::Size;
    use play::Uniform;

    use super::*;

    /// `uniform`, which takes its time, and knows everything but the first position.
    struct Slow(Uniform, u64);

    impl Evaluate for Slow {
        fn push(&mut self, game: &Game, komi: f32, draw: Draw) -> Pushed {
            self.1 += 1;
            if self.1 == 1 { self.0.push(game, komi, draw) } else { Pushed::Known }
        }

        fn known(&self) -> Evaluation<'_> {
            self.0.answer(0)
        }

        fn batch(&self) -> usize {
            7
        }

        fn recalled(&self) -> u64 {
            self.1 - 1
        }

        fn evaluate(&mut self) -> Result<(), EvaluateError> {
            std::thread::sleep(Duration::from_millis(5));
            self.0.evaluate()
        }

        fn answer(&self, index: usize) -> Evaluation<'_> {
            self.0.answer(index)
        }
    }

    #[test]
    fn waits_are_summed_and_answers_are_those_of_the_model() {
        let (waited, game) = (AtomicU64::new(0), Game::new(Size::new(5).unwrap()));
        let mut timed = Timed { model: Box::new(Slow(Uniform::new(), 0)), waited: &waited };
        assert_eq!(timed.push(&game, 7.0, Draw::PLAIN), Pushed::Waits);
        assert_eq!(waited.load(Ordering::Relaxed), 0, "pushing is no wait");
        timed.evaluate().unwrap();
        timed.evaluate().unwrap();
        assert!(waited.load(Ordering::Relaxed) >= 10_000_000, "two batches of 5 ms");
        assert_eq!(timed.push(&game, 7.0, Draw::PLAIN), Pushed::Known);
        assert_eq!((timed.batch(), timed.recalled()), (7, 1));
    }
}
