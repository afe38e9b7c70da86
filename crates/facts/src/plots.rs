//! Plots of facts: each from the facts to a value that can be drawn, or read as JSON or CSV.

mod games;
mod resignation;
mod strength;
mod training;

use page::Plot;

use games::{black_share, depth, ends, games, lengths};
use resignation::{false_positives, resigned, thresholds, would_be_wrong};
pub use strength::By;
use strength::elo;
use training::{calibration, curve};

use crate::reader::Facts;
use crate::strength::Strength;

/// The names of all plots of a run, as addresses have them, in the order of its page.
pub const NAMES: &[&str] = &[
    "elo",
    "elo-by-games",
    "elo-by-visits",
    "elo-by-hours",
    "policy-loss",
    "value-loss",
    "ownership-loss",
    "score-loss",
    "opponent-policy-loss",
    "l2",
    "total-loss",
    "accuracy",
    "value-error",
    "entropies",
    "surprise",
    "calibration",
    "learning-rate",
    "gradient-norm",
    "games",
    "lengths",
    "ends",
    "black-share",
    "depth",
    "thresholds",
    "false-positives",
    "resigned",
    "would-be-wrong",
];

/// The titles of the plots of [`NAMES`], for pages that offer them before they read a run.
pub const TITLES: [&str; NAMES.len()] = [
    "Elo by model",
    "Elo by games",
    "Elo by visits",
    "Elo by hours",
    "Policy loss",
    "Value loss",
    "Ownership loss",
    "Score loss",
    "Opponent policy loss",
    "L2 penalty",
    "Total loss",
    "Top-1 accuracy",
    "Value error",
    "Entropies",
    "Policy surprise",
    "Calibration of values",
    "Learning rate",
    "Gradient norm",
    "Games",
    "Moves of a game",
    "End of games",
    "Black’s score",
    "Search depth",
    "Resign threshold",
    "False positives",
    "Resigned games",
    "False positives in force",
];

/// The plot of a name; `None` for a name that is none.
pub fn plot(facts: &Facts, strength: &Strength, name: &str) -> Option<Plot> {
    let mut plot = whole(facts, strength, name)?;
    if facts.unread > 0 {
        plot.empty = "Loading …".to_owned();
    }
    Some(plot)
}

fn whole(facts: &Facts, strength: &Strength, name: &str) -> Option<Plot> {
    Some(match name {
        "elo" => elo(facts, strength, By::Model),
        "elo-by-games" => elo(facts, strength, By::Games),
        "elo-by-visits" => elo(facts, strength, By::Visits),
        "elo-by-hours" => elo(facts, strength, By::Hours),
        "calibration" => calibration(facts),
        "games" => games(facts),
        "lengths" => lengths(facts),
        "ends" => ends(facts),
        "black-share" => black_share(facts),
        "depth" => depth(facts),
        "thresholds" => thresholds(facts),
        "false-positives" => false_positives(facts),
        "resigned" => resigned(facts),
        "would-be-wrong" => would_be_wrong(facts),
        name => curve(facts, name)?,
    })
}
