//! The page of a run.

use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use facts::plots::{By, plot};
use facts::sections;
use maud::{Markup, html};
use page::Scale;
use serde::Deserialize;

use crate::App;
use crate::error::Page;
use crate::plots::links;
use crate::query::Query;
use crate::view::{Section, View};
use crate::watch::Snapshot;

/// Players in the table; the page of matches has all.
const PLAYERS: usize = 25;
/// The page is read again after so long without an event: it shows how old the files of workers are.
const AGED: Duration = Duration::from_secs(60);

/// How the page draws.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Options {
    /// What models are placed by.
    by: Option<String>,
    /// Whether the axes from left to right are logarithmic.
    scale: Option<String>,
}

impl Options {
    fn by(&self) -> By {
        By::ALL.into_iter().find(|by| Some(by.name()) == self.by.as_deref()).unwrap_or_default()
    }

    fn scale(&self) -> Scale {
        if self.scale.as_deref() == Some("log") { Scale::Log } else { Scale::Linear }
    }
}

/// Everything that is known of a run.
pub(crate) async fn page(State(app): State<App>, Path(name): Path<String>, Query(options): Query<Options>) -> Page {
    let snapshot = app.snapshot(&name).await?;
    app.page(move |app| {
        let begin = Instant::now();
        let content = content(&snapshot, &options);
        Ok(view(app, &snapshot, begin.elapsed()).page(&content))
    })
    .await
}

/// A page that shows what is new, and takes so long to make.
fn view(app: &App, snapshot: &Snapshot, took: Duration) -> View {
    let run = snapshot.run.name();
    let events = format!("{}&age={}", snapshot.events_for(took), AGED.as_millis());
    app.view(format!("Run {run}"), Section::Runs).of_run(run, "").live(events).reloaded_if(snapshot.is_incomplete())
}

fn content(snapshot: &Snapshot, options: &Options) -> Markup {
    let Snapshot { facts, strength, .. } = snapshot;
    let figure = |name: &str| {
        let plot = plot(facts, strength, name);
        html! { @if let Some(plot) = plot { (plot.scaled(options.scale()).figure(&links(&facts.run, name))) } }
    };
    let by = options.by();
    let elo = figure(by.id());
    html! {
        h1 { "Run " (facts.run) }
        (sections::about(facts))
        div #summary { (sections::notes(facts)) (sections::tiles(facts, strength)) }
        section #strength {
            h2 { "Strength" }
            (choices(options))
            (elo)
        }
        section #state {
            h2 { "State" }
            div.pair {
                (sections::stages(facts))
                div { h3 { "Workers" } (sections::workers(facts, runtime::unix_millis())) }
            }
        }
        section #training {
            h2 { "Training" }
            (sections::alarms(facts))
            div.pair {
                @for name in ["policy-loss", "value-loss", "ownership-loss", "score-loss", "opponent-policy-loss", "l2", "total-loss",
                    "accuracy", "value-error", "entropies", "surprise", "calibration", "learning-rate", "gradient-norm"] {
                    (figure(name))
                }
            }
        }
        section #selfplay {
            h2 { "Self-play games" }
            div.pair { @for name in ["games", "lengths", "ends", "black-share", "depth"] { (figure(name)) } }
        }
        section #resignation {
            h2 { "Resignation" }
            div.pair { @for name in ["thresholds", "false-positives", "resigned", "would-be-wrong"] { (figure(name)) } }
        }
        section #players {
            h2 { "Players" }
            (sections::players(strength, PLAYERS))
            (sections::colours(facts))
        }
    }
}

/// Links to the same page with other axes.
fn choices(options: &Options) -> Markup {
    let link = |text: &str, by: By, scale: Scale, is_current: bool| {
        let href = format!("?by={}&scale={}#strength", by.name(), scale.name());
        html! { a href=(href) aria-current=[is_current.then_some("true")] { (text) } }
    };
    let (by, scale) = (options.by(), options.scale());
    html! {
        div.choices {
            span { "By" @for other in By::ALL { " " (link(other.name(), other, scale, other == by)) } }
            span { "Scale" @for other in [Scale::Linear, Scale::Log] { " " (link(other.name(), by, other, other == scale)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use http_body_util::BodyExt;
    use tokio::runtime::Runtime;

    use super::*;
    use crate::{matches_page, models_page};

    #[test]
    fn pages_of_facts_read_events_and_have_parts_that_can_be_replaced() {
        let app = App::in_memory();
        app.store().run(&"r".parse().unwrap()).create(&Preset::Tiny.config()).unwrap();
        let (state, run) = (|| State(app.clone()), || Path("r".to_owned()));
        let pages = Runtime::new().unwrap().block_on(async {
            let pages = [
                page(state(), run(), Query(Options { by: None, scale: None })).await,
                models_page::table(state(), run(), Query(models_page::Options::default())).await,
                matches_page::page(state(), run(), Query(matches_page::Options::default())).await,
            ];
            let mut texts = Vec::new();
            for page in pages {
                let body = page.unwrap().into_body().collect().await.unwrap().to_bytes();
                texts.push(String::from_utf8(body.to_vec()).unwrap());
            }
            texts
        });
        assert!(pages[0].contains("&amp;age=60000\""), "{}", pages[0]);
        for page in pages {
            let events = page.split_once("data-events=\"/runs/r/events?version=").unwrap_or_else(|| panic!("{page}")).1;
            // One that takes long to make is to follow less often.
            assert!(events.split_once('"').unwrap().0.contains("pause="), "{page}");
            assert!(!page.contains("<section>"), "a script replaces parts by their ids: {page}");
        }
    }
}
