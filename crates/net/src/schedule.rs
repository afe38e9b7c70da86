//! What a step is made with: the learning rate, and what does not change.

use config::{Optimizer, Train};

/// The constants of one step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepSize {
    pub(crate) kind: Optimizer,
    pub(crate) rate: f32,
    pub(crate) momentum: f32,
    pub(crate) l2: f32,
}

impl StepSize {
    pub(crate) fn new(train: &Train, rate: f32) -> StepSize {
        let Train { optimizer, momentum, l2, .. } = *train;
        StepSize { kind: optimizer, rate, momentum, l2 }
    }
}

/// The learning rate in force at a step, counted from 0.
pub fn rate(train: &Train, step: u64) -> f32 {
    let reached = train.learning_rate.iter().take_while(|entry| entry.from_step <= step);
    reached.last().map_or(0.0, |entry| entry.rate)
}

#[cfg(test)]
mod tests {
    use config::LearningRate;

    use super::*;

    #[test]
    fn rate_is_constant_until_the_next_entry() {
        let mut train = config::Preset::Minigo.config().train;
        train.learning_rate =
            [(0, 0.1), (100, 0.01), (200, 0.001)].map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
        let rates = [0, 50, 99, 100, 150, 9999].map(|step| rate(&train, step));
        assert_eq!(rates, [0.1, 0.1, 0.1, 0.01, 0.01, 0.001]);
    }
}
