//! What each stage of a run waits for, and who works.

use maud::{Markup, html};
use page::number::{duration, whole};

use crate::reader::Facts;

/// Workers that are shown, those that published last.
const WORKERS: usize = 20;
/// A worker that has published nothing for so long, in seconds, is marked.
const QUIET: f64 = 600.0;

/// What the next model of the run needs.
pub fn stages(facts: &Facts) -> Markup {
    let newest = facts.newest_model.unwrap_or_default();
    let next = newest + 1;
    let wanted = facts.config.selfplay.games_of(newest) as u64;
    let there = facts.games.get(&newest).map_or(0, |games| games.counts.games());
    let is_over = facts.config.run_loop.models > 0 && newest >= facts.config.run_loop.models;
    let has_shards = facts.shards.is_some_and(|shards| shards >= next);
    let rated = facts.ratings.iter().filter_map(|row| crate::players_model(&facts.run, &row.player)).max();
    html! {
        table.facts {
            caption { "State of the stages" }
            tbody {
                @if is_over {
                    tr { th scope="row" { "run" } td { "finished: it has all " (newest) " models" } }
                } @else {
                    tr { th scope="row" { "self-play" } td {
                        @if there >= wanted { "model " (next) "; model " (newest) " has " (whole(there as f64)) " of " (whole(wanted as f64)) " games" }
                        @else { "plays model " (newest) ": " (whole(there as f64)) " of " (whole(wanted as f64)) " games" }
                        " " progress max=(wanted) value=(there.min(wanted)) aria-label="games" {}
                    } }
                    tr { th scope="row" { "shuffler" } td {
                        @if has_shards { "games of model " (next) "; the shards of model " (next) " are published" }
                        @else if there >= wanted { "samples the shards of model " (next) }
                        @else { "games of model " (newest) ": " (whole(wanted.saturating_sub(there) as f64)) " are missing" }
                    } }
                    tr { th scope="row" { "trainer" } td {
                        @if has_shards { "trains model " (next) } @else { "shards of model " (next) }
                    } }
                }
                tr { th scope="row" { "evaluator" } td {
                    @match rated {
                        Some(rated) if rated >= newest && is_over => { "nothing: model " (rated) " is rated" }
                        Some(rated) if rated >= newest => { "model " (next) "; model " (rated) " is rated" }
                        Some(rated) => { "matches of models up to " (newest) "; model " (rated) " is rated" }
                        None => { "matches; no model is rated" }
                    }
                } }
            }
        }
    }
}

/// Processes by the last file that they published. `now` is in milliseconds since 1970.
pub fn workers(facts: &Facts, now: u64) -> Markup {
    let mut all: Vec<_> = facts.workers.iter().collect();
    all.sort_by_key(|(_, worker)| std::cmp::Reverse(worker.newest));
    html! {
        @if all.is_empty() {
            p.empty { @if facts.unread > 0 { "Loading …" } @else { "No process has published anything yet." } }
        } @else {
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th.text scope="col" { "Stage" } th.text scope="col" { "Worker" } th scope="col" { "Files" } th scope="col" { "Model" } th scope="col" { "Last file" }
                    } }
                    tbody {
                        @for ((stage, name), worker) in all.iter().take(WORKERS) {
                            @let ago = now.saturating_sub(worker.newest) as f64 / 1e3;
                            tr {
                                td.text { (stage) }
                                th.text scope="row" { (name) }
                                td { (whole(worker.files as f64)) }
                                td { @if let Some(model) = worker.model { (model) } @else { "–" } }
                                td.quiet[ago > QUIET] { (duration(ago)) " ago" }
                            }
                        }
                    }
                }
            }
            @if all.len() > WORKERS { p.quiet { (all.len() - WORKERS) " more workers published before these." } }
        }
    }
}
