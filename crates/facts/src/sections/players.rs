//! The table of all players.

use maud::{Markup, html};
use page::number::{percent, signed, whole};
use page::{DataColumn, DataTable};

use crate::strength::{Player, Strength};

/// The strongest players, at most so many, with their intervals drawn.
pub fn players(strength: &Strength, most: usize) -> Markup {
    let margin = |player: &Player| strength.margin(&player.rating);
    let shown = || strength.players.iter().take(most);
    let ends = shown().flat_map(|player| [player.rating.elo - margin(player), player.rating.elo + margin(player)]);
    let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| (low.min(end), high.max(end)));
    let width = if high > low { high - low } else { 1.0 };
    let at = |elo: f64| format!("{:.2}%", 2.0 + 96.0 * (elo - low) / width);
    html! {
        @if strength.players.is_empty() {
            p.empty { "No matches yet." }
        } @else {
            p.quiet {
                @if let Some(zero) = strength.zero() { (zero) "; " }
                "± is 95 % against " (strength.against()) "."
                @if strength.players.len() > most { " The strongest " (most) " of " (whole(strength.players.len() as f64)) " players." }
            }
            div.scroll tabindex="0" {
                table.players {
                    thead { tr {
                        th scope="col" { "#" } th.text scope="col" { "Player" } th scope="col" { "Elo" } th scope="col" { "±" }
                        th scope="col" { "Games" } th scope="col" { "Points" } th scope="col" { "Score" } th.ladder scope="col" { "Interval" }
                    } }
                    tbody {
                        @for (place, player) in shown().enumerate() {
                            tr {
                                td { (place + 1) }
                                th.text scope="row" { (player.rating.player) }
                                td { (signed(player.rating.elo)) }
                                td.quiet { (whole(margin(player))) }
                                td { (whole(player.rating.games.into())) }
                                td { (player.rating.points) }
                                td { @if player.rating.games > 0 { (percent(player.rating.points / f64::from(player.rating.games), 0)) } @else { "–" } }
                                td.ladder {
                                    svg.rung.other[player.model.is_none()] aria-hidden="true" {
                                        line x1=(at(player.rating.elo - margin(player))) x2=(at(player.rating.elo + margin(player))) y1="8" y2="8" {}
                                        circle cx=(at(player.rating.elo)) cy="8" r="4" {}
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// All players as a table, the strongest first. `error` is a standard error.
pub fn players_data(strength: &Strength) -> DataTable {
    let players = &strength.players;
    let number = |of: fn(&Player) -> f64| DataColumn::Number(players.iter().map(|player| Some(of(player))).collect());
    let model = |player: &Player| player.model.map(f64::from);
    DataTable {
        columns: vec![
            ("player", DataColumn::Text(players.iter().map(|player| player.rating.player.clone()).collect())),
            ("model", DataColumn::Number(players.iter().map(model).collect())),
            ("elo", number(|player| player.rating.elo)),
            ("error", DataColumn::Number(players.iter().map(|of| Some(strength.error(&of.rating))).collect())),
            ("games", number(|player| player.rating.games.into())),
            ("points", number(|player| player.rating.points)),
        ],
    }
}
