//! The list of runs.

use std::time::Duration;

use axum::extract::State;
use facts::{Facts, Strength};
use maud::{Markup, html};
use page::number::{signed, whole};

use crate::error::Page;
use crate::events::{Shown, polled};
use crate::query::Query;
use crate::run_list::Entry;
use crate::view::Section;
use crate::{App, PageError};

/// Time between two looks for runs and models.
const LOOK: Duration = Duration::from_secs(3);

/// All runs of the store.
pub(crate) async fn list(State(app): State<App>) -> Page {
    app.page(|app| {
        let (runs, version) = app.run_list().list(app.store())?;
        let content = html! {
            h1 { "Runs" }
            p.quiet { "Of the store " code { (app.store().root()) } "." }
            section #runs {
                @if runs.is_empty() {
                    p.empty { "No runs yet. " code { "tengen run configs/9x9.toml" } " begins one." }
                } @else {
                    (table(&runs))
                }
            }
        };
        let view = app.view("Runs", Section::Runs).live(format!("/events?version={version}"));
        Ok::<_, PageError>(view.page(&content))
    })
    .await
}

/// The versions of the list after the one that a page shows.
pub(crate) async fn events(State(app): State<App>, Query(shown): Query<Shown>) -> Page {
    let place = app.stream()?;
    Ok(polled(app, place, shown.version, LOOK, |app| Ok(app.run_list().version(app.store())?)))
}

fn table(runs: &[Entry]) -> Markup {
    html! {
        form action="/compare" {
            div.scroll tabindex="0" {
                table.runs {
                    thead { tr {
                        th.text scope="col" { "Compare" } th.text scope="col" { "Run" } th scope="col" { "Board" } th scope="col" title="of searches in self-play by the newest model" { "Visits" }
                        th scope="col" { "Models" } th scope="col" { "Strongest, Elo in its run" } th scope="col" { "Newest, Elo in its run" } th scope="col" title="blocks and filters of the newest model" { "Network" }
                    } }
                    tbody { @for run in runs { tr {
                        td { input type="checkbox" name="run" value=(run.name) aria-label=(format!("compare {}", run.name)); }
                        th.text scope="row" { a href=(format!("/runs/{}", run.name)) { (run.name) } }
                        @match &run.facts {
                            Ok(facts) => (row(facts)),
                            Err(error) => td.text.bad colspan="6" { (error) },
                        }
                    } } }
                }
            }
            @if runs.len() > 1 { p { button { "Compare selected runs" } } }
        }
    }
}

fn row(facts: &Facts) -> Markup {
    let config = facts.config.of_model(facts.newest_model.unwrap_or_default());
    let strength = Strength::of(facts);
    let models = strength.models();
    let best = models.iter().max_by(|one, other| one.rating.elo.total_cmp(&other.rating.elo));
    html! {
        td { (config.game.size) "×" (config.game.size) }
        td { (whole(config.search.visits.into())) }
        td { (whole(facts.newest_model.unwrap_or_default().into())) @if config.run_loop.models > 0 { span.quiet { " of " (whole(config.run_loop.models.into())) } } }
        td { @if let Some(best) = best { (best.rating.player) ", " (signed(best.rating.elo)) } @else { "–" } }
        td { @if let Some(newest) = models.last() { (newest.rating.player) ", " (signed(newest.rating.elo)) } @else { "–" } }
        td { (config.network.blocks) " × " (config.network.filters) }
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use facts::Reader;
    use store::Store;

    use super::*;

    #[test]
    fn row_has_visits_and_network_of_the_newest_model() {
        let schedules = [
            "search.visits=8",
            "search.phases=[{from_model=3,visits=77,gumbel_moves=4,gumbel_c_scale=1.0}]",
            "network.blocks=2",
            "network.filters=16",
            "train.grow=[{from_model=5,blocks=4,filters=32,inputs='tactics'}]",
        ];
        let run = Store::in_memory().unwrap().run(&"a".parse().unwrap());
        run.create(&Preset::NineByNine.with(&schedules).unwrap()).unwrap();
        let facts = Reader::open(run).unwrap().facts();
        for (newest_model, visits, network) in [(None, 8, "2 × 16"), (Some(3), 77, "2 × 16"), (Some(5), 77, "4 × 32")]
        {
            let row = row(&Facts { newest_model, ..facts.clone() }).into_string();
            assert!(row.contains(&format!("<td>{visits}</td>")) && row.contains(network), "{row}");
        }
    }
}
