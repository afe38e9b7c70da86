//! An S3 server for tests: `s3s-fs` on a folder of its own, on a free port of this machine, in the test's own process.
//!
//! It checks signatures, so a client needs the credentials that [`Server::options`] or [`Server::env`] hand out. It
//! puts one object at a time: `s3s-fs` checks whether an object exists and writes it in two steps, and a conditional
//! put must be one.
//!
//! `s3s-fs` makes buckets as they are written to; here there is one bucket, and others do not exist.
//!
//! A server can be made unreliable: see [`Server::with_faults`]. It can refuse everything for a reason, as a real one
//! would: see [`Refusal`]. It records requests: see [`Server::asked`].

mod refusal;
mod response;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, oneshot};

pub use refusal::Refusal;

use crate::faults::{Fault, FaultInjector};
use response::Answer;

const BUCKET: &str = "bucket";
const KEY: &str = "tester";
const SECRET: &str = "no-secret";

/// A running server, which stops and deletes its objects when it is dropped.
pub struct Server {
    folder: TempDir,
    address: SocketAddr,
    state: Arc<State>,
    _stop: oneshot::Sender<Infallible>,
}

/// What the owner of a server sees and changes while it runs.
#[derive(Default)]
struct State {
    away: AtomicBool,
    /// Requests that still meet the sleep of the client's machine.
    asleep: AtomicU8,
    refusal: std::sync::Mutex<Option<Refusal>>,
    asked: std::sync::Mutex<Vec<String>>,
}

/// What all connections share.
struct Desk {
    service: S3Service,
    faults: FaultInjector,
    state: Arc<State>,
    puts: Mutex<()>,
}

impl Server {
    /// The name of its threads.
    pub const THREADS: &str = "s3";

    /// Starts a server that serves requests.
    ///
    /// # Errors
    /// No port, thread or folder is available.
    pub fn start() -> io::Result<Server> {
        Server::with_faults(0, 0)
    }

    /// Starts a server on which one request in `one_in` meets a fault; `seed` decides which.
    ///
    /// # Errors
    /// As [`Server::start`].
    pub fn with_faults(one_in: u32, seed: u64) -> io::Result<Server> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join(BUCKET))?;
        let service = service(folder.path())?;
        let state = Arc::new(State::default());
        let faults = FaultInjector::new(Fault::HTTP, one_in, seed);
        let desk = Arc::new(Desk { service, faults, state: state.clone(), puts: Mutex::new(()) });
        let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            // So that a measurement can tell the work of the server from that of its clients.
            .thread_name(Server::THREADS)
            .thread_keep_alive(Duration::from_secs(3600))
            .build()?;
        let (stop, stopped) = oneshot::channel::<Infallible>();
        thread::Builder::new().name(Server::THREADS.to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = serve(listener, desk) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Server { folder, address, state, _stop: stop })
    }

    /// From now on no request gets a response, or every request again.
    pub fn set_away(&self, away: bool) {
        self.state.away.store(away, Ordering::Relaxed);
    }

    /// The client's machine sleeps while its next request is under way: the connection is lost, and the next try is
    /// refused for the age of its signature.
    pub fn sleep(&self) {
        self.state.asleep.store(2, Ordering::Relaxed);
    }

    /// From now on requests are refused for this reason, or served again.
    pub fn refuse(&self, refusal: Option<Refusal>) {
        *self.state.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
    }

    /// The requests since the last call, in order: `HEAD`, `GET`, `PUT` or `DELETE` and the path of an object, `LIST`
    /// and the beginning of the names that are listed, `POST` for a deletion. Tries after the first are among them.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.state.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The URL of a store on this server.
    pub fn url(&self) -> String {
        format!("s3://{BUCKET}/stores")
    }

    /// The options of a client in this process, as `object_store` names them.
    pub fn options(&self) -> Vec<(String, String)> {
        let pairs = [
            ("aws_endpoint", format!("http://{}", self.address)),
            ("aws_access_key_id", KEY.to_owned()),
            ("aws_secret_access_key", SECRET.to_owned()),
            ("aws_allow_http", "true".to_owned()),
        ];
        pairs.map(|(key, value)| (key.to_owned(), value)).into()
    }

    /// The same as variables of the environment, for other processes.
    pub fn env(&self) -> Vec<(String, String)> {
        self.options().into_iter().map(|(key, value)| (key.to_uppercase(), value)).collect()
    }

    /// The folder in which the objects of the URL lie, for inspection and damage.
    pub fn objects(&self) -> std::path::PathBuf {
        self.folder.path().join(BUCKET).join("stores")
    }
}

fn service(folder: &Path) -> io::Result<S3Service> {
    let files = s3s_fs::FileSystem::new(folder).map_err(|e| io::Error::other(format!("{e:?}")))?;
    let mut builder = S3ServiceBuilder::new(files);
    builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
    Ok(builder.build())
}

async fn serve(listener: std::net::TcpListener, desk: Arc<Desk>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // Without it an object waits for 40 ms, until the client has acknowledged the head of the response. Where it
        // cannot be set the client is gone.
        drop(stream.set_nodelay(true));
        tokio::spawn(converse(stream, desk.clone()));
    }
}

/// Serves one connection. That it breaks is the client's business.
async fn converse(stream: TcpStream, desk: Arc<Desk>) {
    let answer = service_fn(|request| desk.answer(request));
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await);
}

impl State {
    fn note(&self, method: &Method, uri: &Uri) {
        let list = uri.query().filter(|query| query.contains("list-type=")).map(|query| {
            let prefix = query.split('&').find_map(|part| part.strip_prefix("prefix=")).unwrap_or_default();
            format!("LIST {}", prefix.replace("%2F", "/"))
        });
        let path = uri.path().trim_start_matches('/').trim_start_matches(BUCKET).trim_start_matches('/');
        let line = list.unwrap_or_else(|| format!("{method} {path}"));
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }

    /// The response to a request during which the client's machine sleeps; an error closes the connection.
    fn sleep(&self, method: &Method) -> io::Result<Option<Answer>> {
        let asleep = self.asleep.load(Ordering::Relaxed);
        self.asleep.store(asleep.saturating_sub(1), Ordering::Relaxed);
        match asleep {
            0 => Ok(None),
            1 => Ok(Some(Refusal::ClockSkew.answer(method))),
            _ => Err(io::Error::other("asleep")),
        }
    }

    fn refusal(&self, method: &Method) -> Option<Refusal> {
        let refusal = *self.refusal.lock().unwrap_or_else(PoisonError::into_inner);
        refusal.filter(|refusal| refusal.meets(method))
    }
}

impl Desk {
    /// Serves a request; an error closes the connection without a response.
    async fn answer(&self, request: Request<Incoming>) -> io::Result<Answer> {
        self.state.note(request.method(), request.uri());
        if self.state.away.load(Ordering::Relaxed) {
            return Err(io::Error::other("away"));
        }
        if let Some(answer) = self.state.sleep(request.method())? {
            return Ok(answer);
        }
        if request.uri().path().split('/').nth(1) != Some(BUCKET) {
            return Ok(response::no_such_bucket());
        }
        match self.state.refusal(request.method()) {
            // Deletions are the only POST requests of this client.
            Some(Refusal::ReadOnly) if request.method() == Method::POST => {
                let body = request.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
                return Ok(refusal::not_deleted(&String::from_utf8_lossy(&body)));
            }
            Some(refused) => return Ok(refused.answer(request.method())),
            None => {}
        }
        let fault = self.faults.draw();
        match fault {
            Some(Fault::RequestLost) => return Err(io::Error::other("request lost")),
            Some(Fault::Refused) => return Ok(response::response(StatusCode::SERVICE_UNAVAILABLE, String::new())),
            Some(Fault::Delayed) => tokio::time::sleep(Fault::DELAY).await,
            Some(Fault::ResponseLost | Fault::ResponseCut) | None => {}
        }
        let alone = if request.method() == Method::PUT { Some(self.puts.lock().await) } else { None };
        let done = self.service.call(request.map(s3s::Body::from)).await;
        drop(alone);
        let answer = done.map_err(|e| io::Error::other(format!("{e:?}")))?;
        match fault {
            Some(Fault::ResponseLost) => Err(io::Error::other("response lost")),
            Some(Fault::ResponseCut) => response::cut(answer).await,
            _ => Ok(answer.map(BodyExt::boxed_unsync)),
        }
    }
}
