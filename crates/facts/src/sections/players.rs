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

/// All players as a table, the strongest first: the columns of ratings as the store has them.
pub fn players_data(strength: &Strength) -> DataTable {
    let players = &strength.players;
    let number = |of: fn(&Player) -> f64| DataColumn::Number(players.iter().map(|player| Some(of(player))).collect());
    let model = |player: &Player| player.model.map(f64::from);
    DataTable {
        columns: vec![
            ("player", DataColumn::Text(players.iter().map(|player| player.rating.player.clone()).collect())),
            ("model", DataColumn::Number(players.iter().map(model).collect())),
            ("elo", number(|player| player.rating.elo)),
            ("error", number(|player| player.rating.error)),
            ("above_pool", number(|player| player.rating.above_pool)),
            ("above_pool_error", number(|player| player.rating.above_pool_error)),
            ("games", number(|player| player.rating.games.into())),
            ("points", number(|player| player.rating.points)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use store::RatingRow;

    use super::*;

    #[test]
    fn errors_are_those_of_the_columns_before_them() {
        let player = "a-80".to_owned();
        let (elo, error, above_pool, above_pool_error) = (2851.0, 427.8, 612.5, 22.2);
        let rating = RatingRow { player, elo, error, above_pool, above_pool_error, games: 9, points: 4.5 };
        let player = Player { rating, model: Some(80), settings: String::new() };
        let csv = players_data(&Strength { players: vec![player], ..Strength::default() }).csv();
        let expected =
            ["player,model,elo,error,above_pool,above_pool_error,games,points", "a-80,80,2851,427.8,612.5,22.2,9,4.5"];
        assert_eq!(csv.lines().collect::<Vec<_>>(), expected);
    }
}
