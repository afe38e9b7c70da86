//! The ratings as a readable table.

use std::collections::BTreeSet;
use std::fmt;

use ratings::{Diagnostic, Estimate, PairResults, PlayerScore, Ratings, diagnostics, goodness_of_fit};
use record::RatingRow;
use record::ratings::Compared;
use record::statistics::margin;

use crate::rate::suspicion;

/// Everything that is said about a pool, ready to print.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// Every player, strongest first.
    rows: Vec<RatingRow>,
    /// Players that are rated and not shown.
    hidden: BTreeSet<String>,
    /// Whether errors are against the mean of the run's other models, rather than of all other players who have played.
    has_models: bool,
    games: u32,
    draws: u32,
    first_move: Estimate,
    newest: Option<Newest>,
    rated: Option<RatedModel>,
    /// Whose ratings were given, if any were.
    anchors: Vec<String>,
    notes: Vec<String>,
}

/// How much the newest model gained on the first.
#[derive(Clone, Debug, PartialEq)]
struct Newest {
    newest: String,
    first: String,
    gain: Estimate,
}

/// The rating of the newest model of a run that has played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedModel {
    /// The number of the model; 1 is the first.
    pub number: u32,
    /// Elo above the anchor, and the error against the mean of the run's other models, or of all other players who have
    /// played where no other model has.
    pub rating: Estimate,
}

impl RatedModel {
    /// The newest of the players who have played; `ages` are the models' numbers. `None` where no model has played.
    pub(crate) fn newest(results: &PairResults, ratings: &Ratings, ages: &[Option<u32>]) -> Option<RatedModel> {
        let played = (0..).zip(results.player_scores()).filter(|(_, score)| score.games > 0);
        let (number, player) = played.filter_map(|(player, _)| Some((ages[player]?, player))).max()?;
        let error = ratings.above(&compared(results, ages).players)[player].error;
        Some(RatedModel { number, rating: Estimate { error, ..ratings.rating(player) } })
    }
}

impl Table {
    /// `ages` are model numbers: the newest model is the one with the highest, the first that with the lowest. Players
    /// without a number have no age. Players that are `hidden`, by their place in the results, are rated and stored,
    /// and not shown.
    ///
    /// # Panics
    /// When the ratings are not those of the results, or there is not one age for each player.
    pub(crate) fn new(results: &PairResults, ratings: &Ratings, ages: &[Option<u32>], hidden: &[bool]) -> Table {
        assert_eq!(results.players(), ratings.players(), "the ratings are of these results");
        assert_eq!(ages.len(), results.players().len(), "every player has an age or none");
        let total = results.total();
        let compared = compared(results, ages);
        let places = (0..).zip(results.player_scores()).zip(ratings.above(&compared.players));
        let mut rows: Vec<RatingRow> =
            places.map(|((player, score), above_pool)| row(ratings, player, score, above_pool)).collect();
        rows.sort_by(|a, b| b.elo.total_cmp(&a.elo).then_with(|| a.player.cmp(&b.player)));
        let diagnostics = diagnostics(results);
        let suspicion =
            goodness_of_fit(results, ratings).and_then(|goodness_of_fit| suspicion(results, &goodness_of_fit));
        let shown_ages: Vec<Option<u32>> =
            ages.iter().zip(hidden).map(|(&age, &hidden)| age.filter(|_| !hidden)).collect();
        let hidden: BTreeSet<String> =
            results.players().iter().zip(hidden).filter(|&(_, &hidden)| hidden).map(|(name, _)| name.clone()).collect();
        let left_out = (!hidden.is_empty())
            .then(|| format!("retired models are not shown without --include-retired: {}", join(&hidden)));
        let notes = diagnostics.iter().map(Diagnostic::to_string).chain(suspicion).chain(left_out).collect();
        Table {
            rows,
            hidden,
            has_models: compared.are_models,
            games: total.games(),
            draws: total.draws,
            first_move: ratings.first_move(),
            newest: newest(ratings, &shown_ages),
            rated: RatedModel::newest(results, ratings, ages),
            anchors: Vec::new(),
            notes,
        }
    }

    /// The same table on the scale of these players: errors are then relative to them.
    #[must_use]
    pub(crate) fn anchored(self, anchors: Vec<String>) -> Table {
        Table { anchors, ..self }
    }

    /// The players whose ratings are given, as `GnuGo-10 = 0`.
    pub(crate) fn anchors(&self) -> &[String] {
        &self.anchors
    }

    /// Whether errors are against the mean of the run's other models, hidden ones among them.
    pub(crate) fn has_models(&self) -> bool {
        self.has_models
    }

    /// The players that are rated and not shown.
    pub(crate) fn hidden(&self) -> &BTreeSet<String> {
        &self.hidden
    }

    /// The newest model that has played, hidden or not.
    pub(crate) fn newest_rated(&self) -> Option<RatedModel> {
        self.rated
    }

    /// What playing Black is worth.
    pub(crate) fn first_move(&self) -> Estimate {
        self.first_move
    }

    /// What the numbers do not say.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// All players as they are stored, strongest first, hidden ones too.
    pub(crate) fn rows(&self) -> &[RatingRow] {
        &self.rows
    }

    /// The players that are shown, strongest first.
    pub(crate) fn shown(&self) -> Vec<RatingRow> {
        self.rows.iter().filter(|row| !self.hidden.contains(&row.player)).cloned().collect()
    }
}

/// Whether a player won or lost every game: the results then bound its rating on one side only, and its error is the
/// prior's.
fn is_perfect(row: &RatingRow) -> bool {
    row.games > 0 && (row.points == 0.0 || row.points == f64::from(row.games))
}

/// The players against whose mean errors are.
pub(crate) fn compared(results: &PairResults, ages: &[Option<u32>]) -> Compared {
    let games = results.player_scores().into_iter().map(|score| score.games);
    record::ratings::compared(games.zip(ages.iter().map(Option::is_some)))
}

fn row(ratings: &Ratings, player: usize, score: PlayerScore, above_pool: Estimate) -> RatingRow {
    let rating = ratings.rating(player);
    RatingRow {
        player: ratings.players()[player].clone(),
        elo: rating.elo,
        error: rating.error,
        above_pool: above_pool.elo,
        above_pool_error: above_pool.error,
        games: score.games,
        points: score.points,
    }
}

fn join(names: &BTreeSet<String>) -> String {
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

fn newest(ratings: &Ratings, ages: &[Option<u32>]) -> Option<Newest> {
    let aged = || ages.iter().enumerate().filter_map(|(player, &age)| Some((age?, player)));
    let ((newest_age, newest), (first_age, first)) = (aged().max()?, aged().min()?);
    let name = |player: usize| ratings.players()[player].clone();
    let gain = || Newest { newest: name(newest), first: name(first), gain: ratings.difference(newest, first) };
    (newest_age > first_age).then(gain)
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.shown();
        let width = shown.iter().map(|row| row.player.chars().count()).max().unwrap_or(0).max(5);
        writeln!(f, "rank  {:width$}    Elo      ±   games  score", "model")?;
        for (rank, row) in (1..).zip(shown) {
            let score = match row.games {
                0 => "    -".to_owned(),
                games => format!("{:4.0}%", 100.0 * row.points / f64::from(games)),
            };
            let error = if self.anchors.is_empty() { row.above_pool_error } else { row.error };
            let margin = if is_perfect(&row) { "-".to_owned() } else { format!("{:.0}", margin(error)) };
            writeln!(f, "{rank:4}  {:width$}  {:5.0}  {margin:>5}  {:6}  {score}", row.player, row.elo, row.games)?;
        }
        if !self.anchors.is_empty() {
            writeln!(f, "On the scale of {}; ± is against that, with 95 %.", self.anchors.join(", "))?;
        } else if let Some(zero) = self.rows.iter().find(|row| row.error == 0.0) {
            let mean = if self.has_models { "the run's other models" } else { "the other players" };
            writeln!(f, "Elo above {}; ± is against the mean of {mean}, with 95 %.", zero.player)?;
        }
        if let Some(Newest { newest, first, gain }) = &self.newest {
            writeln!(f, "{newest} minus {first}: {:+.0} ±{:.0} Elo", gain.elo, gain.margin())?;
        }
        let black = self.first_move;
        write!(
            f,
            "Black's advantage: {:+.0} ±{:.0} Elo; {} of {} games drawn",
            black.elo,
            black.margin(),
            self.draws,
            self.games
        )?;
        self.notes.iter().try_for_each(|note| write!(f, "\nnote: {note}"))
    }
}

#[cfg(test)]
mod tests {
    use ratings::{Belief, Prior};
    use record::Outcome::{Black, Draw, White};

    use super::*;

    #[test]
    fn table_has_rating_and_interval_of_each_player() {
        let mut results = PairResults::new(["random", "run-1", "run-12"]);
        for _ in 0..10 {
            results.add("random", "run-1", White);
            results.add("run-1", "random", Black);
            results.add("run-12", "run-1", Black);
            results.add("run-1", "run-12", Black);
            results.add("run-1", "run-12", White);
        }
        results.add("run-12", "run-1", Draw);
        let prior = Prior { first_move: Belief::Normal(50.0), ..Prior::walk(&results, 100.0) };
        let ratings = Ratings::fit(&results, &prior).expect("the pool can be rated");
        let table = Table::new(&results, &ratings, &[None, Some(1), Some(12)], &[false; 3]);
        assert_eq!(table.rows()[0].player, "run-12");
        assert_eq!((table.rows()[2].games, table.rows()[2].points), (20, 0.0));
        let expected = "\
rank  model     Elo      ±   games  score
   1  run-12   1061    134      31    66%
   2  run-1     925    134      51    60%
   3  random      0      -      20     0%
Elo above random; ± is against the mean of the run's other models, with 95 %.
run-12 minus run-1: +137 ±134 Elo
Black's advantage: +61 ±81 Elo; 1 of 51 games drawn
note: lost every game, so there is no lower bound: random
note: each group won every game against the next, so only the prior bounds the gap: run-1, run-12 > random";
        assert_eq!(table.to_string(), expected);
    }

    #[test]
    fn newest_rated_model_has_played_and_may_be_hidden() {
        let mut results = PairResults::new(["random", "run-1", "run-2", "run-3"]);
        results.add("run-2", "random", Black);
        results.add("run-1", "run-2", White);
        let ratings = Ratings::fit(&results, &Prior::walk(&results, 100.0)).expect("the pool can be rated");
        let ages = [None, Some(1), Some(2), Some(3)];
        let table = Table::new(&results, &ratings, &ages, &[false, false, true, false]);
        let rated = table.newest_rated().expect("models have played");
        assert_eq!((rated.number, rated.rating.elo), (2, ratings.rating(2).elo));
        // That of the table, and not that of the gap to random.
        assert_eq!(rated.rating.error, ratings.above(&[1, 2])[2].error);
        assert!(rated.rating.error < 0.7 * ratings.rating(2).error, "{rated:?}");
    }

    /// There is no other model: its error is against `random`, and not against a model or an engine that has not
    /// played.
    #[test]
    fn only_model_with_games_has_an_error_against_players_with_games() {
        let mut results = PairResults::new(["random", "run-1", "run-2", "GnuGo-10"]);
        for game in 0..20 {
            results.add("run-1", "random", if game < 15 { Black } else { White });
        }
        let (ratings, _) = Ratings::of_runs(&results, |prior| prior).expect("the pool can be rated");
        let table = Table::new(&results, &ratings, &[None, Some(1), Some(2), None], &[false; 4]);
        let rated = table.newest_rated().expect("a model has played");
        assert!((rated.rating.error - ratings.difference(0, 1).error).abs() < 1e-6 && rated.rating.error > 50.0);
        let row = table.rows().iter().find(|row| row.player == "run-1").expect("it has played");
        assert_eq!(row.above_pool_error, rated.rating.error);
        assert!(table.to_string().contains("Elo above random; ± is against the mean of the other players, with 95 %."));
    }

    #[test]
    fn empty_pool_prints_too() {
        let results = PairResults::default();
        let ratings = Ratings::fit(&results, &Prior::walk(&results, 100.0)).expect("there is nothing to rate");
        let table = Table::new(&results, &ratings, &[], &[]);
        assert!(table.to_string().ends_with("0 of 0 games drawn"));
        assert_eq!(table.newest_rated(), None);
    }
}
