//! The two models that need no weights.

use go::Game;
use mcts::{Draw, Evaluate, EvaluateError, Evaluation, Pushed, Value};
use rand_distr::{Distribution, Normal};

use crate::seed::{finish, generator};

/// Flat prior, value 0: search with nothing but the rules.
#[derive(Clone, Debug, Default)]
pub struct Uniform {
    flat: Vec<f32>,
}

impl Uniform {
    /// The model.
    pub fn new() -> Uniform {
        Uniform::default()
    }
}

impl Evaluate for Uniform {
    fn push(&mut self, game: &Game, _: f32, _: Draw) -> Pushed {
        let moves = game.size().moves();
        self.flat.resize(moves, 0.0);
        self.flat.fill(1.0 / moves as f32);
        Pushed::Waits
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        Ok(())
    }

    fn answer(&self, _: usize) -> Evaluation<'_> {
        Evaluation { policy: &self.flat, value: Value::ZERO }
    }
}

/// Fresh random output for every position: the first games of a run, free of the bias of any one random network.
///
/// The policy is the softmax of normal numbers (mean 0.5, deviation 0.4), the value is normal (0, 0.4), clamped to
/// [−1, 1]: what Minigo used to start its MLPerf runs. The output follows from the draw and the stones, so a game
/// stays a function of its seed.
#[derive(Clone, Debug, Default)]
pub struct RandomModel {
    open: Vec<Output>,
    ready: Vec<Output>,
}

#[derive(Clone, Debug)]
struct Output {
    policy: Vec<f32>,
    value: Value,
}

impl RandomModel {
    /// The model.
    pub fn new() -> RandomModel {
        RandomModel::default()
    }
}

impl Evaluate for RandomModel {
    fn push(&mut self, game: &Game, _: f32, draw: Draw) -> Pushed {
        let mut rng = generator(finish(draw.bits() ^ game.position().hash()));
        let logits = Normal::new(0.5f32, 0.4).expect("a positive deviation");
        let mut policy: Vec<f32> = (0..game.size().moves()).map(|_| logits.sample(&mut rng).exp()).collect();
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        let value = Normal::new(0.0f32, 0.4).expect("a positive deviation").sample(&mut rng);
        self.open.push(Output { policy, value: Value::for_black(value) });
        Pushed::Waits
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        std::mem::swap(&mut self.open, &mut self.ready);
        self.open.clear();
        Ok(())
    }

    fn answer(&self, index: usize) -> Evaluation<'_> {
        let output = &self.ready[index];
        Evaluation { policy: &output.policy, value: output.value }
    }
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;

    fn one(draw: u64) -> (Vec<f32>, f32) {
        let mut model = RandomModel::new();
        let _ = model.push(&Game::new(Size::new(9).expect("a size")), 7.0, Draw::new(draw));
        model.evaluate().expect("it cannot fail");
        let answer = model.answer(0);
        (answer.policy.to_vec(), answer.value.black())
    }

    #[test]
    fn the_random_model_is_fresh_for_every_draw_and_fixed_for_one() {
        assert_eq!(one(1), one(1));
        assert_ne!(one(1), one(2));
    }

    #[test]
    fn random_outputs_have_the_stated_shape() {
        let outputs: Vec<_> = (0..2000).map(one).collect();
        assert!(outputs.iter().all(|(policy, _)| (policy.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        let mean = outputs.iter().map(|(_, value)| value).sum::<f32>() / 2000.0;
        let deviation = (outputs.iter().map(|(_, value)| value * value).sum::<f32>() / 2000.0).sqrt();
        // Three standard errors of 2,000 draws.
        assert!(mean.abs() < 0.027 && (deviation - 0.4).abs() < 0.02, "{mean} {deviation}");
    }

    #[test]
    fn uniform_is_flat_on_every_board() {
        let mut model = Uniform::new();
        for side in [2, 19] {
            let game = Game::new(Size::new(side).expect("a size"));
            let _ = model.push(&game, 7.0, Draw::PLAIN);
            model.evaluate().expect("it cannot fail");
            assert!(model.answer(0).policy.iter().all(|&p| p == 1.0 / (side * side + 1) as f32));
        }
    }
}
