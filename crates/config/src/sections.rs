//! The sections of the file, one struct each. Every field is a key of the file, and its comment is the manual.

use serde::{Deserialize, Serialize};

use crate::{QInit, newer};

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
    /// The digest of the configuration that this is a phase of; no key of the file.
    #[serde(skip)]
    pub whole: Option<String>,
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
    /// Planes of the policy head; 2 in AlphaGo Zero. A small tower learns its policy faster with more.
    pub policy_planes: usize,
    /// Planes of the value head; 1 in AlphaGo Zero.
    pub value_planes: usize,
    /// Width of the hidden layer in the value head.
    pub value_hidden: usize,
    /// Learn whose each point will be, too (`train.ownership_weight`): many small answers a game instead of one. In play it
    /// costs nothing.
    pub ownership: bool,
    /// Learn by how many points the game will be won, too (`train.score_weight`). In play it costs nothing.
    pub score: bool,
    /// Learn the opponent's next move, too (`train.opponent_weight`). In play it costs nothing.
    pub opponent: bool,
    /// What the network is told of a position: "history", "features", or "tactics".
    pub inputs: Inputs,
    /// How the policy comes of its planes: "dense", or "convolution".
    pub policy_head: PolicyHead,
    /// How the value comes of its hidden layer: "tanh", or "win-draw-loss".
    pub value_head: ValueHead,
    /// The value head is told the mean of each of its planes, and not what is at which point: far fewer weights, which cannot
    /// learn games by heart. It takes more planes then.
    pub value_pooled: bool,
    /// Blocks begin with batch norm and ReLU instead of ending with them. On a CPU it plays more slowly.
    pub pre_activation: bool,
    /// Learn every 3x3 convolution as the sum of itself, a 1x1 convolution and the identity, each with a batch norm (RepVGG). In
    /// play they are one convolution and cost nothing.
    pub branches: bool,
    /// Width of the hidden layer of squeeze and excitation at the end of each block; 0: none.
    pub squeeze: usize,
    /// Channels that every second block pools over the whole board; 0: none.
    pub pooled_filters: usize,
}

/// What a network is told of a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// The last eight boards and whose turn it is: 17 planes (AlphaGo Zero, Minigo).
    #[default]
    History,
    /// The board, chains with one, two and three liberties, ko, the last five moves and komi: 16 planes (after KataGo).
    Features,
    /// The same, and where a stone of either player would capture, be forbidden, or have one, two or three liberties; chains that
    /// ladders catch, with the moves that begin those; what is pass-alive: 31 planes.
    Tactics,
}

/// How a policy comes of the planes of the policy head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyHead {
    /// By a dense layer from all points of all planes to all moves (AlphaGo Zero).
    #[default]
    Dense,
    /// A 1x1 convolution for the points, and for the pass a dense layer of each plane's mean and maximum.
    Convolution,
}

/// How a value comes of the hidden layer of the value head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueHead {
    /// As one number through tanh (AlphaGo Zero).
    #[default]
    Tanh,
    /// As the chance of winning less that of losing, of three chances with that of a draw.
    WinDrawLoss,
}

/// A phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Number of the first model that is searched so.
    pub from_model: u32,
    /// As `search.visits`.
    pub visits: u32,
    /// As `search.gumbel_moves`.
    pub gumbel_moves: usize,
    /// As `search.gumbel_c_scale`.
    pub gumbel_c_scale: f32,
}

/// A larger network from a model on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grow {
    /// Number of the first model that has it, 2 or later.
    pub from_model: u32,
    /// As `network.blocks`, no fewer than before.
    pub blocks: usize,
    /// As `network.filters`, no fewer than before.
    pub filters: usize,
    /// As `network.inputs`: as before, or "tactics" after "features".
    pub inputs: Inputs,
}

/// `[search]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Visits below the root for each move, counting those inherited from the move before.
    pub visits: u32,
    /// From a model on, so many visits, and so many moves considered and so much weight of values in Gumbel searches; empty for
    /// the same all along. A beginner learns most from many short searches; longer ones are worth their time once values mean
    /// something.
    pub phases: Vec<Phase>,
    /// How edges are chosen: "puct" or "gumbel". What each has no use for is ignored: PUCT the `gumbel_*` keys, Gumbel
    /// `q_init*`, `fpu_reduction` and `c_puct_*`, and in self-play noise, root temperature, forced visits and pruning.
    pub algorithm: Algorithm,
    /// What an edge is worth before its first visit: "loss", "parent", "zero", or a penalty from 0 (parent) to 2 (loss).
    pub q_init: QInit,
    /// Whether that value stays in the mean of the edge as one virtual visit (Minigo), or counts only while the edge is
    /// unvisited (first-play urgency): Q = (init + W)/(1 + N) or W/N.
    pub q_init_stays: bool,
    /// Without `q_init_stays`: unvisited edges are worth this much less, times the square root of the prior of those
    /// that were followed, but never less than a loss; 0 to 2. KataGo has 0.2.
    pub fpu_reduction: f32,
    /// c_base of the exploration factor, in visits.
    pub c_puct_base: f32,
    /// c_init of the exploration factor.
    pub c_puct_init: f32,
    /// Moves that a Gumbel search considers at the root, at most; drawn from the prior without replacement in self-play,
    /// the most probable ones elsewhere. With as many moves as visits a search looks one move ahead only: 16 visits for 4
    /// moves play far better than for 16.
    pub gumbel_moves: usize,
    /// c_visit of σ(q) = (c_visit + max N)·c_scale·q, by which a Gumbel search weighs values against priors; 50 in the
    /// paper.
    pub gumbel_c_visit: f32,
    /// c_scale of σ, for values from 0 (lost) to 1 (won).
    pub gumbel_c_scale: f32,
    /// Keep the tree below the move that was played; the visits kept count towards the next budget.
    pub reuse: bool,
    /// Leaves of one game that may wait for the same batch, held apart by virtual losses; 1 to 16.
    pub leaves: usize,
    /// Nobody passes before so many moves of a game, unless nothing else is left to play. Beginners who may pass end
    /// games at random, and so the outcomes teach them little.
    pub pass_from: usize,
    /// Do not consider points of pass-alive regions: nothing played there changes the score. Needs the scoring
    /// "pass-alive", under which they count for their owner as they are.
    pub skip_decided: bool,
    /// Take a position after a pass for won by the player to move where passing too wins the game, without searching it.
    /// A player who is behind then sees at once what a pass would cost.
    pub answer_passes: bool,
    /// Evaluate each position in so many of the eight symmetries of the board, drawn from the first one on, and take the
    /// mean of policies and of values. A visit then costs as many evaluations, less what the cache knows.
    #[serde(default = "newer::symmetries")]
    pub symmetries: usize,
}

/// How a search chooses edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// AlphaZero's: value plus a bonus for a high prior and few visits, at every node.
    Puct,
    /// Policy improvement by planning with Gumbel (Danihelka et al. 2022): sequential halving of sampled moves at the
    /// root, below it visits in proportion to the improved policy. Good from 2 visits up.
    Gumbel,
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
    /// Share of the searches that are full: `search.visits` visits, with exploration, learned from. Each move draws anew.
    /// The others are fast: `fast_visits`, nothing explored, nothing learned, only to get on with the game
    /// (playout-cap randomisation; KataGo has 0.25). The tree is kept between both. 1 is off. With Gumbel search a fast
    /// search takes the most probable moves for its sample. A game has so many examples fewer, so the same window needs more
    /// games.
    pub full_share: f32,
    /// Visits of a fast search, counting those inherited; below `search.visits`. KataGo has a sixth of them.
    pub fast_visits: u32,
    /// Share of games that open with moves drawn from the network's own policy, without search and without passes;
    /// 0 to 1. Nobody learns from those moves.
    pub policy_opening_share: f32,
    /// How many those are on average: the number is drawn for each game, n with probability m^n / (1 + m)^(n + 1).
    /// KataGo has 4 % of the board's points.
    pub policy_opening_moves: f32,
    /// Share of games that begin with random moves, off the edge where there is room, as games of matches do. Nobody learns
    /// from those moves.
    #[serde(default)]
    pub random_opening_share: f32,
    /// How many of them at most; every number from 1 to this is as frequent, but none is above a quarter of the points.
    #[serde(default = "newer::random_opening_moves")]
    pub random_opening_moves: usize,
    /// Share of games that are played on a smaller board, in the middle of the network's. They are shorter. On 9x9 a quarter
    /// of the games on 7x7 is worth something in the first minutes at best, and costs strength in the end. Needs inputs that
    /// tell where the board is.
    #[serde(default)]
    pub small_share: f32,
    /// Points on a side of that board.
    #[serde(default = "newer::small_size")]
    pub small_size: usize,
    /// Points added to White's area there.
    #[serde(default = "newer::small_komi")]
    pub small_komi: f32,
    /// Standard deviation of komi from game to game: `game.komi` plus a normal number rounded to a whole one, and no
    /// larger than the board; 0: all games have the same. Networks that are told komi (`network.inputs` "features" and
    /// "tactics") learn what it is worth; others learn the mean over all of them, and their values are blurred by so much.
    pub komi_deviation: f32,
    /// Share of Dirichlet noise in the root's priors, 0 to 1.
    pub noise_weight: f32,
    /// Dirichlet concentration per move on 19x19; scaled by 361 / area.
    pub noise_alpha: f32,
    /// Share of the concentration that goes to moves with a good prior, 0 (all alike) to 1: by what the logarithm of the
    /// prior, capped at 1 %, is above its mean over all moves. KataGo has 0.5.
    pub noise_shaped: f32,
    /// Temperature T of the root's priors at the start of a game, P^(1/T), before the noise; 1 is off. KataGo has 1.25.
    pub root_temperature: f32,
    /// Temperature of the root's priors that a game approaches. KataGo has 1.1.
    pub root_temperature_late: f32,
    /// Moves in which the root temperature goes half of the way from the first to the second; 0: it stays the first.
    pub root_temperature_halflife: f32,
    /// k of the forced visits: each visited child of the root gets at least sqrt(k·P·ΣN); 0 is off. KataGo has 2.
    pub forced_visits: f32,
    /// Prune the policy target: visits of moves other than the best are lowered to what their scores ask for, so that
    /// forced visits and unlucky noise are not learned. The examples then hold the pruned visits; what is played is
    /// chosen by the raw ones, which are not stored.
    pub prune_target: bool,
    /// Moves drawn from the visits at the start of a game; even, so that neither colour gains. 0 with Gumbel search,
    /// whose sampling draws the moves.
    pub choice_moves: usize,
    /// Exponent on the visits when drawing; what is learned of them has `train.policy_exponent`.
    pub choice_exponent: f32,
    /// Moves in which the temperature of the draw, 1 / exponent, halves; 0: it is constant.
    pub choice_halflife: f32,
    /// Moves after which a game is counted as it stands: a guard, not a rule.
    pub move_limit: usize,
    /// Share of games set aside for validation and never trained on, 0 to 0.5.
    pub holdout: f32,
    /// What a worker that follows the newest model does with its games in progress when a newer one appears: it lets the
    /// newer one go on with them, or finishes them first. A game says from which move on which model played.
    pub follow_within_games: bool,
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
    /// Each game has a threshold of its own, drawn from the one in force ± this, -1 to 0; 0 is off.
    pub jitter: f32,
    /// Instead of resigning: when the searches of so many moves, of both sides, have agreed on who wins, the searches
    /// that follow are reduced as long as they agree too. 0 is off; with it nobody resigns. KataGo has 3 (of one side).
    pub decided_moves: usize,
    /// What they have agreed on: all root values are at least this for the same side, 0 to 1. KataGo has 0.8.
    pub decided_value: f32,
    /// Visits of a reduced search, counting those inherited; below `search.visits`.
    pub decided_visits: u32,
    /// Weight of the examples of reduced searches in the loss, above 0 to 1. KataGo has 0.1.
    pub decided_weight: f32,
}

/// `[window]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Games in the window, newest first; where the window grows, the most it grows to.
    pub games: usize,
    /// The same counted in positions: whole games, newest first, until there are so many positions; 0: the window is
    /// counted in games.
    pub positions: usize,
    /// Whether the window is smaller at first. What follows is in games or positions, as the window is counted.
    pub growth: Growth,
    /// Slow growth: added to the number of the model before. Minigo has 5.
    pub slow_offset: usize,
    /// Slow growth: for each model, the offset included. Minigo has 10,000 games.
    pub slow_step: usize,
    /// Power law: the window is everything until there is so much. KataGo has 250,000 positions.
    pub power_start: usize,
    /// Power law: the scale on which growth slows down. KataGo has 250,000 positions.
    pub power_scale: usize,
    /// Power law: the exponent e of the growth. KataGo has 0.65.
    pub power_exponent: f32,
    /// Power law: how much of what is new the window grows by at its start. KataGo has 0.4.
    pub power_slope: f32,
    /// Games with fewer moves are left out. Minigo has 30 on 19x19; 0: none are.
    pub shortest_game: usize,
    /// Positions after so many moves of a game are left out. Minigo has 400 on 19x19; 0: none are.
    pub last_move: usize,
    /// What is drawn as often as any other of its kind: positions, or games whatever their length.
    pub draw: DrawBy,
    /// At most so many examples for each game of the window, on average; with draws by game from each. Minigo had 4, with
    /// the training taking all of them; 0: no bound.
    pub samples_per_game: f32,
    /// At most this share of the window's positions, as a number of examples. Minigo had 0.02; 0: no bound.
    pub sample_share: f32,
    /// How often one position may be drawn while it stays in the window, on average.
    pub samples_per_position: f32,
    /// No position is drawn more often than this in its life, up to 255; 0: only the average is bounded. How often each
    /// was drawn is kept with the shards.
    pub most_draws: usize,
    /// Share of the examples that come from calibration games, exactly, as long as there are any; 0: as it comes.
    pub calibration_share: f32,
    /// Models after which a position is drawn half as often as a new one; 0: age does not matter.
    pub halflife: f32,
    /// Share of a position's chance that goes by surprise: by how far the search's root value was from the network's, in
    /// proportion to the mean of its game; the rest, less `policy_surprise`, is the same for all. KataGo has 0.1 by such a
    /// surprise of values.
    pub surprise: f32,
    /// Share of a position's chance that goes by how far the policy to learn is from the network's priors (its
    /// Kullback-Leibler divergence), in proportion to the mean of its game. KataGo has 0.5. Games by programs that did
    /// not say it yet are drawn as if nothing were surprising.
    #[serde(default)]
    pub policy_surprise: f32,
}

/// Whether the window is smaller at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// It has its full size from the beginning.
    None,
    /// (model + slow_offset) · slow_step: the first games leave it early (Minigo).
    Slow,
    /// W(n) = ((n − m + o)^e − o^e) / (e·o^(e − 1)) · k + m of all n that there are, with m `power_start`, o `power_scale`,
    /// e `power_exponent` and k `power_slope` (KataGo).
    PowerLaw,
}

/// What is drawn as often as any other of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawBy {
    /// Each position, so that long games give more.
    Positions,
    /// Each game, so that positions of long games are drawn less often.
    Games,
}

/// `[train]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Train {
    /// Examples in a batch.
    pub batch: usize,
    /// Optimiser steps between two models.
    pub steps: usize,
    /// How gradients become steps: "sgd", "nesterov" or "adamw".
    pub optimizer: Optimizer,
    /// Momentum of stochastic gradient descent, 0 to 1; with "adamw" β1.
    pub momentum: f32,
    /// β2 of "adamw": how slowly its mean of squared gradients follows.
    pub second_momentum: f32,
    /// Strength of the L2 penalty λ in λ‖w‖² / 2, on weights only (not on biases and batch norms). With "adamw" the weights
    /// decay instead, by rate · λ in each step.
    pub l2: f32,
    /// Gradients longer than this, all tensors together, are shortened to it; 0: none are.
    pub clip_norm: f32,
    /// Decay of the running mean of the weights, which is what is published, its batch norms measured anew; 0: the weights
    /// themselves are published. 0.999 forgets half in 700 steps.
    pub average_decay: f32,
    /// What becomes of a search's visits as the policy to learn: "visits" as they are, "squashed" by `policy_exponent`,
    /// "squashed-drawn" (only where moves are drawn, before `selfplay.choice_moves`), or "one-hot".
    pub policy_target: PolicyTarget,
    /// Exponent of squashed visits, visits^exponent scaled to sum 1. Below 1 they come out flatter (Minigo: 0.98, 0.95
    /// before), above 1 sharper (8 is nearly one-hot).
    pub policy_exponent: f32,
    /// Answer with probabilities of legal moves only: illegal ones, which the search leaves out anyway, take no part in the
    /// policy loss.
    pub legal_only: bool,
    /// Weight of the value loss against the policy loss.
    pub value_weight: f32,
    /// What a wrong value costs: "squared", "power" or "cross-entropy".
    pub value_loss: ValueLoss,
    /// Exponent of "power"; 2.6 in Stockfish's trainer.
    pub value_exponent: f32,
    /// Share λ_v of the outcome in the value target; the rest is the search's root value.
    pub outcome_share: f32,
    /// Where outcome and search value are mixed: in the "target", or in the "loss".
    pub outcome_in: OutcomeIn,
    /// Weight of the loss of `network.ownership` against the policy loss.
    pub ownership_weight: f32,
    /// Weight of the loss of `network.score` against the policy loss.
    pub score_weight: f32,
    /// Weight of the loss of `network.opponent` against the policy loss; KataGo has 0.15.
    pub opponent_weight: f32,
    /// See each example in one of the eight symmetries, drawn anew each time.
    pub rotate: bool,
    /// Steps at the start in which the rate grows in proportion to the step; 0: none.
    pub warm_up: u64,
    /// From a model on, so many blocks and filters, and these inputs; empty for the same network all along. The network answers
    /// as before when it has grown, and has room to learn more; momentum begins at rest. A small one is sooner at many models,
    /// which is what counts for a beginner.
    #[serde(default)]
    pub grow: Vec<Grow>,
    /// How the rate goes from one of the below to the next: "constant", "linear" or "cosine". After the last it stays.
    pub learning_rate_path: RatePath,
    /// Steps after which the rates below begin anew; 0: never.
    pub learning_rate_cycle: u64,
    /// Rates, in order of the step from which on they hold; the first starts at 0.
    pub learning_rate: Vec<LearningRate>,
}

/// How gradients become steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Stochastic gradient descent with momentum.
    Sgd,
    /// The same with Nesterov's momentum, which looks a step ahead.
    Nesterov,
    /// Adam with decoupled weight decay (Loshchilov and Hutter 2019).
    Adamw,
}

/// What a wrong value costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueLoss {
    /// (v − t)², values from −1 to 1.
    Squared,
    /// |v − t|^exponent, values from 0 to 1.
    Power,
    /// −t ln v − (1 − t) ln(1 − v) less what the target itself would cost, values from 0 to 1; with
    /// `network.value_head = "win-draw-loss"` the same of its three chances.
    CrossEntropy,
}

/// Where outcome and search value are mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeIn {
    /// The target is between them.
    Target,
    /// Each has a loss, and these are mixed.
    Loss,
}

/// How the learning rate goes from one value to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatePath {
    /// It stays until the next begins.
    Constant,
    /// On a straight line.
    Linear,
    /// On half a cosine: slowly at both ends.
    Cosine,
}

/// What becomes of visits as the policy to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicyTarget {
    /// In proportion to the visits.
    Visits,
    /// In proportion to visits^exponent.
    Squashed,
    /// As `Squashed` for the moves that are drawn from the visits, as `Visits` for the others (Minigo).
    SquashedDrawn,
    /// The most visited move; equals share it.
    OneHot,
}

/// One point of the learning-rate schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LearningRate {
    /// The optimiser step of the run at which the rate is reached.
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
    /// Seconds after which a model plays in a match, however many of its visits are left; 0: no bound. Then a thread plays one
    /// game at a time, and games are no longer the same when they are played again.
    pub seconds_per_move: f32,
    /// A model gives up a match game when its root value is below this, -1 to 0; -1: none does. It saves time, and costs
    /// results where the values are wrong.
    pub resign_below: f32,
    /// Random moves at the start of a game; both colours play each opening once.
    pub opening_moves: usize,
    /// Games between two models each time they are paired; even.
    pub games_per_pair: usize,
    /// Pairs played for each new model in `tengen run`.
    pub pairs_per_model: usize,
    /// New models that play them: 1: each, 2: every second, and so on. The last of a run always does.
    #[serde(default = "newer::every")]
    pub every: u32,
    /// Opponents of a new model in `tengen run`.
    #[serde(default = "newer::pairing")]
    pub pairing: Pairing,
}

/// Which pairs `tengen run` plays for a new model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// The new model and its ancestors at Fibonacci distances.
    Fibonacci,
    /// Any two models that are measured: those whose games are expected to reduce the errors of the table most.
    Informed,
}

/// `[loop]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// The run is finished when it has this many models.
    pub models: u32,
    /// Games between the newest model and `random`, and between it and its predecessor-by-half, at the end; even.
    pub final_games: usize,
    /// Further pairs when the run has all its models, chosen by what their games are expected to tell: at most so many.
    #[serde(default)]
    pub final_pairs: usize,
    /// Final pairs are played until the 95 % intervals of every rating, against the mean of the run's models, and of the newest model
    /// minus the oldest are within ± this, in Elo; 0: all of them are played.
    #[serde(default = "newer::final_margin")]
    pub final_margin: f32,
}
