//! Whatever comes in, there is one response for each command, and no end.

use proptest::prelude::*;

use go::{Game, Move};
use mcts::Avoid;

use super::engine_player::tests::engine_player;
use super::serve::serve;
use super::tests::{setup, typed};
use super::*;

/// Plays the middle one of the legal points, and fails at times.
struct Moody(usize);

impl Player for Moody {
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        self.0 += 1;
        let points: Vec<_> = task.game.legal_points().iter().collect();
        match self.0 % 7 {
            0 => Err("not\nnow".into()),
            1 => Ok(Decision::Resign),
            // No clock: a random one may have hours.
            2 => engine_player("gumbel", 3).genmove(&Task { timed: false, ..*task }, watch),
            _ => Ok(Decision::Move(points.get(points.len() / 2).map_or(Move::Pass, |&point| Move::Play(point)))),
        }
    }

    fn think(&mut self, game: &Game, komi: f32, avoid: &[Avoid], watch: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.0 += 1;
        if self.0.is_multiple_of(7) {
            Err("not\nnow".into())
        } else {
            engine_player("puct", 3).think(game, komi, avoid, watch)
        }
    }

    fn play_on(&mut self, game: &Game, komi: f32) -> Result<Vec<Game>, PlayerError> {
        self.0 += 1;
        if self.0.is_multiple_of(7) { Err("not\nnow".into()) } else { engine_player("puct", 3).play_on(game, komi) }
    }
}

/// Words that a controller might send, in any order.
fn word() -> impl Strategy<Value = String> {
    let commands = "play genmove undo boardsize clear_board komi loadsgf showboard final_score all_legal list_stones \
                    known_command list_commands name version protocol_version time_settings time_left clear_cache \
                    get_komi fixed_handicap place_free_handicap set_free_handicap gogui-play_sequence gg-undo \
                    reg_genmove kgs-genmove_cleanup lz-genmove_analyze kata-genmove_analyze genmove_analyze lz-analyze \
                    kata-analyze analyze kgs-time_settings final_status_list kgs-game_over is_legal color countlib \
                    captures last_move move_history get_handicap query_boardsize gogui-interrupt \
                    gogui-analyze_commands tengen-policy tengen-visits tengen-variation tengen-value \
                    tengen-pass_alive tengen-status set_random_seed stop kata-get-rules kata-set-rules \
                    kata-set-rule";
    let others = "alive dead seki none absolute byoyomi canadian interval maxmoves ownership true avoid allow b w \
                  black WHITE A1 b2 c3 D4 e5 t19 z25 i3 pass resign 0 1 2 3 5 9 19 -1 7.5 1e40 nan 2147483648 1e308 \
                  chinese french ko SIMPLE {\"ko\":\"SIMPLE\"} {\"ko\": /dev/zero / . # #x \u{0} \u{7f} \u{e9}";
    let known: Vec<&str> =
        commands.split_whitespace().chain(others.split(' ').filter(|word| !word.is_empty())).collect();
    prop_oneof![8 => proptest::sample::select(known).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

/// An analysis without some moves.
fn restricted() -> impl Strategy<Value = Vec<u8>> {
    let command = proptest::sample::select(vec!["lz-analyze", "kata-genmove_analyze b", "analyze w 5"]);
    let list = ("avoid|allow", "[bw]", "[A-F][1-6](,[A-F][1-6]|,pass){0,30}", 0_u32..4);
    let lists = proptest::collection::vec(list, 1..3);
    (command, lists).prop_map(|(command, lists)| {
        let words = lists.iter().map(|(key, player, moves, depth)| format!(" {key} {player} {moves} {depth}"));
        [command.to_owned()].into_iter().chain(words).collect::<String>().into_bytes()
    })
}

/// A line without its end: a plausible move, a jumble of words, or any bytes.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let vertex = "[A-Fa-f][1-6]|pass";
    prop_oneof![
        4 => (any::<bool>(), vertex).prop_map(|(black, at)| format!("play {} {at}", if black { "b" } else { "w" }).into_bytes()),
        2 => any::<bool>().prop_map(|black| format!("genmove {}", if black { "b" } else { "w" }).into_bytes()),
        1 => restricted(),
        4 => proptest::collection::vec(word(), 0..5).prop_map(|words| words.join(" ").into_bytes()),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (0_usize..40_000).prop_map(|length| vec![b'x'; length]),
    ]
    .prop_map(|bytes| bytes.into_iter().filter(|&byte| byte != b'\n').collect())
}

/// Whether the protocol wants a response to a line: something is left of it without comment and control characters.
fn wants_answer(line: &[u8]) -> bool {
    let command = line.split(|&byte| byte == b'#').next().unwrap_or_default();
    command.iter().any(|&byte| byte > b' ' && byte != 0x7f)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// 40 sessions of 25 to 50 lines, 1,000 lines at least.
    #[test]
    fn every_command_gets_one_response(lines in proptest::collection::vec(line(), 25..50)) {
        let mut player = Moody(0);
        let mut session = Session::new(setup(5), &mut player);
        for bytes in &lines {
            let input = [bytes.as_slice(), b"\n"].concat();
            let mut output = Vec::new();
            serve(typed(&input), &mut output, &mut session).expect("memory can be written");
            let answer = String::from_utf8(output).expect("answers are text");
            if wants_answer(bytes) {
                let well_formed = answer.starts_with(['=', '?']) && answer.ends_with("\n\n");
                prop_assert!(well_formed, "{:?} to {:?}", answer, String::from_utf8_lossy(bytes));
                prop_assert!(!answer.trim_end_matches('\n').contains("\n\n"), "{answer:?}");
            } else {
                prop_assert_eq!(answer, "");
            }
        }
        prop_assert!(!session.is_over());
    }
}
