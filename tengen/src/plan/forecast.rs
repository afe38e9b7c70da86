//! Time, memory and disk of a run, from rates of the machine. Nothing is measured here.

use config::RunConfig;
use net::Shape;
use serde::Serialize;

use super::measure::{Measured, Rates};
use super::spans::{Span, match_moves};
use super::strength::{self, Start, Strength};

/// Objects that a model adds to a store beside those of its games, and those of a file of games.
/// experiments/0083-games-for-forecasts
const OBJECTS: f64 = 6.0;
const OBJECTS_PER_FILE: f64 = 4.0;

/// Bytes of a position in games, examples and validation set, and in SGF, on 9x9. The former
/// grow with the points of the board.
/// experiments/0083-games-for-forecasts
const BYTES: f64 = 62.0;
const SGF_BYTES: f64 = 225.0;

/// Positions of matches by those of self-play a second, at equal visits. experiments/0018-match-throughput
const MATCH_SPEED: f64 = 0.8;

/// Share of the final pairs that are played where a margin may end them before. experiments/0071-time-of-make-run
const FINAL_SHARE: f64 = 0.75;

/// Copies of the weights in a checkpoint: weights, average and momentum. Two checkpoints are kept.
const CHECKPOINT: f64 = 3.0;

/// What a run takes.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Forecast {
    pub(super) configuration: String,
    pub(super) seconds: f64,
    pub(super) phases: Vec<Phase>,
    pub(super) match_games: f64,
    pub(super) match_seconds: f64,
    pub(super) memory_bytes: f64,
    pub(super) disk_bytes: f64,
    /// What the run of the strengths began with, if not with random play.
    pub(super) strength_start: Option<Start>,
    pub(super) strength: Vec<Strength>,
}

/// Models that play and are trained alike. Seconds are of all of them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Phase {
    pub(super) first_model: u32,
    pub(super) last_model: u32,
    pub(super) blocks: usize,
    pub(super) filters: usize,
    pub(super) visits: u32,
    pub(super) positions_per_s: f64,
    pub(super) evaluations_per_s: f64,
    pub(super) network_evaluations_per_s: f64,
    pub(super) examples_per_s: f64,
    pub(super) play_seconds: f64,
    pub(super) shuffle_seconds: f64,
    pub(super) train_seconds: f64,
    pub(super) store_seconds: f64,
    /// Machines like this one in self-play that one in training keeps up with.
    pub(super) workers_per_trainer: f64,
}

impl Forecast {
    /// `cache` are bytes for evaluations of all threads, and `request_s` seconds of a request to the store.
    pub(super) fn new(name: &str, config: &RunConfig, measured: &Measured, cache: usize, request_s: f64) -> Forecast {
        let spans = Span::all(config);
        let phases: Vec<Phase> = spans
            .iter()
            .zip(&measured.rates)
            .map(|(span, rates)| Phase::new(span, rates, measured, request_s))
            .collect();
        let match_games = regular_games(config, config.run_loop.models) + final_games(config);
        let game_s =
            spans.last().zip(measured.rates.last()).map_or(0.0, |(span, rates)| match_game_s(config, span, rates));
        let match_seconds = match_games * game_s;
        let reached = |model: u32| {
            let trained: f64 = phases.iter().map(|phase| phase.seconds_until(model)).sum();
            trained + regular_games(config, model) * game_s
        };
        let (strength_start, strength) = strength::of(config, reached);
        Forecast {
            configuration: name.to_owned(),
            seconds: phases.iter().map(Phase::seconds).sum::<f64>() + match_seconds,
            match_games,
            match_seconds,
            memory_bytes: measured.memory as f64 + cache as f64,
            disk_bytes: disk(config, &spans),
            strength_start,
            strength,
            phases,
        }
    }
}

impl Phase {
    fn new(span: &Span, rates: &Rates, measured: &Measured, request_s: f64) -> Phase {
        let models = f64::from(span.models());
        let files = (span.games() / span.config.selfplay.games_per_file as f64).ceil();
        let [play, shuffle, train, store] = [
            span.games() * span.moves() / rates.playing.positions_per_s,
            span.examples() * measured.shuffle_s_per_example,
            span.examples() / rates.examples_per_s,
            (OBJECTS + OBJECTS_PER_FILE * files) * request_s,
        ]
        .map(|seconds| seconds * models);
        Phase {
            first_model: span.first,
            last_model: span.last,
            blocks: span.config.network.blocks,
            filters: span.config.network.filters,
            visits: span.search().visits,
            positions_per_s: rates.playing.positions_per_s,
            evaluations_per_s: rates.playing.evaluations_per_s,
            network_evaluations_per_s: rates.playing.network_evaluations_per_s,
            examples_per_s: rates.examples_per_s,
            play_seconds: play,
            shuffle_seconds: shuffle,
            train_seconds: train,
            store_seconds: store,
            workers_per_trainer: play / train,
        }
    }

    fn seconds(&self) -> f64 {
        self.play_seconds + self.shuffle_seconds + self.train_seconds + self.store_seconds
    }

    /// Seconds of this phase until a model is published, to which each model before it has contributed.
    fn seconds_until(&self, model: u32) -> f64 {
        let played = model.clamp(self.first_model, self.last_model + 1) - self.first_model;
        self.seconds() * f64::from(played) / f64::from(self.last_model + 1 - self.first_model)
    }
}

/// Games of the matches of models up to this one, which is one of the run.
fn regular_games(config: &RunConfig, model: u32) -> f64 {
    let is_last_alone = config.is_evaluated(model) && !model.is_multiple_of(config.evaluate.every);
    let evaluated = (model / config.evaluate.every) as usize + usize::from(is_last_alone);
    (evaluated * config.evaluate.pairs_per_model * config.evaluate.games_per_pair) as f64
}

/// Games after the last model.
fn final_games(config: &RunConfig) -> f64 {
    let run_loop = &config.run_loop;
    let share = if run_loop.final_margin > 0.0 { FINAL_SHARE } else { 1.0 };
    2.0 * run_loop.final_games as f64 + share * (run_loop.final_pairs * config.evaluate.games_per_pair) as f64
}

/// Seconds of a match game.
fn match_game_s(config: &RunConfig, span: &Span, rates: &Rates) -> f64 {
    let visits = f64::from(config.evaluate.visits) / f64::from(span.search().visits);
    match_moves(config) * visits / (MATCH_SPEED * rates.playing.positions_per_s)
}

/// Bytes of a run that nothing deletes from.
fn disk(config: &RunConfig, spans: &[Span]) -> f64 {
    let points = config.game.board().area() as f64 / 81.0;
    let mut bytes = 0.0;
    let mut weights = 0.0;
    for span in spans {
        weights = 4.0 * Shape::new(&config.game, &span.config.network).parameters() as f64;
        let positions = span.games() * span.moves();
        bytes += f64::from(span.models()) * (positions * (points * BYTES + SGF_BYTES) + weights);
    }
    bytes + 2.0 * CHECKPOINT * weights
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;
    use crate::bench::machine::Playing;

    /// A machine that plays 1,000 positions and trains on 5,000 examples a second.
    fn measured(config: &RunConfig) -> Measured {
        let playing = Playing { positions_per_s: 1000.0, evaluations_per_s: 8000.0, network_evaluations_per_s: 9000.0 };
        let rates = vec![Rates { playing, examples_per_s: 5000.0 }; Span::all(config).len()];
        Measured { rates, shuffle_s_per_example: 1e-5, memory: 100 << 20 }
    }

    fn forecast(overrides: &[&str]) -> Forecast {
        let config = Preset::NineByNine.with(overrides).unwrap();
        Forecast::new("9x9", &config, &measured(&config), 64 << 20, 0.01)
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
    }

    #[test]
    fn seconds_are_those_of_games_examples_requests_and_matches() {
        let found = forecast(&["loop.models=9"]);
        let [random, whole] = &found.phases[..] else { panic!("{:?}", found.phases) };
        near(random.play_seconds, 1000.0 * 1.12 * 81.0 / 1000.0);
        near(random.store_seconds, (6.0 + 4.0 * 3.0) * 0.01);
        near(whole.play_seconds, 8.0 * 400.0 * 81.0 / 1000.0);
        near(whole.train_seconds, 8.0 * 125.0 * 128.0 / 5000.0);
        near(whole.shuffle_seconds, 8.0 * 16_000.0 * 1e-5);
        near(whole.workers_per_trainer, whole.play_seconds / whole.train_seconds);
        // Models 8 and 9, the last models, and three quarters of the final pairs; 32 visits instead of 8.
        near(found.match_games, 2.0 * 32.0 + 40.0 + 0.75 * 120.0 * 32.0);
        near(found.match_seconds, found.match_games * 81.0 * 4.0 / 800.0);
        near(found.seconds, random.seconds() + whole.seconds() + found.match_seconds);
        assert_eq!(found.memory_bytes, f64::from(164 << 20));
    }

    #[test]
    fn strength_has_the_time_at_which_its_model_is_published() {
        let found = forecast(&[]);
        let games: f64 = 32.0 * 81.0 * 2.0 / 800.0;
        let [random, whole] = [&found.phases[0], &found.phases[1]];
        near(found.strength[0].seconds, random.seconds() + whole.seconds() * 3.0 / 8.0);
        near(found.strength[1].seconds, random.seconds() + whole.seconds() * 7.0 / 8.0 + games);
        let last = found.strength.last().unwrap();
        assert!(last.model == 80 && last.seconds < found.seconds);
        near(last.seconds, found.phases.iter().map(Phase::seconds).sum::<f64>() + 10.0 * games);
    }

    #[test]
    fn longer_runs_take_more_disk() {
        let [short, long] = ["loop.models=10", "loop.models=20"].map(|models| forecast(&[models]).disk_bytes);
        assert!(short > 1e8 && long > 1.5 * short && long < 3.0 * short, "{short} {long}");
    }
}
