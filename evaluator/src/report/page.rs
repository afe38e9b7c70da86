//! The page: parts of the web application, and games to step through.

use ::page::number::{signed, whole};
use ::page::{DataLinks, Standalone};
use facts::plots::{PLOTS, plot};
use facts::{json, sections};
use maud::{Markup, html};
use serde_json::json as value;

use super::contents::Report;

/// Players of the matrix.
const PLAYERS: usize = 40;
/// Pairs in the table.
const PAIRS: usize = 200;

/// One page that needs no other file.
pub(crate) fn page(report: &Report) -> String {
    let Report { facts, strength, notes, games, written, .. } = report;
    let mut all = json(facts, strength);
    all["run"]["written"] = value!(written);
    all["run"]["version"] = value!(env!("CARGO_PKG_VERSION"));
    all["notes"] = value!(notes);
    all["games"] = value!(games);
    let standalone = Standalone {
        title: format!("{}: Tengen report", facts.run),
        scripts: &[include_str!("page/replay.js")],
        ..Standalone::default()
    };
    standalone.page(&content(report), &all)
}

fn content(report: &Report) -> Markup {
    let Report { facts, strength, notes, games, first_move, .. } = report;
    let figures = |begin: &str, end: &str| {
        let place = |name: &str| PLOTS.iter().position(|(known, _)| *known == name);
        let shown = place(begin).zip(place(end)).and_then(|(begin, end)| PLOTS.get(begin..=end)).unwrap_or_default();
        html! { div.pair { @for (name, _) in shown {
            @if let Some(plot) = plot(facts, strength, name) { (plot.figure(&DataLinks::embedded(name))) }
        } } }
    };
    let pairs = sections::pairs(facts, strength);
    let parts = ["strength", "players", "pairs", "selfplay", "resignation", "training", "replay"];
    html! {
        h1 { "Run " (facts.run) }
        (sections::about(facts))
        nav.section aria-label="Page" { @for part in parts { a href=(format!("#{part}")) { (part) } } }
        (sections::tiles(facts, strength))
        (sections::notes(facts))
        @if !notes.is_empty() { ul.notes { @for note in notes { li { (note) } } } }
        section #strength { h2 { "Strength" } (figures("elo", "elo-by-hours")) }
        section #players { h2 { "Players" } (sections::players(strength, usize::MAX)) }
        section #pairs {
            h2 { "Pairs" }
            (sections::matrix(strength, &pairs, PLAYERS))
            @if !pairs.is_empty() { (sections::pairs_table(pairs.iter().take(PAIRS))) }
            (sections::colours(facts))
            @if facts.pool.counts.games() > 0 {
                p {
                    "First-move advantage in matches: " (signed(first_move.elo)) " ± " (whole(first_move.margin()))
                    " Elo at komi " (facts.config.game.komi) ", fitted together with the ratings."
                }
            }
        }
        section #selfplay { h2 { "Self-play games" } (figures("games", "depth")) }
        section #resignation { h2 { "Resignation" } (figures("thresholds", "would-be-wrong")) }
        section #training { h2 { "Training" } (sections::alarms(facts)) (figures("policy-loss", "gradient-norm")) }
        section #replay {
            h2 { "Replay" }
            @if games.is_empty() { p.empty { "No games yet." } } @else { (replay()) }
        }
        footer.quiet {
            p { "Written by Tengen " (env!("CARGO_PKG_VERSION")) ". All numbers are in this page as JSON, in the element “facts”." }
        }
    }
}

/// Places for the script, which steps through games.
fn replay() -> Markup {
    html! {
        div.replay {
            div {
                div #board tabindex="0" aria-label="Board; the arrow keys step through the game" {}
                div.pages {
                    button #first aria-label="first position" { "|◀" } button #back aria-label="back" { "◀" }
                    button #next aria-label="next" { "▶" } button #last aria-label="last position" { "▶|" }
                }
            }
            div {
                p { label { "Game " select #which {} } }
                p #game-says {}
                input #turn type="range" min="0" value="0" aria-label="move";
                p.quiet #turn-says {}
            }
            noscript { p { "Games are stepped through by a script." } }
        }
    }
}
