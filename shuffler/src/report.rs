//! What the shuffler reports of a run: log lines and metrics.

use runtime::{Health, Reporter, metrics};
use store::{Manifest, ResignThreshold};

use crate::event::Event;

/// Reports to the log, the metrics and the health of this process.
#[derive(Clone, Debug)]
pub struct Console(Health);

impl Console {
    /// A console of a process.
    pub fn new(health: Health) -> Console {
        Console(health)
    }
}

impl Reporter<Event> for Console {
    fn report(&mut self, event: Event) {
        match event {
            Event::Ready => self.0.set_ready(),
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
                self.0.heartbeat();
                shards(&manifest);
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
    metrics::RESIGN_GAMES.set(found.games as f64);
    metrics::RESIGN_MODEL.set(found.to_model);
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
