use go::PointSet;
use serde_json::json;

use super::*;

fn options() -> ServerOptions {
    ServerOptions {
        model: "v1-2".to_owned(),
        version: "0.0".to_owned(),
        size: Some(Size::new(5).expect("a size")),
        komi: 6.5,
        visits: 100,
        style: ReportStyle { policy: false, ..ReportStyle::STANDARD },
    }
}

/// A query that is right, with other fields.
fn query(others: Value) -> Map<String, Value> {
    let mut query = json!({
        "id": "q", "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": [["B", "C3"], ["W", "D4"]],
    });
    for (name, value) in others.as_object().expect("an object") {
        query[name] = value.clone();
    }
    query.as_object().expect("an object").clone()
}

fn read(others: Value) -> Result<(Position, Vec<(String, String)>), Refusal> {
    match Query::read(&query(others), &options())? {
        Query::Analyse(position, warnings) => {
            Ok((*position, warnings.into_iter().map(|warning| (warning.field, warning.reason)).collect()))
        }
        Query::Act(action) => panic!("{action:?}"),
    }
}

fn right(others: Value) -> Position {
    let (position, warnings) = read(others).expect("a query");
    assert_eq!(warnings, []);
    position
}

#[test]
fn plain_query_asks_for_the_last_position_as_the_server_does() {
    let found = right(json!({}));
    assert_eq!((found.turns, found.komi, found.visits), (vec![(2, 0)], 6.5, 100));
    assert_eq!((found.time, found.progress, found.avoid), (None, None, vec![]));
    assert_eq!((found.game.turn(), found.game.to_move()), (2, Color::Black));
    assert_eq!(found.style, options().style);
}

#[test]
fn optional_fields_are_read() {
    let found = right(json!({
        "komi": 7.0, "analyzeTurns": [0, 2], "priorities": [3, -4], "maxVisits": 30.0, "includePolicy": true,
        "includePVVisits": true, "reportDuringSearchEvery": 0.5, "initialStones": [["B", "A1"], ["W", "(4,0)"]],
        "overrideSettings": {
            "reportAnalysisWinratesAs": "SIDETOMOVE", "maxTime": 8.0, "analysisPVLen": 3, "wideRootNoise": 0.0
        },
        "avoidMoves": [{"player": "W", "moves": ["A1", "pass"], "untilDepth": 2}],
    }));
    assert_eq!((found.turns, found.komi, found.visits), (vec![(0, 3), (2, -4)], 7.0, 30));
    assert_eq!(found.time, Some(Duration::from_secs(8)));
    assert_eq!(found.progress, Some([Duration::from_millis(500); 2]));
    let style = ReportStyle {
        perspective: Perspective::SideToMove,
        variation: 3,
        policy: true,
        path_visits: true,
        ..ReportStyle::STANDARD
    };
    assert_eq!(found.style, style);
    let corner = go::Point::new(found.game.size(), 4, 0).expect("a point");
    let points = PointSet::from_iter([corner]);
    assert_eq!(found.avoid, [Avoid { player: Color::White, points, pass: true, until: 2 }]);
    assert_eq!(found.game.position().stones().both().len(), 4);
    let top_right = go::Point::new(found.game.size(), 0, 4).expect("a point");
    assert_eq!(found.game.position().stone(top_right), Some(Color::White));
    assert_eq!(right(json!({ "priority": -7 })).turns, [(2, -7)]);
    let allowed = right(json!({ "allowMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 1}] })).avoid;
    assert_eq!((allowed[0].points.len(), allowed[0].pass), (24, true));
}

#[test]
fn fields_of_a_query_count_more_than_settings() {
    let settings = json!({ "maxVisits": 70, "analysisPVLen": 3 });
    let found = right(json!({ "maxVisits": 30, "analysisPVLen": 4, "overrideSettings": settings }));
    assert_eq!((found.visits, found.style.variation), (30, 4));
    let found = right(json!({ "overrideSettings": settings }));
    assert_eq!((found.visits, found.style.variation), (70, 3));
}

#[test]
fn queries_are_read_in_the_bounds_of_katago() {
    assert_eq!(right(json!({ "maxVisits": 1_125_899_906_842_624_u64 })).visits, u32::MAX);
    assert_eq!(right(json!({ "priority": -1_700_000_000_000_i64 })).turns, [(2, -1_700_000_000_000)]);
    let found = right(json!({ "analyzeTurns": [2, 0, 2], "priorities": [1, 2, 4_611_686_018_427_387_903_i64] }));
    assert_eq!(found.turns, [(0, 2), (2, 4_611_686_018_427_387_903)], "each turn once");
    let once = right(json!({ "firstReportDuringSearchAfter": 0.5 })).progress.expect("a report");
    assert!(once[0] == Duration::from_millis(500) && once[1] > Duration::from_secs(86_400), "{once:?}");
    let seen = right(json!({ "overrideSettings": {"reportAnalysisWinratesAs": "white"} })).style.perspective;
    assert_eq!(seen, Perspective::White);
    right(json!({ "includeOwnershipStdev": false, "includeMovesOwnershipStdev": false }));
}

#[test]
fn first_player_is_the_one_given_or_of_the_first_move_or_who_has_no_handicap() {
    let first = |others: Value| right(others).game.to_move();
    assert_eq!(first(json!({ "moves": [] })), Color::Black);
    assert_eq!(first(json!({ "moves": [], "initialPlayer": "W" })), Color::White);
    assert_eq!(first(json!({ "moves": [["W", "C3"]] })), Color::Black);
    assert_eq!(first(json!({ "moves": [["W", "C3"], ["W", "C4"]] })), Color::Black);
    let handicap = json!([["B", "B2"], ["B", "D4"]]);
    assert_eq!(first(json!({ "moves": [], "rules": {}, "initialStones": handicap })), Color::White);
}

/// KataGo plays such moves, and clients know other ko rules.
#[test]
fn moves_may_repeat_a_board() {
    let stones = json!([["B", "B5"], ["B", "A4"], ["B", "B3"], ["W", "C5"], ["W", "B4"], ["W", "D4"], ["W", "C3"]]);
    let found = right(json!({ "initialStones": stones, "moves": [["B", "C4"], ["W", "B4"]] }));
    assert_eq!((found.game.turn(), found.game.stones_ago(0)), (2, found.game.stones_ago(2)));
}

#[test]
fn refusals_name_the_field() {
    for (others, field, part) in [
        (json!({ "boardXSize": 9, "boardYSize": 9 }), "boardXSize", "the model is for 5x5 boards"),
        (json!({ "boardYSize": 6 }), "boardYSize", "boards are square"),
        (json!({ "boardXSize": 1 }), "boardXSize", "from 2 to 19"),
        (json!({ "boardXSize": "5" }), "boardXSize", "integer"),
        (json!({ "rules": null }), "rules", "must be given"),
        (json!({ "rules": "checkers" }), "rules", "unknown rules"),
        (json!({ "komi": 7.2 }), "komi", "half-integer"),
        (json!({ "komi": 1000 }), "komi", "150"),
        (json!({ "moves": null }), "moves", "may be empty"),
        (json!({ "moves": [["B", "C3"], ["W", "C3"]] }), "moves", "Illegal move 1: white C3: the point is occupied"),
        (json!({ "moves": [["B", "Z9"]] }), "moves", "[\"B\",\"Z9\"] is none"),
        (json!({ "moves": [["G", "C3"]] }), "moves", "is none"),
        (json!({ "moves": "C3" }), "moves", "list"),
        (json!({ "initialStones": [["B", "pass"]] }), "initialStones", "pass"),
        (
            json!({ "initialStones": [["W", "B1"], ["B", "A1"], ["B", "C1"], ["B", "B2"]] }),
            "initialStones",
            "the chain at B1 has no liberty",
        ),
        (json!({ "initialPlayer": "X" }), "initialPlayer", "\"B\" or \"W\""),
        (json!({ "analyzeTurns": [3] }), "analyzeTurns", "from 0 to 2"),
        (json!({ "analyzeTurns": [-1] }), "analyzeTurns", "from 0 to 2"),
        (json!({ "priorities": [1, 2] }), "priorities", "one for each"),
        (json!({ "priorities": [1], "priority": 2 }), "priorities", "together"),
        (json!({ "maxVisits": 0 }), "maxVisits", "from 1"),
        (json!({ "maxVisits": 1.5 }), "maxVisits", "from 1"),
        (json!({ "analysisPVLen": 0 }), "analysisPVLen", "from 1"),
        (json!({ "analyzeTurns": [2], "priorities": [i64::MIN] }), "priorities", "one for each"),
        (json!({ "includePolicy": 1 }), "includePolicy", "boolean"),
        (json!({ "reportDuringSearchEvery": 0 }), "reportDuringSearchEvery", "above 0"),
        (json!({ "avoidMoves": [{"player": "B", "moves": ["A1"], "untilDepth": 0}] }), "avoidMoves", "untilDepth"),
        (json!({ "avoidMoves": [], "allowMoves": [] }), "allowMoves", "together"),
        (json!({ "overrideSettings": [] }), "overrideSettings", "object"),
        (json!({ "overrideSettings": {"reportAnalysisWinratesAs": "ME"} }), "reportAnalysisWinratesAs", "SIDETOMOVE"),
        (json!({ "action": "fly" }), "action", "terminate_all"),
        (json!({ "action": "terminate" }), "terminateId", "string"),
        (json!({ "action": "terminate_all", "turnNumbers": ["a"] }), "turnNumbers", "turns"),
    ] {
        let refusal = Query::read(&query(others.clone()), &options()).expect_err(&others.to_string());
        assert_eq!(refusal.field, field, "{others}: {refusal}");
        assert!(refusal.reason.contains(part), "{others}: {refusal}");
    }
}

#[test]
fn ignored_parts_are_warned_of() {
    let (_, warnings) = read(json!({
        "rules": "japanese", "includeOwnership": true, "rootPolicyTemperature": 1.5, "surprise": 1,
        "overrideSettings": {"wideRootNoise": 0.04, "cpuctExploration": 1.0},
    }))
    .expect("a query");
    let fields: Vec<&str> = warnings.iter().map(|(field, _)| field.as_str()).collect();
    let expected =
        ["rules", "wideRootNoise", "cpuctExploration", "includeOwnership", "rootPolicyTemperature", "surprise"];
    assert_eq!(fields, expected, "{warnings:?}");
    // Models may have that head.
    assert!(warnings[3].1.starts_with("not supported"), "{warnings:?}");
}

#[test]
fn handicap_without_points_for_white_is_warned_of() {
    let warned = |stones: Value| read(json!({ "moves": [], "initialStones": stones })).expect("a query").1;
    let found = warned(json!([["B", "B2"], ["B", "D4"]]));
    assert!(found.len() == 1 && found[0].0 == "rules" && found[0].1.contains("handicap"), "{found:?}");
    assert_eq!(warned(json!([["B", "B2"]])), []);
    assert_eq!(warned(json!([["B", "B2"], ["B", "D4"], ["W", "C3"]])), []);
}

#[test]
fn actions_are_read() {
    let act = |others: Value| match Query::read(&query(others), &options()) {
        Ok(Query::Act(action)) => action,
        other => panic!("{other:?}"),
    };
    assert_eq!(act(json!({ "action": "query_version" })), Action::Version);
    assert_eq!(act(json!({ "action": "query_models" })), Action::Models);
    assert_eq!(act(json!({ "action": "clear_cache" })), Action::ClearCache);
    let stopped = Action::Terminate(Some("q".to_owned()), Some(vec![1, 2]));
    assert_eq!(act(json!({ "action": "terminate", "terminateId": "q", "turnNumbers": [1, 2] })), stopped);
    assert_eq!(act(json!({ "action": "terminate_all" })), Action::Terminate(None, None));
}
