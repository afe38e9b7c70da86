use super::*;

const HEADER: &str = "game_id,black,white,result\n";

/// A table of these results, each `Black,White,result`.
fn table(games: &[&str]) -> String {
    let lines = games.iter().enumerate().map(|(game, line)| format!("{game},{line}\n"));
    HEADER.chars().chain(lines.collect::<String>().chars()).collect()
}

fn request(prior: PriorChoice) -> Request {
    Request { prior, no_first_move: true, anchors: Vec::new() }
}

fn rated<'a>(report: &'a RatingReport, player: &str) -> &'a Rated {
    report.ratings.iter().find(|rated| rated.player == player).expect("a player")
}

#[test]
fn table_becomes_ratings() {
    let report =
        rate(&table(&["a,b,B", "a,b,B", "b,a,W", "b,a,B"]), &request(PriorChoice::None)).expect("a good table");
    let three_to_one = 400.0 * 3.0_f64.log10();
    assert!((rated(&report, "a").elo.expect("finite") - three_to_one / 2.0).abs() < 1e-6);
    assert_eq!((report.against, report.games, report.warnings.len()), ("the mean of the pool", 4, 0));
    let json: serde_json::Value = serde_json::from_str(&report.to_string()).expect("a report is JSON");
    assert_eq!(json["ratings"][0]["player"], "a");
    assert_eq!(json["ratings"][0]["games"], 4);
    assert!(json["first_move"].is_null() && json["ratings"][0]["error"].is_f64());
}

#[test]
fn rating_without_a_prior_reports_bounds_and_groups() {
    let games = ["a,b,B", "b,a,B", "c,a,B", "b,c,W", "d,e,B", "e,d,B"];
    let report = rate(&table(&games), &request(PriorChoice::None)).expect("a good table");
    assert_eq!(rated(&report, "c").elo, None);
    assert!(rated(&report, "c").at_least.is_some());
    assert_ne!(rated(&report, "a").group, rated(&report, "d").group);
    assert_eq!(report.against, "the mean of the group");
    let told = report.warnings.join("\n");
    for part in ["never met", "won every game, so there is no upper bound: c", "no finite rating"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let believed = rate(&table(&games), &request(PriorChoice::Gauss(400.0))).expect("a good table");
    assert!(believed.ratings.iter().all(|rated| rated.elo.is_some_and(f64::is_finite) && rated.group == 0));
    assert!(believed.warnings.iter().all(|warning| warning.ends_with("the prior fills the gap")));
}

#[test]
fn walk_is_along_the_numbers_of_a_run() {
    let games = ["r-1,r-2,W", "r-2,r-1,B", "r-3,x,B", "x,r-3,B"];
    let tight = rate(&table(&games), &request(PriorChoice::Walk(Some(1.0)))).expect("a good table");
    let elo = |report: &RatingReport, player| rated(report, player).elo.expect("finite");
    assert!((elo(&tight, "r-2") - elo(&tight, "r-1")).abs() < 0.1);
    let chosen = rate(&table(&games), &request(PriorChoice::Walk(None))).expect("a good table");
    assert!(elo(&chosen, "r-2") - elo(&chosen, "r-1") > 10.0 && chosen.step.is_some());
}

#[test]
fn anchors_hold_the_scale() {
    let anchors = vec![AnchorChoice { player: "b".to_owned(), elo: 1800.0, sd: None }];
    let games = table(&["a,b,B", "a,b,B", "b,a,W", "b,a,B"]);
    for prior in [PriorChoice::None, PriorChoice::Gauss(1e5), PriorChoice::Walk(None)] {
        let anchored = Request { anchors: anchors.clone(), ..request(prior) };
        let report = rate(&games, &anchored).expect("a good table");
        let (a, b) = (rated(&report, "a"), rated(&report, "b"));
        assert_eq!((b.elo, b.error, report.against), (Some(1800.0), Some(0.0), "the anchors"));
        let link = report.link.expect("there is an anchor");
        assert_eq!((Some(link.elo), Some(link.error)), (a.elo, a.error));
        let three_to_one = 400.0 * 3.0_f64.log10();
        assert!((link.elo - 1800.0 - three_to_one).abs() < if prior == PriorChoice::Walk(None) { 40.0 } else { 0.1 });
    }
    let twice = Request { anchors: [anchors.clone(), anchors].concat(), ..Request::default() };
    assert_eq!(rate(&games, &twice), Err(RateError::AnchorTwice("b".to_owned())));
    let unknown = Request { anchors: vec!["z=3".parse().expect("an anchor")], ..Request::default() };
    assert_eq!(rate(&games, &unknown).unwrap_err().to_string(), "the anchor z is no player of these games");
}

#[test]
fn unknown_first_move_advantage_is_reported() {
    for prior in [PriorChoice::None, PriorChoice::Gauss(300.0)] {
        let request = Request { no_first_move: false, ..request(prior) };
        let report = rate(&table(&["a,b,B", "b,a,B"]), &request).expect("a good table");
        assert_eq!(report.first_move, None);
        assert!(report.warnings[0].starts_with("first-move advantage is undetermined"));
        let report = rate(&table(&["a,b,B", "b,a,B", "a,b,W", "b,a,W"]), &request).expect("a good table");
        assert!(report.first_move.is_some() && report.warnings.is_empty());
    }
}

#[test]
fn empty_table_has_no_ratings() {
    for prior in [PriorChoice::None, PriorChoice::Gauss(300.0), PriorChoice::Walk(None)] {
        let report = rate(HEADER, &Request { prior, ..Request::default() }).expect("a good table");
        assert_eq!((report.ratings.len(), report.warnings.len()), (0, 0));
    }
}

#[test]
fn results_that_go_round_are_noticed() {
    let round = ["a,b,B", "b,c,B", "c,a,B", "b,a,W", "c,b,W", "a,c,W"];
    let games: Vec<&str> =
        (0..20).flat_map(|_| round).chain(["a,b,W", "b,c,W", "c,a,W", "b,a,B", "c,b,B", "a,c,B"]).collect();
    let report = rate(&table(&games), &request(PriorChoice::None)).expect("a good table");
    assert!(report.goodness_of_fit.expect("there is something to test").p < 1e-9);
    let warning = report.warnings.join("");
    assert!(warning.contains("one number for each player does not explain these results"), "{warning}");
}
