//! A server with connections: many at once, live events, and its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use analysis::Origin;
use analysis::book::{BookFile, BookHeader, Entry};
use clap::Parser;
use config::Preset;
use go::{Game, Scoring, Size};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use store::{ModelMetadata, RatingRow, Run, Store};
use testing::{PATIENCE, wait_for, with_guard};

use crate::server::LOCAL_CONNECTIONS;
use crate::{ServeArgs, Server, WebError};

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    web: ServeArgs,
}

/// A server of an empty store, with the pages for players.
fn serve_players(arguments: &[&str]) -> Server {
    serve_players_of(Store::in_memory().unwrap(), arguments)
}

fn serve_players_of(store: Store, arguments: &[&str]) -> Server {
    let all = [&["web", "--listen", "127.0.0.1:0", "--device", "cpu", "--threads", "1"], arguments].concat();
    Server::start(&Program::parse_from(all).web, store).unwrap()
}

fn serve() -> (Server, Run) {
    let store = Store::in_memory().unwrap();
    let run = store.run(&"tiny".parse().unwrap());
    run.create(&Preset::Tiny.config()).unwrap();
    (Server::start_local("127.0.0.1:0", store).unwrap(), run)
}

fn connect(address: SocketAddr, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    stream
}

fn get(address: SocketAddr, path: &str) -> String {
    let mut text = String::new();
    connect(address, path).read_to_string(&mut text).unwrap();
    text
}

/// A page, which a busy server may refuse at first: a request waits ten seconds for its turn.
fn get_in_turn(address: SocketAddr, path: &str) -> String {
    wait_for(path, || Some(get(address, path)).filter(|text| !text.starts_with("HTTP/1.1 503")))
}

/// A thousand connections have more files than the 1,024 that a process may open on many machines unless it asks.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
}

#[test]
fn thousand_requests_at_once_are_served() {
    raise_file_limit();
    let (server, _) = serve();
    let address = server.address();
    let served: usize = thread::scope(|scope| {
        let request = |number: usize| {
            move || get_in_turn(address, ["/", "/runs/tiny", "/runs/tiny/models", "/nothing"][number % 4])
        };
        let threads: Vec<_> = (0..1000).map(|number| scope.spawn(request(number))).collect();
        let responses = threads.into_iter().map(|thread| thread.join().unwrap());
        responses
            .enumerate()
            .map(|(number, text)| {
                let expected = if number % 4 == 3 { "HTTP/1.1 404" } else { "HTTP/1.1 200" };
                assert!(text.starts_with(expected), "{}", text.lines().next().unwrap_or_default());
                1
            })
            .sum()
    });
    assert_eq!(served, 1000);
    assert!(get(address, "/healthz").contains("alive"));
    assert!(server.stop(PATIENCE));
}

#[test]
fn open_page_receives_published_changes() {
    let (server, run) = serve();
    let page = get(server.address(), "/runs/tiny");
    assert!(page.contains("No matches yet") && page.contains("data-events=\"/runs/tiny/events?version="), "{page}");
    let events = page.split("data-events=\"").nth(1).unwrap().split('"').next().unwrap();
    let mut lines = BufReader::new(connect(server.address(), events)).lines();
    let (player, points) = ("tiny-1".to_owned(), 5.0);
    let row = RatingRow { player, elo: 123.0, error: 9.0, above_pool: 1.0, above_pool_error: 9.0, games: 10, points };
    run.ratings().publish(&[row]).unwrap();
    let is_shown = |page: &str| page.contains("+123");
    // A change that was made before may be told first.
    while !is_shown(&get(server.address(), "/runs/tiny")) {
        assert!(lines.any(|line| line.unwrap() == "event: changed"), "the stream is over");
    }
    // An open stream does not keep the server.
    assert!(server.stop(PATIENCE));
}

#[test]
fn page_with_ages_receives_events_though_nothing_is_published() {
    let (server, _) = serve();
    let lines = BufReader::new(connect(server.address(), "/runs/tiny/events?age=1")).lines().map(Result::unwrap);
    // The first two may be of the reading of the run: its facts before and after the rest is listed.
    assert_eq!(lines.filter(|line| line == "event: changed").take(3).count(), 3);
    assert!(server.stop(PATIENCE));
}

/// The head of the response.
fn head(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn streams_leave_places_for_pages() {
    let (server, _) = serve();
    let connect = || connect(server.address(), "/runs/tiny/events");
    let streams: Vec<TcpStream> = (0..LOCAL_CONNECTIONS * 3 / 4).map(|_| connect()).collect();
    for stream in &streams {
        let head = head(stream);
        // Else a proxy may keep events back, and the page waits for them.
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("x-accel-buffering: no"), "{head}");
    }
    let refused = head(&connect());
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("retry-after: 5"), "{refused}");
    assert!(get(server.address(), "/runs/tiny").starts_with("HTTP/1.1 200"));
    drop(streams);
    // The server sees that they are gone.
    while !head(&connect()).starts_with("HTTP/1.1 200") {
        thread::yield_now();
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn sockets_are_connections_and_leave_places_for_pages() {
    let server = serve_players(&["--connections", "4"]);
    let address = server.address();
    let socket = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
        let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        write!(
            stream,
            "GET /play/socket HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\n{upgrade}\r\n{key}\r\n\r\n"
        )
        .unwrap();
        stream
    };
    let sockets: Vec<TcpStream> = (0..3).map(|_| socket()).collect();
    for socket in &sockets {
        assert!(head(socket).starts_with("HTTP/1.1 101"));
    }
    let refused = head(&socket());
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(get(address, "/").starts_with("HTTP/1.1 200"));
    // With one that says nothing, all places are taken, and others wait.
    let silent = TcpStream::connect(address).unwrap();
    let mut waiting = connect(address, "/");
    waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(waiting.read(&mut [0]).is_err(), "sockets are not counted");
    drop(silent);
    waiting.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(head(&waiting).starts_with("HTTP/1.1 200"));
    assert!(server.stop(PATIENCE));
}

#[test]
fn list_of_models_is_remembered_between_requests() {
    let (store, config) = (Store::in_memory().unwrap(), Preset::Tiny.config());
    let runs = ["one", "two", "three"];
    for name in runs {
        let run = store.run(&name.parse().unwrap());
        run.create(&config).unwrap();
        for number in 1..=8 {
            run.models().publish(&ModelMetadata::new(run.name(), number, 0, &config), "weights".into()).unwrap();
        }
    }
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&reads);
    let counting = with_guard(&store, move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        true
    });
    let server = serve_players_of(counting, &[]);
    let list = || {
        reads.store(0, Ordering::Relaxed);
        let list = get(server.address(), "/play/models");
        runs.iter().for_each(|run| assert!(list.contains(&format!(r#"{{"run":"{run}","models":[1,8],"#)), "{list}"));
        reads.load(Ordering::Relaxed)
    };
    let first = list();
    // Whether there is a run of the demo's name. Where the list is not fresh any more, also whether each run is there,
    // has another model, and has the one that was its newest; neither configurations nor older models are read again.
    let second = list();
    assert!(second <= 1 + 3 * runs.len() && second < first, "{first} {second}");
    assert!(get(server.address(), "/play/runs").contains(r#"["one","three","two"]"#));
    assert!(server.stop(PATIENCE));
}

/// Of two servers in one process, each page leads to what its own server has; so do errors.
#[test]
fn pages_lead_to_those_of_their_own_server() {
    let folder = tempfile::tempdir().unwrap();
    let (path, size) = (folder.path().join("book.jsonl"), Size::new(5).unwrap());
    let (mut file, _) = BookFile::open(&path, &BookHeader::new(Origin::of("uniform"), size, 7.0)).unwrap();
    file.add(&Entry::ended(&Game::new(size), Scoring::Area, 7.0)).unwrap();
    let whole = serve_players(&["--book", path.to_str().unwrap()]);
    let (of_runs, _) = serve();
    let players = serve_players(&[]);
    for path in ["/", "/sign-in", "/nothing"] {
        let found = [&whole, &of_runs, &players].map(|server| {
            let page = get(server.address(), path);
            ["/play", "/book"].map(|link| page.contains(&format!("<a href=\"{link}\"")))
        });
        assert_eq!(found, [[true, true], [false, false], [true, false]], "{path}");
    }
    for server in [whole, of_runs, players] {
        assert!(server.stop(PATIENCE));
    }
}

#[test]
fn data_of_plots_is_json_and_csv() {
    let (server, _) = serve();
    let json = get(server.address(), "/runs/tiny/plots/elo.json");
    assert!(json.contains("application/json") && json.contains("\"id\":\"elo\""), "{json}");
    assert!(get(server.address(), "/runs/tiny/plots/elo.csv").contains("series,label,x,y,low,high"));
    for path in
        ["/runs/tiny/plots/elo.exe", "/runs/tiny/plots/nothing.csv", "/runs/none/plots/elo.csv", "/runs/..%2Ftiny"]
    {
        assert!(get(server.address(), path).starts_with("HTTP/1.1 404"), "{path}");
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn server_of_a_run_is_for_this_machine_alone() {
    let store = Store::in_memory().unwrap();
    for address in ["0.0.0.0:0", "192.0.2.1:80"] {
        let error = Server::start_local(address, store.clone()).err().unwrap();
        assert!(matches!(error, WebError::NotLocal { .. }), "{error}");
    }
    let first = Server::start_local("127.0.0.1:0", store.clone()).unwrap();
    let second = Server::start_local(&first.address().to_string(), store).unwrap();
    assert_ne!(first.address(), second.address(), "another port where the address is taken");
    assert!(first.stop(PATIENCE) && second.stop(PATIENCE));
}
