//! The ranges of all values. Types say what a value is; this file says what it may be.

use crate::{Algorithm, ConfigError, Inputs, RunConfig, Scoring};

fn rule(holds: bool, key: &'static str, value: impl ToString, rule: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Value { key, value: value.to_string(), rule }) }
}

fn komi(key: &'static str, komi: f32, side: usize) -> Result<(), ConfigError> {
    let halves = (komi * 2.0).fract() == 0.0 && komi.abs() <= (side * side) as f32;
    rule(halves, key, komi, "must be a multiple of 0.5, no larger than the board")
}

fn share(key: &'static str, value: f32) -> Result<(), ConfigError> {
    rule((0.0..=1.0).contains(&value), key, value, "must be from 0 to 1")
}

fn positive(key: &'static str, value: f32) -> Result<(), ConfigError> {
    rule(value > 0.0 && value.is_finite(), key, value, "must be above 0")
}

fn not_negative(key: &'static str, value: f32) -> Result<(), ConfigError> {
    rule(value >= 0.0 && value.is_finite(), key, value, "must not be negative")
}

fn at_least_one(key: &'static str, value: usize) -> Result<(), ConfigError> {
    rule(value >= 1, key, value, "must be at least 1")
}

fn even(key: &'static str, value: usize) -> Result<(), ConfigError> {
    rule(value.is_multiple_of(2), key, value, "must be even, so that neither colour gains")
}

impl RunConfig {
    /// Checks every value against its range.
    ///
    /// # Errors
    /// Names the first key whose value is out of range, and the range.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_game()?;
        self.check_network()?;
        self.check_search()?;
        self.check_selfplay()?;
        self.check_resign()?;
        self.check_window()?;
        self.check_train()?;
        self.check_evaluate()?;
        self.check_phases()
    }

    fn check_game(&self) -> Result<(), ConfigError> {
        let game = &self.game;
        rule((2..=19).contains(&game.size), "game.size", game.size, "must be from 2 to 19")?;
        komi("game.komi", game.komi, game.size)
    }

    fn check_network(&self) -> Result<(), ConfigError> {
        let network = &self.network;
        rule(network.blocks <= 80, "network.blocks", network.blocks, "must be from 0 to 80")?;
        rule((1..=1024).contains(&network.filters), "network.filters", network.filters, "must be from 1 to 1024")?;
        let planes = [("network.policy_planes", network.policy_planes), ("network.value_planes", network.value_planes)];
        for (key, planes) in planes {
            rule((1..=256).contains(&planes), key, planes, "must be from 1 to 256")?;
        }
        let optional = [("network.squeeze", network.squeeze), ("network.pooled_filters", network.pooled_filters)];
        for (key, width) in optional {
            rule(width <= 1024, key, width, "must be from 0 to 1024")?;
        }
        let hidden = network.value_hidden;
        rule((1..=4096).contains(&hidden), "network.value_hidden", hidden, "must be from 1 to 4096")
    }

    fn check_search(&self) -> Result<(), ConfigError> {
        let search = &self.search;
        rule((1..=10_000_000).contains(&search.visits), "search.visits", search.visits, "must be from 1 to 10000000")?;
        positive("search.c_puct_base", search.c_puct_base)?;
        not_negative("search.c_puct_init", search.c_puct_init)?;
        let reduction = search.fpu_reduction;
        rule((0.0..=2.0).contains(&reduction), "search.fpu_reduction", reduction, "must be from 0 to 2")?;
        rule(
            !search.q_init_stays || reduction == 0.0,
            "search.fpu_reduction",
            reduction,
            "must be 0 with search.q_init_stays",
        )?;
        let moves = search.gumbel_moves;
        rule((1..=362).contains(&moves), "search.gumbel_moves", moves, "must be from 1 to 362")?;
        not_negative("search.gumbel_c_visit", search.gumbel_c_visit)?;
        positive("search.gumbel_c_scale", search.gumbel_c_scale)?;
        rule((1..=8).contains(&search.symmetries), "search.symmetries", search.symmetries, "must be from 1 to 8")?;
        rule((1..=16).contains(&search.leaves), "search.leaves", search.leaves, "must be from 1 to 16")?;
        rule(search.pass_from <= 10_000, "search.pass_from", search.pass_from, "must be from 0 to 10000")?;
        rule(
            !search.skip_decided || self.game.scoring == Scoring::PassAlive,
            "search.skip_decided",
            search.skip_decided,
            "needs game.scoring = \"pass-alive\"",
        )
    }

    fn check_small(&self) -> Result<(), ConfigError> {
        let selfplay = &self.selfplay;
        share("selfplay.small_share", selfplay.small_share)?;
        rule(
            selfplay.small_share == 0.0 || self.network.inputs != Inputs::History,
            "selfplay.small_share",
            selfplay.small_share,
            "must be 0 with network.inputs = \"history\"",
        )?;
        rule(
            (2..=19).contains(&selfplay.small_size)
                && (selfplay.small_share == 0.0 || selfplay.small_size < self.game.size),
            "selfplay.small_size",
            selfplay.small_size,
            "must be from 2 to 19, and below game.size where games are played on it",
        )?;
        komi("selfplay.small_komi", selfplay.small_komi, selfplay.small_size)
    }

    fn check_selfplay(&self) -> Result<(), ConfigError> {
        let selfplay = &self.selfplay;
        at_least_one("selfplay.first_games", selfplay.first_games)?;
        at_least_one("selfplay.games", selfplay.games)?;
        let batch = selfplay.batch;
        rule(
            batch >= self.search.leaves && batch <= 65_536,
            "selfplay.batch",
            batch,
            "must be from search.leaves to 65536",
        )?;
        self.check_full_share()?;
        share("selfplay.policy_opening_share", selfplay.policy_opening_share)?;
        not_negative("selfplay.policy_opening_moves", selfplay.policy_opening_moves)?;
        share("selfplay.random_opening_share", selfplay.random_opening_share)?;
        let random = selfplay.random_opening_moves;
        rule((1..=100).contains(&random), "selfplay.random_opening_moves", random, "must be from 1 to 100")?;
        self.check_small()?;
        not_negative("selfplay.komi_deviation", selfplay.komi_deviation)?;
        share("selfplay.noise_weight", selfplay.noise_weight)?;
        positive("selfplay.noise_alpha", selfplay.noise_alpha)?;
        share("selfplay.noise_shaped", selfplay.noise_shaped)?;
        positive("selfplay.root_temperature", selfplay.root_temperature)?;
        positive("selfplay.root_temperature_late", selfplay.root_temperature_late)?;
        not_negative("selfplay.root_temperature_halflife", selfplay.root_temperature_halflife)?;
        not_negative("selfplay.forced_visits", selfplay.forced_visits)?;
        self.check_choice()?;
        rule(
            (1..=10_000).contains(&selfplay.move_limit),
            "selfplay.move_limit",
            selfplay.move_limit,
            "must be from 1 to 10000",
        )?;
        rule((0.0..=0.5).contains(&selfplay.holdout), "selfplay.holdout", selfplay.holdout, "must be from 0 to 0.5")?;
        at_least_one("selfplay.games_per_file", selfplay.games_per_file)
    }

    fn check_full_share(&self) -> Result<(), ConfigError> {
        let selfplay = &self.selfplay;
        share("selfplay.full_share", selfplay.full_share)?;
        positive("selfplay.full_share", selfplay.full_share)?;
        let fast = selfplay.fast_visits;
        rule(fast >= 1, "selfplay.fast_visits", fast, "must be at least 1")?;
        rule(
            selfplay.full_share == 1.0 || fast < self.search.visits,
            "selfplay.fast_visits",
            fast,
            "must be below search.visits with selfplay.full_share below 1",
        )
    }

    fn check_choice(&self) -> Result<(), ConfigError> {
        let selfplay = &self.selfplay;
        even("selfplay.choice_moves", selfplay.choice_moves)?;
        rule(
            self.search.algorithm != Algorithm::Gumbel || selfplay.choice_moves == 0,
            "selfplay.choice_moves",
            selfplay.choice_moves,
            "must be 0 with search.algorithm \"gumbel\", whose sampling draws the moves",
        )?;
        positive("selfplay.choice_exponent", selfplay.choice_exponent)?;
        not_negative("selfplay.choice_halflife", selfplay.choice_halflife)
    }

    fn check_resign(&self) -> Result<(), ConfigError> {
        let resign = &self.resign;
        share("resign.calibration", resign.calibration)?;
        rule((0.0..=0.5).contains(&resign.quantile), "resign.quantile", resign.quantile, "must be from 0 to 0.5")?;
        at_least_one("resign.games", resign.games)?;
        rule(
            (1..=resign.games).contains(&resign.min_games),
            "resign.min_games",
            resign.min_games,
            "must be from 1 to resign.games",
        )?;
        share("resign.jitter", resign.jitter)?;
        self.check_decided()
    }

    fn check_window(&self) -> Result<(), ConfigError> {
        let window = &self.window;
        at_least_one("window.games", window.games)?;
        at_least_one("window.slow_step", window.slow_step)?;
        at_least_one("window.power_start", window.power_start)?;
        at_least_one("window.power_scale", window.power_scale)?;
        let exponent = window.power_exponent;
        rule(exponent > 0.0 && exponent <= 1.0, "window.power_exponent", exponent, "must be above 0, up to 1")?;
        share("window.power_slope", window.power_slope)?;
        not_negative("window.samples_per_game", window.samples_per_game)?;
        not_negative("window.sample_share", window.sample_share)?;
        positive("window.samples_per_position", window.samples_per_position)?;
        rule(window.most_draws <= 255, "window.most_draws", window.most_draws, "must be from 0 to 255")?;
        share("window.calibration_share", window.calibration_share)?;
        not_negative("window.halflife", window.halflife)?;
        share("window.surprise", window.surprise)?;
        share("window.policy_surprise", window.policy_surprise)?;
        let both = window.surprise + window.policy_surprise;
        rule(both <= 1.0, "window.policy_surprise", window.policy_surprise, "must leave surprise its share of 1")
    }

    fn check_decided(&self) -> Result<(), ConfigError> {
        let resign = &self.resign;
        let moves = resign.decided_moves;
        rule(moves != 1, "resign.decided_moves", moves, "must be 0 or at least 2, so that both sides agree")?;
        share("resign.decided_value", resign.decided_value)?;
        let visits = resign.decided_visits;
        rule(visits >= 1, "resign.decided_visits", visits, "must be at least 1")?;
        rule(
            moves == 0 || visits < self.search.visits,
            "resign.decided_visits",
            visits,
            "must be below search.visits with resign.decided_moves",
        )?;
        share("resign.decided_weight", resign.decided_weight)?;
        positive("resign.decided_weight", resign.decided_weight)
    }

    fn check_train(&self) -> Result<(), ConfigError> {
        let train = &self.train;
        at_least_one("train.batch", train.batch)?;
        at_least_one("train.steps", train.steps)?;
        rule((0.0..1.0).contains(&train.momentum), "train.momentum", train.momentum, "must be from 0 to below 1")?;
        let second = train.second_momentum;
        rule((0.0..1.0).contains(&second), "train.second_momentum", second, "must be from 0 to below 1")?;
        not_negative("train.l2", train.l2)?;
        not_negative("train.clip_norm", train.clip_norm)?;
        let decay = train.average_decay;
        rule((0.0..1.0).contains(&decay), "train.average_decay", decay, "must be from 0 to below 1")?;
        self.check_losses()?;
        let steps: Vec<u64> = train.learning_rate.iter().map(|piece| piece.from_step).collect();
        rule(
            steps.first() == Some(&0) && steps.is_sorted_by(|a, b| a < b),
            "train.learning_rate",
            format!("{steps:?}"),
            "from_step must start at 0 and rise",
        )?;
        train.learning_rate.iter().try_for_each(|piece| positive("train.learning_rate", piece.rate))
    }

    fn check_losses(&self) -> Result<(), ConfigError> {
        let train = &self.train;
        positive("train.policy_exponent", train.policy_exponent)?;
        not_negative("train.value_weight", train.value_weight)?;
        let exponent = train.value_exponent;
        rule((1.0..=8.0).contains(&exponent), "train.value_exponent", exponent, "must be from 1 to 8")?;
        share("train.outcome_share", train.outcome_share)?;
        not_negative("train.ownership_weight", train.ownership_weight)?;
        not_negative("train.opponent_weight", train.opponent_weight)?;
        not_negative("train.score_weight", train.score_weight)
    }

    fn check_evaluate(&self) -> Result<(), ConfigError> {
        let evaluate = &self.evaluate;
        rule(evaluate.visits >= 1, "evaluate.visits", evaluate.visits, "must be at least 1")?;
        even("evaluate.opening_moves", evaluate.opening_moves)?;
        let (bound, seconds) = (evaluate.resign_below, evaluate.seconds_per_move);
        let in_range = (0.0..=86_400.0).contains(&seconds);
        rule(in_range, "evaluate.seconds_per_move", seconds, "must be from 0 to 86400")?;
        rule((-1.0..=0.0).contains(&bound), "evaluate.resign_below", bound, "must be from -1 to 0")?;
        even("evaluate.games_per_pair", evaluate.games_per_pair)?;
        at_least_one("evaluate.games_per_pair", evaluate.games_per_pair)?;
        rule(evaluate.every >= 1, "evaluate.every", evaluate.every, "must be at least 1")?;
        rule(self.cycle.models >= 1, "loop.models", self.cycle.models, "must be at least 1")?;
        even("loop.final_games", self.cycle.final_games)?;
        not_negative("loop.final_margin", self.cycle.final_margin)
    }
}
