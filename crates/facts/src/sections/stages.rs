//! What each stage of a run waits for, and who works.

use maud::{Markup, html};
use page::number::{counted, duration, whole};

use crate::activity::{Activity, Progress};
use crate::reader::Facts;

/// Workers that are shown, those that published last.
const WORKERS: usize = 20;
/// A worker that has published nothing for so long, in seconds, is marked.
const QUIET: f64 = 600.0;

/// What each stage does or waits for, until the run has all models.
pub fn stages(facts: &Facts) -> Markup {
    let progress = Progress::of(facts);
    html! {
        table.facts {
            caption { "State of the stages" }
            tbody {
                @for (stage, activity) in progress.activities() {
                    tr { th scope="row" { (stage) } td {
                        (activity)
                        @if stage == "selfplay" && activity != Activity::Finished {
                            " " progress max=(progress.wanted) value=(progress.games.min(progress.wanted)) aria-label="games" {}
                        }
                    } }
                }
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
            @if all.len() > WORKERS { p.quiet { (counted(all.len() - WORKERS, "more worker", "more workers")) " published before these." } }
        }
    }
}
