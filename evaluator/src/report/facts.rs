//! What the page shows, and where it stands in the store.

use std::fmt;

use config::{RunConfig, RunName};
use ratings::{Estimate, Score};
use record::{EndReason, GameProjection, Outcome, RatingRow};
use serde::Serialize;
use store::ResignThreshold;

/// All that the page shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Facts {
    /// What the run is.
    pub run: RunFacts,
    /// Every player of a match, strongest first: `ratings/`, newest file. Hidden models are omitted.
    pub players: Vec<Player>,
    /// Who beat whom: `matches/`.
    pub pairings: Vec<Pairing>,
    /// All matches together.
    pub pool: Pool,
    /// The players whose ratings are given, as `GnuGo-10 = 0`; without any, errors are against the mean of the
    /// run's models.
    pub scale: Vec<String>,
    /// What the ratings do not say.
    pub notes: Vec<String>,
    /// Self-play by the model that played: `games/`.
    pub models: Vec<Model>,
    /// Every threshold there was, oldest first: `resign/`.
    pub thresholds: Vec<Threshold>,
    /// What positions cost: `logs/`.
    pub losses: Vec<Curve>,
    /// Games to display.
    pub games: Vec<Game>,
}

/// What the run is: `run.toml`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFacts {
    name: String,
    config_digest: String,
    size: usize,
    komi: f32,
    scoring: &'static str,
    /// Visits for each move of self-play.
    visits: u32,
    /// Visits for each move of a match.
    match_visits: u32,
    /// When the page was written, in milliseconds since 1970.
    written: u64,
    /// The version of the program that wrote it.
    version: &'static str,
}

impl RunFacts {
    pub(super) fn new(name: &RunName, config: &RunConfig, written: u64) -> RunFacts {
        RunFacts {
            name: name.to_string(),
            config_digest: config.digest(),
            size: config.game.size,
            komi: config.game.komi,
            scoring: config.game.scoring.name(),
            visits: config.search.visits,
            match_visits: config.evaluate.visits,
            written,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// A player of matches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Player {
    /// Its number, if it is a model of the run.
    pub number: Option<u32>,
    /// Settings that differ from those of the model, as `visits=100+q_init=loss`; mostly empty.
    pub settings: String,
    /// Games of self-play by the models before it.
    pub games_before: Option<u64>,
    /// Hours from the first games of the run to its last step of training, pauses included: `games/`, `logs/`.
    pub hours: Option<f64>,
    /// As it is stored.
    #[serde(flatten)]
    pub rating: Rating,
}

/// A row of the ratings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rating {
    pub(super) player: String,
    elo: f64,
    error: f64,
    above_pool: f64,
    above_pool_error: f64,
    games: u32,
    points: f64,
}

impl From<RatingRow> for Rating {
    fn from(row: RatingRow) -> Rating {
        let RatingRow { player, elo, error, above_pool, above_pool_error, games, points } = row;
        Rating { player, elo, error, above_pool, above_pool_error, games, points }
    }
}

/// The games of two players with fixed colours; players by their place among the players.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pairing {
    /// Who had Black.
    pub black: usize,
    /// Who had White.
    pub white: usize,
    /// How they ended.
    #[serde(flatten)]
    pub results: Results,
}

/// Wins of either colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    black_won: u64,
    white_won: u64,
    drawn: u64,
}

impl Results {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Black => self.black_won += 1,
            Outcome::White => self.white_won += 1,
            Outcome::Draw => self.drawn += 1,
        }
    }
}

impl From<Score> for Results {
    fn from(score: Score) -> Results {
        Results { black_won: score.black.into(), white_won: score.white.into(), drawn: score.draws.into() }
    }
}

/// What Black's first move is worth, in Elo, and one standard error of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Advantage {
    elo: f64,
    error: f64,
}

impl From<Estimate> for Advantage {
    fn from(estimate: Estimate) -> Advantage {
        Advantage { elo: estimate.elo, error: estimate.error }
    }
}

/// All matches together.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pool {
    /// As it was fitted together with the ratings.
    pub first_move: Advantage,
    /// The games.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Self-play of one model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// Its number; 0 is `random`.
    pub number: u32,
    /// Games.
    pub games: u64,
    /// The games.
    #[serde(flatten)]
    pub counts: Counts,
}

/// What many games have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counts {
    #[serde(flatten)]
    results: Results,
    /// Games by how they ended.
    ends: Ends,
    /// Calibration games.
    calibration: u64,
    /// Calibration games with a would-be resignation.
    would_resign: u64,
    /// … and won.
    would_resign_wrongly: u64,
    /// Moves of a game.
    lengths: Option<Lengths>,
    /// Mean of the games' mean depths of search, in moves.
    mean_depth: Option<f64>,
}

/// Games by how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Ends {
    passes: u64,
    pass_alive: u64,
    resignation: u64,
    move_limit: u64,
    forfeit: u64,
}

/// How long games are, in moves: each but the mean is that of some game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Lengths {
    mean: f64,
    shortest: u32,
    /// One in ten is shorter.
    tenth: u32,
    median: u32,
    /// One in ten is longer.
    ninetieth: u32,
    longest: u32,
}

/// Counts that grow.
#[derive(Default)]
pub(super) struct Counter {
    counts: Counts,
    lengths: Vec<u32>,
    depth: (f64, u64),
}

impl Counter {
    pub(super) fn add(&mut self, game: &GameProjection) {
        let (summary, counts) = (&game.summary, &mut self.counts);
        counts.results.add(summary.outcome);
        *match summary.end {
            EndReason::Passes => &mut counts.ends.passes,
            EndReason::PassAlive => &mut counts.ends.pass_alive,
            EndReason::Resignation => &mut counts.ends.resignation,
            EndReason::MoveLimit => &mut counts.ends.move_limit,
            EndReason::Forfeit => &mut counts.ends.forfeit,
        } += 1;
        if summary.calibration {
            counts.calibration += 1;
            if let Some(turn) = summary.would_resign_turn {
                let quitter = record::GameRecord::to_move(turn.into());
                counts.would_resign += 1;
                counts.would_resign_wrongly += u64::from(summary.outcome.winner() == Some(quitter));
            }
        }
        self.lengths.push(game.moves);
        if let Some(depth) = game.mean_depth {
            self.depth = (self.depth.0 + f64::from(depth), self.depth.1 + 1);
        }
    }

    pub(super) fn games(&self) -> u64 {
        self.lengths.len() as u64
    }

    pub(super) fn finish(mut self) -> Counts {
        self.lengths.sort_unstable();
        let (depth, games) = self.depth;
        Counts { lengths: lengths(&self.lengths), mean_depth: (games > 0).then(|| depth / games as f64), ..self.counts }
    }
}

/// Of lengths in their order; `None` without games.
fn lengths(sorted: &[u32]) -> Option<Lengths> {
    let (&shortest, &longest) = (sorted.first()?, sorted.last()?);
    let at = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
    let mean = sorted.iter().map(|&moves| f64::from(moves)).sum::<f64>() / sorted.len() as f64;
    Some(Lengths { mean, shortest, tenth: at(0.1), median: at(0.5), ninetieth: at(0.9), longest })
}

/// A resign threshold, and when it came into force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Threshold {
    /// Milliseconds since 1970.
    pub time: u64,
    /// As it is stored.
    #[serde(flatten)]
    pub resign: ResignThreshold,
}

/// Losses of one set of positions, by step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// `train` or `holdout`.
    pub set: String,
    /// Steps of the optimiser.
    pub step: Vec<u64>,
    /// Loss of the policy.
    pub policy: Vec<f64>,
    /// Loss of the value.
    pub value: Vec<f64>,
    /// Share of positions whose most probable move is the one that the search visited most.
    pub accuracy: Vec<f64>,
}

/// A game to display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Game {
    /// `match` or `self-play`.
    pub kind: &'static str,
    /// The name of the game.
    pub id: String,
    /// Who had Black.
    pub black: String,
    /// Who had White.
    pub white: String,
    /// Points on a side of the board.
    pub size: usize,
    /// Points added to White's area.
    pub komi: f32,
    /// As SGF writes it.
    pub result: String,
    /// Why it ended.
    pub end: &'static str,
    /// Moves, Black first, as in the table of games.
    pub moves: Vec<usize>,
    /// What each search expected, for Black; none for moves that were not searched.
    pub values: Vec<Option<f32>>,
}

impl fmt::Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let played: u64 = self.models.iter().map(|model| model.games).sum();
        let Results { black_won, white_won, drawn } = self.pool.counts.results;
        write!(
            f,
            "{} players in {} games, and {} models in {played} games of self-play",
            self.players.len(),
            black_won + white_won + drawn,
            self.models.len()
        )
    }
}
