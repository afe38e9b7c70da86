//! The two models that need no weights.

use std::ops::Range;

use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value, math, sample};

use crate::seed::{finish, generator};

/// Flat prior, value 0: search with nothing but the rules.
#[derive(Clone, Debug, Default)]
pub struct Uniform {
    tickets: Tickets,
    flat: Vec<f32>,
}

impl Uniform {
    /// The model.
    pub fn new() -> Uniform {
        Uniform::default()
    }
}

impl Evaluator for Uniform {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let moves = request.game.size().moves();
        self.flat.resize(moves, 0.0);
        self.flat.fill(1.0 / moves as f32);
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, _: Ticket) -> Evaluation<'_> {
        Evaluation { policy: &self.flat, value: Value::ZERO }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}

/// Fresh random output for every position: the first games of a run, free of the bias of any one random network.
///
/// The policy is the softmax of normal numbers (mean 0.5, deviation 0.4), the value is normal (0, 0.4), clamped to
/// [−1, 1]: what Minigo used to start its MLPerf runs. The output follows from the draw and the stones, so a game
/// stays a function of its seed.
#[derive(Clone, Debug, Default)]
pub struct RandomModel {
    tickets: Tickets,
    open: Outputs,
    ready: Outputs,
}

/// The outputs of a batch.
#[derive(Clone, Debug, Default)]
struct Outputs {
    /// Policies, one after the other.
    policies: Vec<f32>,
    /// The place of each policy, and the value.
    places: Vec<(Range<usize>, Value)>,
}

impl RandomModel {
    /// The model.
    pub fn new() -> RandomModel {
        RandomModel::default()
    }
}

impl Evaluator for RandomModel {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let Request { game, draw, .. } = request;
        let mut rng = generator(finish(draw.bits() ^ game.position().hash()));
        let mut logit = || 0.5 + 0.4 * sample::normal(&mut rng) as f32;
        let Outputs { policies, places } = &mut self.open;
        let start = policies.len();
        policies.extend((0..game.size().moves()).map(|_| math::exp(logit())));
        let policy = &mut policies[start..];
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        let value = 0.4 * sample::normal(&mut rng) as f32;
        places.push((start..policies.len(), Value::for_black(value)));
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        std::mem::swap(&mut self.open, &mut self.ready);
        self.open.policies.clear();
        self.open.places.clear();
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        let (place, value) = &self.ready.places[self.tickets.index(ticket)];
        Evaluation { policy: &self.ready.policies[place.clone()], value: *value }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Size};
    use mcts::Draw;

    use super::*;

    fn one(draw: u64) -> (Vec<f32>, f32) {
        let mut model = RandomModel::new();
        let game = Game::new(Size::new(9).expect("a size"));
        let ticket = model.submit(Request { game: &game, komi: 7.0, draw: Draw::new(draw) });
        model.flush().expect("it cannot fail");
        let answer = model.get(ticket);
        (answer.policy.to_vec(), answer.value.black())
    }

    #[test]
    fn random_model_is_fresh_for_every_draw_and_fixed_for_one() {
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
            let ticket = model.submit(Request { game: &game, komi: 7.0, draw: Draw::PLAIN });
            model.flush().expect("it cannot fail");
            assert!(model.get(ticket).policy.iter().all(|&p| p == 1.0 / (side * side + 1) as f32));
        }
    }
}
