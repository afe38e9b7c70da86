//! What a monitor is told of training.

use cli::metrics::{self, Gauge};
use config::Train;
use net::Losses;

use crate::Progress;

/// Notes that a trainer begins, which has not published anything yet.
pub(crate) fn begin() {
    cli::ready();
    metrics::NEWEST_MODEL_TIME.set_to_now();
}

/// Notes what the trainer is doing.
pub(crate) fn note(progress: &Progress, train: &Train) {
    cli::alive();
    metrics::ROTATE.set(u8::from(train.rotate));
    match progress {
        Progress::Waiting { generation, time } => {
            metrics::NEWEST_MODEL.set(generation - 1);
            metrics::TRAIN_WAITING.set(time.as_secs_f64());
        }
        Progress::Step { generation, step, losses, .. } => {
            metrics::NEWEST_MODEL.set(generation - 1);
            metrics::TRAIN_WAITING.set(0);
            metrics::STEPS.add(1);
            metrics::EXAMPLES.add(train.batch as u64);
            metrics::STEP.set(*step as f64);
            note_losses(metrics::TRAIN_LOSS, losses);
        }
        Progress::Holdout { losses, calibration_error, .. } => {
            metrics::HOLDOUT_CALIBRATION.set(*calibration_error);
            metrics::HOLDOUT_ACCURACY.set(losses.accuracy);
            note_losses(metrics::HOLDOUT_LOSS, losses);
        }
        Progress::Human { losses, .. } => {
            metrics::HUMAN_VALUE_ERROR.set(losses.value_error);
            metrics::HUMAN_ACCURACY.set(losses.accuracy);
            metrics::HUMAN_TOP_THREE.set(losses.top_three);
        }
    }
}

/// Notes that a model was published.
pub(crate) fn note_model(number: u32) {
    metrics::NEWEST_MODEL.set(number);
    metrics::NEWEST_MODEL_TIME.set_to_now();
}

fn note_losses(gauge: Gauge, losses: &Losses) {
    let Losses { policy, value, ownership, score, l2, total, .. } = *losses;
    let parts = [
        ("policy", policy),
        ("value", value),
        ("ownership", ownership),
        ("score", score),
        ("l2", l2),
        ("total", total),
    ];
    parts.into_iter().for_each(|(part, value)| gauge.set_of(part, value));
}
