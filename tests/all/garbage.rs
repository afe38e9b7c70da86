//! Garbage, requests that are cut off, headers without end and slow clients on every listener: it serves on.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;

use config::Preset;
use tests::{PATIENCE, Stage, TestStore, program};

use crate::inference;

/// Clients that send one byte now and then: more than the metrics server has places.
const SLOW: usize = 24;

/// Bytes of a header after which no server may still read.
const ENDLESS: usize = 64 << 20;

fn noise(len: u32) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// What scanners and broken clients send.
fn garbage() -> Vec<Vec<u8>> {
    vec![
        noise(100_000),
        vec![0; 10_000],
        b"\n\n\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"GET /metr".to_vec(),
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Le".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nab".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n".to_vec(),
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_vec(),
        b"GET /%ff%00/../../etc/passwd?\xff HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        [&b"GET /"[..], &vec![b'a'; 1 << 20], b" HTTP/1.1\r\n\r\n"].concat(),
    ]
}

/// A connection to a listener.
enum Client {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Connects to `HOST:PORT`, or to the socket of a path.
fn connect(address: &str) -> Client {
    if address.starts_with('/') {
        let stream = UnixStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        return Client::Unix(stream);
    }
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    Client::Tcp(stream)
}

impl Client {
    fn shutdown(&self) -> io::Result<()> {
        match self {
            Client::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Client::Unix(stream) => stream.shutdown(Shutdown::Write),
        }
    }
}

impl Read for Client {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Client::Tcp(stream) => stream.read(bytes),
            Client::Unix(stream) => stream.read(bytes),
        }
    }
}

impl Write for Client {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Client::Tcp(stream) => stream.write(bytes),
            Client::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads until the server closes the connection.
fn wait_until_closed(stream: &mut Client) {
    let read = stream.read_to_end(&mut Vec::new());
    assert!(read.as_ref().err().is_none_or(|error| error.kind() != ErrorKind::WouldBlock), "{read:?}");
}

fn send(address: &str, bytes: &[u8]) {
    let mut stream = connect(address);
    // The server may have closed the connection already.
    drop(stream.write_all(bytes));
    drop(stream.shutdown());
    wait_until_closed(&mut stream);
}

/// A header line that never ends: the server stops reading.
fn send_endless_header(address: &str) {
    let mut stream = connect(address);
    stream.write_all(b"GET / HTTP/1.1\r\nX: ").unwrap();
    let block = vec![b'a'; 1 << 16];
    let sent = (0..ENDLESS / block.len()).take_while(|_| stream.write_all(&block).is_ok()).count();
    assert!(sent < ENDLESS / block.len(), "{address} read a header of {ENDLESS} bytes");
}

/// Everything, with a check that the listener works after each and while slow clients hold connections.
fn attack(address: &str, works: &dyn Fn()) {
    works();
    for bytes in garbage() {
        send(address, &bytes);
        works();
    }
    send_endless_header(address);
    works();
    let mut slow: Vec<Client> = (0..SLOW).map(|_| connect(address)).collect();
    let mut begin: &[u8] = b"GET / HTTP/1.1\r\nHo";
    while !begin.is_empty() {
        // Some may be closed already: the first ones waited for the others.
        slow.iter_mut().for_each(|stream| drop(stream.write(&begin[..1])));
        begin = &begin[1..];
    }
    works();
    slow.iter_mut().for_each(wait_until_closed);
    works();
}

/// A page of an HTTP server, its response beginning with `expected`.
fn page_works(address: &str, path: &str, expected: &str) {
    let mut stream = connect(address);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with(expected), "{path}: {response}");
}

#[test]
fn metrics_and_pages_are_served_on() {
    let store = TestStore::new();
    let mut server = Stage::start(store.program("tengen").args(["serve", "--listen", "127.0.0.1:0", "--read-only"]));
    let pages = server.pages("http");
    let (metrics, pages) = (server.address(), pages.as_str());
    // Side by side: each waits for the time after which a server closes slow connections.
    std::thread::scope(|scope| {
        for address in [metrics, pages] {
            scope.spawn(move || {
                attack(address, &|| {
                    page_works(metrics, "/metrics", "HTTP/1.1 200");
                    page_works(pages, "/", "HTTP/1.1 200");
                });
            });
        }
    });
    assert_eq!(server.ended(), None);
    assert_eq!(server.terminate(), Some(4), "{}", server.log().join("\n"));
}

#[test]
fn encrypted_pages_are_served_on() {
    let store = TestStore::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let at = |name: &str| store.path().join(name).display().to_string();
    let (cert, key) = (at("cert.pem"), at("key.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let mut serve = store.program("tengen");
    serve.args(["serve", "--listen", "127.0.0.1:0", "--read-only", "--tls-cert", &cert, "--tls-key", &key]);
    let mut server = Stage::start(&mut serve);
    let pages = server.pages("https");
    // An error means that one is installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let authority = reqwest::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    // A connection for each request.
    let client = reqwest::Client::builder()
        .tls_certs_only([authority])
        .pool_max_idle_per_host(0)
        .timeout(PATIENCE)
        .build()
        .unwrap();
    let url = format!("https://localhost:{}/", pages.rsplit(':').next().unwrap());
    attack(&pages, &|| {
        let response = runtime.block_on(async { client.get(&url).send().await }).unwrap();
        assert_eq!(response.status(), 200);
    });
    assert_eq!(server.ended(), None);
}

/// Beside the tests of crate `inference`: as a process, with a client that plays on it.
#[test]
fn inference_is_served_on() {
    let store = TestStore::new();
    inference_withstands(&store, "127.0.0.1:0");
}

#[test]
fn inference_on_a_unix_socket_is_served_on() {
    let store = TestStore::new();
    inference_withstands(&store, &format!("unix:{}", store.path().join("inference.sock").display()));
}

fn inference_withstands(store: &TestStore, listen: &str) {
    let tiny = Preset::Tiny.config();
    inference::publish(&store.run("tiny"), 1, tiny);
    let mut server = inference::serve(store, &["--listen", listen]);
    let (address, url) = match listen.strip_prefix("unix:") {
        Some(path) => (path.to_owned(), listen.to_owned()),
        None => {
            let listed = inference::address(&mut server);
            let address = listed.strip_prefix("http://").unwrap_or(&listed).to_owned();
            (address.clone(), format!("http://{address}"))
        }
    };
    let served = |server: &Stage| server.metrics().get("tengen_inference_positions_total").copied().unwrap_or(0.0);
    let play = || {
        let before = served(&server);
        let mut tengen = store.program("tengen");
        let said = converse(
            tengen.args(["gtp", "--model", "tiny-1", "--visits", "4", "--inference", &url]),
            b"boardsize 5\ngenmove b\nquit\n",
        );
        assert!(said.contains("= ") && served(&server) > before, "{said}");
    };
    let metrics = server.address().to_owned();
    attack(&address, &|| page_works(&metrics, "/healthz", "HTTP/1.1 200"));
    play();
    assert_eq!(server.ended(), None);
}

/// What a program says to an input that ends.
fn converse(command: &mut Command, input: &[u8]) -> String {
    let output = tests::converse(command, input);
    assert!(output.status.success(), "{:?}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Lines of bytes that no program expects.
fn lines() -> Vec<u8> {
    let mut input = Vec::new();
    let deep = "[".repeat(100_000);
    for line in [noise(50_000), vec![b'a'; 8 << 20], b"\xff\xfe\x00play".to_vec(), deep.clone().into_bytes()] {
        input.extend(line);
        input.push(b'\n');
    }
    for line in [
        "{",
        "null",
        "{}",
        "[]",
        "{\"id\":1}",
        "{\"id\":\"x\",\"moves\":7}",
        &format!("{{\"id\":\"deep\",\"moves\":{deep}}}"),
        "{\"id\":\"y\",\"boardXSize\":1e999,\"boardYSize\":-3,\"rules\":{},\"moves\":[[\"B\",\"Z99\"]]}",
        "play b",
        "play x y",
        "boardsize 99999999999999999999",
        "genmove",
        "komi nan",
        "loadsgf /dev/zero",
        "time_settings -1 1 1",
        "kgs-genmove_cleanup z",
        "undo",
        "undo",
        "-1 undo",
    ] {
        input.extend(line.as_bytes());
        input.push(b'\n');
    }
    input
}

#[test]
fn gtp_and_analysis_respond_after_lines_of_garbage() {
    let mut gtp = program("tengen");
    let input = [&lines()[..], b"77 protocol_version\nquit\n"].concat();
    let said = converse(gtp.args(["gtp", "--model", "uniform"]), &input);
    assert!(said.contains("=77 2\n\n"), "{}", &said[said.len().saturating_sub(2000)..]);

    let mut analysis = program("tengen");
    let input = [&lines()[..], b"{\"id\":\"last\",\"action\":\"query_version\"}\n"].concat();
    let said = converse(analysis.args(["analysis-server", "--model", "9x9-demo", "--device", "cpu"]), &input);
    let last = said.lines().any(|line| line.contains("\"last\"") && line.contains(env!("CARGO_PKG_VERSION")));
    assert!(last, "{}", &said[said.len().saturating_sub(2000)..]);
}

/// What is cut off at its end is no reason to wait or to fail.
#[test]
fn input_that_ends_within_a_line_ends_the_program() {
    for end in ["play b", "\"id\":"] {
        converse(program("tengen").args(["gtp", "--model", "uniform"]), end.as_bytes());
    }
    let mut analysis = program("tengen");
    analysis.args(["analysis-server", "--model", "9x9-demo", "--device", "cpu"]);
    converse(&mut analysis, b"{\"id\":\"a\",\"moves\":[[");
}
