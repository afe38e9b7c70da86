//! Games and examples agree with the rules, and survive the way through a table.

use std::ops::Range;

use go::{Color, Game, Move, Point, PointSet, Scoring, Size, Stones};
use proptest::prelude::*;
use record::{
    EndReason, Example, GameRecord, GameSummary, Handoff, Replay, SearchKind, Turn, examples, games, synthetic,
};

fn a_game() -> impl Strategy<Value = GameRecord> {
    (2_usize..=13, any::<u32>(), 1_u32..300)
        .prop_map(|(side, index, visits)| synthetic::game("run-1", "w", index.into(), Size::new(side).unwrap(), visits))
}

/// A game that newer models went on with at these turns.
fn a_game_handed_off() -> impl Strategy<Value = GameRecord> {
    (a_game(), prop::collection::btree_set(0_u16..60, 0..3)).prop_map(|(game, turns)| {
        let handoff = |(i, turn)| Handoff { turn, model: format!("run-{}", i + 2) };
        let started_at = (game.index % 2 == 0).then_some(1_700_000_000_000 + game.index);
        let ended_at = started_at.map(|time| time + 999);
        GameRecord { handoffs: turns.into_iter().enumerate().map(handoff).collect(), started_at, ended_at, ..game }
    })
}

/// The boards of a game before each of its moves.
fn boards(record: &GameRecord) -> Vec<Stones> {
    let mut game = Game::new(record.size);
    let play = |turn: &Turn| {
        let before = *game.position().stones();
        game.play(turn.mv).unwrap();
        before
    };
    record.turns.iter().map(play).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn examples_rebuild_the_boards_of_their_game(record in a_game()) {
        let boards = boards(&record);
        let mut replay = Replay::new(record.size);
        for example in record.examples().unwrap() {
            let turn = usize::from(example.turn);
            let expected: Vec<&Stones> = (0..=turn.min(7)).map(|k| &boards[turn - k]).collect();
            replay.rebuild(&example).unwrap();
            prop_assert_eq!(replay.boards().collect::<Vec<_>>(), expected);
            let position = replay.position();
            prop_assert_eq!((position.stones(), position.to_move()), (&boards[turn], example.to_move));
            prop_assert_eq!(example.to_move, if turn % 2 == 0 { Color::Black } else { Color::White });
        }
    }

    #[test]
    fn every_searched_turn_is_an_example_and_no_other(record in a_game()) {
        let turns: Vec<u16> = record.examples().unwrap().iter().map(|e| e.turn).collect();
        let searched = record.turns.iter().enumerate().filter(|(_, t)| !t.visits.is_empty()).map(|(i, _)| i as u16);
        prop_assert_eq!(turns, searched.collect::<Vec<u16>>());
    }

    #[test]
    fn games_survive_the_table(games in prop::collection::vec(a_game_handed_off(), 0..4)) {
        let batch = games::to_batch(&games);
        let read = games::from_batch(&batch).unwrap();
        prop_assert_eq!(&read, &games.iter().map(GameRecord::as_stored).collect::<Vec<_>>());
        let examples: Vec<Example> = games.iter().flat_map(|game| game.examples().unwrap()).collect();
        let whole: Vec<GameRecord> = read.into_iter().map(|game| game.with_policies(&examples)).collect();
        prop_assert_eq!(whole, games);
    }

    /// Policies are there, and what only the end tells is not.
    #[test]
    fn unfinished_games_survive_their_table(games in prop::collection::vec((a_game_handed_off(), 0_usize..40), 0..4)) {
        let left = |(game, turns): &(GameRecord, usize)| {
            GameRecord { turns: game.turns.iter().take(*turns).cloned().collect(), ended_at: None, ..game.clone() }
        };
        let games: Vec<GameRecord> = games.iter().map(left).collect();
        let batch = games::unfinished::to_batch(&games);
        prop_assert!(batch.column_by_name("outcome").is_none() && batch.column_by_name("end").is_none());
        let read = games::unfinished::from_batch(&batch).unwrap();
        prop_assert_eq!(read.len(), games.len());
        for (read, game) in read.into_iter().zip(&games) {
            let (outcome, score, end, handoffs) = (game.outcome, game.score, game.end, game.handoffs.clone());
            prop_assert_eq!(&GameRecord { outcome, score, end, handoffs, ..read }, &GameRecord { mean_depth: None, winner_min_value: None, ..game.clone() });
        }
    }

    /// What the opponent plays next is the last of the recent moves two turns later.
    #[test]
    fn opponent_moves_are_those_of_the_next_turns(record in a_game()) {
        let examples = record.examples().unwrap();
        for example in &examples {
            let next = record.turns.get(usize::from(example.turn) + 1);
            prop_assert_eq!(example.opponent_move, next.map(|turn| turn.mv.index(record.size) as u16));
            if let Some(later) = examples.iter().find(|later| later.turn == example.turn + 2) {
                prop_assert_eq!(example.opponent_move, later.recent.last().copied());
            }
        }
        prop_assert_eq!(examples.last().unwrap().opponent_move, None, "a made-up game ends with a search");
    }

    #[test]
    fn examples_survive_the_table(record in a_game()) {
        let examples = record.examples().unwrap();
        let batch = examples::to_batch(&examples);
        prop_assert_eq!(examples::from_batch(&batch).unwrap(), examples);
    }
}

#[test]
fn made_up_games_have_what_tests_need() {
    let games = crate::some_games(100);
    let replayed: Vec<Game> = games.iter().map(|game| game.replay().unwrap()).collect();
    assert!(replayed.iter().any(|game| game.captures(Color::Black) > 0));
    assert!(games.iter().any(|game| game.calibration) && games.iter().any(|game| game.score.is_none()));
    assert!(games.iter().any(|game| game.positions() < game.turns.len()));
}

#[test]
fn summaries_agree_with_the_games() {
    let games = crate::some_games(20);
    let batch = games::to_batch(&games);
    let kept: Vec<usize> = GameSummary::COLUMNS.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
    let summaries = GameSummary::from_batch(&batch.project(&kept).unwrap()).unwrap();
    for (summary, game) in summaries.iter().zip(&games) {
        assert_eq!((summary.id, summary.index, summary.outcome), (game.id, game.index, game.outcome));
        assert_eq!((summary.winner_min_value, summary.calibration), (game.winner_min_value, game.calibration));
        assert_eq!(summary.positions as usize, game.examples().unwrap().len());
    }
    assert_eq!(summaries.len(), games.len());
}

#[test]
fn illegal_move_is_named() {
    let mut game = crate::some_games(1).remove(0);
    game.turns[1].mv = game.turns[0].mv;
    let name = game.turns[0].mv.to_gtp(game.size);
    let expected = format!("game {}, turn 1: {name}: the point is occupied", game.id);
    assert_eq!(game.replay().unwrap_err().to_string(), expected);
    assert_eq!(game.examples().unwrap_err().to_string(), expected);
}

#[test]
fn invalid_visits_make_no_examples() {
    for (visits, problem) in [
        (vec![(82, 1)], "move 82 does not exist on 9x9"),
        (vec![(3, 1), (3, 1)], "visits of move 3 are out of order"),
        (vec![(3, 0)], "move 3 is listed without a visit"),
    ] {
        let mut game = crate::some_games(1).remove(0);
        game.turns[2].visits = visits;
        assert_eq!(game.examples().unwrap_err().to_string(), format!("game {}, turn 2: {problem}", game.id));
    }
    let mut game = crate::some_games(1).remove(0);
    game.turns[2].root_value = f32::NAN;
    assert!(game.examples().unwrap_err().to_string().contains("value NaN is not between -1 and 1"));
}

/// The stone of White cannot live: the whole board is pass-alive for Black. As the board stands, the point beside that
/// stone is neutral.
///
/// ```text
/// O . X
/// X X X
/// . X .
/// ```
#[test]
fn area_is_that_of_the_last_position_where_it_gives_the_score() {
    let size = Size::new(3).unwrap();
    let turn = |vertex: &str| {
        let mv = Move::from_gtp(size, vertex).unwrap();
        Turn { weight: 1.0, visits: vec![(4, 1)], ..Turn::unsearched(SearchKind::Full, mv) }
    };
    let turns = ["C3", "A3", "A2", "pass", "B2", "pass", "C2", "pass", "B1", "pass", "pass"].map(turn).to_vec();
    let points =
        |indices: Range<usize>| -> PointSet { indices.map(|index| Point::from_index(size, index).unwrap()).collect() };
    let decided = Stones { black: points(0..9), white: PointSet::EMPTY };
    let standing = Stones { black: points(2..9), white: points(0..1) };
    for (scoring, score, expected) in [
        (Scoring::PassAlive, Some(9.0 - 7.5), Some(decided)),
        (Scoring::Area, Some(7.0 - 1.0 - 7.5), Some(standing)),
        // Scores that these areas do not give, and games that were not counted.
        (Scoring::PassAlive, Some(7.0 - 1.0 - 7.5), None),
        (Scoring::Area, Some(9.0 - 7.5), None),
        (Scoring::PassAlive, None, None),
    ] {
        let made_up = synthetic::game("run-1", "w", 0, size, 8);
        let game = GameRecord { komi: 7.5, scoring, score, turns: turns.clone(), ..made_up };
        let areas: Vec<Option<Stones>> = game.examples().unwrap().iter().map(|example| example.area).collect();
        assert_eq!(areas, vec![expected; turns.len()], "{scoring:?} {score:?}");
    }
}

#[test]
fn folder_of_a_game_stays_in_its_archive() {
    let folder = |black: &str| {
        GameRecord { black: black.to_owned(), ..synthetic::game("run-1", "w", 0, Size::new(5).unwrap(), 8) }.folder()
    };
    assert_eq!(folder("v15-330+visits=50"), "v15-330+visits=50");
    for (black, expected) in [
        ("..", "_.."),
        ("../../etc", "_.._.._etc"),
        ("/etc", "_etc"),
        ("C:\\Users", "C__Users"),
        ("a\x1b[2J\n", "a_[2J_"),
        ("", "_"),
    ] {
        assert_eq!(folder(black), expected, "{black:?}");
    }
    assert_eq!(folder(&"x".repeat(1000)).len(), 100);
    assert_eq!(folder(&"碁".repeat(1000)).len(), 198, "bytes");
}

#[test]
fn unknown_end_of_a_game_is_an_error_with_the_known() {
    let said = "timeout".parse::<EndReason>().unwrap_err();
    let known = "passes, pass-alive, resignation, move-limit, forfeit";
    assert_eq!(said, format!("\"timeout\" is no reason for a game to end; expected one of {known}"));
}
