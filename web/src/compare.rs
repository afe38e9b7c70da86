//! Runs beside each other: any plot of all of them in one, and the keys of the configuration that differ.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, RawQuery, State};
use config::reference::sections;
use config::{Difference, RunConfig};
use facts::plots::{By, PLOTS, plot};
use maud::{Markup, html};
use page::number::counted;
use page::{DataLinks, LOOKS, Plot, Scale, Series};

use crate::error::Page;
use crate::plots::format_of;
use crate::view::{Section, View};
use crate::watch::{Snapshot, pause};
use crate::{App, PageError};

/// Plots that are shown at first.
const AT_FIRST: [&str; 3] = ["elo", "policy-loss", "accuracy"];
/// Runs of a comparison: each is read.
const MOST: usize = 12;

/// What is compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Choice {
    pub(crate) runs: Vec<String>,
    /// Runs of the address, of which the first are compared.
    named: usize,
    plots: Vec<String>,
    scale: Scale,
}

impl Choice {
    /// Of a query such as `run=a&run=b&plot=elo`.
    pub(crate) fn read(query: Option<&str>) -> Choice {
        let mut choice = Choice::default();
        let is_plot = |text: &str| PLOTS.iter().any(|(name, _)| *name == text);
        for (key, value) in form_pairs(query.unwrap_or_default()) {
            match key.as_str() {
                "run" if !choice.runs.contains(&value) => choice.runs.push(value),
                "plot" if is_plot(&value) && !choice.plots.contains(&value) => choice.plots.push(value),
                "scale" if value == Scale::Log.name() => choice.scale = Scale::Log,
                _ => {}
            }
        }
        choice.named = choice.runs.len();
        choice.runs.truncate(MOST);
        if choice.plots.is_empty() {
            choice.plots = AT_FIRST.map(str::to_owned).into();
        }
        choice
    }

    fn query(&self) -> String {
        // Names of runs and plots need no escape.
        let runs = self.runs.iter().map(|run| format!("run={run}"));
        runs.chain([format!("scale={}", self.scale.name())]).collect::<Vec<_>>().join("&")
    }
}

/// The pairs of a query, in order, with keys that may come again.
fn form_pairs(query: &str) -> Vec<(String, String)> {
    let uri = format!("/?{query}").parse().unwrap_or_default();
    axum::extract::Query::try_from_uri(&uri).map(|axum::extract::Query(pairs)| pairs).unwrap_or_default()
}

async fn snapshots(app: &App, choice: &Choice) -> Result<Vec<Arc<Snapshot>>, PageError> {
    let mut found = Vec::new();
    for run in &choice.runs {
        found.push(app.snapshot(run).await?);
    }
    Ok(found)
}

/// The page.
pub(crate) async fn page(State(app): State<App>, RawQuery(query): RawQuery) -> Page {
    let choice = Choice::read(query.as_deref());
    let runs = snapshots(&app, &choice).await?;
    app.page(move |app| {
        let all = app.run_list().list(app.store())?.0.iter().map(|run| run.name.to_string()).collect::<Vec<_>>();
        let mut view = app.view("Compare runs", Section::Compare);
        let begin = Instant::now();
        let content = content(&all, &runs, &choice);
        if runs.len() > 1 {
            view = live(view, &runs, &choice, begin.elapsed());
        }
        Ok::<_, PageError>(view.page(&content))
    })
    .await
}

/// A page that shows what is new of any of the runs, and takes so long to make.
fn live(view: View, runs: &[Arc<Snapshot>], choice: &Choice, took: Duration) -> View {
    let version: u64 = runs.iter().map(|run| run.version).sum();
    let is_incomplete = runs.iter().any(|run| run.is_incomplete());
    view.live(format!("/compare/events?{}&version={version}&pause={}", choice.query(), pause(took)))
        .reloaded_if(is_incomplete)
}

/// The data of a plot of several runs.
pub(crate) async fn data(State(app): State<App>, Path(file): Path<String>, RawQuery(query): RawQuery) -> Page {
    let choice = Choice::read(query.as_deref());
    let runs = snapshots(&app, &choice).await?;
    app.page(move |_| {
        let (name, format) = format_of(&file)?;
        let plot = overlaid(&runs, name).ok_or_else(|| PageError::NotFound(format!("plot \"{name}\"")))?;
        Ok(format.response(&plot, &format!("{}-{name}", choice.runs.join("-"))))
    })
    .await
}

fn content(all: &[String], runs: &[Arc<Snapshot>], choice: &Choice) -> Markup {
    html! {
        h1 { "Compare runs" }
        form.choose {
            fieldset { legend { "Runs" } div.checks {
                @for run in all { label { input type="checkbox" name="run" value=(run) checked[choice.runs.contains(run)]; " " (run) } }
            } }
            fieldset { legend { "Plots" } div.checks {
                @for (name, title) in PLOTS {
                    label { input type="checkbox" name="plot" value=(name) checked[choice.plots.iter().any(|plot| plot == name)]; " " (title) }
                }
            } }
            p {
                label { input type="checkbox" name="scale" value="log" checked[choice.scale == Scale::Log]; " logarithmic horizontal axis" } " "
                button { "Show" }
            }
        }
        @if runs.len() < 2 {
            p.empty { "Select at least two runs." }
        } @else {
            ul.notes #notes {
                @if choice.named > MOST { li { "The first " (MOST) " of " (choice.named) " selected runs are compared." } }
                @for facts in runs.iter().map(|run| &run.facts).filter(|facts| facts.unread > 0) {
                    li { "Run " (facts.run) ": " (counted(facts.unread, "file is", "files are")) " not counted yet." }
                }
            }
            section #configuration { h2 { "Configuration" } (differences(runs)) }
            section #plots {
                h2 { "Plots" }
                div.pair {
                    @for name in &choice.plots {
                        @if let Some(plot) = overlaid(runs, name) {
                            (plot.scaled(choice.scale).figure(&links(name, choice)))
                        }
                    }
                }
            }
        }
    }
}

fn links(name: &str, choice: &Choice) -> DataLinks {
    DataLinks::of(|ending| format!("/compare/plots/{name}.{ending}?{}", choice.query()))
}

/// A plot with the series of all runs.
fn overlaid(runs: &[Arc<Snapshot>], name: &str) -> Option<Plot> {
    let plots: Option<Vec<(String, Plot)>> = runs
        .iter()
        .map(|run| plot(&run.facts, &run.strength, name).map(|plot| (run.facts.run.to_string(), plot)))
        .collect();
    let plots = plots?;
    let first = plots.first()?.1.clone();
    let named = |run: &str, of: usize, series: Series| {
        let is_only = of == 1 || series.name == run;
        Series { name: if is_only { run.to_owned() } else { format!("{run}: {}", series.name) }, ..series }
    };
    let series = plots.into_iter().flat_map(|(run, plot)| {
        let of = plot.series.len();
        plot.series.into_iter().map(move |series| named(&run, of, series)).collect::<Vec<_>>()
    });
    let series: Vec<Series> = series.collect();
    let caption = caption(runs, name, &first.caption) + crowded(series.len());
    // Each run has players of its own.
    Some(Plot { series, marks: Vec::new(), caption, ..first })
}

/// How to read the plot: that of one run, but for Elo, where each run has a scale of its own.
fn caption(runs: &[Arc<Snapshot>], name: &str, of_one: &str) -> String {
    let Some(by) = By::ALL.into_iter().find(|by| by.id() == name) else { return of_one.to_owned() };
    let zero = |run: &Arc<Snapshot>| {
        let zero = run.strength.zero().unwrap_or_else(|| "no ratings".to_owned());
        format!("{}: {zero}", run.facts.run)
    };
    let zeros = runs.iter().map(zero).collect::<Vec<_>>().join("; ");
    format!(
        "Each run has a zero of its own ({zeros}). Bands are 95 % against the mean of the run’s other models, without \
         the error of that zero: heights of different runs are not comparable. Their common players connect them in \
         evaluator ratings --with RUN.{}",
        by.caveat()
    )
}

/// What to know of so many curves, as a sentence after others.
fn crowded(curves: usize) -> &'static str {
    if curves > LOOKS { " Some curves have the same colour and stroke: select fewer runs." } else { "" }
}

/// The keys that differ between any of the runs.
fn differences(runs: &[Arc<Snapshot>]) -> Markup {
    let rows = differing(&runs.iter().map(|run| &*run.facts.config).collect::<Vec<_>>());
    html! {
        @if rows.is_empty() {
            p.quiet { "The configurations are the same." }
        } @else {
            div.scroll tabindex="0" {
                table {
                    thead { tr { th.text scope="col" { "Key" } @for run in runs { th scope="col" { (run.facts.run) } } } }
                    tbody {
                        @for (key, values) in &rows {
                            tr {
                                th.text scope="row" { code { (key) } }
                                @for value in values { td { code { (value) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The keys that differ between any of the configurations, in the order of the file, each with the value that it has in
/// every one.
fn differing(configs: &[&RunConfig]) -> Vec<(String, Vec<String>)> {
    let Some((first, others)) = configs.split_first() else { return Vec::new() };
    let differences: Vec<Vec<Difference>> = others.iter().map(|other| first.differences(other)).collect();
    let keys = sections().into_iter().flat_map(|section| section.keys).map(|key| key.name);
    let row = |key: String| {
        let of_others = differences.iter().map(|of_run| of_run.iter().find(|difference| difference.key == key));
        let of_others: Vec<Option<&Difference>> = of_others.collect();
        let own = &of_others.iter().flatten().next()?.one;
        let mut values = vec![own.clone()];
        values.extend(of_others.iter().map(|found| found.map_or(own, |difference| &difference.other).clone()));
        Some((key, values))
    };
    keys.filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use facts::{Facts, Reader, Strength};
    use store::{RatingRow, Store};

    use super::*;

    /// A run with a model of 900 Elo above a player.
    fn rated(name: &str, zero: &str) -> Arc<Snapshot> {
        let run = Store::in_memory().unwrap().run(&name.parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        let row = |player: String, elo, error| RatingRow {
            player,
            elo,
            error,
            above_pool: elo,
            above_pool_error: 20.0,
            games: 9,
            points: 4.0,
        };
        let ratings = Arc::new(vec![row(format!("{name}-9"), 900.0, 400.0), row(zero.to_owned(), 0.0, 0.0)]);
        let facts = Facts { ratings, ..Reader::open(run.clone()).unwrap().facts() };
        Arc::new(Snapshot { version: 1, strength: Strength::of(&facts), facts, run })
    }

    #[test]
    fn plots_of_elo_name_the_zero_of_each_run_and_others_keep_their_caption() {
        let runs = [rated("a", "random"), rated("b", "b-1")];
        let caption = |name| overlaid(&runs, name).unwrap().caption;
        for name in ["elo", "elo-by-visits"] {
            let caption = caption(name);
            assert!(caption.contains("(a: Elo above random; b: Elo above b-1)"), "{caption}");
            assert!(caption.contains("not comparable"), "{caption}");
        }
        assert!(caption("elo-by-visits").contains("Visits bound network evaluations"));
        assert!(caption("lengths").contains("10th to the 90th percentile"));
    }

    #[test]
    fn plot_with_more_curves_than_looks_says_so() {
        assert_eq!((crowded(MOST), crowded(LOOKS)), ("", ""));
        assert!(crowded(LOOKS + 1).contains("select fewer runs"));
    }

    #[test]
    fn keys_that_differ_are_in_the_order_of_the_file_whichever_run_they_are_of() {
        let one = Preset::Tiny.config();
        let mut other = one.clone();
        other.train.l2 = 0.5;
        let mut third = other.clone();
        third.seed = 77;
        let values = |values: [&str; 3]| values.map(str::to_owned).to_vec();
        let (seed, l2) = (one.seed.to_string(), one.train.l2.to_string());
        let expected =
            [("seed".to_owned(), values([&seed, &seed, "77"])), ("train.l2".to_owned(), values([&l2, "0.5", "0.5"]))];
        assert_eq!(differing(&[&one, &other, &third]), expected);
        assert!(differing(&[&one, &one]).is_empty());
    }

    #[test]
    fn runs_beyond_the_most_are_counted() {
        let note = |named: usize| {
            let query: Vec<String> = (0..named).map(|number| format!("run=r{number}")).collect();
            let choice = Choice::read(Some(&query.join("&")));
            assert_eq!(choice.runs.len(), MOST);
            content(&[], &[rated("r0", "random"), rated("r1", "random")], &choice).into_string()
        };
        assert!(!note(MOST).contains("selected runs"));
        assert!(note(MOST + 3).contains("The first 12 of 15 selected runs are compared."), "{}", note(MOST + 3));
    }

    #[test]
    fn choice_keeps_the_order_and_drops_what_is_unknown() {
        let choice = Choice::read(Some("run=b&run=a&run=b&plot=elo&plot=nothing&scale=log&x=1"));
        assert_eq!(
            (choice.runs, choice.plots, choice.scale),
            (vec!["b".to_owned(), "a".to_owned()], vec!["elo".to_owned()], Scale::Log)
        );
        assert_eq!(Choice::read(None).plots, AT_FIRST);
    }
}
