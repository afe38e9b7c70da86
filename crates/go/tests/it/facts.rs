//! Positions whose legal moves and scores two independent referees agree on.
//!
//! Areas are Black minus White before komi, and strict (no stone is dead) unless a test says otherwise. Coordinates
//! are GTP's.

use go::Color::{Black, White};
use go::{Color, Game, Illegal, Move, PointSet, Scoring};

use crate::boards::{game, is_legal, play, position, size, stones, try_play, vertex};

fn points(side: usize, names: &str) -> PointSet {
    names.split_whitespace().filter_map(|name| vertex(size(side), name).point()).collect()
}

fn check_area(side: usize, diagram: &str, expected: i32) {
    assert_eq!(game(side, diagram, Black).score(Scoring::Area), expected, "{diagram}");
}

#[test]
fn empty_board_scores_nothing() {
    let mut game = Game::new(size(9));
    play(&mut game, "B pass, W pass");
    assert!(game.is_over(Scoring::Area) && game.is_over(Scoring::PassAlive));
    assert_eq!((game.score(Scoring::Area), game.score(Scoring::PassAlive)), (0, 0));
}

#[test]
fn one_stone_owns_an_otherwise_empty_board() {
    let mut game = Game::new(size(9));
    play(&mut game, "B E5, W pass, B pass");
    assert_eq!((game.score(Scoring::Area), game.score(Scoring::PassAlive)), (81, 81));
}

#[test]
fn territory_on_both_sides_of_a_wall_counts() {
    check_area(9, "./././XXXXXXXXX/XXXXXXXXO/OOOOOOOOO/././.", 7);
}

#[test]
fn points_that_reach_both_colours_are_neutral() {
    check_area(5, "...../XXXXX/...../OOOOO/.....", 0);
}

#[test]
fn dead_stone_still_makes_its_surroundings_neutral() {
    check_area(5, "..O../XXXXX/...../OOOOO/.....", -6);
}

const KO: &str = ".XO../XO.O./.XO../...../.....";

#[test]
fn ko_cannot_be_retaken_at_once() {
    let mut game = game(5, KO, Black);
    play(&mut game, "B C4");
    assert_eq!((game.captures(Black), game.captures(White)), (1, 0));
    assert_eq!(try_play(&mut game, "W B4"), Err(Illegal::Superko(vertex(size(5), "B4").point().unwrap())));
    assert_eq!(game.legal_points().len(), 16);
}

#[test]
fn ko_that_was_retaken_at_once_elsewhere_is_played_and_remembered() {
    let mut game = game(5, KO, Black);
    play(&mut game, "B C4");
    let (taken, mark) = (game.clone(), game.mark());
    let retake = vertex(size(5), "B4");
    game.play_past(retake).unwrap();
    assert_eq!((game.turn(), game.captures(White), game.stones_ago(0)), (2, 1, game.stones_ago(2)));
    assert!(!is_legal(&game, "C4"), "that board was there, too");
    let mut rewound = game.clone();
    rewound.rewind(&mark);
    game.undo();
    for back in [game, rewound] {
        assert_eq!((back.position(), back.legal_points()), (taken.position(), taken.legal_points()));
        assert!(!back.is_legal(retake), "the first board is not forgotten with its repetition");
    }
    let mut occupied = taken;
    assert!(matches!(occupied.play_past(vertex(size(5), "C4")), Err(Illegal::Occupied(_))));
    assert_eq!(occupied.turn(), 1);
}

#[test]
fn ko_can_be_retaken_after_a_threat_and_its_reply() {
    let mut game = game(5, KO, Black);
    play(&mut game, "B C4, W E1, B E2");
    assert!(is_legal(&game, "B4"));
    assert_eq!(game.legal_points().len(), 15);
}

#[test]
fn ko_can_be_retaken_after_a_pass_and_a_stone_elsewhere() {
    let mut game = game(5, KO, Black);
    play(&mut game, "B C4, W pass, B E1");
    assert!(is_legal(&game, "B4"));
}

#[test]
fn suicide_of_one_stone_is_illegal() {
    let mut game = game(5, ".X.../X....", White);
    assert_eq!(try_play(&mut game, "W A5"), Err(Illegal::Suicide(vertex(size(5), "A5").point().unwrap())));
    assert_eq!(game.turn(), 0);
}

#[test]
fn suicide_of_two_stones_is_illegal() {
    let game = game(5, "O.X../XX...", White);
    assert!(!is_legal(&game, "B5"));
}

#[test]
fn move_without_liberties_that_captures_is_legal() {
    let mut game = game(5, ".OX../OX.../X....", Black);
    play(&mut game, "B A5");
    assert_eq!(*game.position().stones(), stones(5, "X.X../.X.../X...."));
    assert!(!is_legal(&game, "A4") && !is_legal(&game, "B5"));
    assert_eq!(game.legal_points().len(), 19);
}

/// The fact is about a board of 7 columns and 6 rows. Here a row of white stones lies on top of White's own top row:
/// it joins that chain, has no liberty, and leaves every vertex its name. White is left with the seven points of the
/// bottom row, since D5 is suicide, and the pass.
#[test]
fn superko_stops_a_triple_ko() {
    let board = "OOOOOOO/OOOOOOO/OXO.O.O/X.XOXOX/XXXXXXX/OOOOOOO/.......";
    let mut game = game(7, board, Black);
    play(&mut game, "B D5, W B4, B F5, W D4, B B5");
    assert!(!is_legal(&game, "B4") && !is_legal(&game, "F4"));
    assert_eq!(game.to_move(), White);
    assert_eq!(game.legal_points(), points(7, "A1 B1 C1 D1 E1 F1 G1"));
}

#[test]
fn nested_groups_score_by_what_they_touch() {
    check_area(7, "XXXXOOO/XOOOXXO/XO.OX.O/XOOOXXO/XXXXOOO", -2);
}

#[test]
fn suicide_differs_from_capture_on_a_crowded_board() {
    let board =
        "...O.O... / ....O.... / XO.....O. / OXO...OXO / O.XO.OX.O / OXO...OOX / XO....... / ......XXO / .....XOO.";
    let game = game(9, board, Black);
    for illegal in ["E9", "H5"] {
        assert!(!is_legal(&game, illegal), "{illegal}");
    }
    for legal in ["B5", "J1", "A9"] {
        assert!(is_legal(&game, legal), "{legal}");
    }
}

#[test]
fn exactly_three_empty_points_are_illegal() {
    let board =
        ".O.O.XOX. / O..OOOOOX / ......O.O / OO.....OX / XO.....X. / .O....... / OX.....OO / XX...OOOX / .....O.X.";
    let game = game(9, board, Black);
    assert_eq!(game.position().empty_points() - game.legal_points(), points(9, "A9 E9 J9"));
    assert_eq!(game.legal_points().len() + 1, 45);
}

#[test]
fn large_capture_clears_its_points() {
    let mut game = game(9, "./././././XXXX/XOOX/O.OX/OOXX", Black);
    play(&mut game, "B B2");
    assert_eq!(game.captures(Black), 6);
    assert_eq!(*game.position().stones(), stones(9, "./././././XXXX/X..X/.X.X/..XX"));
    let empty = game.position().empty_points();
    assert_eq!(game.legal_points(), empty, "there is no ko");
}

#[test]
fn superko_holds_after_two_passes() {
    let mut game = game(9, ".OX...... / OX.......", Black);
    play(&mut game, "B A9");
    assert_eq!(*game.position().stones(), stones(9, "X.X/OX"));
    assert!(!is_legal(&game, "B9"));
    play(&mut game, "W pass, B pass");
    assert!(game.passed_out());
    assert!(!is_legal(&game, "B9"), "the stones would be where they were at first");
    play(&mut game, "W E5");
    assert!(!game.passed_out());
}

#[test]
fn finished_game_is_scored() {
    let board =
        ".XX...... / OOXX..... / OOOX...X. / OXX...... / OOXXXXXX. / OOOXOXOXX / .O.OOXOOX / .O.O.OOXX / ......OOO";
    assert_eq!(game(9, board, Black).score(Scoring::Area) as f32 - 6.5, 1.5);
    assert_eq!(game(9, &board.replacen(".XX", "XXX", 1), Black).score(Scoring::Area) as f32 - 6.5, 2.5);
}

#[test]
fn eyes_inside_territory_are_scored() {
    check_area(9, "O....XXXX / .....XOOO / .....XOX. / .....XO.X / .....XOOX / ......XOO / ......XXX", 5);
}

fn check_pass_alive(diagram: &str, color: Color, expected: PointSet) {
    let alive = position(9, diagram, Black).pass_alive();
    assert_eq!(*alive.of(color), expected, "{diagram}");
}

#[test]
fn region_with_two_interior_points_is_not_pass_alive() {
    let board = "...X / ...X / XXXX / .X.X / XXXX";
    let black = stones(9, board).black;
    check_pass_alive(board, Black, black | points(9, "A6 C6"));
}

#[test]
fn dead_stone_on_an_interior_point_makes_its_region_pass_alive() {
    let board = "O..X / ...X / XXXX / .X.X / XXXX";
    let black = stones(9, board).black;
    check_pass_alive(board, Black, black | points(9, "A6 C6 A9 B9 C9 A8 B8 C8"));
}

#[test]
fn nothing_in_a_seki_is_pass_alive() {
    let board = ".OX.XO / OOOXXO / .OXXOO / OXXXO / XX.XO / OOXXO / .OOOO";
    check_pass_alive(board, Black, PointSet::EMPTY);
    check_pass_alive(board, White, PointSet::EMPTY);
}

#[test]
fn vertices_are_read_strictly() {
    let nine = size(9);
    for (text, row, col) in [("H9", 0, 7), ("J9", 0, 8), ("a1", 8, 0)] {
        let point = go::Point::new(nine, row, col).unwrap();
        assert_eq!(Move::from_gtp(nine, text), Some(Move::Play(point)), "{text}");
    }
    for text in ["I9", "A0", "K8", "J10", "", "A", "9", "A+1", "A01", "É1", "A1 ", "A99999999999999999999"] {
        assert_eq!(Move::from_gtp(nine, text), None, "{text}");
    }
}
