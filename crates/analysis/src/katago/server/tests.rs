use std::sync::mpsc::{self, Receiver, Sender};

use config::Preset;
use mcts::{LARGEST_TREE, Settings};
use play::Uniform;

use super::*;
use crate::AnalysisOptions;

/// A wait for what happens in any case.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// Hands out lines as they are written.
struct Lines(Sender<Value>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let response = serde_json::from_slice(bytes).expect("a line is one JSON object");
        self.0.send(response).map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn server() -> (Server<Lines>, Receiver<Value>) {
    let (sender, lines) = mpsc::channel();
    (with_output(Lines(sender)), lines)
}

fn with_output<W: Write + Send + 'static>(output: W) -> Server<W> {
    let config = Preset::Minigo.config();
    let settings = Settings::new(&config.search, &config.game);
    let options = AnalysisOptions { settings, leaves: 1, threads: 1, positions: 8, tree: LARGEST_TREE, seed: 0 };
    let engine = Engine::start(options, || Box::new(Uniform::new())).expect("threads");
    let options = ServerOptions {
        model: "uniform".to_owned(),
        version: "1.2.3".to_owned(),
        size: None,
        komi: 7.5,
        visits: 20,
        style: ReportStyle { policy: false, ..ReportStyle::STANDARD },
    };
    Server::new(engine, options, output)
}

fn say(server: &Server<Lines>, query: &Value) {
    server.line(query.to_string().as_bytes());
}

fn query(id: &str, others: Value) -> Value {
    let mut query = json!({ "id": id, "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": [] });
    for (name, value) in others.as_object().expect("an object") {
        query[name] = value.clone();
    }
    query
}

#[test]
fn each_requested_turn_gets_one_final_report() {
    let (server, lines) = server();
    let moves = json!([["B", "C3"], ["W", "D4"], ["B", "B2"]]);
    say(&server, &query("a", json!({ "moves": moves, "analyzeTurns": [0, 1, 3], "includePolicy": true })));
    say(&server, &query("b", json!({ "maxVisits": 1 })));
    assert!(server.finish_within(LONG));
    let mut found: Vec<Value> = lines.try_iter().collect();
    found.sort_by_key(|report| (report["id"].to_string(), report["turnNumber"].as_u64()));
    let facts =
        |report: &Value| (report["id"].clone(), report["turnNumber"].clone(), report["rootInfo"]["visits"].clone());
    let expected = [("a", 0, 20), ("a", 1, 20), ("a", 3, 20), ("b", 0, 1)];
    let expected = expected.map(|(id, turn, visits)| (json!(id), json!(turn), json!(visits)));
    assert_eq!(found.iter().map(facts).collect::<Vec<_>>(), expected);
    assert!(found.iter().all(|report| report["isDuringSearch"] == false));
    assert_eq!(found[2]["policy"].as_array().expect("a policy").len(), 26);
    assert_eq!(found[2]["rootInfo"]["currentPlayer"], "W");
    let visits = |report: &Value| {
        let infos = report["moveInfos"].as_array().expect("moves").iter();
        infos.map(|info| info["visits"].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!(found.iter().map(visits).collect::<Vec<_>>(), [19, 19, 19, 0]);
}

#[test]
fn terminated_queries_end_with_one_final_report_each() {
    let (server, lines) = server();
    let endless = json!({ "maxVisits": 4_000_000_000_u32, "reportDuringSearchEvery": 0.001 });
    say(&server, &query("long", endless));
    let partial = lines.recv().expect("a report");
    assert_eq!((&partial["id"], &partial["isDuringSearch"]), (&json!("long"), &json!(true)));
    // The first search does not let it begin.
    say(&server, &query("late", json!({ "maxVisits": 4_000_000_000_u32, "priority": -1 })));
    for id in ["late", "long", "gone"] {
        say(&server, &json!({ "id": "t", "action": "terminate", "terminateId": id }));
    }
    assert!(server.finish_within(LONG));
    let found: Vec<Value> = lines.try_iter().filter(|response| response["isDuringSearch"] != true).collect();
    let of = |id: &str| found.iter().filter(|response| response["id"] == id).collect::<Vec<_>>();
    assert_eq!(of("late"), [&json!({ "id": "late", "turnNumber": 0, "isDuringSearch": false, "noResults": true })]);
    assert_eq!((of("long").len(), of("t").len()), (1, 3));
    assert!(of("long")[0]["rootInfo"]["visits"].as_u64() > Some(1));
    assert_eq!(of("t")[0], &json!({ "id": "t", "action": "terminate", "terminateId": "late" }));
    assert!(server.shared.open().is_empty());
}

/// The query that ends first is not taken for the other one.
#[test]
fn queries_with_one_id_and_turn_are_terminated_together() {
    let (server, lines) = server();
    say(&server, &query("same", json!({ "maxVisits": 4_000_000_000_u32 })));
    say(&server, &query("same", json!({ "maxVisits": 2, "priority": 1 })));
    assert_eq!(lines.recv().expect("a report")["rootInfo"]["visits"], 2);
    say(&server, &json!({ "id": "t", "action": "terminate", "terminateId": "same" }));
    assert!(server.finish_within(LONG));
    assert_eq!(lines.try_iter().filter(|response| response["id"] == "same").count(), 1);
    assert!(server.shared.open().is_empty());
}

#[test]
fn actions_are_echoed_with_their_query() {
    let (server, lines) = server();
    for action in ["query_version", "query_models", "clear_cache", "terminate_all"] {
        say(&server, &json!({ "id": "x", "action": action }));
    }
    let found: Vec<Value> = lines.try_iter().collect();
    assert_eq!(found[0], json!({ "id": "x", "action": "query_version", "version": "1.2.3", "git_hash": "<omitted>" }));
    assert_eq!(found[1]["models"][0]["name"], "uniform");
    assert_eq!(
        found[2..],
        [json!({ "id": "x", "action": "clear_cache" }), json!({ "id": "x", "action": "terminate_all" })]
    );
}

#[test]
fn nonsense_gets_an_error_and_the_server_continues() {
    let (server, lines) = server();
    for line in ["nonsense", "[1]", "{}", "{\"id\":7}", "{\"id\":\"a\"}", "\u{0}\u{1}", "", "  \t"] {
        server.line(line.as_bytes());
    }
    server.line(&[0xFF, 0xFE]);
    server.line("[".repeat(100_000).as_bytes());
    say(&server, &query("a", json!({ "rules": "japanese" })));
    assert!(server.finish_within(LONG));
    let found: Vec<Value> = lines.try_iter().collect();
    assert_eq!(found.iter().filter(|response| response.get("error").is_some()).count(), 8, "{found:?}");
    assert_eq!(found[4], json!({ "id": "a", "error": "must be an integer from 2 to 19", "field": "boardXSize" }));
    assert_eq!((&found[8]["field"], &found[8]["id"]), (&json!("rules"), &json!("a")));
    assert_eq!(found[9]["rootInfo"]["visits"], 20);
    drop(lines);
    say(&server, &json!({ "id": "x", "action": "query_version" }));
    assert!(server.is_abandoned());
}

/// Of a file on a disk that is full, the results would look whole but for their number.
#[test]
fn output_that_takes_no_more_is_an_error_unless_the_client_has_gone() {
    struct Refusing(io::ErrorKind);
    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let full = io::ErrorKind::StorageFull;
    for (kind, expected) in [(full, Some(full)), (io::ErrorKind::BrokenPipe, None)] {
        let server = with_output(Refusing(kind));
        server.line(b"nonsense");
        assert!(server.is_abandoned());
        assert_eq!(server.end().err().map(|error| error.kind()), expected);
        // The last response of a search that the end stops.
        let server = with_output(Refusing(kind));
        server.line(query("long", json!({ "maxVisits": 4_000_000_000_u32 })).to_string().as_bytes());
        assert_eq!(server.end().err().map(|error| error.kind()), expected);
    }
}
