//! Reports of the trainer: a progress bar, log lines and metrics.

use config::{RunConfig, RunName};
use net::Losses;
use runtime::metrics::{self, Gauge};
use runtime::{Health, Reporter};
use store::Run;

use crate::TrainerEvent;

/// Reports to the terminal or the log, the metrics and the health of this process.
#[derive(Debug)]
pub struct Console {
    health: Health,
    run: RunName,
    batch: usize,
    bar: Option<runtime::Progress>,
}

impl Console {
    /// A console of the trainer of a run, which is ready for work.
    pub fn new(run: &Run, config: &RunConfig, health: Health) -> Console {
        health.set_ready();
        // It has not published anything yet.
        metrics::NEWEST_MODEL_TIME.set_to_now();
        metrics::TRAIN_AUGMENTATION.set(u8::from(config.train.augment_symmetries));
        Console { health, run: run.name().clone(), batch: config.train.batch, bar: None }
    }

    /// The bar of a model, of which `done` steps are done.
    fn bar(&mut self, generation: u32, done: u64, steps: Option<u64>) -> &runtime::Progress {
        let name = || self.run.model(generation).to_string();
        self.bar.get_or_insert_with(|| {
            let bar = runtime::Progress::new(name(), steps);
            // Those before the first that this process reports are an earlier one's.
            bar.skip(done.saturating_sub(1));
            bar
        })
    }
}

impl Reporter<TrainerEvent> for Console {
    fn report(&mut self, progress: TrainerEvent) {
        self.health.heartbeat();
        match progress {
            TrainerEvent::Waiting { generation, time } => {
                metrics::NEWEST_MODEL.set(generation - 1);
                metrics::TRAIN_WAITING.set(time.as_secs_f64());
            }
            TrainerEvent::Step { generation, done, steps, step, rate, losses } => {
                metrics::NEWEST_MODEL.set(generation - 1);
                metrics::TRAIN_WAITING.set(0);
                metrics::STEP.set(step as f64);
                metrics::LEARNING_RATE.set(rate);
                metrics::STEPS.add(1);
                metrics::EXAMPLES.add(self.batch as u64);
                gauges(metrics::TRAIN_LOSS, &losses);
                let bar = self.bar(generation, done, steps);
                bar.set(done);
                bar.note(shortly(&losses));
            }
            TrainerEvent::Holdout { examples, losses, calibration_error, .. } => {
                metrics::HOLDOUT_CALIBRATION.set(calibration_error);
                metrics::HOLDOUT_ACCURACY.set(losses.accuracy);
                gauges(metrics::HOLDOUT_LOSS, &losses);
                tracing::info!(examples, losses = shortly(&losses), calibration_error, "holdout");
            }
            TrainerEvent::Human { step, examples, losses, constant, .. } => {
                metrics::HUMAN_VALUE_ERROR.set(losses.value_error);
                metrics::HUMAN_ACCURACY.set(losses.accuracy);
                metrics::HUMAN_TOP_THREE.set(losses.top_three);
                tracing::info!(step, examples, losses = of_human_games(&losses, constant), "human games");
            }
            TrainerEvent::Deep { step, examples, losses, by_stage: [early, middle, late], .. } => {
                let Losses { policy, accuracy, top_three, value_error, .. } = losses;
                metrics::DEEP_VALUE_ERROR.set(value_error);
                metrics::DEEP_ACCURACY.set(accuracy);
                tracing::info!(
                    step,
                    examples,
                    value_error,
                    value_error_early = early,
                    value_error_middle = middle,
                    value_error_late = late,
                    accuracy,
                    top_three,
                    policy,
                    "positions of deep searches"
                );
            }
            TrainerEvent::Published { generation, .. } => {
                metrics::NEWEST_MODEL.set(generation);
                metrics::NEWEST_MODEL_TIME.set_to_now();
                self.bar.take().into_iter().for_each(runtime::Progress::finish);
            }
        }
    }
}

fn gauges(gauge: Gauge, losses: &Losses) {
    for (part, value) in losses.losses() {
        gauge.set_for(part, value);
    }
}

/// The losses of the progress bar.
fn shortly(losses: &Losses) -> String {
    let Losses { policy, value, accuracy, target_entropy, .. } = losses;
    let percent = 100.0 * accuracy;
    format!("policy {policy:.3} (entropy of the target {target_entropy:.3}), value {value:.3}, top move {percent:.0} %")
}

/// The losses on human games, as a line of the log.
fn of_human_games(losses: &Losses, constant: f32) -> String {
    let Losses { policy, accuracy, top_three, value_error, .. } = losses;
    let [top, three] = [accuracy, top_three].map(|share| 100.0 * share);
    format!(
        "top move {top:.1} %, top three {three:.1} %, policy loss {policy:.3}, value error {value_error:.3} (a constant has \
         {constant:.3})"
    )
}
