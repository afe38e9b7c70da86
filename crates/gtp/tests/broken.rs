//! Programs that do everything wrong, and one that does it right: small shell scripts.

// All of this is tests, and a panic is how a test fails.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use config::EngineName;
use go::{Game, Move, Size};
use gtp::engines::{Client, ClientError, Engine, EngineSpecs};
use play::{ExternalPlayer, ExternalPlayerError, Response};
use testing::{wait_for, wait_until};

/// The beginning of a script that responds to a command with its number; `$command` is the command.
const LOOP: &str = r#"
say() { printf '=%s %s\n\n' "$id" "$1"; }
while read -r id command arguments; do
    case $command in
"#;
const END: &str = r#"
        protocol_version) say 2 ;;
        *) say '' ;;
    esac
done
"#;

fn script(cases: &str) -> Vec<String> {
    ["sh", "-c", &format!("{LOOP}{cases}{END}")].map(str::to_owned).to_vec()
}

fn client(cases: &str) -> Client {
    Client::start(&script(cases)).unwrap()
}

const SOON: Duration = Duration::from_millis(300);
const LATER: Duration = Duration::from_secs(20);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// A declared engine that runs this script, and has so much time for a move.
fn engine(cases: &str, time: Duration, more: &str) -> Engine {
    let command: Vec<String> = script(cases).iter().map(|word| format!("{word:?}")).collect();
    let text = format!(
        "[[engine]]\nname = 'Script'\ncommand = [{}]\nseconds_per_move = {}\nseconds_to_start = 20\n{more}",
        command.join(", ").replace("\\'", "'"),
        time.as_secs_f64()
    );
    let name: EngineName = "Script".parse().unwrap();
    Engine::find(&name, &EngineSpecs::from_toml(&text).unwrap()).unwrap()
}

fn size() -> Size {
    Size::new(5).unwrap()
}

/// Its response, waited for.
fn answer(external: &mut dyn ExternalPlayer) -> Result<Response, ExternalPlayerError> {
    wait_for("the response of an external player", || external.answer())
}

/// The result of such a program at a request for the second move of a game.
fn second_move(cases: &str, time: Duration) -> Result<Response, ExternalPlayerError> {
    let mut external = engine(cases, time, "").player(size(), 7.5, 1);
    let mut game = Game::new(size());
    game.play(Move::from_gtp(size(), "C3").unwrap()).unwrap();
    external.ask_move(&game);
    answer(&mut *external)
}

fn broken(cases: &str, time: Duration) -> String {
    match second_move(cases, time) {
        Err(ExternalPlayerError::Broken(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn client_ask_returns_the_response_or_the_refusal() {
    let mut client = client(r#"name) say Script ;; fail) printf '?%s no such luck\n\n' "$id" ;;"#);
    assert_eq!(client.ask("name", LATER).unwrap(), "Script");
    let error = client.ask("fail now", LATER).unwrap_err();
    assert!(matches!(error, ClientError::Refused { .. }));
    assert_eq!(error.to_string(), "\"fail now\" was refused: no such luck");
    assert_eq!(client.ask("boardsize 9", LATER).unwrap(), "", "a refusal is not the end");
}

#[test]
fn client_start_missing_program_is_an_error() {
    let error = Client::start(&["/no/such/program".to_owned()]).unwrap_err();
    assert_eq!(error.to_string(), "cannot start /no/such/program");
}

#[test]
fn chatter_and_missing_numbers_are_put_up_with() {
    let mut client = client(
        r#"
        name) printf 'Welcome!\r\n\r\n\r\n= Script\r\n\r\n' ;;
        version) i=0; while [ $i -lt 3000 ]; do echo "on standard error, line $i" >&2; i=$((i+1)); done; say 1 ;;
        "#,
    );
    assert_eq!(client.ask("name", LATER).unwrap(), "Script");
    assert_eq!(client.ask("version", LATER).unwrap(), "1", "what it says on standard error does not stop it");
}

#[test]
fn silence_crashes_floods_and_wrong_numbers_are_different_errors() {
    let error = client("name) sleep 100 ;;").ask("name", SOON).unwrap_err();
    assert_eq!(error.to_string(), "no response to \"name\" in 0.3 s");
    let error = client("name) echo 'segmentation fault, I fear' >&2; exit 3 ;;").ask("name", LATER).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the process exited at \"name\": exit status: 3; its standard error: segmentation fault, I fear"
    );
    let error = client("name) while :; do echo blah blah blah blah blah blah blah blah; done ;;").ask("name", LATER);
    assert!(matches!(error.unwrap_err(), ClientError::Flood { .. }));
    let error = client(r#"name) printf '=77 Script\n\n' ;;"#).ask("name", LATER).unwrap_err();
    assert_eq!(error.to_string(), "\"name\" had the number 1, and the response has 77");
    let error = client("name) printf '= Script' ; exec sleep 100 ;;").ask("name", SOON).unwrap_err();
    assert!(matches!(error, ClientError::Silent { .. }), "an answer ends with an empty line");
}

/// `cat` writes every command back; a shell complains of each on its standard error.
#[test]
fn program_that_does_not_speak_gtp_is_named_at_once() {
    for command in ["/bin/cat", "tee"] {
        // Where the client waits for the end of its patience, this test does not end.
        let error = Client::start(&[command.to_owned()]).unwrap().ask("name", DAY).unwrap_err();
        let said = "it wrote \"1 name\" back; a GTP response begins with = or ?, so this program does not speak GTP";
        assert_eq!(error.to_string(), said, "{command}");
    }
    let text = "[[engine]]\nname = 'Cat'\ncommand = ['/bin/cat']\nseconds_per_move = 10\n";
    let declared = EngineSpecs::from_toml(text).unwrap();
    let error = Engine::find(&"Cat".parse().unwrap(), &declared).unwrap().identify(size()).unwrap_err();
    let source = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(source.starts_with("it wrote \"1 protocol_version\" back"), "{error}: {source}");
    let complains = |seconds: u64| {
        let asked = Client::start(&["sh".to_owned()]).unwrap().ask("name", Duration::from_secs(seconds));
        let error = asked.unwrap_err().to_string();
        let begin = format!("no response to \"name\" in {seconds} s");
        assert!(error.starts_with(&begin), "{error}");
        error[begin.len()..].starts_with("; its standard error: sh: ")
    };
    // Time for a shell to start and to complain on a busy machine.
    assert!([1, 5, 60].into_iter().any(complains), "a shell complains");
    let mut talks = client(r#"name) printf 'name\n1 name?\n=1 Script\n1 name\n\n' ;;"#);
    assert_eq!(
        talks.ask("name", LATER).unwrap(),
        "Script\n1 name",
        "only the line itself, before an answer, is an echo"
    );
}

#[test]
fn child_processes_of_an_engine_stop_with_it() {
    let mut client = client(r#"name) sleep 1000 & say $! ;;"#);
    let child = client.ask("name", LATER).unwrap();
    let alive = || std::fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(alive());
    drop(client);
    wait_until(&format!("the end of process {child}"), || !alive());
}

#[test]
fn move_is_parsed_and_a_malformed_response_is_an_error() {
    assert_eq!(second_move("genmove) say d4 ;;", LATER), Ok(Response::Move(Move::from_gtp(size(), "D4").unwrap())));
    assert_eq!(second_move("genmove) say PASS ;;", LATER), Ok(Response::Move(Move::Pass)));
    assert_eq!(second_move("genmove) say Resign ;;", LATER), Ok(Response::Resign));
    let refused = second_move(r#"play) printf '?%s illegal move\n\n' "$id" ;;"#, LATER);
    assert_eq!(refused, Err(ExternalPlayerError::Forfeit("\"play black C3\" was refused: illegal move".to_owned())));
    assert_eq!(broken("genmove) say Z99 ;;", LATER), "the response to \"genmove white\" is \"Z99\", not a move");
    let silence = broken("genmove) sleep 100 ;;", Duration::from_millis(500));
    assert_eq!(silence, "no response to \"genmove white\" in 0.5 s");
    assert!(broken("genmove) exit 1 ;;", LATER).starts_with("the process exited at \"genmove white\": exit status: 1"));
    assert!(broken("boardsize) exit 1 ;;", LATER).starts_with("the process exited at \"boardsize 5\""));
}

/// The program never gets a command for a random move, but it gets the moves.
#[test]
fn some_moves_are_drawn_at_random() {
    let cases = r#"genmove) say pass ;;"#;
    let engine = engine(cases, LATER, "random_moves = 0.25");
    let mut drawn = 0;
    for seed in 0..200 {
        let mut external = engine.player(size(), 7.5, seed);
        external.ask_move(&Game::new(size()));
        let Ok(Response::Move(mv)) = answer(&mut *external) else { panic!("it plays, with the seed {seed}") };
        drawn += u32::from(mv != Move::Pass);
    }
    // Three standard deviations of 200 draws are 18.
    assert!((32..=68).contains(&drawn), "{drawn}");
}

#[test]
fn undeclared_engine_error_lists_declared() {
    let error = Engine::find(&"Gnu".parse().unwrap(), &EngineSpecs::default()).unwrap_err();
    assert!(error.to_string().starts_with("there is no engine Gnu; known are Random, Captures, GnuGo-10, "), "{error}");
    let old = engine("protocol_version) say 1 ;;", LATER, "").identify(size()).unwrap_err();
    assert_eq!(old.to_string(), "engine Script: GTP version \"1\", expected 2");
}
