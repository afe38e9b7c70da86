//! Games of self-play as they are played.

use std::sync::Arc;

use axum::extract::{Path, State};
use facts::board;
use maud::{Markup, html};
use record::GameRecord;
use store::Stem;

use crate::App;
use crate::error::Page;
use crate::events::{Shown, polled};
use crate::game_page::{after, thousandths};
use crate::live_games::{FRESH, MOST};
use crate::query::Query;
use crate::view::Section;

/// The boards of the workers that publish a game as it is played.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let run = app.run(&run)?;
        let shown = app.live().of(&run)?;
        let events = format!("/runs/{}/live/events?version={}", run.name(), shown.version);
        let view = app.view(format!("Live games of run {}", run.name()), Section::Runs).of_run(run.name(), "live");
        Ok(view.live(events).reloaded_if(true).page(&content(&shown.games, shown.workers)))
    })
    .await
}

/// Tells a page that there are newer states.
pub(crate) async fn events(State(app): State<App>, Path(run): Path<String>, Query(shown): Query<Shown>) -> Page {
    let place = app.stream()?;
    let run = app.read(move |app| app.run(&run)).await?;
    Ok(polled(app, place, shown.version, FRESH, move |app| Ok(app.live().of(&run)?.version)))
}

fn content(games: &[(Stem, Arc<GameRecord>)], workers: usize) -> Markup {
    html! {
        h1 { "Live games" }
        div #live {
            @if games.is_empty() {
                p.empty { "No worker publishes a live game. selfplay --live-interval 1 publishes one; tengen run --serve does so during self-play." }
            }
            @if workers > MOST { p.quiet { "The first " (MOST) " of " (workers) " workers." } }
            .boards { @for (state, game) in games { (shown(state.worker(), game)) } }
        }
    }
}

fn shown(worker: &str, game: &GameRecord) -> Markup {
    let (position, last) = after(game, game.turns.len());
    let searched = game.turns.iter().rev().find(|turn| turn.is_searched());
    html! {
        section aria-label=(format!("Worker {worker}")) {
            h2 { (game.handoffs.last().map_or(&game.black, |handoff| &handoff.model)) }
            (board(&position, last))
            p.quiet {
                "Worker " (worker) ", game " (game.index) ", move " (game.turns.len())
                @if let Some(mv) = last { ": " (mv.to_gtp(game.size)) }
                @if let Some(turn) = searched { ", value for Black " (thousandths(turn.root_value)) }
                @if game.calibration { ", without resignation" }
            }
        }
    }
}
