//! Conversations, word for word.

use std::fs;
use std::sync::mpsc;

use go::{Game, Move, Scoring, Size};
use mcts::Avoid;
use runtime::{Line, Lines, Stop};

use super::serve::{LONGEST_LINE, serve};
use super::*;

/// Plays the first legal point by row from the top, passes when there is none, and remembers when a game began.
#[derive(Default)]
pub(super) struct First {
    begun: usize,
}

impl Player for First {
    fn genmove(&mut self, task: &Task<'_>, _: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        Ok(Decision::Move(task.game.legal_points().iter().next().map_or(Move::Pass, Move::Play)))
    }

    fn think(&mut self, _: &Game, _: f32, _: &[Avoid], _: &mut Watch<'_>) -> Result<(), PlayerError> {
        Ok(())
    }

    fn play_on(&mut self, _: &Game, _: f32) -> Result<Vec<Game>, PlayerError> {
        Ok(Vec::new())
    }

    fn new_game(&mut self) {
        self.begun += 1;
    }
}

/// Always does the same.
struct Always(Result<Decision, &'static str>);

impl Player for Always {
    fn genmove(&mut self, _: &Task<'_>, _: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        self.0.map_err(PlayerError::from)
    }

    fn think(&mut self, _: &Game, _: f32, _: &[Avoid], _: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.0.map(drop).map_err(PlayerError::from)
    }

    fn play_on(&mut self, _: &Game, _: f32) -> Result<Vec<Game>, PlayerError> {
        self.0.map(|_| Vec::new()).map_err(PlayerError::from)
    }
}

pub(super) fn setup(side: usize) -> Setup {
    Setup {
        size: Size::new(side).expect("a size"),
        any_size: true,
        komi: 7.5,
        scoring: Scoring::PassAlive,
        name: "Tengen".to_owned(),
        version: "1.2.3".to_owned(),
        visits: 20,
        ponder: false,
    }
}

/// Lines that have all arrived, and no more to come.
pub(super) fn typed(input: &[u8]) -> Lines {
    let (sender, lines) = mpsc::channel();
    Line::all(input, LONGEST_LINE).try_for_each(|line| sender.send(line)).expect("the receiver is there");
    Lines::of(lines, Stop::never())
}

pub(super) fn talk_with(player: &mut dyn Player, setup: Setup, input: &[u8]) -> String {
    let mut output = Vec::new();
    serve(typed(input), &mut output, &mut Session::new(setup, player)).expect("memory can be written");
    String::from_utf8(output).expect("answers are text")
}

fn talk(input: &str) -> String {
    talk_with(&mut First::default(), setup(5), input.as_bytes())
}

/// Each line `> command` and, below it, what is answered without the empty line.
fn check(transcript: &str) {
    check_with(&mut First::default(), setup(5), transcript);
}

pub(super) fn check_with(player: &mut dyn Player, setup: Setup, transcript: &str) {
    let transcript: Vec<&str> = transcript.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let input: String =
        transcript.iter().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect();
    let mut expected: Vec<String> = Vec::new();
    for line in transcript.iter().filter(|line| !line.starts_with('>')) {
        // A line that does not begin a response continues the one above.
        match expected.last_mut().filter(|_| !line.starts_with(['=', '?'])) {
            Some(answer) => answer.extend(["\n", line]),
            None => expected.push((*line).to_owned()),
        }
    }
    let output = talk_with(player, setup, input.as_bytes());
    let found: Vec<&str> = output.split("\n\n").filter(|answer| !answer.is_empty()).collect();
    assert_eq!(found, expected);
}

#[test]
fn bytes_as_they_are_sent() {
    assert_eq!(talk("name\n"), "= Tengen\n\n");
    assert_eq!(talk("1 komi 5.5\n2 komi five\n"), "=1\n\n?2 syntax error\n\n");
    assert_eq!(talk("\n# nothing\n \t\r\n"), "");
    assert_eq!(talk("3 version\r\nquit"), "=3 1.2.3\n\n=\n\n");
    assert_eq!(talk("quit\nname\n"), "=\n\n");
    assert_eq!(talk("7\tplay\tb  A1 # the corner\n"), "=7\n\n");
}

#[test]
fn program_says_what_it_is_and_can() {
    check(
        "> protocol_version
         = 2
         > 12 known_command play
         =12 true
         > known_command Play
         = false
         > known_command
         ? syntax error
         > name me
         ? syntax error
         > NAME
         ? unknown command
         > 5
         ?5 unknown command
         > 4294967296 name
         ? syntax error",
    );
    let listed = talk("list_commands\n");
    let names: Vec<&str> = listed.trim_start_matches("= ").split_whitespace().collect();
    for name in ["protocol_version", "genmove", "loadsgf", "all_legal", "quit"] {
        assert!(names.contains(&name), "{name}");
    }
    let known: String = names.iter().map(|name| format!("known_command {name}\n")).collect();
    assert_eq!(talk(&known), "= true\n\n".repeat(names.len()));
}

#[test]
fn boards_have_the_sizes_that_the_player_can_play() {
    check(
        "> boardsize 19
         =
         > play b T19
         =
         > boardsize 1
         ? unacceptable size
         > boardsize 20
         ? unacceptable size
         > boardsize -9
         ? unacceptable size
         > boardsize nine
         ? syntax error
         > boardsize
         ? syntax error
         > list_stones b
         = T19
         > boardsize 9
         =
         > list_stones b
         =",
    );
    let one_size = Setup { any_size: false, ..setup(5) };
    check_with(&mut First::default(), one_size, "> boardsize 9\n? unacceptable size\n> boardsize 5\n=");
}

#[test]
fn stones_are_played_and_taken_back() {
    check(
        "> undo
         ? cannot undo
         > play black C3
         =
         > play B c4
         =
         > play w C3
         ? illegal move
         > play w F1
         ? illegal move
         > play w I1
         ? syntax error
         > play red A1
         ? syntax error
         > play w
         ? syntax error
         > play w PASS
         =
         > list_stones black
         = C4 C3
         > undo
         =
         > undo
         =
         > list_stones black
         = C3
         > clear_board
         =
         > undo
         ? cannot undo
         > all_legal w extra
         ? syntax error",
    );
}

/// A controller may know another ko rule, under which a board was repeated. What may be played now is another matter.
#[test]
fn suicide_and_retaking_a_ko_at_once_are_refused_and_a_repeated_board_is_remembered() {
    let ko = "> boardsize 4
        =
        > gogui-play_sequence b B4 w C4 b A3 w D3 b B2 w C2 b C3
        =
        > play w B3
        =
        > all_legal b
        = A4 A2 D2 A1 B1 C1 D1
        > play b D4
        ? illegal move
        > play b C3
        ? illegal move
        > gogui-play_sequence b pass w pass
        =
        > play b C3
        =
        > list_stones w
        = C4 D3 C2
        > all_legal w
        = D4 A2 D2 A1 B1 C1 D1
        > undo
        =
        > all_legal b
        = A4 A2 D2 A1 B1 C1 D1
        > gogui-play_sequence b C3 w B3
        ? illegal move";
    check(ko);
}

#[test]
fn moves_are_made_for_either_colour_at_any_time() {
    check(
        "> boardsize 2
         =
         > genmove w
         = A2
         > genmove w
         = B2
         > genmove b
         = A1
         > genmove
         ? syntax error
         > genmove x
         ? syntax error
         > list_stones w
         = A2 B2
         > all_legal white
         = B1
         > all_legal black
         = B1
         > genmove b
         = B1
         > list_stones w
         =",
    );
}

/// Two passes end the game. A further `genmove` passes again, and `play` continues the game.
#[test]
fn game_that_is_over_is_passed() {
    check(
        "> play b C3
         =
         > play w pass
         =
         > play b pass
         =
         > genmove w
         = pass
         > undo
         =
         > undo
         =
         > genmove b
         = A5
         > play w B5
         =
         > genmove b
         = C5",
    );
}

#[test]
fn players_may_resign_fail_or_be_wrong() {
    check_with(
        &mut Always(Ok(Decision::Resign)),
        setup(5),
        "> genmove b\n= resign\n> play b A1\n=\n> list_stones b\n= A1",
    );
    let broken = &mut Always(Err("the model\nis gone"));
    check_with(
        broken,
        setup(5),
        "> 9 genmove b
         ?9 the model is gone
         > 10 lz-genmove_analyze b
         ?10 the model is gone
         > name
         = Tengen",
    );
    let corner = Move::from_gtp(Size::new(5).expect("a size"), "A1").expect("a vertex");
    check_with(
        &mut Always(Ok(Decision::Move(corner))),
        setup(5),
        "> genmove b\n= A1\n> genmove w\n? the player chose an illegal move\n> list_stones w\n=",
    );
}

#[test]
fn scores_are_counted_with_komi() {
    check(
        "> final_score
         = W+7.5
         > komi 0
         =
         > final_score
         = 0
         > play b C3
         =
         > final_score
         = B+25
         > komi -2.5
         =
         > final_score
         = B+27.5
         > komi 1e9
         =
         > komi nan
         ? syntax error
         > komi inf
         ? syntax error
         > komi
         ? syntax error
         > final_score now
         ? syntax error",
    );
}

#[test]
fn time_settings_and_time_left_are_parsed_or_refused() {
    check(
        "> time_settings 300 30 5
         =
         > time_settings 300 30
         ? syntax error
         > time_settings 300 x 5
         ? syntax error
         > time_settings -1 30 5
         ? syntax error
         > time_settings 1e300 0 0
         =
         > time_left b 12 0
         =
         > time_left w -3 0
         =
         > time_left w nan 0
         ? syntax error
         > time_left red 12 0
         ? syntax error
         > kgs-time_settings none
         =
         > kgs-time_settings absolute 300
         =
         > kgs-time_settings byoyomi 300 30.5 5
         =
         > kgs-time_settings canadian 300 30 25
         =
         > kgs-time_settings canadian 300 30
         ? syntax error
         > kgs-time_settings fischer 300 5
         ? syntax error",
    );
}

#[test]
fn handicaps_are_for_empty_boards() {
    check(
        "> fixed_handicap 2
         ? invalid number of stones
         > boardsize 9
         =
         > fixed_handicap 3
         = C3 G7 C7
         > get_handicap
         = 3
         > fixed_handicap 3
         ? board not empty
         > undo
         ? cannot undo
         > genmove w
         = A9
         > clear_board
         =
         > place_free_handicap 11
         = C3 G7 C7 G3 C5 G5 E3 E7 E5 A9 C9
         > clear_board
         =
         > place_free_handicap 1
         ? invalid number of stones
         > place_free_handicap 81
         ? invalid number of stones
         > set_free_handicap A1 B2 A1
         ? bad vertex list
         > set_free_handicap A1
         ? bad vertex list
         > set_free_handicap A1 pass
         ? bad vertex list
         > set_free_handicap A1 T19
         ? bad vertex list
         > set_free_handicap A1 B2 J9
         =
         > list_stones b
         = J9 B2 A1
         > clear_board
         =
         > play b pass
         =
         > set_free_handicap A1 B2
         ? board not empty",
    );
}

#[test]
fn several_moves_are_played_and_taken_back_at_once() {
    check(
        "> gogui-play_sequence b A1 w B2 b pass
         =
         > move_history
         = black pass
         white B2
         black A1
         > gogui-play_sequence w C3 b C3
         ? illegal move
         > gogui-play_sequence w C3 b
         ? syntax error
         > last_move
         = black pass
         > gg-undo 4
         ? cannot undo
         > gg-undo 2
         =
         > last_move
         = black A1
         > gg-undo
         =
         > last_move
         ? no previous move known
         > gg-undo x
         ? syntax error
         > gogui-play_sequence
         =",
    );
}

/// Stones that are pass-alive live, what is inside is dead; without an idea of how games go on all others live.
#[test]
fn certain_is_known_without_a_player() {
    check(
        "> gogui-play_sequence b A4 b B4 b C4 b D4 b E4 b B5 w E5 w A1
         =
         > final_status_list dead
         = E5
         > final_status_list alive
         = B5 A4 B4 C4 D4 E4
         A1
         > final_status_list seki
         =
         > final_status_list dame
         ? syntax error
         > kgs-genmove_cleanup w
         = pass",
    );
}

/// The stones of both games have the same numbers as points, which are other places on another board.
#[test]
fn status_of_stones_is_that_of_the_present_board() {
    check(
        "> gogui-play_sequence b A4 b B4 b C4 b D4 b E4 b B5 w E5 w A1
         =
         > final_status_list dead
         = E5
         > boardsize 6
         =
         > gogui-play_sequence b F6 b A5 b B5 b C5 b D5 b B6 w E6 w C3
         =
         > final_status_list dead
         =",
    );
}

#[test]
fn reg_genmove_leaves_board_unchanged() {
    check("> reg_genmove b\n= A5\n> reg_genmove w\n= A5\n> list_stones b\n=");
    check_with(&mut Always(Ok(Decision::Resign)), setup(5), "> reg_genmove w\n= resign");
}

#[test]
fn showboard_marks_the_last_move_and_the_captures() {
    let shown = talk("boardsize 2\nplay b A1\nshowboard\n");
    let expected = "=\n\n=\n\n=
    A B
  2 . . 2
  1(X). 1
    A B
 white to move after 1 moves; komi 7.5; captured by black 0, by white 0\n\n";
    assert_eq!(shown, expected);
}

#[test]
fn games_are_loaded_from_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("the file can be written");
        path.to_str().expect("the folder has a plain name").to_owned()
    };
    let game = path("game.sgf", "(;FF[4]GM[1]SZ[5]KM[0.5]AB[aa];B[cc];W[dd];B[];W[ee])");
    let illegal = path("illegal.sgf", "(;SZ[5];B[cc];W[cc])");
    let large = path("large.sgf", "(;SZ[9];B[cc])");
    let nonsense = path("nonsense.sgf", "not a game");
    let device = "/dev/zero";
    let missing = folder.path().join("missing.sgf").to_str().expect("a plain name").to_owned();
    let transcript = format!(
        "> loadsgf {game}
         =
         > list_stones w
         = D2 E1
         > final_score
         = W+0.5
         > loadsgf {game} 3
         =
         > list_stones w
         = D2
         > undo
         =
         > undo
         =
         > undo
         ? cannot undo
         > list_stones b
         = A5
         > loadsgf {game} 1
         =
         > loadsgf {game} two
         ? syntax error
         > loadsgf
         ? syntax error
         > loadsgf {illegal}
         ? cannot load file
         > loadsgf {large}
         ? cannot load file
         > loadsgf {nonsense}
         ? cannot load file
         > loadsgf {missing}
         ? cannot load file
         > loadsgf {device}
         ? cannot load file
         > list_stones b
         = A5"
    );
    check_with(&mut First::default(), Setup { any_size: false, ..setup(5) }, &transcript);
}

#[test]
fn clear_board_notifies_the_player() {
    let mut player = First::default();
    talk_with(&mut player, setup(5), b"boardsize 9\nclear_board\nboardsize 99\ngenmove b\nundo\n");
    assert_eq!(player.begun, 2);
}
