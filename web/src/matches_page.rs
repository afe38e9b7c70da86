//! Matches of a run: the matrix, and all pairs as they played and as their ratings predict.

use std::time::Instant;

use axum::extract::{Path, State};
use facts::search::is_named;
use facts::sections::{self, Pair};
use maud::{Markup, html};
use page::number::counted;
use serde::Deserialize;

use crate::App;
use crate::error::Page;
use crate::games_page::escaped;
use crate::paging::pages;
use crate::plots;
use crate::query::Query;
use crate::view::Section;
use crate::watch::Snapshot;

/// Players of the matrix.
const PLAYERS: usize = 24;
/// Pairs of a page of the table.
const ROWS: usize = 100;

/// How the table is filtered and sorted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Options {
    player: String,
    sort: String,
    page: usize,
}

/// The page.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>, Query(options): Query<Options>) -> Page {
    let snapshot = app.snapshot(&run).await?;
    app.page(move |app| {
        let begin = Instant::now();
        let content = content(&snapshot, &options);
        let view = app.view(format!("Matches of {run}"), Section::Runs).of_run(snapshot.run.name(), "matches");
        Ok(view.live(snapshot.events_for(begin.elapsed())).reloaded_if(snapshot.is_incomplete()).page(&content))
    })
    .await
}

/// The pairs that the ratings describe worst first, those without deviations last.
fn sort_by_deviations(pairs: &mut [&Pair]) {
    let far = |pair: &Pair| pair.deviations().map_or(-1.0, f64::abs);
    pairs.sort_by(|one, other| far(other).total_cmp(&far(one)));
}

fn content(snapshot: &Snapshot, options: &Options) -> Markup {
    let Snapshot { facts, strength, .. } = snapshot;
    let all = sections::pairs(facts, strength);
    let player = options.player.trim();
    let is_shown =
        |pair: &&Pair| player.is_empty() || [&pair.one, &pair.other].iter().any(|name| is_named(name, player));
    let mut shown: Vec<&Pair> = all.iter().filter(is_shown).collect();
    if options.sort == "deviations" {
        sort_by_deviations(&mut shown);
    }
    let address = |page: usize| {
        format!(
            "?player={}&sort={}&page={page}",
            escaped(&options.player),
            if options.sort == "deviations" { "deviations" } else { "games" }
        )
    };
    html! {
        h1 { "Matches of " (facts.run) }
        div #notes { (sections::notes(facts)) }
        section #matrix { h2 { "Results" } (sections::matrix(strength, &all, PLAYERS)) }
        section #pairs {
            h2 { "Pairs" }
            p.quiet {
                "Played scores with 95 % intervals, and those that the difference of the ratings predicts. Deviations are the standard errors between "
                "the two, of pairs for which some points of both are expected. If more than one pair of 400 has more than 3, the ratings do not describe "
                "the players, or draws and the first move matter. "
                (plots::table_links(&facts.run, "matches"))
                a href=(format!("/runs/{}/games?kind=match", facts.run)) { "Games" }
            }
            form.line role="search" {
                label { "Player" input type="text" name="player" value=(options.player) size="14"; }
                label { "Sort by" select name="sort" { option value="games" { "games" } option value="deviations" selected[options.sort == "deviations"] { "deviations" } } }
                button { "Show" }
            }
            @if shown.is_empty() { p.empty { "No pairs." } } @else {
                p.quiet { (counted(shown.len(), "pair", "pairs")) "." }
                (sections::pairs_table(shown.iter().skip(options.page.saturating_mul(ROWS)).take(ROWS).copied()))
                (pages(shown.len(), ROWS, options.page, &address))
            }
        }
        section #players { h2 { "Players" } p.quiet { (plots::table_links(&facts.run, "ratings")) } (sections::players(strength, usize::MAX)) (sections::colours(facts)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_without_deviations_are_the_last() {
        let pair = |one: &str, points, games, predicted| Pair {
            one: one.to_owned(),
            other: "random".to_owned(),
            games,
            points,
            as_black: games / 2,
            predicted,
        };
        // 31 of 32 points are too lopsided for deviations; 160 of 200 are 4.7 below 0.9, and 60 of 100 are 2 above 0.5.
        let all = [
            pair("without", 31.0, 32, Some(0.997)),
            pair("unrated", 5.0, 10, None),
            pair("above", 60.0, 100, Some(0.5)),
            pair("below", 160.0, 200, Some(0.9)),
            pair("even", 50.0, 100, Some(0.5)),
        ];
        let mut shown: Vec<&Pair> = all.iter().collect();
        sort_by_deviations(&mut shown);
        let names: Vec<&str> = shown.iter().map(|pair| pair.one.as_str()).collect();
        assert_eq!(names, ["below", "above", "even", "without", "unrated"]);
    }
}
