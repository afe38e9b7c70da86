//! A network that is so small that it takes no time, evaluated and trained.

use std::fmt;
use std::time::Instant;

use config::{LearningRate, Preset};
use go::{Game, Size};
use mcts::{Draw, Evaluator, Request};
use net::{Device, NetError, Network, Precision, Shape, TrainConfig, TrainDevice, Trainer, Weights};
use record::{Example, synthetic};
use serde::Serialize;

/// The result of a trial.
#[derive(Debug, Serialize)]
pub(super) struct Trial {
    pub(super) precision: String,
    /// Milliseconds of opening the network and one batch.
    inference: Result<f64, String>,
    /// Milliseconds of opening the trainer and one step.
    training: Result<f64, String>,
    /// Whether the CPU lacks this precision, which nothing needs.
    unsupported: bool,
}

impl Trial {
    /// Whether something is wrong.
    pub(super) fn failed(&self) -> bool {
        !self.unsupported && (self.inference.is_err() || self.training.is_err())
    }
}

/// Tries a device in a precision.
pub(super) fn of(device: Device, precision: Precision) -> Trial {
    let inference = timed(|| infer(device, precision));
    let unsupported = matches!(inference, Err(NetError::NoBf16 { .. }));
    let said = |tried: Result<f64, NetError>| tried.map_err(|error| error.to_string());
    let training = said(timed(|| train(device, precision)));
    Trial { precision: precision.to_string(), inference: said(inference), training, unsupported }
}

fn timed(work: impl FnOnce() -> Result<(), NetError>) -> Result<f64, NetError> {
    let began = Instant::now();
    work().map(|()| began.elapsed().as_secs_f64() * 1000.0)
}

fn shape() -> Shape {
    let size = Size::new(5).expect("5 is a size");
    Shape { blocks: 1, filters: 16, value_hidden: 16, ..Shape::plain(size) }
}

fn infer(device: Device, precision: Precision) -> Result<(), NetError> {
    let mut network = Network::open(&Weights::synthetic(shape(), 1).to_bytes(), device, precision, 4)?;
    let _ = network.submit(Request { game: &Game::new(shape().size), komi: 0.5, draw: Draw::PLAIN });
    network.flush().map_err(|error| match error.downcast() {
        Ok(error) => *error,
        Err(error) => NetError::Torch(error.to_string()),
    })
}

fn train(device: Device, precision: Precision) -> Result<(), NetError> {
    let train_device = TrainDevice { device, precision, threads: 1 };
    let mut config = Preset::Minigo.config();
    (config.train.batch, config.train.learning_rate) = (32, vec![LearningRate { from_step: 0, rate: 0.01 }]);
    let games = (0..).map(|index| synthetic::game("doctor", "0", index, shape().size, 10));
    let examples = games.take(4).map(|game| game.examples()).collect::<Result<Vec<_>, _>>();
    let examples: Vec<Example> = examples.expect("made-up games are played by the rules").concat();
    let mut trainer = Trainer::new(&Weights::random(shape(), 1), 0, TrainConfig::new(&config), train_device)?;
    trainer.step(&examples).map(drop)
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |tried: &Result<f64, String>| match tried {
            Ok(time) => format!("works ({time:.1} ms)"),
            Err(error) => error.clone(),
        };
        if self.unsupported {
            return f.write_str("not on this CPU; nothing needs it");
        }
        write!(f, "inference {}, training {}", said(&self.inference), said(&self.training))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_infers_and_trains() {
        let trial = of(Device::Cpu, Precision::F32);
        assert!(trial.inference.is_ok() && trial.training.is_ok() && !trial.failed(), "{trial}");
        assert!(!of(Device::Cpu, Precision::Bf16).failed(), "bf16 works or is not there");
    }

    #[test]
    fn gpu_that_is_not_there_fails() {
        let trial = of(Device::Cuda(1 << 20), Precision::F32);
        assert!(trial.failed(), "{trial}");
    }
}
