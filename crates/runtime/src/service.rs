//! Metrics, liveness and readiness over HTTP.

use std::convert::Infallible;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use clap::Args;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{Classify, Health, Stop, metrics, within};

/// Seconds of a week, the longest that a stage waits for itself.
const WEEK: u64 = 7 * 24 * 3600;

/// The default of `--stalled-after`.
pub const STALLED_AFTER: u64 = 600;

/// Options of the HTTP service and of shutdown.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Service")]
pub struct ServiceArgs {
    /// Address that serves /metrics (Prometheus), /healthz and /readyz, such as 0.0.0.0:9464 [default: none]
    ///
    /// /healthz returns 503 after --stalled-after seconds without progress. /readyz returns 503 before the work begins
    /// and during shutdown.
    #[arg(long, env = "TENGEN_METRICS_ADDR", value_name = "HOST:PORT", global = true)]
    pub metrics_addr: Option<String>,

    /// Seconds without progress after which /healthz returns 503
    #[arg(long, env = "TENGEN_STALLED_AFTER", default_value_t = STALLED_AFTER, value_name = "SECONDS", global = true, allow_negative_numbers = true, value_parser = within(1..=WEEK))]
    pub stalled_after: u64,

    /// Seconds to finish work after SIGTERM; then the process exits with code 4. Published objects stay whole
    #[arg(long, env = "TENGEN_DRAIN_SECONDS", default_value = "9", value_name = "SECONDS", global = true, allow_negative_numbers = true, value_parser = within(0..=WEEK))]
    pub drain_seconds: u64,
}

/// Connections served at the same time; others wait.
const CONNECTIONS: usize = 16;
/// What a shutdown keeps of its time for the end of the process.
const RESERVE: Duration = Duration::from_millis(500);
/// Idle connection timeout.
const PATIENCE: Duration = Duration::from_secs(5);

impl ServiceArgs {
    /// Begins to serve, and bounds how long the process takes to stop. `run` is the run that the work belongs to.
    ///
    /// # Errors
    /// An address where nothing can be served, which the operator must mend.
    pub fn start(&self, program: &'static str, run: Option<&str>, stop: &Stop) -> anyhow::Result<()> {
        stop.set_limit(Duration::from_secs(self.drain_seconds));
        let Some(address) = &self.metrics_addr else { return Ok(()) };
        let stalled_after = Duration::from_secs(self.stalled_after);
        let served = serve(address, program, run, stalled_after, stop.health().clone());
        let wrong = || format!("cannot serve metrics at {address}; name another --metrics-addr");
        let address = served.with_context(wrong).misconfigured()?;
        SERVING.store(true, Ordering::Relaxed);
        metrics::STORE_REFUSES.set(0);
        tracing::info!(%address, "serving /metrics, /healthz and /readyz");
        Ok(())
    }

    /// How long a shutdown may wait for work, so that the process ends within `--drain-seconds`.
    pub fn drain_time(&self) -> Duration {
        Duration::from_secs(self.drain_seconds).saturating_sub(RESERVE)
    }
}

/// Whether metrics are served.
static SERVING: AtomicBool = AtomicBool::new(false);

/// Whether this process serves metrics.
pub(crate) fn is_serving() -> bool {
    SERVING.load(Ordering::Relaxed)
}

/// What all connections share.
struct Desk {
    metrics: PrometheusHandle,
    health: Health,
    stalled_after: Duration,
    /// Idle connection timeout.
    patience: Duration,
}

fn serve(
    address: &str,
    program: &str,
    run: Option<&str>,
    stalled_after: Duration,
    health: Health,
) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(address)?;
    listener.set_nonblocking(true)?;
    let bound = listener.local_addr()?;
    let builder = PrometheusBuilder::new().add_global_label("program", program);
    let builder = run.into_iter().fold(builder, |builder, run| builder.add_global_label("run", run));
    let metrics = builder.install_recorder().map_err(|e| anyhow!("{e}"))?;
    metrics::describe();
    metrics::START.set_to_now();
    let desk = Arc::new(Desk { metrics, health, stalled_after, patience: PATIENCE });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("service".to_owned()).spawn(move || {
        let Err(error) = runtime.block_on(listen(listener, desk));
        tracing::error!(%error, "metrics server failed");
    })?;
    Ok(bound)
}

async fn listen(listener: TcpListener, desk: Arc<Desk>) -> io::Result<Infallible> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut fails = false;
    loop {
        // Before the connection: those that wait do so in the system's queue, and take no file that the store may need.
        let place = Arc::clone(&places).acquire_owned().await.map_err(io::Error::other)?;
        match listener.accept().await {
            Ok((stream, _)) => {
                fails = false;
                drop(tokio::spawn(converse(stream, desk.clone(), place)));
            }
            Err(error) => {
                // Too many open files, or a client that was gone again: that passes. Once for all that follow each
                // other.
                if !std::mem::replace(&mut fails, true) {
                    tracing::warn!(%error, "cannot accept connections");
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves one request. That the connection breaks is the client's business.
async fn converse(stream: TcpStream, desk: Arc<Desk>, _place: OwnedSemaphorePermit) {
    let answer = service_fn(|request| {
        let answer = desk.answer(&request);
        async { Ok::<_, Infallible>(answer) }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(desk.patience).keep_alive(false);
    drop(tokio::time::timeout(2 * desk.patience, server.serve_connection(TokioIo::new(stream), answer)).await);
}

impl Desk {
    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return text(StatusCode::METHOD_NOT_ALLOWED, "only GET\n".to_owned());
        }
        match request.uri().path() {
            "/metrics" => self.metrics(),
            "/healthz" => self.health(),
            "/readyz" if self.health.is_ready() => text(StatusCode::OK, "ready\n".to_owned()),
            "/readyz" => text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned()),
            _ => text(StatusCode::NOT_FOUND, "/metrics, /healthz, /readyz\n".to_owned()),
        }
    }

    fn metrics(&self) -> Response<Full<Bytes>> {
        metrics::IDLE.set(self.health.idle().as_secs_f64());
        if let Some(bytes) = resident() {
            metrics::MEMORY.set(bytes);
        }
        let mut answer = text(StatusCode::OK, self.metrics.render());
        let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, format);
        answer
    }

    fn health(&self) -> Response<Full<Bytes>> {
        let idle = self.health.idle();
        let code = if idle < self.stalled_after { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        text(code, format!("the work got on {:.1} seconds ago\n", idle.as_secs_f64()))
    }
}

fn text(code: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::from(body));
    *answer.status_mut() = code;
    answer
}

/// Bytes of memory that the process occupies, as Linux counts them (proc(5), VmRSS).
fn resident() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_wait_are_not_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        // No client of the test is idle for so long that another has its place.
        let patience = testing::PATIENCE;
        let desk = Desk { metrics, health: Health::default(), stalled_after: patience, patience };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        drop(runtime.spawn(listen(listener, Arc::new(desk))));
        let clients: Vec<_> = (0..2 * CONNECTIONS).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
        // The listener is a task, and so is each connection.
        let accepted = || runtime.metrics().num_alive_tasks() - 1;
        while accepted() < CONNECTIONS {
            runtime.block_on(tokio::task::yield_now());
        }
        (0..clients.len()).for_each(|_| runtime.block_on(tokio::task::yield_now()));
        assert_eq!(accepted(), CONNECTIONS);
    }
}
