//! The sections of the file, one struct each. Every field is a key of the file, and its comment is the manual.

use serde::{Deserialize, Serialize};

use crate::QInit;

/// A whole run. Read it with [`RunConfig::from_toml`], which also checks every value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Where all randomness of the run starts: the same seed plays the same games.
    pub seed: u64,
    /// The game that is learned.
    pub game: Game,
    /// The shape of the tower.
    pub network: Network,
    /// How positions are searched; published with every model.
    pub search: Search,
    /// How games are played for training.
    pub selfplay: Selfplay,
    /// When a player gives up, and how that is calibrated.
    pub resign: Resign,
    /// Which games the next model learns from.
    pub window: Window,
    /// How the network learns.
    pub train: Train,
    /// How models are measured.
    pub evaluate: Evaluate,
    /// How `tengen run` goes round.
    #[serde(rename = "loop")]
    pub cycle: Loop,
}

/// `[game]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Game {
    /// Side of the board in points, 2 to 19.
    pub size: usize,
    /// Points added to White's area; a multiple of 0.5. With a whole number draws are possible.
    pub komi: f32,
    /// How the end of a game is found and counted.
    pub scoring: Scoring,
}

/// How the end of a game is found and counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoring {
    /// Area; pass-alive regions count wholly for their owner, and the game is over when they cover the board.
    PassAlive,
    /// Strict Tromp-Taylor area; only two passes end the game.
    Area,
}

/// `[network]`: the tower of AlphaGo Zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Residual blocks of two 3x3 convolutions each.
    pub blocks: usize,
    /// Channels of the tower.
    pub filters: usize,
    /// Width of the hidden layer in the value head.
    pub value_hidden: usize,
}

/// `[search]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Visits below the root for each move, counting those inherited from the move before.
    pub visits: u32,
    /// What an edge is worth before its first visit: "loss", "parent", "zero", or a penalty from 0 (parent) to 2 (loss).
    pub q_init: QInit,
    /// c_base of the exploration factor, in visits.
    pub c_puct_base: f32,
    /// c_init of the exploration factor.
    pub c_puct_init: f32,
    /// Keep the tree below the move that was played; the visits kept count towards the next budget.
    pub reuse: bool,
    /// Leaves of one game that may wait for the same batch, held apart by virtual losses; 1 to 16.
    pub leaves: usize,
}

/// `[selfplay]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selfplay {
    /// Games of the built-in model `random` before the first training.
    pub first_games: usize,
    /// Games of every later model.
    pub games: usize,
    /// Positions in a batch; a worker thread keeps `batch / search.leaves` games going.
    pub batch: usize,
    /// Share of Dirichlet noise in the root's priors, 0 to 1.
    pub noise_weight: f32,
    /// Dirichlet concentration per move on 19x19; scaled by 361 / area.
    pub noise_alpha: f32,
    /// Moves drawn from the visits at the start of a game; even, so that neither colour gains.
    pub choice_moves: usize,
    /// Exponent on the visits when drawing, and for the policy target of those moves.
    pub choice_exponent: f32,
    /// Moves after which a game is counted as it stands: a guard, not a rule.
    pub move_limit: usize,
    /// Share of games set aside for validation and never trained on, 0 to 0.5.
    pub holdout: f32,
    /// Games written to one file.
    pub games_per_file: usize,
}

/// `[resign]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// Share of calibration games, in which nobody may resign, 0 to 1.
    pub calibration: f32,
    /// Share of calibration games whose winner the threshold would have thrown away, 0 to 0.5.
    pub quantile: f32,
    /// Calibration games the threshold is computed from, newest first.
    pub games: usize,
    /// Nobody resigns before this many calibration games exist.
    pub min_games: usize,
}

/// `[window]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Games in the window, newest first.
    pub games: usize,
    /// How often one position may be drawn while it stays in the window, on average.
    pub samples_per_position: f32,
}

/// `[train]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Examples in a batch.
    pub batch: usize,
    /// Optimiser steps between two models.
    pub steps: usize,
    /// Momentum of stochastic gradient descent, 0 to 1.
    pub momentum: f32,
    /// Strength of the L2 penalty λ in λ‖w‖² / 2, on weights only (not on biases and batch norms).
    pub l2: f32,
    /// Weight of the value loss against the policy loss.
    pub value_weight: f32,
    /// Share λ_v of the outcome in the value target; the rest is the search's root value.
    pub outcome_share: f32,
    /// See each example in one of the eight symmetries, drawn anew each time.
    pub rotate: bool,
    /// Steps with a constant rate, in order of `from_step`; the first starts at 0.
    pub learning_rate: Vec<LearningRate>,
}

/// One piece of the learning-rate schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningRate {
    /// First optimiser step of the run with this rate.
    pub from_step: u64,
    /// The rate.
    pub rate: f32,
}

/// `[evaluate]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evaluate {
    /// Visits for each move of a match game.
    pub visits: u32,
    /// Random moves at the start of a game; both colours play each opening once.
    pub opening_moves: usize,
    /// Games between two models each time they are paired; even.
    pub games_per_pair: usize,
    /// Pairs played for each new model in `tengen run`.
    pub pairs_per_model: usize,
}

/// `[loop]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// The run is finished when it has this many models.
    pub models: u32,
    /// Games between the newest model and `random`, and between it and its predecessor-by-half, at the end; even.
    pub final_games: usize,
}
