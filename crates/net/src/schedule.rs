//! The learning rate from step to step.

use config::{LearningRate, RatePath, Train};

/// The learning rate in force at a step, counted from 0.
pub fn rate(train: &Train, step: u64) -> f32 {
    let warm = if step < train.warm_up { (step + 1) as f32 / train.warm_up as f32 } else { 1.0 };
    warm * scheduled(train, step)
}

/// The rate without warming up.
fn scheduled(train: &Train, step: u64) -> f32 {
    let next = train.learning_rate.partition_point(|point| point.from_step <= step);
    let Some(last) = next.checked_sub(1).map(|last| train.learning_rate[last]) else { return 0.0 };
    match train.learning_rate.get(next) {
        None => last.rate,
        Some(next) => between(train.learning_rate_path, last, *next, step),
    }
}

fn between(path: RatePath, last: LearningRate, next: LearningRate, step: u64) -> f32 {
    let way = (step - last.from_step) as f64 / (next.from_step - last.from_step) as f64;
    let share = match path {
        RatePath::Constant => 0.0,
        RatePath::Linear => way,
        RatePath::Cosine => (1.0 - (std::f64::consts::PI * way).cos()) / 2.0,
    };
    (f64::from(last.rate) + share * (f64::from(next.rate) - f64::from(last.rate))) as f32
}

#[cfg(test)]
mod tests {
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
    fn rate_is_constant_or_interpolated_between_points() {
        let steps = [0, 50, 99, 100, 150, 9999];
        let path = |path: &str| at(&train(&[&format!("train.learning_rate_path={path}")]), steps);
        assert_eq!(path("constant"), [0.1, 0.1, 0.1, 0.01, 0.01, 0.001]);
        assert_eq!(path("linear"), [0.1, 0.055, 0.0109, 0.01, 0.0055, 0.001]);
        assert_eq!(path("cosine"), [0.1, 0.055, 0.01002, 0.01, 0.0055, 0.001]);
        let quarter = rate(&train(&["train.learning_rate_path=cosine"]), 25);
        assert!((quarter - (0.1 - 0.09 * 0.146_446_6)).abs() < 1e-6, "cosines leave slowly: {quarter}");
    }

    #[test]
    fn warm_up_happens_once() {
        let warm = train(&["train.warm_up=10"]);
        assert_eq!(at(&warm, [0, 4, 9, 10, 100, 200]), [0.01, 0.05, 0.1, 0.1, 0.01, 0.001]);
    }
}
