//! Rates of this machine for a configuration: what `tengen plan` measures.

use std::sync::Arc;
use std::time::Duration;

use config::RunConfig;
use net::Precision;
use play::{EvaluatorStats, Instrumented, RandomModel};
use runtime::{ResourceArgs, Stop};

use super::played::{on_threads, per_second};
use super::settings::Bench;
use super::subject::Subject;
use super::{data, played, selfplay, train};

/// Examples of a measured training step, at most: on a CPU larger batches are hardly faster by example.
const BATCH: usize = 128;

/// Speed of self-play on all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Playing {
    pub(crate) positions_per_s: f64,
    pub(crate) evaluations_per_s: f64,
    /// Of the network alone, on as many threads; for `random`, the same.
    pub(crate) network_evaluations_per_s: f64,
}

/// Self-play of a network with random weights.
pub(crate) fn playing(
    config: &RunConfig,
    place: &ResourceArgs,
    time: Duration,
    stop: &Stop,
) -> anyhow::Result<Playing> {
    let case = selfplay::measure(&bench(time, stop), place, Precision::Auto, &Subject::made_up(config.clone()))?;
    Ok(Playing {
        positions_per_s: case.positions_per_s,
        evaluations_per_s: case.evaluations_per_s,
        network_evaluations_per_s: case.network_evaluations_per_s,
    })
}

/// Self-play of the built-in model `random` on so many threads.
pub(crate) fn random_playing(
    config: &RunConfig,
    threads: usize,
    time: Duration,
    stop: &Stop,
) -> anyhow::Result<Playing> {
    let played = on_threads(threads, |thread| {
        let stats = Arc::new(EvaluatorStats::default());
        let mut evaluator = Instrumented::new(RandomModel::new(), Arc::clone(&stats));
        played::selfplay(&mut evaluator, &stats, config, thread, time, stop)
    })?;
    let evaluations_per_s = per_second(&played, |played| played.counts.evaluations as f64);
    Ok(Playing {
        positions_per_s: per_second(&played, |played| played.moves as f64),
        evaluations_per_s,
        network_evaluations_per_s: evaluations_per_s,
    })
}

/// Examples a second of training.
pub(crate) fn training(config: &RunConfig, place: &ResourceArgs, time: Duration, stop: &Stop) -> anyhow::Result<f64> {
    let mut config = config.clone();
    config.train.batch = config.train.batch.min(BATCH);
    let examples_per_s = train::examples_per_s(&bench(time, stop), &place.devices, &Subject::made_up(config))?;
    anyhow::ensure!(!stop.requested(), "stopped before all was measured");
    Ok(examples_per_s)
}

/// Seconds of the shuffler for each example, from a window of so many positions.
pub(crate) fn shuffling(config: &RunConfig, positions: u64) -> anyhow::Result<f64> {
    data::seconds_per_example(config, positions)
}

/// Bytes of memory that this process had at most while `work` was done. Linux, proc(5).
pub(crate) fn peak_of<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, u64)> {
    data::forget_peak()?;
    let done = work()?;
    Ok((done, data::peak()? << 10))
}

fn bench(time: Duration, stop: &Stop) -> Bench<'_> {
    Bench { store: "", json: false, time, stop }
}
