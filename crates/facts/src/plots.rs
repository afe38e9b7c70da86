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
pub use training::logged_numbers;
use training::{calibration, curve};

use crate::reader::Facts;
use crate::strength::Strength;

/// All plots of a run, in the order of its page: the name of each, as addresses have it, and its title.
pub const PLOTS: &[(&str, &str)] = &[
    ("elo", "Elo by model"),
    ("elo-by-games", "Elo by games"),
    ("elo-by-visits", "Elo by visits"),
    ("elo-by-hours", "Elo by hours"),
    ("policy-loss", "Policy loss"),
    ("value-loss", "Value loss"),
    ("ownership-loss", "Ownership loss"),
    ("score-loss", "Score loss"),
    ("opponent-policy-loss", "Opponent policy loss"),
    ("l2", "L2 penalty"),
    ("total-loss", "Total loss"),
    ("accuracy", "Top-1 accuracy"),
    ("value-error", "Value error"),
    ("entropies", "Entropies"),
    ("surprise", "Policy surprise"),
    ("calibration", "Calibration of values"),
    ("learning-rate", "Learning rate"),
    ("gradient-norm", "Gradient norm"),
    ("games", "Games"),
    ("lengths", "Moves of a game"),
    ("ends", "End of games"),
    ("black-share", "Black’s score"),
    ("depth", "Search depth"),
    ("thresholds", "Resign threshold"),
    ("false-positives", "False positives in sample"),
    ("resigned", "Resigned games"),
    ("would-be-wrong", "False positives in force"),
];

/// The plot of a name; `None` for a name that is none.
pub fn plot(facts: &Facts, strength: &Strength, name: &str) -> Option<Plot> {
    let &(id, title) = PLOTS.iter().find(|(known, _)| *known == name)?;
    let mut plot = Plot { id: id.to_owned(), title: title.to_owned(), ..whole(facts, strength, id)? };
    if facts.unread > 0 {
        plot.empty = "Loading …".to_owned();
    }
    Some(plot)
}

/// The plot of a name, without its name and its title.
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
