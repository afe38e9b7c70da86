//! The web application as a process: who may reach it, a run that is watched while it trains, and how it ends.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;

use net::{Inputs, Shape, Weights};
use testing::PATIENCE;
use tests::{Stage, TestStore, fail, repository, succeed};

/// The status code and the rest of a response; nothing without one.
fn get(address: &str, path: &str, headers: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n").ok()?;
    let mut response = Vec::new();
    stream.read_to_end(&mut response).ok()?;
    let response = String::from_utf8_lossy(&response).into_owned();
    Some((response.split(' ').nth(1)?.parse().ok()?, response))
}

#[test]
fn addresses_of_other_machines_need_a_decision() {
    let store = TestStore::new();
    let (code, said) = fail(store.program("tengen").args(["serve", "--listen", "0.0.0.0:0"]));
    assert!(code == 2 && said.contains("open to other machines: add --token-file"), "{said}");
    let token = store.path().join("token");
    fs::write(&token, "short").unwrap();
    let (code, said) = fail(store.program("tengen").args(["serve", "--token-file"]).arg(&token));
    assert!(code == 2 && said.contains("no token of 16 to 4096 printable ASCII characters"), "{said}");
    let (code, said) = fail(store.program("tengen").args(["serve", "--listen", "nowhere"]));
    assert!(code == 2 && said.contains("cannot serve at nowhere; name a free HOST:PORT"), "{said}");
    let tiny = repository().join("configs/tiny.toml");
    let (code, said) = fail(store.program("tengen").arg("run").arg(tiny).args(["--serve", "0.0.0.0:0"]));
    assert!(code == 2 && said.contains("is not a loopback address"), "{said}");
}

#[test]
fn certificates_and_keys_that_cannot_be_used_are_named() {
    let store = TestStore::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: &str| {
        let path = store.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let secret = made.signing_key.serialize_pem();
    let (cert, key) = (write("cert.pem", &made.cert.pem()), write("key.pem", &secret));
    let encrypted = write("encrypted.pem", &secret.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"));
    for (cert, key, expected) in [
        (&key, &key, "key.pem has no certificate in PEM format"),
        (&cert, &cert, "cert.pem has no unencrypted private key in PEM format"),
        (&cert, &encrypted, "encrypted.pem has no unencrypted private key in PEM format"),
    ] {
        let mut serve = store.program("tengen");
        serve.args(["serve", "--listen", "127.0.0.1:0", "--tls-cert"]).arg(cert).arg("--tls-key").arg(key);
        let (code, said) = fail(&mut serve);
        assert!(code == 2 && said.contains(expected), "{code}: {said}");
    }
}

#[test]
fn store_that_is_made_is_a_warning() {
    let store = TestStore::new();
    let absent = store.path().join("absent");
    let mut command = store.program_at("tengen", absent.to_str().unwrap());
    let mut server = Stage::start(command.args(["serve", "--listen", "127.0.0.1:0", "--read-only"]));
    let warning = "the folder of the store does not exist";
    server.wait_for("the warning", |stage| stage.log().iter().any(|line| line.contains(warning)).then_some(()));
    assert_eq!(server.terminate(), Some(4));
}

#[test]
fn file_that_is_no_book_is_not_served() {
    let store = TestStore::new();
    let file = store.path().join("book.jsonl");
    let serve = || fail(store.program("tengen").args(["serve", "--listen", "127.0.0.1:0", "--book"]).arg(&file));
    let (code, said) = serve();
    assert!(code == 2 && said.contains("book.jsonl: "), "{said}");
    fs::write(&file, "(;GM[1]SZ[9])\n").unwrap();
    let (code, said) = serve();
    assert!(code == 2 && said.contains("book.jsonl: not a book of `tengen book`"), "{said}");
}

#[test]
fn run_is_watched_while_it_trains() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    let args = ["--run", "watched", "--set", "loop.models=50", "--serve", "127.0.0.1:0"];
    let mut run = Stage::start(store.program("tengen").arg("run").arg(tiny).args(args));
    let address = run.pages("http");
    for model in ["watched-1", "watched-2"] {
        run.wait_for(model, |_| get(&address, "/runs/watched", "")?.1.contains(model).then_some(()));
    }
    assert_eq!(get(&address, "/play", "").map(|(code, _)| code), Some(404), "pages of runs alone");
    assert_eq!(run.terminate(), Some(4));
}

#[test]
fn pages_downloads_and_data_are_there_and_the_process_drains() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    succeed(store.program("tengen").arg("run").arg(tiny).args(["--run", "r", "--set", "loop.models=2"]));
    let serve = ["serve", "--listen", "127.0.0.1:0", "--read-only"];
    let mut server = Stage::start(store.program("tengen").args(serve));
    let address = server.pages("http");
    let found = |path: &str| {
        let (code, text) = get(&address, path, "").unwrap();
        assert_eq!(code, 200, "{path}: {text}");
        text
    };
    server.wait_for("all games to be counted", |_| (!found("/runs/r").contains("Reading the run")).then_some(()));
    for path in [
        "/",
        "/runs/r?by=games&scale=log",
        "/runs/r/models?sort=elo&order=up&only=rated",
        "/runs/r/models?page=18446744073709551615",
        "/runs/r/models/1",
        "/runs/r/models/2/network?against=1",
        "/runs/r/networks",
        "/runs/r/games?end=passes&calibration=no&threshold=no&opening=C3",
        "/runs/r/games?kind=match",
        "/runs/r/live",
        "/runs/r/matches?sort=deviations",
        "/runs/r/openings?model=1&line=C3",
        "/runs/r/config",
        "/compare?run=r",
    ] {
        let page = found(path);
        assert!(page.contains("<main id=\"content\"") && !page.contains(" style=\""), "{path}");
        assert!(!page.contains("href=\"/play"), "{path}: a server that only reads has no pages for players");
        assert!(!page.contains("href=\"/book"), "{path}: a server without a book has no page of one");
    }
    let game = found("/runs/r/games?model=1").split("href=\"/runs/r/games/").nth(1).unwrap().to_owned();
    let game = format!("/runs/r/games/{}", game.split('"').next().unwrap());
    assert!(found(&game).contains("Values for Black"));
    assert!(found(&format!("{game}.sgf")).contains("(;"));
    for (path, begin) in [
        ("/runs/r/models/1/r-1.safetensors", "__metadata__"),
        ("/runs/r/models/1/r-1-folded.safetensors", "__metadata__"),
        ("/runs/r/models/1/r-1-leela-zero.txt", "\r\n\r\n1\n"),
        ("/runs/r/models/1/r-1.onnx", "tengen"),
        ("/runs/r/games.zip?model=1", "PK"),
        ("/runs/r/games.parquet?model=1", "PAR1"),
        ("/runs/r/plots/elo.csv", "series,label,x,y,low,high"),
        ("/runs/r/plots/total-loss.csv", "training"),
        ("/runs/r/plots/l2.csv", "L2 penalty"),
        ("/runs/r/openings/first-moves.csv", "series,label,x,y,low,high"),
        ("/runs/r/tables/matches.csv", "player,against"),
        ("/runs/r/tables/ratings.csv", "player,model,elo,error"),
        ("/runs/r/models.json", "\"model\":2"),
        ("/runs/r/config.toml", "[loop]"),
    ] {
        assert!(found(path).contains(begin), "{path}");
    }
    for path in ["/runs/r/models/3", "/runs/r/models/1/..%2frun.toml", "/runs/r/games/1/../../run.toml/0", "/runs/none"]
    {
        assert_eq!(get(&address, path, "").map(|(code, _)| code), Some(404), "{path}");
    }
    for path in ["/runs/r/networks?from=x", "/runs/r/networks?count=1.5"] {
        assert_eq!(get(&address, path, "").map(|(code, _)| code), Some(400), "{path}");
    }
    // Names of players are whole ones: r-1 has its match, and r- is no player.
    let pairs = |player: &str| found(&format!("/runs/r/matches?player={player}")).matches("<tr").count();
    assert!(pairs("r-2") > pairs("r-"), "{} and {}", pairs("r-2"), pairs("r-"));
    assert_eq!(pairs(""), pairs("%20"));
    let foreign = get(&address, "/", "Origin: http://evil.example\r\n").map(|(code, _)| code);
    assert_eq!(foreign, Some(403));
    assert_eq!(server.terminate(), Some(4));
}

#[test]
fn leela_zero_file_is_offered_of_networks_that_it_can_hold() {
    let store = TestStore::new();
    let tiny = repository().join("configs/tiny.toml");
    for (inputs, run) in [(Inputs::History, "history"), (Inputs::Features, "features")] {
        let plain = Shape::plain(go::Size::new(5).unwrap());
        let shape = Shape { inputs, blocks: 1, filters: 8, value_hidden: 16, ..plain };
        let file = store.path().join(format!("{run}.safetensors"));
        fs::write(&file, Weights::synthetic(shape, 4).to_bytes()).unwrap();
        let mut import = store.program("trainer");
        import.arg("import").arg(&file).args(["--run", run, "--config"]).arg(&tiny);
        succeed(import.args(["--set", &format!("network.inputs={run}")]));
    }
    let serve = ["serve", "--listen", "127.0.0.1:0", "--read-only"];
    let mut server = Stage::start(store.program("tengen").args(serve));
    let address = server.pages("http");
    for (run, offered, code) in [("history", true, 200), ("features", false, 404)] {
        let path = format!("/runs/{run}/models/1");
        let page = server.wait_for("the page of the model", |_| {
            get(&address, &path, "").filter(|(code, _)| *code == 200).map(|(_, page)| page)
        });
        let file = format!("{path}/{run}-1-leela-zero.txt");
        assert!(page.contains(&format!("{run}-1-folded.safetensors")), "{page}");
        assert_eq!(page.contains(&file), offered, "{page}");
        assert_eq!(get(&address, &file, "").map(|(code, _)| code), Some(code), "{file}");
    }
    assert_eq!(server.terminate(), Some(4));
}
