//! Games of self-play as they are played.

use std::time::Duration;

use axum::extract::{Path, State};
use facts::board;
use maud::{Markup, html};
use record::GameRecord;
use store::{Run, Stem};

use crate::error::Page;
use crate::events::{Shown, polled};
use crate::game_page::{after, thousandths};
use crate::query::Query;
use crate::view::{Section, View};
use crate::{App, PageError};

/// Boards of a page.
const MOST: usize = 12;
/// A state that is older was left by a process that was killed, in milliseconds.
const OLDEST: u64 = 600_000;
/// Time between two looks for newer states.
const LOOK: Duration = Duration::from_secs(1);

/// The boards of the workers that publish a game as it is played.
pub(crate) async fn page(State(app): State<App>, Path(run): Path<String>) -> Page {
    app.page(move |app| {
        let run = app.run(&run)?;
        let states = present(&run)?;
        let events = format!("/runs/{}/live/events?version={}", run.name(), version(&states));
        let mut games = Vec::new();
        for state in states.iter().take(MOST) {
            games.extend(run.live().read(state)?.map(|game| (state.worker(), game)));
        }
        let view = View::new(format!("Live games of run {}", run.name()), Section::Runs).of_run(run.name(), "live");
        Ok(view.live(events, true).page(&content(&games, states.len())))
    })
    .await
}

/// Tells a page that there are newer states.
pub(crate) async fn events(State(app): State<App>, Path(run): Path<String>, Query(shown): Query<Shown>) -> Page {
    let place = app.stream()?;
    let run = app.read(move |app| app.run(&run)).await?;
    Ok(polled(app, place, shown.version, LOOK, move |_| Ok(version(&present(&run)?))))
}

/// The states of workers that play.
fn present(run: &Run) -> Result<Vec<Stem>, PageError> {
    let now = runtime::unix_millis();
    let mut states = run.live().list()?;
    states.retain(|state| now.saturating_sub(state.time()) < OLDEST);
    Ok(states)
}

/// Another when a state is replaced, or ends.
fn version(states: &[Stem]) -> u64 {
    states.iter().map(Stem::time).fold(states.len() as u64, u64::wrapping_add)
}

fn content(games: &[(&str, GameRecord)], workers: usize) -> Markup {
    html! {
        h1 { "Live games" }
        div #live {
            @if games.is_empty() {
                p.empty { "No worker publishes a live game. selfplay --live-interval 1 publishes one; tengen run --serve does so during self-play." }
            }
            @if workers > MOST { p.quiet { "The first " (MOST) " of " (workers) " workers." } }
            .boards { @for (worker, game) in games { (shown(worker, game)) } }
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
