//! Ratings for programs: comma-separated values and JSON.

use serde_json::{Value, json};

use crate::rate::{Rated, RatingReport};
use crate::table::Table;

impl Table {
    /// One line a player after a header, strongest first; errors are one standard error.
    pub(crate) fn to_csv(&self) -> String {
        let header = ["player", "elo", "error", "above_pool", "above_pool_error", "games", "points"];
        let rows = self.shown().into_iter().map(|row| {
            let numbers = [row.elo, row.error, row.above_pool, row.above_pool_error].map(|number| number.to_string());
            [vec![quoted(&row.player)], numbers.to_vec(), vec![row.games.to_string(), row.points.to_string()]].concat()
        });
        lines(&header, rows)
    }

    /// Everything that the table says.
    pub(crate) fn to_json(&self) -> Value {
        let rows = self.shown().into_iter().map(|row| {
            json!({
                "player": row.player, "elo": row.elo, "error": row.error, "above_pool": row.above_pool,
                "above_pool_error": row.above_pool_error, "games": row.games, "points": row.points,
            })
        });
        let first_move = self.first_move();
        json!({
            "ratings": rows.collect::<Vec<Value>>(),
            "first_move": { "elo": first_move.elo, "error": first_move.error },
            "warnings": self.notes(),
        })
    }
}

impl RatingReport {
    /// One line a player after a header, in the order of the report; cells without a number are empty.
    pub fn to_csv(&self) -> String {
        let header = ["player", "elo", "error", "at_least", "at_most", "group", "games", "points", "superiority"];
        let cell = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let rows = self.ratings.iter().map(|rated| {
            vec![
                quoted(&rated.player),
                cell(rated.elo),
                cell(rated.error),
                cell(rated.at_least),
                cell(rated.at_most),
                rated.group.to_string(),
                rated.games.to_string(),
                rated.points.to_string(),
                cell(rated.superiority),
            ]
        });
        lines(&header, rows)
    }

    /// The readable report; errors are those of 95 %.
    pub fn to_table(&self) -> String {
        let width = self.ratings.iter().map(|rated| rated.player.chars().count()).max().unwrap_or(0).max(6);
        let header = format!("group  {:width$}     Elo      ±   games  score", "player");
        let line = |rated: &Rated| {
            let rating = match (rated.elo, rated.interval, rated.at_least, rated.at_most) {
                (Some(elo), Some([low, _]), ..) => format!("{elo:7.0}  {:5.0}", elo - low),
                (_, _, Some(bound), _) => format!("> {bound:5.0}      -"),
                (_, _, _, Some(bound)) => format!("< {bound:5.0}      -"),
                _ => "      -      -".to_owned(),
            };
            let score = 100.0 * rated.points / f64::from(rated.games.max(1));
            format!("{:5}  {:width$} {rating}  {:6}  {score:4.0}%", rated.group, rated.player, rated.games)
        };
        let against = format!("Elo and ± (95 %) are against {}.", self.against);
        let black =
            self.first_move.map(|black| format!("Black's advantage: {:+.0} ±{:.0} Elo", black.elo, black.margin()));
        let notes = self.warnings.iter().map(|warning| format!("note: {warning}"));
        let rows = self.ratings.iter().map(line);
        std::iter::once(header).chain(rows).chain([against]).chain(black).chain(notes).collect::<Vec<_>>().join("\n")
    }
}

fn lines(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    std::iter::once(header.join(",")).chain(rows.map(|row| row.join(","))).collect::<Vec<_>>().join("\n")
}

/// A cell that may hold anything.
fn quoted(cell: &str) -> String {
    match cell.contains([',', '"']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::rate::{Request, rate, read};
    use crate::table::Table;
    use ratings::{Estimate, Prior, Ratings};

    const GAMES: &str =
        "game_id,black,white,result\n1,\"a,b\",c,B\n2,c,\"a,b\",B\n3,d,c,B\n4,c,\"a,b\",W\n5,\"a,b\",c,W\n";

    #[test]
    fn cells_are_quoted_if_needed_and_empty_if_unknown() {
        let report = rate(GAMES, &Request { no_first_move: true, ..Request::default() }).expect("a good table");
        let csv = report.to_csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines[0], "player,elo,error,at_least,at_most,group,games,points,superiority");
        assert!(lines.len() == 4 && lines.iter().any(|line| line.starts_with("d,,,")), "{csv}");
        assert!(lines.iter().any(|line| line.starts_with("\"a,b\",")), "{csv}");
        let table = report.to_table();
        assert!(table.lines().count() > 5 && table.contains("against the mean of the group"), "{table}");
        let unbeaten = table.lines().find(|line| line.contains(" d ")).expect("a line for each player");
        assert!(unbeaten.starts_with("    1  d") && unbeaten.contains('>') && unbeaten.ends_with("100%"), "{table}");
    }

    #[test]
    fn errors_of_the_readable_report_are_those_of_95_percent() {
        let mut report = rate(GAMES, &Request { no_first_move: true, ..Request::default() }).expect("a good table");
        report.first_move = Some(Estimate { elo: 50.0, error: 20.0 });
        let table = report.to_table();
        assert!(table.contains("\nBlack's advantage: +50 ±39 Elo"), "{table}");
    }

    #[test]
    fn table_says_the_same_in_every_form() {
        let results = read(GAMES).expect("a good table").results;
        let ratings = Ratings::fit(&results, &Prior::normal(&results, 300.0)).expect("the pool can be rated");
        let table = Table::new(&results, &ratings, &[None; 3], &[false; 3]);
        let json = table.to_json();
        assert_eq!(json["ratings"].as_array().map(Vec::len), Some(3));
        assert_eq!(table.to_csv().lines().count(), 1 + table.rows().len());
        for (line, row) in table.to_csv().lines().skip(1).zip(table.rows()) {
            assert!(line.ends_with(&format!("{},{}", row.games, row.points)), "{line}");
        }
        assert_eq!(json["ratings"][0]["elo"].as_f64(), Some(table.rows()[0].elo));
        for column in table.to_csv().lines().next().expect("a header").split(',') {
            assert!(!json["ratings"][0][column].is_null(), "{column} has another name in JSON: {json}");
        }
        assert_eq!(json["warnings"][0], "won every game, so there is no upper bound: d");
    }
}
