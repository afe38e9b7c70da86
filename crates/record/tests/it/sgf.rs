//! Games for people.

use go::{Color, Move, Scoring, Size, sgf};
use record::{Converter, EndReason, GameRecord, Outcome, SearchAnnotations, SearchKind, TopMove, synthetic};

fn a_game() -> GameRecord {
    let mut game = synthetic::game("run-7", "w0", 3, Size::new(9).unwrap(), 50);
    game.turns.truncate(3);
    game.outcome = Outcome::White;
    game.end = EndReason::Passes;
    game.score = Some(-3.5);
    game
}

#[test]
fn editors_see_the_game_that_was_played() {
    for index in 0..20 {
        let game = synthetic::game("run-7", "w0", index, Size::new(9).unwrap(), 50);
        let read = sgf::Record::parse(game.to_sgf().as_bytes()).unwrap();
        let moves: Vec<Move> = game.turns.iter().map(|turn| turn.mv).collect();
        assert_eq!(read.turns.iter().map(|turn| turn.mv).collect::<Vec<_>>(), moves);
        assert_eq!((read.size, read.komi, &read.black.name), (game.size, Some(game.komi), &game.black));
        assert_eq!(read.replay().unwrap().position(), game.replay().unwrap().position());
    }
}

#[test]
fn result_is_the_one_of_the_record() {
    let outcome = |game: &GameRecord| sgf::Record::parse(game.to_sgf().as_bytes()).unwrap().outcome;
    let won = |margin| Some(sgf::Outcome::Win(Color::White, margin));
    let mut game = a_game();
    assert_eq!(outcome(&game), won(sgf::Margin::Points(3.5)));
    (game.end, game.score) = (EndReason::Resignation, None);
    assert_eq!(outcome(&game), won(sgf::Margin::Resignation));
    game.end = EndReason::Forfeit;
    assert_eq!(outcome(&game), won(sgf::Margin::Forfeit));
    (game.end, game.score, game.outcome) = (EndReason::MoveLimit, Some(0.0), Outcome::Draw);
    assert_eq!(outcome(&game), Some(sgf::Outcome::Draw));
}

#[test]
fn rules_are_those_of_the_score_and_import_takes_it() {
    for (scoring, rules) in [(Scoring::PassAlive, "Chinese"), (Scoring::Area, "Tromp-Taylor")] {
        let text = GameRecord { scoring, ..a_game() }.to_sgf();
        assert_eq!(sgf::Record::parse(text.as_bytes()).unwrap().rules, rules);
        let tree = sgf::collection(text.as_bytes()).next().unwrap().unwrap();
        assert_eq!(converter().convert(0, &tree).unwrap().score, Some(-3.5));
    }
}

#[test]
fn comments_say_what_the_search_thought() {
    let mut game = a_game();
    game.would_resign_turn = Some(1);
    game.turns[1] = record::Turn {
        mv: Move::Pass,
        kind: SearchKind::Full,
        weight: 1.0,
        visits: vec![(0, 5), (40, 30), (80, 5), (81, 10)],
        root_value: 0.95,
        best_child_value: -0.5,
        network_value: 0.25,
        prior_entropy: 1.5,
        policy_surprise: Some(0.5),
        note: None,
    };
    let read = sgf::Record::parse(game.to_sgf().as_bytes()).unwrap();
    assert_eq!(
        read.turns[1].comment,
        "value +0.950 best -0.500 network +0.250 entropy 1.50 ?\nE5 30, pass 10, A9 5, J1 5"
    );
    assert!(read.comment.contains(&format!("game {}", game.id)), "{}", read.comment);
}

#[test]
fn notes_show_depth_variation_and_the_best_moves() {
    let mut game = a_game();
    let mv = |index| Move::from_index(game.size, index).unwrap();
    let note = SearchAnnotations {
        variation: vec![(mv(40), 30), (mv(81), 12), (mv(0), 3)],
        mean_depth: 3.24,
        max_depth: 7,
        top: vec![
            TopMove { mv: mv(40), visits: 30, value: -0.5, prior: 0.25 },
            TopMove { mv: mv(81), visits: 10, value: 0.125, prior: 0.0625 },
        ],
    };
    game.turns[1] = record::Turn {
        kind: SearchKind::Full,
        weight: 0.1,
        root_value: 0.95,
        best_child_value: -0.5,
        network_value: 0.25,
        prior_entropy: 1.5,
        note: Some(Box::new(note)),
        ..game.turns[1].clone()
    };
    game.turns[0] = record::Turn::unsearched(SearchKind::Policy, game.turns[0].mv);
    game.mean_depth = Some(3.25);
    let read = sgf::Record::parse(game.to_sgf().as_bytes()).unwrap();
    assert_eq!(read.turns[0].comment, "policy draw");
    let expected = [
        "value +0.950 best -0.500 network +0.250 entropy 1.50",
        "depth 3.2, at most 7",
        "variation E5 30, pass 12, A9 3",
        "E5 N 30 Q -0.500 P 0.250",
        "pass N 10 Q +0.125 P 0.062",
    ];
    assert_eq!(read.turns[1].comment.lines().collect::<Vec<_>>(), expected);
    assert!(read.comment.contains("mean depth 3.25"), "{}", read.comment);
}

/// For a run on 9x9.
fn converter() -> Converter {
    Converter {
        size: Size::new(9).unwrap(),
        scoring: Scoring::PassAlive,
        config_digest: "digest".to_owned(),
        holdout: 0.0,
        worker: "games.sgf".to_owned(),
    }
}

/// A run may begin with the weights of one of another configuration, and what was held out there stays so.
#[test]
fn human_games_are_held_out_whatever_the_configuration_is() {
    let games = |digest: &str| -> Vec<GameRecord> {
        let converter = Converter { config_digest: digest.to_owned(), holdout: 0.5, ..converter() };
        let texts = (0..50).map(|komi| format!("(;SZ[9]KM[{komi}]RE[B+R];B[ee];W[ff])"));
        let tree = |text: String| sgf::collection(text.as_bytes()).next().unwrap().unwrap();
        texts.map(|text| converter.convert(0, &tree(text)).unwrap()).collect()
    };
    let held_out = |games: &[GameRecord]| games.iter().map(|game| game.holdout).collect::<Vec<bool>>();
    let [one, other] = ["one", "other"].map(games);
    assert!(one.iter().zip(&other).all(|(one, other)| one.id != other.id));
    assert_eq!(held_out(&one), held_out(&other));
    // Half of them; the standard deviation is 3.5.
    let count = held_out(&one).into_iter().filter(|&held_out| held_out).count();
    assert!((10..40).contains(&count), "{count}");
}

/// Why a game is of no use to that run.
fn refusal(text: &str) -> String {
    let tree = sgf::collection(text.as_bytes()).next().unwrap().unwrap();
    converter().convert(0, &tree).unwrap_err()
}

#[test]
fn game_with_more_moves_than_turns_are_numbered_is_of_no_use() {
    let text = format!("(;SZ[9]KM[7]RE[B+R]{})", ";B[ee];W[ff]".repeat(1 << 15));
    assert_eq!(refusal(&text), "it has 65536 moves, and a game may have 65535");
}

#[test]
fn result_without_a_score_is_named_as_it_is_written() {
    for result in ["B+T", "Void", "B+Resigned"] {
        let said = refusal(&format!("(;SZ[9]KM[7]RE[{result}];B[ee];W[ff])"));
        assert_eq!(said, format!("result {result} has no score"));
    }
    for nothing in ["", "RE[]", "RE[ ]"] {
        assert_eq!(refusal(&format!("(;SZ[9]KM[7]{nothing};B[ee];W[ff])")), "it has no result", "{nothing}");
    }
}

/// Black begins, and White may have no komi: no stones are set up.
#[test]
fn handicap_of_one_is_none() {
    let game = |handicap: &str| format!("(;SZ[9]KM[0.5]HA[{handicap}]RE[B+R];B[ee];W[ff])");
    for handicap in ["0", "1"] {
        let tree = sgf::collection(game(handicap).as_bytes()).next().unwrap().unwrap();
        assert_eq!(converter().convert(0, &tree).unwrap().turns.len(), 2, "{handicap}");
    }
    assert_eq!(refusal(&game("2")), "stones are set up before the first move");
}

#[test]
fn game_with_komi_that_exceeds_the_area_is_of_no_use() {
    assert_eq!(refusal("(;SZ[9]KM[100]RE[B+R];B[ee];W[ff])"), "its komi 100 exceeds the area of the board");
}

#[test]
fn game_with_an_impossible_score_is_of_no_use() {
    let game = |result: &str, rules: &str| format!("(;SZ[9]KM[7]RU[{rules}]RE[{result}];B[ee];W[ff])");
    for result in ["B+1000000", "B+99999999999999999999999999999999999999", "W+88.5", "W+-5"] {
        let said = refusal(&game(result, "Chinese"));
        assert!(said.starts_with("result ") && said.ends_with(" is impossible on this board"), "{said}");
    }
    assert_eq!(refusal(&game("W+-5", "Japanese")), "result W+-5 is impossible on this board");
    let score = |result: &str, rules: &str| {
        let tree = sgf::collection(game(result, rules).as_bytes()).next().unwrap().unwrap();
        converter().convert(0, &tree).unwrap().score
    };
    assert_eq!((score("B+81", "Chinese"), score("W+88", "Chinese")), (Some(81.0), Some(-88.0)));
    assert_eq!(score("B+100", "Japanese"), None, "with prisoners");
}

#[test]
fn score_that_no_areas_have_with_this_komi_is_no_target() {
    let ending = |komi: &str, result: &str, rules: &str| {
        let text = format!("(;SZ[9]KM[{komi}]RU[{rules}]RE[{result}];B[ee];W[ff])");
        let tree = sgf::collection(text.as_bytes()).next().unwrap().unwrap();
        let game = converter().convert(0, &tree).unwrap();
        (game.outcome, game.score)
    };
    assert_eq!(ending("7.5", "B+2.5", "Chinese"), (Outcome::Black, Some(2.5)));
    assert_eq!(ending("7.5", "W+0.5", "Chinese"), (Outcome::White, Some(-0.5)));
    assert_eq!(ending("7", "B+2.5", "Chinese"), (Outcome::Black, None));
    assert_eq!(ending("375", "W+0.25", "Chinese"), (Outcome::White, None), "in stones");
    assert_eq!(ending("7", "Draw", "Chinese"), (Outcome::Draw, Some(0.0)));
    assert_eq!(ending("7.5", "Draw", "Chinese"), (Outcome::Draw, None));
    for rules in
        ["AGA", "BGA", "Chinese-OGS", "cn", "New-Zealand", "new zealand", "NZ", "tromp_taylor", " Tromp-Taylor "]
    {
        assert_eq!(ending("7.5", "B+2.5", rules).1, Some(2.5), "{rules}");
    }
    for rules in ["", "Japanese", "Korean", "AGA-button", "stone-scoring"] {
        assert_eq!(ending("7.5", "B+2.5", rules).1, None, "{rules}");
    }
    for rules in ["Chinese", "Japanese"] {
        assert_eq!(ending("7", "B+0", rules).0, Outcome::Draw);
        assert_eq!(ending("7", "W+0.0", rules).0, Outcome::Draw);
    }
}
