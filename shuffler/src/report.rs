//! What the shuffler reports of a run: log lines and metrics.

use runtime::{Health, Reporter, metrics};
use store::{Manifest, ResignThreshold};

use crate::event::Event;

/// Reports to the log, the metrics and the health of this process.
#[derive(Clone, Debug)]
pub struct Console {
    health: Health,
    /// Whether the log has the warning of bounded samples, which each generation of a run would repeat.
    warned: bool,
}

impl Console {
    /// A console of a process.
    pub fn new(health: Health) -> Console {
        Console { health, warned: false }
    }
}

impl Reporter<Event> for Console {
    fn report(&mut self, event: Event) {
        match event {
            Event::Ready => self.health.set_ready(),
            Event::Games { time, holdout } => {
                metrics::NEWEST_GAMES.set_to_time(time);
                match holdout {
                    Some(time) => metrics::NEWEST_HOLDOUT.set_to_time(time),
                    // That there is none at all is what an operator must see; an earlier one stays as it was noted.
                    None => metrics::NEWEST_HOLDOUT.show(),
                }
            }
            Event::Calibrated(found) => calibrated(found.as_ref()),
            Event::Waiting { model, games, wanted, published } => {
                // The trainer says so too, as long as there is one.
                metrics::NEWEST_MODEL.set(model);
                metrics::GAMES_WANTED.set(wanted as f64);
                metrics::GAMES_AVAILABLE.set(games as f64);
                if published {
                    metrics::SHARDS.set(model + 1);
                }
            }
            Event::Published(manifest) => {
                self.health.heartbeat();
                shards(&manifest);
                if manifest.sampled.bounded && !self.warned {
                    self.warned = true;
                    warn_of_few_steps(&manifest);
                }
            }
        }
    }
}

fn calibrated(found: Option<&ResignThreshold>) {
    metrics::RESIGN_TIME.set_to_now();
    let Some(found) = found else { return };
    metrics::RESIGN_THRESHOLD.set(found.threshold);
    metrics::RESIGN_FALSE_POSITIVES.set(found.in_force_rate());
    metrics::RESIGN_FALSE_POSITIVES_LOW.set(found.in_force_interval().0);
    metrics::RESIGN_QUANTILE.set(found.quantile);
    metrics::RESIGN_GAMES.set(found.games as f64);
    metrics::RESIGN_MODEL.set(found.to_model);
}

/// The rates of `train.learning_rate` follow steps, so fewer of them are another training.
fn warn_of_few_steps(manifest: &Manifest) {
    let (generation, examples, wanted) = (manifest.generation, manifest.sampled.examples, manifest.sampled.wanted);
    tracing::warn!(
        generation,
        examples,
        wanted,
        "models get fewer steps than train.steps: window.reuse_limit or window.samples_per_game bounds the examples"
    );
}

fn shards(manifest: &Manifest) {
    let Manifest { generation, sampled, window, rejected, .. } = manifest;
    for rejected in rejected {
        tracing::error!(path = rejected.path, reason = rejected.reason, "omitted an unreadable file");
    }
    tracing::info!(
        generation,
        examples = sampled.examples,
        wanted = sampled.wanted,
        games = window.games,
        positions = window.positions,
        new_positions = window.new_positions,
        reuse = sampled.reuse,
        "published shards"
    );
    metrics::SHARDS.set(*generation);
    metrics::SHARDS_TIME.set_to_now();
    metrics::SHARDS_EXAMPLES.set(sampled.examples as f64);
    metrics::WINDOW_GAMES.set(window.games as f64);
    metrics::WINDOW_POSITIONS.set(window.positions as f64);
    metrics::REUSE.set(sampled.reuse);
    metrics::SHARDS_REJECTED.set(rejected.len() as f64);
}
