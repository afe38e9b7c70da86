//! Clients against servers of the test over real sockets.

use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use go::Size;
use half::f16;
use net::{Inputs, NetError, PlaneEvaluator, Shape};
use runtime::{InferenceArgs, Stop};
use testing::{PATIENCE, wait_for};
use tokio::sync::oneshot;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::transport::server::Router;

use crate::proto::v1::evaluation_server::EvaluationServer;
use crate::test_server::{CREDIT, Control, MOVES, TestEvaluation, output};
use crate::{Client, ModelKey, OpenLocal, Priority, RemoteError, RemoteSession, ServerIdentity, Token, server_tls};

/// Where a server listens: at port 0 until it has one.
#[derive(Clone, Debug)]
enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

/// A loopback address. A server that goes away has one that no other test names, and clients bind to the first: so
/// nothing else gets its port meanwhile.
fn loopback(last: u8) -> Place {
    Place::Tcp(SocketAddr::from(([127, 0, 0, last], 0)))
}

/// A server on a thread of its own. Dropping it is like killing a process: its connections are reset.
struct Running {
    place: Place,
    control: Arc<Control>,
    handle: tokio::runtime::Handle,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(place: Place, control: Control, identity: Option<&ServerIdentity>) -> Running {
        let control = Arc::new(control);
        let mut server = Server::builder();
        if let Some(identity) = identity {
            server = server.tls_config(server_tls(identity, Some(&identity.cert)).unwrap()).unwrap();
        }
        let router = server.add_service(EvaluationServer::new(TestEvaluation(Arc::clone(&control))));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        let (place, listener) = listen(place);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(router, listener) => {}
                    _ = ended => {}
                }
            });
            // Tasks and their connections end here.
            drop(runtime);
        });
        Running { place, control, handle, end: Some(end), thread: Some(thread) }
    }

    fn on_tcp() -> Running {
        Running::start(loopback(1), Control::default(), None)
    }

    fn url(&self) -> String {
        match &self.place {
            Place::Tcp(address) => format!("http://{address}"),
            Place::Unix(path) => format!("unix://{}", path.display()),
        }
    }

    fn evaluated(&self) -> u64 {
        self.control.evaluated.load(Ordering::Relaxed)
    }

    /// Stops everything that the server does until the sender is dropped, as SIGSTOP does.
    fn freeze(&self) -> std::sync::mpsc::Sender<()> {
        let (release, released) = std::sync::mpsc::channel::<()>();
        self.handle.spawn(async move {
            let _released = released.recv();
        });
        release
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.end.take());
        self.thread.take().expect("it is joined once").join().expect("the server does not panic");
    }
}

/// A socket that clients can connect to; the server accepts them once it runs.
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Listens at a place; returns it with its port.
fn listen(place: Place) -> (Place, Listener) {
    match place {
        Place::Tcp(address) => {
            let listener = TcpListener::bind(address).unwrap();
            listener.set_nonblocking(true).unwrap();
            (Place::Tcp(listener.local_addr().unwrap()), Listener::Tcp(listener))
        }
        Place::Unix(path) => {
            let listener = UnixListener::bind(&path).unwrap();
            listener.set_nonblocking(true).unwrap();
            (Place::Unix(path), Listener::Unix(listener))
        }
    }
}

async fn serve(router: Router, listener: Listener) {
    match listener {
        Listener::Tcp(listener) => {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            router.serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap();
        }
        Listener::Unix(listener) => {
            let listener = tokio::net::UnixListener::from_std(listener).unwrap();
            router.serve_with_incoming(UnixListenerStream::new(listener)).await.unwrap();
        }
    }
}

/// Arguments with these servers and nothing else.
fn args(servers: &str) -> InferenceArgs {
    InferenceArgs {
        inference: Some(servers.to_owned()),
        inference_deadline: 250,
        inference_encoding: "f32".to_owned(),
        inference_ca: None,
        inference_cert: None,
        inference_key: None,
        inference_token_file: None,
    }
}

/// The same where nothing is late, on a busy machine neither. A connection that is lost is noticed all the same.
fn patient(servers: &str) -> InferenceArgs {
    InferenceArgs { inference_deadline: 600_000, ..args(servers) }
}

fn shape() -> Shape {
    Shape::plain(Size::new(2).unwrap())
}

/// A session on these servers.
fn session(args: &InferenceArgs, stop: &Stop) -> RemoteSession {
    let client = Client::open(args, "test", Priority::Selfplay, stop).unwrap().expect("servers are named");
    let model = ModelKey { run: "v1".parse().unwrap(), number: 1, digest: None };
    let open: OpenLocal = Arc::new(|| Ok(Box::new(Here) as Box<dyn PlaneEvaluator>));
    RemoteSession::new(&client, &model, shape(), open)
}

/// The network of the process: computes what servers compute, and says by a value of 2 that it did.
struct Here;

impl PlaneEvaluator for Here {
    fn rows(&self, positions: usize) -> usize {
        positions.next_multiple_of(8)
    }

    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        let positions = values.len();
        assert_eq!(planes.len(), self.rows(positions) * Inputs::History.len(shape().size), "whole batches");
        policies.copy_from_slice(&expected(&planes[..positions * Inputs::History.len(shape().size)], positions)[0]);
        values.fill(2.0);
        Ok(())
    }
}

/// Planes of positions that differ.
fn planes(seed: usize, positions: usize) -> Vec<u8> {
    let len = Inputs::History.len(shape().size);
    // The last plane is constant.
    let point =
        |nth: usize| u8::from((nth * nth + 7 * seed).is_multiple_of(3) && nth % len < len - shape().size.area());
    (0..positions * len).map(point).collect()
}

fn expected(planes: &[u8], positions: usize) -> [Vec<f32>; 2] {
    let (mut bits, mut scalars) = (Vec::new(), Vec::new());
    Inputs::History.packing(shape().size).pack(planes, &mut bits, &mut scalars);
    output(&bits, positions)
}

/// Evaluates a batch; returns whether the process itself did.
fn evaluate(session: &mut RemoteSession, seed: usize, positions: usize) -> Result<bool, String> {
    let planes = planes(seed, positions);
    let (mut policies, mut values) = (vec![0.0; positions * MOVES], vec![0.0; positions]);
    session.evaluate(&planes, &mut policies, &mut values).map_err(|error| error.to_string())?;
    let expected = expected(&planes, positions);
    assert_eq!(policies, expected[0]);
    let is_local = values[0] == 2.0;
    assert!(is_local || values == expected[1]);
    Ok(is_local)
}

#[test]
fn batches_are_evaluated_over_tcp_in_parts_that_the_server_takes() {
    let server = Running::on_tcp();
    let mut session = session(&patient(&server.url()), &Stop::never());
    // The first batch is submitted before the server has said what it takes.
    assert_eq!(evaluate(&mut session, 1, 2 * CREDIT as usize), Ok(false));
    for positions in [1, 7, CREDIT as usize] {
        assert_eq!(evaluate(&mut session, positions, positions), Ok(false));
    }
    let before = server.evaluated();
    assert_eq!(evaluate(&mut session, 1, 3 * CREDIT as usize + 1), Ok(false));
    assert_eq!(server.evaluated() - before, 4);
}

#[test]
fn answers_in_f16_are_rounded_once_and_those_in_f32_are_exact() {
    let server = Running::on_tcp();
    let planes = planes(1, 9);
    let [exact, rounded] = ["f32", "f16"].map(|encoding| {
        let args = InferenceArgs { inference_encoding: encoding.to_owned(), ..patient(&server.url()) };
        let (mut policies, mut values) = (vec![0.0; 9 * MOVES], vec![0.0; 9]);
        let mut session = session(&args, &Stop::never());
        session.evaluate(&planes, &mut policies, &mut values).unwrap();
        [policies, values]
    });
    let expected = expected(&planes, 9);
    assert_eq!(exact, expected);
    let round = |numbers: Vec<f32>| -> Vec<f32> { numbers.into_iter().map(|it| f16::from_f32(it).to_f32()).collect() };
    assert_eq!(rounded, expected.map(round));
    assert_eq!(server.evaluated(), 2);
    let unknown = InferenceArgs { inference_encoding: "f8".to_owned(), ..args(&server.url()) };
    let error = Client::open(&unknown, "test", Priority::Selfplay, &Stop::never()).unwrap_err();
    assert_eq!(error.to_string(), "--inference-encoding f8 is unknown; expected f32 or f16");
}

#[test]
fn evaluations_of_other_precisions_and_of_this_process_are_noted() {
    let server = Running::start(loopback(2), Control { precision: "int16", ..Control::default() }, None);
    let args = patient(&format!("{};local", server.url()));
    let client = Client::open(&args, "test", Priority::Selfplay, &Stop::never()).unwrap().unwrap();
    let (precision, encoding) = client.arithmetic(PATIENCE).expect("the server is up");
    assert_eq!((&*precision, encoding.name()), ("int16", "f32"));
    let noting = |precision: &str| {
        let seen = Arc::new(AtomicBool::new(false));
        (session(&args, &Stop::never()).noting_others(precision.into(), Arc::clone(&seen)), seen)
    };
    let ((mut same, of_same), (mut other, of_other)) = (noting("int16"), noting("bf16"));
    assert_eq!((evaluate(&mut same, 1, 9), evaluate(&mut other, 1, 9)), (Ok(false), Ok(false)));
    let seen = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
    assert_eq!((seen(&of_same), seen(&of_other)), (false, true));
    drop(server);
    assert_eq!(evaluate(&mut same, 1, 9), Ok(true));
    assert!(seen(&of_same));
}

#[test]
fn session_without_a_server_waits_no_longer_than_it_is_to() {
    let mut session = session(&patient("http://127.0.0.1:1"), &Stop::never());
    let (mut policies, mut values, mut polls) = (vec![0.0; MOVES], vec![0.0], 0);
    let mut stop = || {
        polls += 1;
        polls == 3
    };
    let error = session.evaluate_until(&planes(1, 1), &mut policies, &mut values, &mut stop).unwrap_err();
    let NetError::Evaluator(error) = error else { panic!("an error of the session") };
    assert!(matches!(error.downcast_ref(), Some(RemoteError::Stopped)), "{error}");
    assert_eq!(polls, 3);
}

#[test]
fn batches_of_a_stopped_search_are_not_evaluated_later() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut session = session(&patient(&format!("unix://{}", socket.display())), &Stop::never());
    let (mut policies, mut values) = (vec![0.0; MOVES], vec![0.0]);
    session.evaluate_until(&planes(1, 1), &mut policies, &mut values, &mut || true).unwrap_err();
    let server = Running::start(Place::Unix(socket), Control::default(), None);
    assert_eq!(evaluate(&mut session, 2, 1), Ok(false));
    assert_eq!(server.evaluated(), 1);
}

#[test]
fn batches_are_evaluated_over_a_unix_socket() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::start(Place::Unix(folder.path().join("socket")), Control::default(), None);
    let mut session = session(&args(&server.url()), &Stop::never());
    assert_eq!(evaluate(&mut session, 1, 9), Ok(false));
}

/// A certificate for localhost that is its own authority.
fn certificate(folder: &Path) -> ServerIdentity {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    fs::write(&cert, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    ServerIdentity { cert, key }
}

#[test]
fn certificates_and_tokens_are_shown_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let identity = certificate(folder.path());
    let [token, wrong] = ["token", "wrong"].map(|name| folder.path().join(name));
    fs::write(&token, "a-secret-of-20-chars").unwrap();
    fs::write(&wrong, "another-secret-of-25-char").unwrap();
    let control = Control { token: Some(Token::read(&token).unwrap()), ..Control::default() };
    let server = Running::start(loopback(1), control, Some(&identity));
    let Place::Tcp(address) = server.place else { panic!("it listens on TCP") };
    let good = InferenceArgs {
        inference_ca: Some(identity.cert.clone()),
        inference_cert: Some(identity.cert.clone()),
        inference_key: Some(identity.key),
        inference_token_file: Some(token),
        ..args(&format!("https://localhost:{}", address.port()))
    };
    assert_eq!(evaluate(&mut session(&good, &Stop::never()), 1, 9), Ok(false));
    // A process that is to stop waits a second for servers, and not five minutes.
    let stop = Stop::never();
    stop.request();
    let refused = |args: InferenceArgs, reason: &str| {
        // On a busy machine no connection may have ended within the second, and then there is no reason yet.
        wait_for(reason, || {
            let error = evaluate(&mut session(&args, &stop), 1, 9).unwrap_err();
            assert!(error.contains("no inference server evaluated a batch"), "{error}");
            error.contains(reason).then_some(())
        });
    };
    refused(InferenceArgs { inference_token_file: Some(wrong), ..good.clone() }, "the token is wrong");
    let other = tempfile::tempdir().unwrap();
    refused(InferenceArgs { inference_ca: Some(certificate(other.path()).cert), ..good.clone() }, "certificate");
    refused(InferenceArgs { inference_cert: None, inference_key: None, ..good.clone() }, "no inference server");
    refused(args(&format!("http://localhost:{}", address.port())), "; the server may want https://");
    let bare = Running::on_tcp();
    let Place::Tcp(address) = bare.place else { panic!("it listens on TCP") };
    let encrypted = format!("https://localhost:{}", address.port());
    refused(InferenceArgs { inference: args(&encrypted).inference, ..good }, "; the server may have no TLS: http://");
}

#[test]
fn token_is_read_anew_for_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let start = |place, token: &str| {
        fs::write(&file, token).unwrap();
        Running::start(place, Control { token: Token::new(token), ..Control::default() }, None)
    };
    let server = start(loopback(5), "a-secret-of-20-chars");
    let args = InferenceArgs { inference_token_file: Some(file.clone()), ..args(&server.url()) };
    let mut session = session(&args, &Stop::never());
    assert_eq!(evaluate(&mut session, 1, 9), Ok(false));
    let place = server.place.clone();
    drop(server);
    let _server = start(place, "another-secret-of-25-char");
    assert_eq!(evaluate(&mut session, 2, 9), Ok(false));
}

#[test]
fn responses_of_a_wrong_length_or_without_numbers_are_refused_and_another_server_evaluates() {
    for is_short in [true, false] {
        let [first, second] = [Running::on_tcp(), Running::on_tcp()];
        let fault = if is_short { &first.control.is_short } else { &first.control.is_nan };
        fault.store(true, Ordering::Relaxed);
        let mut session = session(&patient(&format!("{};{}", first.url(), second.url())), &Stop::never());
        assert_eq!(evaluate(&mut session, 1, 9), Ok(false));
        assert_eq!([&first, &second].map(Running::evaluated), [1, 1]);
    }
}

/// Evaluates until a condition holds; returns for how long, and the longest time that a batch took.
fn evaluate_until(session: &mut RemoteSession, mut holds: impl FnMut(bool) -> bool) -> [Duration; 2] {
    let (began, mut longest) = (Instant::now(), Duration::ZERO);
    for seed in 0.. {
        let submitted = Instant::now();
        let is_local = evaluate(session, seed, 9).unwrap();
        longest = longest.max(submitted.elapsed());
        if holds(is_local) {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "batches are still evaluated elsewhere");
    }
    [began.elapsed(), longest]
}

/// Prints a measurement past the test runner, which captures what tests print.
fn print(what: &str, [time, longest]: [Duration; 2]) {
    let line = format!("MEASURED: {what}: after {time:.1?}, longest batch {longest:.1?}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

#[test]
fn batches_of_a_dead_server_are_evaluated_by_another_and_traffic_returns() {
    let [first, second] = [Running::start(loopback(3), Control::default(), None), Running::on_tcp()];
    let mut session = session(&args(&format!("{};{}", first.url(), second.url())), &Stop::never());
    evaluate_until(&mut session, |_| first.evaluated() > 100);
    let place = first.place.clone();
    drop(first);
    let stall = evaluate_until(&mut session, |_| second.evaluated() > 100);
    print("first of two servers dies; 100 batches of the second", stall);
    let first = Running::start(place, Control::default(), None);
    let back = evaluate_until(&mut session, |_| first.evaluated() > 0);
    print("first server is back; its first batch", back);
}

#[test]
fn batches_of_a_frozen_server_are_evaluated_by_another_after_the_deadline() {
    let [first, second] = [Running::on_tcp(), Running::on_tcp()];
    let mut session = session(&args(&format!("{};{}", first.url(), second.url())), &Stop::never());
    evaluate_until(&mut session, |_| first.evaluated() > 100);
    let frozen = first.freeze();
    let stall = evaluate_until(&mut session, |_| second.evaluated() > 100);
    print("first of two servers freezes; 100 batches of the second", stall);
    // After the test of the connection has failed, too.
    evaluate_until(&mut session, |_| second.evaluated() > 5000);
    drop(frozen);
    let before = first.evaluated();
    let back = evaluate_until(&mut session, |_| first.evaluated() > before + 10);
    print("frozen server goes on; ten of its batches", back);
}

#[test]
fn process_evaluates_while_no_server_is_up() {
    let server = Running::start(loopback(4), Control::default(), None);
    let mut session = session(&args(&format!("{};local", server.url())), &Stop::never());
    evaluate_until(&mut session, |is_local| !is_local);
    let place = server.place.clone();
    drop(server);
    evaluate_until(&mut session, |is_local| is_local);
    assert_eq!(evaluate(&mut session, 1, 9), Ok(true));
    let _server = Running::start(place, Control::default(), None);
    evaluate_until(&mut session, |is_local| !is_local);
}

#[test]
fn handles_of_a_client_have_priorities_of_their_own() {
    let server = Running::on_tcp();
    let client = Client::open(&patient(&server.url()), "test", Priority::Selfplay, &Stop::never()).unwrap().unwrap();
    let matches = client.with_priority(Priority::Interactive);
    for (client, count) in [(&client, 3), (&matches, 2)] {
        let model = ModelKey { run: "v1".parse().unwrap(), number: 1, digest: None };
        let mut session = RemoteSession::new(client, &model, shape(), Arc::new(|| panic!("no local tier")));
        (0..count).for_each(|seed| assert_eq!(evaluate(&mut session, seed, 9), Ok(false)));
    }
    assert_eq!((server.evaluated(), server.control.interactive.load(Ordering::Relaxed)), (5, 2));
}

#[test]
fn threads_share_the_connection_of_a_client() {
    let server = Running::on_tcp();
    let stop = Stop::never();
    let client = Client::open(&patient(&server.url()), "test", Priority::Interactive, &stop).unwrap().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let client = &client;
            scope.spawn(move || {
                let model = ModelKey { run: "v1".parse().unwrap(), number: 1 + thread, digest: None };
                let open: OpenLocal = Arc::new(|| panic!("no local tier"));
                let mut session = RemoteSession::new(client, &model, shape(), open);
                for seed in 0..200 {
                    assert_eq!(evaluate(&mut session, seed + thread as usize, 1 + seed % 20), Ok(false));
                }
            });
        }
    });
    assert_eq!(server.evaluated(), 800);
}
