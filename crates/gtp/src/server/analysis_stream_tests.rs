//! Responses that come line by line, and their end.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use go::{Game, Move};
use mcts::{Avoid, Search};
use play::{EvaluatorStats, Instrumented, Uniform};
use runtime::{Line, Lines, Stop};
use testing::{PATIENCE, wait_until};

use super::engine_player::tests::{engine_player, engine_player_with};
use super::serve::serve;
use super::tests::{check_with, setup, talk_with};
use super::*;

/// A conversation with `uniform` while it searches.
struct Conversation {
    input: Sender<io::Result<Line>>,
    output: Receiver<String>,
    /// Output that was not read.
    said: String,
}

/// Passes on what is written.
struct Passing(Sender<String>);

impl Write for Passing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8(bytes.to_vec()).map_err(io::Error::other)?;
        self.0.send(text).map_or(Err(io::ErrorKind::BrokenPipe.into()), |()| Ok(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Conversation {
    fn new(algorithm: &'static str, visits: u32, setup: Setup, stop: Stop) -> Conversation {
        Conversation::with_clock(algorithm, visits, setup, stop, Instant::now)
    }

    fn with_clock(
        algorithm: &'static str,
        visits: u32,
        setup: Setup,
        stop: Stop,
        now: impl Fn() -> Instant + Send + 'static,
    ) -> Conversation {
        Conversation::with_player(move || engine_player(algorithm, visits), setup, stop, now)
    }

    fn with_player(
        player: impl FnOnce() -> EnginePlayer + Send + 'static,
        setup: Setup,
        stop: Stop,
        now: impl Fn() -> Instant + Send + 'static,
    ) -> Conversation {
        let (input, lines) = mpsc::channel();
        let (passing, output) = mpsc::channel();
        thread::spawn(move || {
            let mut player = player();
            let mut session = Session::new(setup, &mut player);
            session.now = Box::new(now);
            serve(Lines::of(lines, stop), Passing(passing), &mut session)
        });
        Conversation { input, output, said: String::new() }
    }

    fn say(&self, line: &str) {
        let line = Line { bytes: line.as_bytes().to_vec(), cut: false };
        self.input.send(Ok(line)).expect("the session is there");
    }

    /// The next line of a response.
    fn hear(&mut self) -> String {
        loop {
            if let Some((line, rest)) = self.said.split_once('\n') {
                let (line, rest) = (line.to_owned(), rest.to_owned());
                self.said = rest;
                return line;
            }
            let more = self.output.recv_timeout(PATIENCE).expect("a response in time");
            self.said.push_str(&more);
        }
    }

    /// The lines up to the end of a response.
    fn rest(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let line = self.hear();
            if line.is_empty() {
                return lines;
            }
            lines.push(line);
        }
    }
}

/// The fields of the first move of a line.
fn field<'a>(line: &'a str, name: &str) -> &'a str {
    let mut words = line.split(' ');
    words.find(|word| *word == name).and_then(|_| words.next()).unwrap_or_else(|| panic!("no {name} in {line}"))
}

fn conversation() -> Conversation {
    Conversation::new("puct", 20, setup(5), Stop::never())
}

/// With two leaves a batch and a model that searches by Gumbel, as all presets do.
#[test]
fn analysis_of_a_gumbel_model_lists_moves_in_order_with_their_variations() {
    for command in ["lz-analyze", "kata-analyze"] {
        let mut talk = Conversation::new("gumbel", 20, setup(5), Stop::never());
        talk.say(&format!("{command} b 1"));
        assert_eq!(talk.hear(), "=");
        // Flat priors: every move gets its visit, and then the best have a reply. A line may come between the two.
        let line = (0..500).map(|_| talk.hear()).find(|line| {
            let variation = line.split(" pv ").nth(1).unwrap_or_default();
            let moves = variation.split(' ').take_while(|word| *word != "info").count();
            line.matches("info move ").count() > 20 && moves > 1
        });
        let line = line.expect("500 lines without 21 moves and a reply to the best");
        let infos: Vec<&str> = line.split("info ").filter(|info| !info.is_empty()).collect();
        let visits: Vec<u32> = infos.iter().map(|info| field(info, "visits").parse().expect("a number")).collect();
        // The best of those that are visited about as often as any comes first.
        assert!(visits[1..].is_sorted_by(|a, b| a >= b) && 2 * visits[0] >= visits[1], "{command}: {visits:?}");
        for (order, info) in infos.iter().enumerate() {
            assert_eq!(field(info, "order"), order.to_string(), "{command}: {info}");
            assert_eq!(field(info, "pv"), field(info, "move"), "{command}: {info}");
        }
        talk.say("");
        talk.rest();
    }
}

/// One line of JSON and the move, as CGOS's client reads them; lines before the last where an interval is said.
#[test]
fn cgos_gets_a_move_in_one_object() {
    let (readings, start) = (AtomicU32::new(0), Instant::now());
    // 20,000 batches a move, which take longer than an interval.
    let now = move || start + Duration::from_micros(10) * readings.fetch_add(1, Ordering::SeqCst);
    let mut talk = Conversation::with_clock("gumbel", 40, setup(5), Stop::never(), now);
    for (command, several) in [("3 cgos-genmove_analyze b", false), ("4 cgos-genmove_analyze w 1", true)] {
        talk.say("kgs-time_settings byoyomi 0 0.3 1");
        talk.rest();
        talk.say(command);
        let mut lines = talk.rest();
        assert_eq!(lines.remove(0), format!("={}", &command[..1]));
        let played = lines.pop().expect("a move");
        assert_eq!(lines.len() > 1, several, "{lines:?}");
        let analysis: serde_json::Value = serde_json::from_str(lines.last().expect("an analysis")).expect("JSON");
        let moves = analysis["moves"].as_array().expect("moves");
        assert_eq!(played, format!("play {}", moves[0]["move"].as_str().expect("a move")));
        let visits: Vec<u64> = moves.iter().map(|mv| mv["visits"].as_u64().expect("visits")).collect();
        assert!(visits.len() > 5 && visits[1..].is_sorted_by(|a, b| a >= b), "{visits:?}");
        assert_eq!(analysis["visits"].as_u64(), Some(visits.iter().sum()));
        let shares =
            |object: &serde_json::Value, name: &str| object[name].as_f64().is_some_and(|x| (0.0..=1.0).contains(&x));
        assert!(shares(&analysis, "winrate") && moves.iter().all(|mv| shares(mv, "winrate") && shares(mv, "prior")));
        let pv = moves[0]["pv"].as_str().expect("a variation");
        assert!(!pv.is_empty() && pv.split(' ').all(|vertex| Move::from_gtp(setup(5).size, vertex).is_some()), "{pv}");
    }
    talk.say("cgos-analyze w 1");
    assert_eq!(talk.hear(), "=");
    assert!(talk.hear().starts_with("{\"moves\":["));
    talk.say("");
    talk.rest();
}

#[test]
fn analysis_streams_until_the_next_input() {
    for (command, point) in [("lz-analyze", false), ("kata-analyze", true), ("analyze", true)] {
        for (end, response) in [("name", Some("= Tengen")), ("stop", Some("=")), ("", None), ("# comment", None)] {
            let mut talk = conversation();
            talk.say(&format!("7 {command} b 1"));
            assert_eq!(talk.hear(), "=7", "at once");
            let lines = [talk.hear(), talk.hear(), talk.hear()];
            let visits = lines.each_ref().map(|line| field(line, "visits").parse::<u32>().expect("a number"));
            assert!(visits[0] <= visits[1] && visits[1] <= visits[2], "{visits:?}");
            for line in &lines {
                assert!(line.starts_with("info move ") && !line.contains("ownership"), "{line}");
                for number in ["winrate", "prior", "lcb"] {
                    assert_eq!(field(line, number).contains('.'), point, "{line}");
                }
            }
            talk.say(end);
            let rest = talk.rest();
            assert!(rest.iter().all(|line| line.starts_with("info move ")), "{rest:?}");
            if let Some(response) = response {
                assert_eq!(talk.rest(), [response]);
            }
            talk.say("9 protocol_version");
            assert_eq!(talk.rest(), ["=9 2"]);
        }
    }
}

#[test]
fn moves_are_shown_best_first_with_what_follows_them() {
    let mut talk = conversation();
    talk.say("play b C3");
    talk.rest();
    talk.say("kata-analyze w 3 maxmoves 2 rootInfo true pvVisits true pvEdgeVisits true ownership true");
    assert_eq!(talk.hear(), "=");
    // On a busy machine the first line may come after the first visit.
    let line = (0..500).map(|_| talk.hear()).find(|line| line.matches("info move ").count() == 2);
    let line = line.expect("two moves");
    talk.say("name");
    let infos: Vec<&str> = line.split("info ").filter(|info| !info.is_empty()).collect();
    assert_eq!(infos.len(), 2, "{line}");
    let [first, second] = [infos[0], infos[1]].map(|info| field(info, "visits").parse::<u32>().expect("a number"));
    assert!(first >= second && field(infos[0], "order") == "0" && field(infos[1], "order") == "1", "{line}");
    assert_eq!(field(infos[0], "move"), field(infos[0], "pv"));
    let visits = infos[0].split(" pvVisits ").nth(1).and_then(|rest| rest.split_once(" pvEdgeVisits "));
    assert!(visits.is_some_and(|(of_nodes, of_edges)| of_edges.trim_end() == of_nodes), "{line}");
    assert!(line.contains(" rootInfo visits "), "{line}");
}

/// The moves that an analysis shows after a good many visits.
fn shown(talk: &mut Conversation, command: &str) -> BTreeSet<String> {
    talk.say(&format!("{command} rootInfo true"));
    assert_eq!(talk.hear(), "=", "{command}");
    let visits = |line: &str| -> Option<u32> { field(line.split(" rootInfo ").nth(1)?, "visits").parse().ok() };
    // However busy the machine is, a line comes after a visit.
    let line = (0..500).map(|_| talk.hear()).find(|line| visits(line) >= Some(200));
    let line = line.expect("200 visits in 500 lines");
    talk.say("");
    talk.rest();
    let moves = line.split("info move ").skip(1).filter_map(|info| info.split(' ').next());
    moves.map(str::to_owned).collect()
}

/// Each begins anew: moves of another tree would be shown, or be missing.
#[test]
fn analysis_without_some_moves_has_its_own_tree() {
    let mut talk = conversation();
    let allowed = BTreeSet::from(["A1", "C3", "pass"].map(str::to_owned));
    for _ in 0..2 {
        let all = shown(&mut talk, "kata-analyze b 1");
        assert!(allowed.is_subset(&all) && all.len() > 20, "{all:?}");
        assert_eq!(shown(&mut talk, "analyze b 1 allow b A1,C3,pass 50 allow w A1,C3,pass 50"), allowed);
        let others = shown(&mut talk, "lz-analyze b 1 avoid b A1,C3 2 avoid b pass 1 avoid w A1 2");
        assert!(allowed.is_disjoint(&others) && others.len() > 20, "{others:?}");
    }
    // White's first move is not restricted by what Black avoids.
    let all = shown(&mut talk, "kata-analyze w 1 avoid b A1,C3,pass 20");
    assert!(allowed.is_subset(&all), "{all:?}");
}

/// A command that cannot be understood gets a plain response, and so does one that comes to no analysis.
#[test]
fn streams_that_cannot_be_begun_fail() {
    check_with(
        &mut engine_player("puct", 5),
        setup(5),
        "> 4 lz-analyze red 10
         ?4 syntax error
         > analyze b 10 avoid w C3
         ? avoid: wants a player, vertices separated by commas, and a depth
         > lz-genmove_analyze b colour
         ? syntax error",
    );
}

#[test]
fn move_that_is_thought_about_aloud_is_played() {
    for command in ["lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze"] {
        let mut talk = Conversation::new("gumbel", 60, setup(5), Stop::never());
        // Whatever follows does not disturb it.
        talk.say(&format!("{command} b 1"));
        talk.say("list_stones black");
        let answer = talk.rest();
        assert_eq!(answer[0], "=");
        let (last, infos) = answer[1..].split_last().expect("a move");
        let played = last.strip_prefix("play ").expect("the last line is the move");
        assert!(!infos.is_empty() && infos.iter().all(|line| line.starts_with("info move ")), "{answer:?}");
        assert_eq!(field(infos.last().expect("a line"), "move"), played, "what was shown best is played");
        assert_eq!(talk.rest(), [format!("= {played}")]);
    }
}

/// Counts how often its search is shown after a move, and may hide it then.
struct Counting {
    player: EnginePlayer,
    seen: Cell<u32>,
    hides: bool,
}

impl Player for Counting {
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        self.player.genmove(task, watch)
    }

    fn think(&mut self, game: &Game, komi: f32, avoid: &[Avoid], watch: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.player.think(game, komi, avoid, watch)
    }

    fn seen(&self, see: &mut dyn FnMut(&Search)) {
        self.seen.set(self.seen.get() + 1);
        if !self.hides {
            self.player.seen(see);
        }
    }

    fn play_on(&mut self, game: &Game, komi: f32) -> Result<Vec<Game>, PlayerError> {
        self.player.play_on(game, komi)
    }
}

/// A line takes as long as several visits, so there is one a move where no interval is over, and none of a move of a
/// book.
#[test]
fn analysis_of_a_move_is_written_once() {
    let (player, book) = (|| engine_player("gumbel", 60), |_: &Game, _: f32| Some(Move::Pass));
    for (player, hides, seen, lines) in
        [(player(), false, 1, 1), (player(), true, 1, 0), (player().with_book(Box::new(book)), false, 0, 0)]
    {
        let mut counting = Counting { player, seen: Cell::new(0), hides };
        let said = talk_with(&mut counting, setup(5), b"lz-genmove_analyze b 360000\n");
        assert_eq!((counting.seen.get(), said.matches("\ninfo move ").count()), (seen, lines), "{said}");
        assert!(said.contains("\nplay "), "{said}");
    }
}

/// Step of the [`Ticking`] clock at each reading.
const TICK: Duration = Duration::from_millis(10);

/// A clock that advances only when it is read.
#[derive(Clone, Default)]
struct Ticking(Arc<AtomicU32>);

impl Ticking {
    /// Readings so far.
    fn looks(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn genmove_takes_the_time_that_the_clock_allows() {
    let (ticking, start) = (Ticking::default(), Instant::now());
    let clock = ticking.clone();
    let now = move || start + TICK * clock.0.fetch_add(1, Ordering::SeqCst);
    let mut talk = Conversation::with_clock("puct", 20, setup(5), Stop::never(), now);
    // Each less the lag of 0.1 s, in readings: at the beginning, until there is no time for a batch, which takes as
    // long as from one reading to the next, and at the end.
    for (settings, looks) in [
        ("kgs-time_settings byoyomi 0 0.4 5", 1 + 29 + 1),
        // Half of 25 points are still to be played: 12 moves in 12.5 s.
        ("time_settings 12.5 0 0", 1 + 94 + 1),
        ("time_settings 0 0.8 2", 1 + 29 + 1),
    ] {
        talk.say(settings);
        assert_eq!(talk.rest(), ["="]);
        talk.say("clear_board");
        talk.rest();
        let before = ticking.looks();
        talk.say("genmove b");
        talk.rest();
        assert_eq!(ticking.looks() - before, looks, "{settings}");
    }
    // The controller knows the remaining time better: the first visit is enough.
    talk.say("time_settings 3600 0 0");
    talk.say("time_left w 0 0");
    let _settings = [talk.rest(), talk.rest()];
    let before = ticking.looks();
    talk.say("genmove w");
    let answer = talk.rest();
    assert!(answer[0].len() > 2 && ticking.looks() - before < 1 + 5 + 1, "{answer:?}");
}

/// GoGui's comment ends what takes long, and what is known is played; other lines do not.
#[test]
fn thinking_is_interrupted_by_the_comment_that_asks_for_it() {
    let mut talk = conversation();
    talk.say("time_settings 0 3600 1");
    assert_eq!(talk.rest(), ["="]);
    talk.say("genmove b");
    talk.say("# interrupt");
    let answer = talk.rest();
    assert!(answer[0].starts_with("= ") && answer[0] != "= pass", "{answer:?}");
}

#[test]
fn stop_request_stops_everything() {
    for command in ["lz-analyze b 10", "genmove b"] {
        let (stop, ticking, start) = (Stop::never(), Ticking::default(), Instant::now());
        let clock = ticking.clone();
        // Each batch of a move reads the clock.
        let now = move || start + Duration::from_nanos(clock.0.fetch_add(1, Ordering::SeqCst).into());
        let mut talk = Conversation::with_clock("puct", 20, setup(5), stop.clone(), now);
        talk.say("time_settings 0 3600 1");
        talk.rest();
        talk.say(command);
        if command == "genmove b" {
            wait_until("three looks at the clock", || ticking.looks() >= 3);
        } else {
            let _begin_and_line = [talk.hear(), talk.hear()];
        }
        stop.request();
        talk.rest();
        // The session is over: there is no writer.
        let left = talk.output.recv_timeout(PATIENCE);
        assert_eq!(left, Err(mpsc::RecvTimeoutError::Disconnected));
    }
}

/// The end of the input ends an analysis, and what has arrived already never lets it begin to show anything.
#[test]
fn analysis_stops_at_end_of_input() {
    let said = talk_with(&mut engine_player("puct", 5), setup(5), b"lz-analyze 1\nkata-analyze\nname\nanalyze b 1");
    assert_eq!(said, "=\n\n=\n\n= Tengen\n\n=\n\n");
}

/// Far more than a search evaluates before its first line.
#[test]
fn positions_evaluated_by_pondering_are_in_the_tree() {
    const PONDERED: u64 = 50_000;
    let stats = Arc::new(EvaluatorStats::default());
    let counted = stats.clone();
    let player = move || engine_player_with(Box::new(Instrumented::new(Uniform::new(), counted)), "puct", 10);
    let mut talk = Conversation::with_player(player, Setup { ponder: true, ..setup(5) }, Stop::never(), Instant::now);
    talk.say("genmove b");
    talk.rest();
    let before = stats.counts().evaluations;
    wait_until("evaluations while pondering", || stats.counts().evaluations >= before + PONDERED);
    talk.say("kata-analyze w 1 rootInfo true");
    talk.hear();
    let line = talk.hear();
    let visits = field(line.split("rootInfo").nth(1).expect("the root is requested"), "visits").parse::<u64>();
    // Two leaves may be open.
    assert!(visits.expect("a number") + 2 >= PONDERED, "{line}");
}

#[test]
fn gogui_is_shown_boards_and_moves() {
    let said = talk_with(
        &mut engine_player("puct", 30),
        setup(5),
        b"play b C3\ntengen-policy\ntengen-visits\ntengen-variation\ntengen-value\ntengen-pass_alive\ntengen-status\n",
    );
    let answers: Vec<&str> = said.split("\n\n").collect();
    assert_eq!(answers[1].split(' ').filter(|word| *word == "4").count(), 24, "{}", answers[1]);
    assert!(answers[2].starts_with("= ") && answers[2].split(' ').count() > 10, "{}", answers[2]);
    assert!(answers[3].starts_with("= white "), "{}", answers[3]);
    assert!(answers[4].contains("for Black after 2") || answers[4].contains("for Black after 3"), "{}", answers[4]);
    assert_eq!(answers[5], "=\n. . . . .\n. . . . .\n. . . . .\n. . . . .\n. . . . .");
    assert_eq!(answers[6], "=\n. . . . .\n. . . . .\n. . X . .\n. . . . .\n. . . . .");
}

#[test]
fn dead_stones_are_captured_on_request() {
    let board = "gogui-play_sequence b A4 b B4 b C4 b D4 b E4 b B5 b D5 w E5 w A5";
    check_with(
        &mut engine_player("puct", 10),
        setup(5),
        &format!(
            "> {board}
             ? illegal move
             > gogui-play_sequence b A3 b B3 b C3 b D3 b E3 b B4 b B5 b D4 w E5
             =
             > final_status_list dead
             = E5
             > kgs-genmove_cleanup b
             = E4
             > kgs-genmove_cleanup b
             = D5
             > list_stones w
             =
             > kgs-genmove_cleanup b
             = pass"
        ),
    );
}

/// However the games go on, each stone is in one of the lists.
#[test]
fn lists_of_one_board_agree() {
    let said = talk_with(
        &mut engine_player("puct", 10),
        setup(5),
        b"gogui-play_sequence b A1 w B2 b C3 w D4 b E5 w A5 b E1 w C1\nfinal_status_list dead\nfinal_status_list alive\n\
          final_status_list seki\nfinal_status_list dead\n",
    );
    let answers: Vec<&str> = said.split("\n\n").collect();
    assert_eq!(answers[1], answers[4]);
    let mut listed: Vec<&str> =
        answers[1..4].iter().flat_map(|answer| answer.trim_start_matches('=').split_whitespace()).collect();
    listed.sort_unstable();
    assert_eq!(listed, ["A1", "A5", "B2", "C1", "C3", "D4", "E1", "E5"], "{said}");
}
