//! `tengen study positions`: positions of games with the results of a deep search by another engine, which speaks
//! KataGo's analysis protocol (<https://github.com/lightvector/KataGo/blob/master/docs/Analysis_Engine.md>).

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use config::Preset;
use go::{Color, Game, MAX_SIDE, Move, Size, Stones};
use record::DeepPosition;
use runtime::{Classify, Notes, Progress, Stop};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::positions::recorded;

/// Positions before this move are nearly the same in all games.
const FIRST_TURN: usize = 4;
/// Moves of a search that are written, at most: the most visited ones. Policies are shares of their visits.
const MOVES: usize = 8;
/// Bytes of a line of the engine, at most: those of other programs are bounded alike.
const LONGEST_LINE: u64 = 16 << 20;
/// How soon a request to stop is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Arguments of `tengen study positions`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Games, as SGF: .sgf or .sgf.gz; those with handicap stones are omitted
    #[arg(required = true, value_name = "FILE")]
    games: Vec<PathBuf>,
    /// Output file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Positions, evenly spread over the games
    #[arg(long, default_value = "300", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..=1_000_000))]
    positions: u32,
    /// Visits per position
    #[arg(long, default_value = "2000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: u32,
    /// Board size; games on other boards are omitted
    #[arg(long, default_value = "9", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: usize,
    /// Komi of all searches; needed for other boards than 9x9, whose runs have another one [default: 7]
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true, value_parser = runtime::within(-go::MAX_KOMI..=go::MAX_KOMI))]
    komi: Option<f32>,
    /// Command of the engine, after `--`: katago analysis -config FILE -model FILE
    #[arg(last = true, required = true, value_name = "ENGINE")]
    engine: Vec<String>,
}

/// A line of the engine.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    id: Option<String>,
    error: Option<String>,
    warning: Option<String>,
    #[serde(default)]
    is_during_search: bool,
    root_info: Option<RootInfo>,
    #[serde(default)]
    move_infos: Vec<MoveInfo>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RootInfo {
    /// Black's, 0 to 1.
    winrate: f32,
    /// Black's, in points.
    score_lead: Option<f32>,
}

#[derive(Deserialize)]
struct MoveInfo {
    #[serde(rename = "move")]
    vertex: String,
    visits: u32,
}

/// Has the engine search the positions, and writes the file: with those that are done where the engine fails, or where
/// `stop` is requested.
///
/// # Errors
/// A file that cannot be read, no komi or position, an engine that does not start or fails, or a file that exists.
pub(crate) fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    if args.out.exists() {
        return Err(anyhow!("{} exists; choose another file", args.out.display())).misconfigured();
    }
    runtime::check_output(&args.out)?;
    let journal = journal(&args.out)?;
    let size = Size::new(args.size).misconfigured()?;
    let shipped = Preset::NineByNine.config().game;
    let Some(komi) = args.komi.or((shipped.size == size.side()).then_some(shipped.komi)) else {
        let problem = format!("runs on {size}x{size} have another komi than {}; name it with --komi", shipped.komi);
        return Err(anyhow!(problem)).misconfigured();
    };
    if !size.allows_komi(komi) {
        return Err(anyhow!("komi {komi} exceeds the area of a {size}x{size} board; use --komi")).misconfigured();
    }
    let mut games = recorded(&args.games, size)?;
    let all = games.len();
    games.retain(is_plain);
    if games.len() < all {
        tracing::warn!(games = all - games.len(), "omitted games that do not alternate from Black on an empty board");
    }
    let positions = spread(&games, args.positions as usize);
    if positions.is_empty() {
        return Err(anyhow!("no game on {size}x{size} has a position after move {FIRST_TURN}")).misconfigured();
    }
    let mut found: Vec<Option<DeepPosition>> = positions.iter().map(|_| None).collect();
    let ended = search(args, komi, &positions, &mut found, &journal, stop);
    let searched: Vec<DeepPosition> = found.into_iter().flatten().collect();
    if ended.is_ok() && searched.len() < positions.len() {
        tracing::warn!(done = searched.len(), all = positions.len(), "stopped before all positions were searched");
    }
    let mut notes = Notes::default();
    // They may be hours of an engine, whatever ended it.
    if !searched.is_empty() {
        let (out, kept) = (args.out.display(), journal.display());
        let lines: String = searched.iter().map(|position| position.to_line() + "\n").collect();
        runtime::write_whole(&args.out, lines.as_bytes())
            .with_context(|| format!("cannot write {out}; the positions are in {kept}"))?;
        if let Err(error) = fs::remove_file(&journal) {
            tracing::warn!(file = %kept, %error, "cannot delete this file, whose positions are in the output");
        }
        notes.print(format!("{} positions of {} games are in {out}", searched.len(), games.len()));
    } else {
        // One that could not be written has no position, and would have the next study refused.
        let _absent = fs::remove_file(&journal);
    }
    ended.and_then(|()| notes.finish())
}

/// Where positions are as soon as they are searched, beside the output file: they outlast a kill.
fn journal(out: &Path) -> anyhow::Result<PathBuf> {
    let place = runtime::renamed_place(out)?.unwrap_or_else(|| out.to_owned());
    let journal = place.with_added_extension("searched");
    if journal.exists() {
        let why = "it has the positions of a study that was killed; rename or delete it";
        return Err(anyhow!("{} exists: {why}", journal.display())).misconfigured();
    }
    Ok(journal)
}

/// Adds a position to the journal.
fn keep(journal: &Path, position: &DeepPosition) -> anyhow::Result<()> {
    let opened = OpenOptions::new().create(true).append(true).open(journal);
    let kept: io::Result<()> = opened.and_then(|mut file| file.write_all((position.to_line() + "\n").as_bytes()));
    kept.with_context(|| format!("cannot write {}", journal.display()))
}

/// Whether its moves alone say what a game is: from the empty board, Black and White in turn. Queries and the file have
/// no more.
fn is_plain(game: &Game) -> bool {
    let in_turn = game.colors().iter().zip(Color::BOTH.iter().cycle()).all(|(color, expected)| color == expected);
    in_turn && game.stones_ago(game.turn()) == Some(&Stones::EMPTY)
}

/// Positions of games where a move is left to play, evenly spread over all of them; each once.
fn spread(games: &[Game], most: usize) -> Vec<Game> {
    // By the number of a sequence of moves and the next move: the number of the longer sequence. The empty one is 0.
    let mut sequences: HashMap<(usize, Move), usize> = HashMap::new();
    let mut all: Vec<(&Game, usize)> = Vec::new();
    for game in games {
        let mut sequence = 0;
        for (turn, &mv) in (1..game.turn()).zip(game.moves()) {
            let next = sequences.len() + 1;
            sequence = *sequences.entry((sequence, mv)).or_insert(next);
            if sequence == next && turn >= FIRST_TURN {
                all.push((game, turn));
            }
        }
    }
    let count = all.len().min(most);
    // The first of each of so many stretches, or the one after it, so that either side is to move.
    let chosen = (0..count).map(|k| {
        let (first, end) = (k * all.len() / count, (k + 1) * all.len() / count);
        let is_other_side = all[first].1 % 2 != k % 2;
        let (game, turn) = all[if is_other_side && first + 1 < end { first + 1 } else { first }];
        before(game, turn)
    });
    chosen.collect()
}

/// A game as it was after so many moves.
fn before(game: &Game, turn: usize) -> Game {
    let mut before = Game::new(game.size());
    for &mv in &game.moves()[..turn] {
        before.play(mv).expect("the moves of a game are legal");
    }
    before
}

/// Puts the results of the engine where its positions are, and in the journal, until all are there or `stop` is
/// requested.
fn search(
    args: &Args,
    komi: f32,
    positions: &[Game],
    found: &mut [Option<DeepPosition>],
    journal: &Path,
    stop: &Stop,
) -> anyhow::Result<()> {
    let mut engine = Engine::start(&args.engine)?;
    let queries: Vec<String> =
        positions.iter().enumerate().map(|(number, game)| query(args, komi, number, game).to_string()).collect();
    let mut input = engine.0.stdin.take().expect("the engine was started with a pipe");
    // An engine may write before it has read all queries. One that ends is noticed by its output.
    let writer = thread::spawn(move || queries.iter().try_for_each(|query| writeln!(input, "{query}")));
    let mut output = BufReader::new(engine.0.stdout.take().expect("the engine was started with a pipe"));
    // Nothing can wake a thread that waits for the engine's next line, which may take minutes.
    let (sender, lines) = mpsc::sync_channel(1);
    thread::spawn(move || {
        loop {
            let line = next_line(&mut output);
            let is_last = !matches!(line, Ok(Some(_)));
            if sender.send(line).is_err() || is_last {
                return;
            }
        }
    });
    let progress = Progress::new("positions", Some(positions.len() as u64));
    let done = gather(&lines, komi, positions, found, journal, (&progress, stop))?;
    if done < positions.len() {
        if stop.requested() {
            return Ok(());
        }
        let status = engine.0.wait().context("cannot wait for the engine")?;
        bail!("the engine ended after {done} of {} positions, {status}", positions.len());
    }
    progress.finish();
    // It has read all of them.
    let _written = writer.join();
    Ok(())
}

/// Keeps the results among the lines of an engine until all are there, `stop` is requested or the engine ends. Returns
/// how many there are.
fn gather(
    lines: &Receiver<anyhow::Result<Option<String>>>,
    komi: f32,
    positions: &[Game],
    found: &mut [Option<DeepPosition>],
    journal: &Path,
    (progress, stop): (&Progress, &Stop),
) -> anyhow::Result<usize> {
    let mut done = 0;
    while done < positions.len() {
        let line = match lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) if stop.requested() => break,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match line.and_then(|line| line.map(|line| result(&line, positions, komi)).transpose()) {
            Ok(Some(Some((number, position)))) => {
                if found[number].is_none() {
                    keep(journal, &position)?;
                    done += 1;
                    progress.set(done as u64);
                }
                found[number] = Some(position);
            }
            Ok(Some(None)) => {}
            Ok(None) => break,
            // Ctrl-C ends an engine on the same terminal, too, and its last line may have no end.
            Err(_) if stop.requested() => break,
            Err(error) => return Err(error),
        }
        if stop.requested() {
            break;
        }
    }
    Ok(done)
}

/// The next line of an engine; `None` after the last. One without an end would fill the memory, and what was found
/// would be lost.
fn next_line(output: &mut impl BufRead) -> anyhow::Result<Option<String>> {
    let mut line = Vec::new();
    let unreadable = "cannot read the engine's output";
    let read = output.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line).context(unreadable)?;
    ensure!(read as u64 <= LONGEST_LINE, "the engine wrote a line of more than {} MiB", LONGEST_LINE >> 20);
    let line = String::from_utf8(line).context(unreadable)?;
    Ok((read > 0).then(|| line.trim_end().to_owned()))
}

/// A query for one position, by Tengen's rules.
fn query(args: &Args, komi: f32, number: usize, game: &Game) -> Value {
    let size = game.size();
    let color = |color: &Color| if *color == Color::Black { "B" } else { "W" };
    let moves: Vec<[String; 2]> =
        game.colors().iter().zip(game.moves()).map(|(of, mv)| [color(of).to_owned(), mv.to_gtp(size)]).collect();
    json!({
        "id": number.to_string(),
        "moves": moves,
        "initialPlayer": "B",
        "rules": { "ko": "POSITIONAL", "scoring": "AREA", "tax": "NONE", "suicide": false, "hasButton": false },
        "komi": komi,
        "boardXSize": size.side(),
        "boardYSize": size.side(),
        "maxVisits": args.visits,
        "overrideSettings": { "reportAnalysisWinratesAs": "BLACK" },
    })
}

/// The position that a line has the result of; `None` for other lines.
fn result(line: &str, positions: &[Game], komi: f32) -> anyhow::Result<Option<(usize, DeepPosition)>> {
    let response: Response =
        serde_json::from_str(line).with_context(|| format!("the engine wrote {line:?}, which is no response"))?;
    if let Some(error) = response.error {
        bail!("the engine refuses a query: {error}");
    }
    if let Some(warning) = response.warning {
        tracing::warn!(warning, "warning of the engine");
        return Ok(None);
    }
    let Some(root) = response.root_info.filter(|_| !response.is_during_search) else { return Ok(None) };
    let number = response.id.and_then(|id| id.parse().ok()).filter(|&number: &usize| number < positions.len());
    let number = number.with_context(|| format!("the engine wrote {line:?}, which has no id of a query"))?;
    let game = &positions[number];
    let moves = response.move_infos.iter().filter(|info| info.visits > 0);
    let mut visits: Vec<(Move, u32)> = moves
        .map(|MoveInfo { vertex, visits }| {
            let mv = Move::from_gtp(game.size(), vertex).filter(|&mv| game.is_legal(mv));
            Ok((mv.with_context(|| format!("the engine searched {vertex:?}, which is illegal"))?, *visits))
        })
        .collect::<anyhow::Result<_>>()?;
    ensure!(!visits.is_empty(), "the engine wrote {line:?}, which has no moves");
    visits.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    visits.truncate(MOVES);
    let value = (2.0 * root.winrate - 1.0).clamp(-1.0, 1.0);
    let score = root.score_lead.filter(|score| score.is_finite());
    Ok(Some((number, DeepPosition { game: game.clone(), komi: Some(komi), value, score, visits })))
}

/// The position that a line has the result of, where the engine has this query alone; `None` for other lines.
///
/// # Errors
/// Why the line is no response.
#[cfg(any(test, feature = "testing"))]
pub fn read_response(line: &str, game: &Game, komi: f32) -> Result<Option<DeepPosition>, String> {
    let found = result(line, std::slice::from_ref(game), komi).map_err(|error| format!("{error:#}"))?;
    Ok(found.map(|(_, position)| position))
}

/// The process of an engine. It is killed when this is dropped.
struct Engine(Child);

impl Engine {
    fn start(command: &[String]) -> anyhow::Result<Engine> {
        let mut process = Command::new(&command[0]);
        process.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = process.spawn().with_context(|| format!("cannot start the engine {:?}", command[0]));
        Ok(Engine(child.misconfigured()?))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(moves: &[&str]) -> Game {
        let size = Size::new(9).expect("a size");
        let mut game = Game::new(size);
        for mv in moves {
            game.play(Move::from_gtp(size, mv).expect("a vertex")).expect("a legal move");
        }
        game
    }

    #[test]
    fn positions_are_spread_over_games_and_occur_once() {
        let long = game(&["E5", "C3", "G7", "C7", "G3", "E3", "E7"]);
        let fork = game(&["E5", "C3", "G7", "C7", "G3", "F3", "D7", "D3"]);
        let all = spread(&[long.clone(), fork, long], 100);
        let turns: Vec<usize> = all.iter().map(Game::turn).collect();
        // Turns 4 and 5 of the second game are those of the first.
        assert_eq!(turns, [4, 5, 6, 6, 7]);
        assert_eq!(spread(&[game(&["E5", "C3"])], 9).len(), 0);
        let few: Vec<usize> = spread(&[game(&["E5", "C3", "G7", "C7", "G3", "E3", "E7", "C5", "G5"])], 2)
            .iter()
            .map(Game::turn)
            .collect();
        assert_eq!(few, [4, 7]);
    }

    #[test]
    fn as_many_positions_as_asked_for_are_spread() {
        let mut game = game(&[]);
        for index in 0..40 {
            game.play(Move::from_index(game.size(), index).expect("a point")).expect("a legal move");
        }
        let turns = |most| spread(std::slice::from_ref(&game), most).iter().map(Game::turn).collect::<Vec<_>>();
        for most in [1, 17, 18, 19, 35, 36, 99] {
            let found = turns(most);
            assert_eq!(found.len(), most.min(36), "there are 36");
            assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "each once: {found:?}");
        }
        assert_eq!(turns(18).iter().filter(|turn| *turn % 2 == 0).count(), 9, "either side is to move");
    }

    #[test]
    fn games_that_moves_alone_do_not_tell_are_not_plain() {
        let replayed = |text: &str| go::sgf::Record::parse(text.as_bytes()).expect("SGF").replay().expect("a game");
        assert!(is_plain(&replayed("(;SZ[9];B[ee];W[cc];B[])")));
        for other in ["(;SZ[9]AB[ee]PL[W];W[cc];B[gg])", "(;SZ[9];B[ee];B[cc])", "(;SZ[9];W[ee];B[cc])"] {
            assert!(!is_plain(&replayed(other)), "{other}");
        }
    }

    #[test]
    fn lines_are_read_up_to_a_length() {
        let mut output = "{}\r\n\nend".as_bytes();
        let lines = std::iter::from_fn(|| next_line(&mut output).expect("text"));
        assert_eq!(lines.collect::<Vec<_>>(), ["{}", "", "end"]);
        // As of `cat /dev/zero`.
        let mut endless = BufReader::new(io::repeat(0));
        let error = next_line(&mut endless).expect_err("no line");
        assert_eq!(error.to_string(), "the engine wrote a line of more than 16 MiB");
        assert!(next_line(&mut &b"\xff\n"[..]).is_err());
    }

    #[test]
    fn line_that_has_come_is_kept_where_a_stop_is_requested() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let positions = [game(&["E5", "C3", "G7", "C7"]), game(&["E5", "C3", "G7", "C7", "G3"])];
        let response = |id: usize| {
            let root = r#""rootInfo": {"winrate": 0.25}, "moveInfos": [{"move": "E3", "visits": 2}]"#;
            Ok(Some(format!(r#"{{"id": "{id}", {root}}}"#)))
        };
        let gathered = |name: &str, all: Vec<anyhow::Result<Option<String>>>, is_stopped: bool| {
            let (sender, lines) = mpsc::channel();
            all.into_iter().for_each(|line| sender.send(line).expect("a receiver"));
            let (journal, stop, mut found) = (folder.path().join(name), Stop::never(), [None, None]);
            if is_stopped {
                stop.request();
            }
            let progress = Progress::new("positions", Some(2));
            let done = gather(&lines, 7.0, &positions, &mut found, &journal, (&progress, &stop));
            let kept = fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
            (done.map_err(|error| error.to_string()), found.map(|position| position.is_some()), kept)
        };
        assert_eq!(gathered("all", vec![response(0), response(1)], false), (Ok(2), [true, true], 2));
        assert_eq!(gathered("one", vec![response(1), response(0)], true), (Ok(1), [false, true], 1));
        assert_eq!(gathered("none", Vec::new(), true), (Ok(0), [false, false], 0));
        // An engine that ends as well may have written half a line.
        let half = || vec![Ok(Some("{\"id\"".to_owned()))];
        assert_eq!(gathered("half", half(), true), (Ok(0), [false, false], 0));
        assert!(gathered("error", half(), false).0.is_err());
    }

    #[test]
    fn response_becomes_a_position() {
        let positions = [game(&["E5", "C3", "G7", "C7"])];
        let line = r#"{"id": "0", "turnNumber": 4, "isDuringSearch": false, "rootInfo": {"winrate": 0.25, "scoreLead": -3.5},
            "moveInfos": [{"move": "G3", "visits": 2}, {"move": "C5", "visits": 7}, {"move": "E3", "visits": 0}]}"#;
        let (number, position) = result(line, &positions, 7.0).expect("a response").expect("a result");
        assert_eq!((number, position.value, position.score), (0, -0.5, Some(-3.5)));
        let names: Vec<_> = position.visits.iter().map(|(mv, n)| (mv.to_gtp(position.game.size()), *n)).collect();
        assert_eq!(names, [("C5".to_owned(), 7), ("G3".to_owned(), 2)]);
        let line = line.replace("-3.5", "1e39");
        let (_, endless) = result(&line, &positions, 7.0).expect("a response").expect("a result");
        assert_eq!(endless.score, None, "no reader of the file takes it");
    }

    #[test]
    fn response_about_the_only_position_is_read() {
        let game = game(&["E5", "C3", "G7", "C7"]);
        let line = |id: &str| {
            let root = r#""rootInfo": {"winrate": 0.25}, "moveInfos": [{"move": "G3", "visits": 2}]"#;
            read_response(&format!(r#"{{"id": "{id}", {root}}}"#), &game, 7.0)
        };
        let position = line("0").expect("a response").expect("a result");
        assert_eq!((position.game.moves(), position.value), (game.moves(), -0.5));
        assert!(line("1").expect_err("another position").contains("no id of a query"));
    }

    #[test]
    fn other_responses_are_no_result_or_an_error() {
        let positions = [game(&["E5", "C3", "G7", "C7"])];
        let of = |line: &str| result(line, &positions, 7.0);
        assert!(matches!(of(r#"{"id": "0", "warning": "komi", "field": "komi"}"#), Ok(None)));
        assert!(matches!(of(r#"{"id": "0", "isDuringSearch": true, "rootInfo": {"winrate": 0.5}}"#), Ok(None)));
        for (line, reason) in [
            ("loading", "no response"),
            (r#"{"error": "no such field", "id": "0"}"#, "no such field"),
            (r#"{"id": "5", "rootInfo": {"winrate": 0.5}, "moveInfos": []}"#, "no id of a query"),
            (r#"{"id": "0", "rootInfo": {"winrate": 0.5}, "moveInfos": []}"#, "no moves"),
            (r#"{"id": "0", "rootInfo": {"winrate": 0.5}, "moveInfos": [{"move": "E5", "visits": 1}]}"#, "illegal"),
        ] {
            let error = format!("{:#}", of(line).expect_err("an error"));
            assert!(error.contains(reason), "{error}");
        }
    }
}
