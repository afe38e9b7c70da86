//! The learning rate from step to step.

use config::Train;

/// The learning rate in force at a step, counted from 0.
pub fn rate(train: &Train, step: u64) -> f32 {
    let warm = if step < train.warm_up { (step + 1) as f32 / train.warm_up as f32 } else { 1.0 };
    warm * scheduled(train, step)
}

/// The rate without warming up.
fn scheduled(train: &Train, step: u64) -> f32 {
    let reached = train.learning_rate.iter().take_while(|entry| entry.from_step <= step);
    reached.last().map_or(0.0, |entry| entry.rate)
}

#[cfg(test)]
mod tests {
    use config::LearningRate;

    use super::*;

    fn train(changes: &[&str]) -> Train {
        let mut train = config::Preset::Minigo.with(changes).unwrap().train;
        train.learning_rate =
            [(0, 0.1), (100, 0.01), (200, 0.001)].map(|(from_step, rate)| LearningRate { from_step, rate }).to_vec();
        train
    }

    fn at(train: &Train, steps: [u64; 6]) -> Vec<f32> {
        steps.map(|step| (rate(train, step) * 1e5).round() / 1e5).to_vec()
    }

    #[test]
    fn rate_is_constant_until_the_next_entry() {
        assert_eq!(at(&train(&[]), [0, 50, 99, 100, 150, 9999]), [0.1, 0.1, 0.1, 0.01, 0.01, 0.001]);
    }

    #[test]
    fn warm_up_happens_once() {
        let warm = train(&["train.warm_up=10"]);
        assert_eq!(at(&warm, [0, 4, 9, 10, 100, 200]), [0.01, 0.05, 0.1, 0.1, 0.01, 0.001]);
    }
}
