//! Agreement with other people's arithmetic: `fixtures/expected.py` computes the same ratings with scipy and choix.

use record::Outcome;

use crate::bradley_terry::*;

/// The league of the fixture; draws are omitted on request, since choix knows none.
fn league(with_draws: bool) -> PairResults {
    let mut results = PairResults::default();
    for line in include_str!("../../../fixtures/league.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let outcomes = [Outcome::Black, Outcome::White, Outcome::Draw];
        for (outcome, count) in outcomes.into_iter().zip(&cells[2..]) {
            let count = if outcome == Outcome::Draw && !with_draws { 0 } else { count.parse().expect("a count") };
            (0..count).for_each(|_| results.add(cells[0], cells[1], outcome));
        }
    }
    results
}

/// Checks every line of one method, ratings and errors to 0.01 Elo. Returns the lines that name no player.
fn check(method: &str, ratings: &Ratings) -> Vec<(String, f64, f64)> {
    let mut others = Vec::new();
    for line in include_str!("../../../fixtures/expected.csv").lines().skip(1).filter(|line| line.starts_with(method)) {
        let cells: Vec<&str> = line.split(',').collect();
        let [value, error] = [2, 3].map(|i| cells[i].parse::<f64>().expect("a number"));
        match ratings.players().iter().position(|player| player == cells[1]) {
            Some(player) => {
                let found = ratings.above_pool()[player];
                assert!((found.elo - value).abs() < 0.01 && (found.error - error).abs() < 0.01, "{line}: {found:?}");
            }
            None => others.push((cells[1].to_owned(), value, error)),
        }
    }
    others
}

#[test]
fn agrees_with_scipy_on_colours_and_draws() {
    let results = league(true);
    let ratings = Ratings::fit(&results, &Prior::normal(&results, 400.0)).expect("the league can be rated");
    let others = check("davidson", &ratings);
    let [(_, first_move, first_move_error), (_, draws, _)] = &others[..] else { panic!("two more lines: {others:?}") };
    assert!((ratings.first_move().elo - first_move).abs() < 0.01);
    assert!((ratings.first_move().error - first_move_error).abs() < 0.01);
    assert!((ratings.draws().expect("games were drawn") - draws).abs() < 1e-4);
}

#[test]
fn agrees_with_choix_on_plain_bradley_terry() {
    let results = league(false);
    // A first move that is worth nothing is how colours are ignored.
    let prior = Prior { first_move: Belief::Zero, ..Prior::normal(&results, ELO * 10.0_f64.sqrt()) };
    assert!(check("choix", &Ratings::fit(&results, &prior).expect("the league can be rated")).is_empty());
}
