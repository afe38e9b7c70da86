//! Reports of the evaluator: a progress bar, log lines and metrics.

use ratings::PlayerScore;
use runtime::{Health, Reporter, metrics};

use crate::{Event, MatchProgress, RatedModel};

/// Reports to the terminal or the log, the metrics and the health of this process.
#[derive(Debug)]
pub struct Console {
    health: Health,
    current: Option<CurrentMatch>,
}

/// The match that is being played.
#[derive(Debug)]
struct CurrentMatch {
    bar: runtime::Progress,
    /// What the metrics know of it.
    noted: MatchProgress,
}

impl Console {
    /// A console of an evaluator, which is ready for work.
    pub fn new(health: Health) -> Console {
        health.set_ready();
        Console { health, current: None }
    }

    fn finish(&mut self) {
        self.current.take().into_iter().for_each(|current| current.bar.finish());
    }
}

impl Reporter<Event> for Console {
    fn report(&mut self, event: Event) {
        match event {
            Event::Begun { players: [first, second], games } => {
                self.finish();
                let bar = runtime::Progress::new(format!("{first} against {second}"), Some(games));
                self.current = Some(CurrentMatch { bar, noted: MatchProgress::default() });
            }
            Event::Progress(progress) => {
                self.current.iter_mut().for_each(|current| current.note(progress, &self.health));
            }
            Event::PairPlayed => metrics::PAIRS.add(1),
            Event::Ended { players: [first, second], score: PlayerScore { games, points } } => {
                let noted = self.current.as_ref().map(|current| current.noted).unwrap_or_default();
                self.finish();
                tracing::info!(%first, %second, games, points, "match score");
                let MatchProgress { void, exhausted, .. } = noted;
                if void > 0 {
                    tracing::warn!(
                        %first, %second, void, exhausted, "games were void; exhausted ones were void three times"
                    );
                }
            }
            Event::Rated(RatedModel { number, rating }) => {
                metrics::RATED_ELO.set(rating.elo);
                metrics::RATED_ERROR.set(rating.error);
                // Last: where there is a number, there is its rating.
                metrics::RATED_MODEL.set(number);
            }
        }
    }
}

impl CurrentMatch {
    fn note(&mut self, now: MatchProgress, health: &Health) {
        self.bar.set(now.finished);
        let void = if now.void == 0 { String::new() } else { format!(", {} void", now.void) };
        self.bar.note(format!("{} : {}{void}", now.points, now.finished as f64 - now.points));
        let before = std::mem::replace(&mut self.noted, now);
        metrics::MATCH_GAMES.add(now.finished - before.finished);
        metrics::MATCH_VOID.add(now.void - before.void);
        metrics::MATCH_EVALUATIONS.add(now.evaluations - before.evaluations);
        // Progress is reported whether the threads get on or not.
        if (now.finished, now.void, now.evaluations) != (before.finished, before.void, before.evaluations) {
            health.heartbeat();
        }
    }
}
