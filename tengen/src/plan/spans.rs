//! A run in spans of models that play and are trained alike.

use std::collections::BTreeSet;

use config::{RunConfig, Search};

/// Points of the board for each move of a game: of `random`, of a model without a resign threshold, of one with it.
/// experiments/0083-games-for-forecasts
const RANDOM: f64 = 1.12;
const WHOLE: f64 = 1.0;
const RESIGNED: f64 = 0.69;

/// Models of a span whose windows are computed one by one. Of a longer span these are at equal distances.
const MOST_WINDOWS: u32 = 10_000;

/// Models that play and are trained alike.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// The first model that plays and the last; each has its successor trained.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The configuration of these models, schedules applied.
    pub(super) config: RunConfig,
    resigns: bool,
}

impl Span {
    /// Spans of a run, in order. The first is `random` alone.
    pub(super) fn all(config: &RunConfig) -> Vec<Span> {
        let resigns_from = resigns_from(config);
        let mut starts = BTreeSet::from([0, 1]);
        starts.extend(resigns_from);
        starts.extend(config.search.phases.iter().map(|phase| phase.from_model));
        starts.extend(config.train.grow.iter().map(|grow| grow.from_model));
        let mut starts: Vec<u32> = starts.into_iter().filter(|&start| start < config.run_loop.models).collect();
        starts.push(config.run_loop.models);
        let span = |first: u32, end: u32| Span {
            first,
            last: end - 1,
            config: config.of_model(first),
            resigns: resigns_from.is_some_and(|from| first >= from),
        };
        starts.windows(2).map(|pair| span(pair[0], pair[1])).collect()
    }

    pub(super) fn models(&self) -> u32 {
        self.last - self.first + 1
    }

    /// Games of one model.
    pub(super) fn games(&self) -> f64 {
        self.config.selfplay.games_of(self.first) as f64
    }

    /// Moves of a game.
    pub(super) fn moves(&self) -> f64 {
        let points = match (self.first, self.resigns) {
            (0, _) => RANDOM,
            (_, false) => WHOLE,
            // Calibration games are played to the end.
            (_, true) => RESIGNED,
        };
        moves(&self.config, points)
    }

    /// Examples that the successor of one model is trained on, on average: fewer than `train.steps` takes where the
    /// shuffler would sample new positions more than `window.reuse_limit` times, or games more than
    /// `window.samples_per_game`.
    pub(super) fn examples(&self) -> f64 {
        let RunConfig { selfplay, train, window, .. } = &self.config;
        let searched = f64::from(selfplay.full_search_fraction) * f64::from(1.0 - selfplay.holdout_fraction);
        let new_positions = self.games() * self.moves() * searched;
        let wanted = ((train.steps * train.batch) as f64).min(f64::from(window.reuse_limit) * new_positions);
        if window.samples_per_game == 0.0 {
            return wanted;
        }
        let of_model = |model: u32| wanted.min(f64::from(window.samples_per_game) * self.window_games(model));
        let models = (self.first..=self.last).step_by(self.models().div_ceil(MOST_WINDOWS) as usize);
        models.clone().map(of_model).sum::<f64>() / models.count() as f64
    }

    /// Games of the window after a model of the span.
    fn window_games(&self, model: u32) -> f64 {
        let RunConfig { selfplay, window, .. } = &self.config;
        let played = selfplay.first_games as f64 + f64::from(model) * selfplay.games as f64;
        let limit = window.limit(model);
        let size = limit.size() as f64;
        played.min(limit.of(size, size / self.moves()))
    }

    /// Whether the machine plays and trains the same for both.
    pub(super) fn is_like(&self, other: &Span) -> bool {
        let (a, b) = (&self.config, &other.config);
        (a.network, &a.search) == (b.network, &b.search) && (self.first == 0) == (other.first == 0)
    }

    pub(super) fn search(&self) -> &Search {
        &self.config.search
    }
}

/// Moves of a match game; matches have no resignation.
pub(super) fn match_moves(config: &RunConfig) -> f64 {
    moves(config, WHOLE)
}

fn moves(config: &RunConfig, points: f64) -> f64 {
    (points * config.game.board().area() as f64).min(config.game.move_limit as f64)
}

/// The first model that may resign: after `resign.min_games` calibration games of models before it. `None` where no
/// game, or every game, is one for calibration.
fn resigns_from(config: &RunConfig) -> Option<u32> {
    let fraction = f64::from(config.resign.calibration_fraction);
    let calibration = fraction * config.selfplay.games as f64;
    let models = (config.resign.min_games as f64 / calibration).ceil() as u32;
    (0.0 < fraction && fraction < 1.0).then_some(models.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    /// The run of experiments/0083-games-for-forecasts had its first threshold at model 9.
    #[test]
    fn spans_begin_where_games_or_networks_change() {
        let spans = Span::all(&Preset::NineByNine.config());
        let bounds: Vec<(u32, u32)> = spans.iter().map(|span| (span.first, span.last)).collect();
        assert_eq!(bounds, [(0, 0), (1, 8), (9, 23), (24, 24), (25, 79)]);
        assert_eq!(spans.iter().map(Span::models).sum::<u32>(), 80);
        assert!(spans[1].moves() > spans[2].moves() && spans[0].games() == 1000.0 && spans[1].games() == 400.0);
        assert!(spans[1].is_like(&spans[2]) && !spans[2].is_like(&spans[3]) && !spans[0].is_like(&spans[1]));
    }

    #[test]
    fn reuse_limit_bounds_the_examples_of_a_model() {
        let examples = |set: &str| Span::all(&Preset::NineByNine.with(&[set]).unwrap())[2].examples();
        assert_eq!(examples("selfplay.games=400"), 16_000.0);
        // 400 games of 56 positions, of which 95 % are trained on four times.
        let bounded = examples("train.steps=1000");
        assert!((bounded - 85_000.0).abs() < 500.0, "{bounded}");
    }

    #[test]
    fn games_of_the_window_bound_the_examples_of_a_model() {
        let set = ["window.samples_per_game=4", "window.games=2000", "train.steps=100000", "window.reuse_limit=1000"];
        let spans = Span::all(&Preset::NineByNine.with(&set).unwrap());
        // 1,000 random games, then 400 of each model, up to 2,000.
        assert_eq!(spans[0].examples(), 4.0 * 1000.0);
        assert_eq!(spans[1].examples(), 4.0 * (1400.0 + 1800.0 + 6.0 * 2000.0) / 8.0);
        assert_eq!(spans[2].examples(), 4.0 * 2000.0);
    }

    #[test]
    fn span_of_very_many_models_has_the_examples_of_most_of_them() {
        let set = ["window.samples_per_game=4", "window.games=2000", "train.steps=100000", "window.reuse_limit=1000"];
        let config = Preset::NineByNine.with(&[&set[..], &["loop.models=4000000000"]].concat()).unwrap();
        assert_eq!(Span::all(&config).last().unwrap().examples(), 4.0 * 2000.0);
    }

    #[test]
    fn run_of_one_model_is_random_alone_and_no_calibration_is_no_resignation() {
        let one = Preset::Tiny.with(&["loop.models=1"]).unwrap();
        assert_eq!(Span::all(&one).len(), 1);
        // With the last there are too few calibration games in any number of models.
        for fraction in ["0", "1", "1e-12"] {
            let set = format!("resign.calibration_fraction={fraction}");
            let never = Preset::Tiny.with(&[set.as_str(), "loop.models=50"]).unwrap();
            assert_eq!(Span::all(&never).len(), 2, "{fraction}");
        }
    }
}
