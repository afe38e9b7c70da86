//! Who played whom: a matrix of some players, and a table of all pairs, played and predicted.

use std::collections::BTreeMap;

use maud::{Markup, html};
use page::number::{percent, signed, whole};
use page::{DataColumn, DataTable};
use record::statistics::{expected_score, wilson_score};

use crate::reader::Facts;
use crate::strength::Strength;

/// Variance of the points, in points², from which a score is nearly normally distributed: the rule of thumb for
/// binomial counts. With less, single lost games of a favourite are many standard errors.
const LEAST_VARIANCE: f64 = 5.0;

/// What two players made against each other, whatever the colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The one with the higher rating.
    pub one: String,
    /// The other.
    pub other: String,
    /// Games of both.
    pub games: u64,
    /// Points of the one; a draw is half a point.
    pub points: f64,
    /// Games in which it had Black.
    pub as_black: u64,
    /// Its score by the difference of the ratings alone; `None` where one of them has none.
    pub predicted: Option<f64>,
}

impl Pair {
    /// The score of the one.
    pub fn played(&self) -> f64 {
        self.points / self.games.max(1) as f64
    }

    /// The 95 % interval of that score.
    pub fn interval(&self) -> (f64, f64) {
        wilson_score(self.points, self.games as usize)
    }

    /// How far the score is from the predicted one, in standard errors; `None` where nearly all points of so few games
    /// are expected to be of one player.
    pub fn deviations(&self) -> Option<f64> {
        let (predicted, games) = (self.predicted?, self.games as f64);
        let variance = games * predicted * (1.0 - predicted);
        (variance >= LEAST_VARIANCE).then(|| (self.points - games * predicted) / variance.sqrt())
    }
}

/// All pairs, those with most games first.
pub fn pairs(facts: &Facts, strength: &Strength) -> Vec<Pair> {
    let elo: BTreeMap<&str, f64> =
        strength.players.iter().map(|player| (player.rating.player.as_str(), player.rating.elo)).collect();
    let rank = |player: &str| elo.get(player).copied().unwrap_or(f64::NEG_INFINITY);
    let mut pairs: BTreeMap<(&str, &str), Pair> = BTreeMap::new();
    for ((black, white), results) in &facts.pool.pairs {
        let black_first = rank(black).total_cmp(&rank(white)).then_with(|| white.cmp(black)).is_ge();
        let (one, other) = if black_first { (black, white) } else { (white, black) };
        let pair = pairs.entry((one, other)).or_insert_with(|| Pair {
            one: one.clone(),
            other: other.clone(),
            games: 0,
            points: 0.0,
            as_black: 0,
            predicted: predicted(elo.get(one.as_str()).copied(), elo.get(other.as_str()).copied()),
        });
        pair.games += results.games();
        let of_black = results.black_points();
        pair.points += if black_first { of_black } else { results.games() as f64 - of_black };
        pair.as_black += if black_first { results.games() } else { 0 };
    }
    let mut pairs: Vec<Pair> = pairs.into_values().collect();
    pairs.sort_by(|one, other| other.games.cmp(&one.games).then_with(|| one.one.cmp(&other.one)));
    pairs
}

/// All pairs as a table: a row for each, of the player with the higher rating.
pub fn pairs_data(facts: &Facts, strength: &Strength) -> DataTable {
    let pairs = pairs(facts, strength);
    let text = |of: fn(&Pair) -> &String| DataColumn::Text(pairs.iter().map(|pair| of(pair).clone()).collect());
    let number = |of: fn(&Pair) -> Option<f64>| DataColumn::Number(pairs.iter().map(of).collect());
    DataTable {
        columns: vec![
            ("player", text(|pair| &pair.one)),
            ("against", text(|pair| &pair.other)),
            ("games", number(|pair| Some(pair.games as f64))),
            ("as_black", number(|pair| Some(pair.as_black as f64))),
            ("points", number(|pair| Some(pair.points))),
            ("played", number(|pair| Some(pair.played()))),
            ("low", number(|pair| Some(pair.interval().0))),
            ("high", number(|pair| Some(pair.interval().1))),
            ("predicted", number(|pair| pair.predicted)),
        ],
    }
}

/// The score that two ratings predict: Bradley and Terry's model in Elo. The fit has draws and the first move, too,
/// which are not stored with the ratings and move it to ½: by 0.05 where a fifth of the games of equals is drawn.
fn predicted(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    Some(expected_score(one? - other?))
}

/// A page of the table of pairs.
pub fn pairs_table<'a>(pairs: impl Iterator<Item = &'a Pair>) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th.text scope="col" { "Player" } th.text scope="col" { "Against" } th scope="col" { "Games" } th scope="col" { "as Black" }
                    th scope="col" { "Points" } th scope="col" { "Played" } th scope="col" { "95 % interval" }
                    th scope="col" title="by the difference of Elo alone, without draws and the first move" { "Predicted" }
                    th scope="col" title="standard errors from the predicted score, where some points of both are expected" { "Deviations" }
                } }
                tbody {
                    @for pair in pairs {
                        @let (low, high) = pair.interval();
                        tr {
                            th.text scope="row" { (pair.one) }
                            td.text { (pair.other) }
                            td { (whole(pair.games as f64)) }
                            td { (whole(pair.as_black as f64)) }
                            td { (pair.points) }
                            td { (percent(pair.played(), 0)) }
                            td.quiet { (percent(low, 0)) " to " (percent(high, 0)) }
                            td { @if let Some(predicted) = pair.predicted { (percent(predicted, 0)) } @else { "–" } }
                            td.bad[pair.deviations().is_some_and(|far| far.abs() > 3.0)] {
                                @if let Some(far) = pair.deviations() { (far_text(far)) } @else { "–" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn far_text(far: f64) -> String {
    if far.abs() < 0.05 {
        return "0.0".to_owned();
    }
    if far.abs() < 10.0 { format!("{far:+.1}").replace('-', "−") } else { signed(far) }
}

/// Scores of the player in the row against the player in the column, in percent, for at most so many players.
pub fn matrix(strength: &Strength, pairs: &[Pair], most: usize) -> Markup {
    let players = chosen(strength, most);
    let known: BTreeMap<(&str, &str), &Pair> =
        pairs.iter().map(|pair| ((pair.one.as_str(), pair.other.as_str()), pair)).collect();
    let field = |one: &str, other: &str| match (known.get(&(one, other)), known.get(&(other, one))) {
        (Some(pair), _) => Some((pair.played(), pair.predicted, *pair)),
        (None, Some(pair)) => Some((1.0 - pair.played(), pair.predicted.map(|score| 1.0 - score), *pair)),
        (None, None) => None,
    };
    html! {
        @if players.len() < 2 {
            p.empty { "No matches yet." }
        } @else {
            p.quiet {
                "Score of the player in the row against the player in the column, in percent, strongest first. "
                @if strength.players.len() > players.len() { (players.len()) " of " (strength.players.len()) " players." }
            }
            div.scroll tabindex="0" {
                table.matrix {
                    thead { tr { td {} @for other in &players { th scope="col" { span { (other) } } } } }
                    tbody {
                        @for one in &players {
                            tr {
                                th.text scope="row" { (one) }
                                @for other in &players {
                                    @match field(one, other) {
                                        _ if one == other => td.self {},
                                        None => td {},
                                        Some((score, predicted, pair)) => {
                                            td class=(shade(score)) title=(said(one, other, score, predicted, pair.games)) { (format!("{:.0}", 100.0 * score)) }
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
}

fn said(one: &str, other: &str, score: f64, predicted: Option<f64>, games: u64) -> String {
    let predicted = predicted.map_or_else(String::new, |score| format!(", predicted {}", percent(score, 0)));
    format!("{one} against {other}: {} in {games} games{predicted}", percent(score, 0))
}

/// A class of the style: how far a score is from even.
fn shade(score: f64) -> String {
    let step = ((score - 0.5).abs() * 8.0).round() as u32;
    format!("{}{step}", if score < 0.5 { "lost" } else { "won" })
}

/// At most so many players, evenly from the strongest to the weakest.
fn chosen(strength: &Strength, most: usize) -> Vec<&str> {
    let all = &strength.players;
    let count = most.min(all.len());
    let place = |number: usize| number * (all.len() - 1) / (count - 1).max(1);
    (0..count).map(|number| all[place(number)].rating.player.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(points: f64, games: u64, predicted: f64) -> Pair {
        let (one, other) = ("a-2".to_owned(), "a-1".to_owned());
        Pair { one, other, games, points, as_black: games / 2, predicted: Some(predicted) }
    }

    #[test]
    fn ratings_predict_scores() {
        assert_eq!(predicted(Some(0.0), Some(0.0)), Some(0.5));
        assert!((predicted(Some(400.0), Some(0.0)).unwrap() - 10.0 / 11.0).abs() < 1e-12);
        assert_eq!(predicted(None, Some(0.0)), None);
    }

    #[test]
    fn deviations_are_in_standard_errors() {
        assert!((pair(60.0, 100, 0.5).deviations().unwrap() - 2.0).abs() < 1e-9);
        assert!(pair(50.0, 100, 0.5).deviations().unwrap().abs() < 1e-9);
        let (low, high) = pair(60.0, 100, 0.5).interval();
        assert!(low < 0.6 && 0.6 < high && high - low < 0.2);
        let (low, high) = pair(0.5, 1, 0.5).interval();
        assert!((low + high - 1.0).abs() < 1e-12, "a draw favours neither: {low} {high}");
    }

    #[test]
    fn pair_whose_results_are_nearly_certain_has_no_deviations() {
        // A chance of 8 % would be 3.2 standard errors.
        assert_eq!(pair(31.0, 32, 0.997).deviations(), None);
        assert_eq!(pair(2.0, 2, 0.5).deviations(), None);
        assert!((pair(160.0, 200, 0.9).deviations().unwrap() + 4.714).abs() < 1e-3);
    }

    #[test]
    fn shades_are_few() {
        for (score, shade_of) in [(0.5, "won0"), (1.0, "won4"), (0.0, "lost4"), (0.4, "lost1")] {
            assert_eq!(shade(score), shade_of);
        }
    }
}
