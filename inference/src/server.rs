//! The server: an address, its services, and the threads of the device.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use remote::proto::DESCRIPTORS;
use remote::proto::kserve::grpc_inference_service_server::GrpcInferenceServiceServer;
use remote::proto::v1::evaluation_server::EvaluationServer;
use remote::{FRAME, ServerIdentity, Token, server_tls};
use runtime::{Health, metrics};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tonic::service::InterceptorLayer;
use tonic::transport::server::ServerTlsConfig;
use tonic::{Request, Status};
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::HealthReporter;

use crate::cache::Cache;
use crate::error::ServerError;
use crate::kserve::KserveService;
use crate::limits::Limits;
use crate::listen::{Bound, IDLE, Incoming, Listen, SocketFile, connections};
use crate::provider::ModelProvider;
use crate::scheduler::Scheduler;
use crate::shared::{Shared, peer};
use crate::stream::EvaluationService;
use crate::worker::work;

/// Bytes that may be under way to the server on a stream, and on a connection.
const WINDOWS: [u32; 2] = [4 << 20, 16 << 20];
/// Time of a TLS handshake, as for pages. [`Limits::first_call`] bounds it, too.
const HANDSHAKE: Duration = Duration::from_secs(20);
/// Time between two looks at a drain.
const POLL: Duration = Duration::from_millis(5);

/// How a server serves.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where clients connect.
    pub listen: Listen,
    /// Certificate and key; none for plain connections.
    pub identity: Option<ServerIdentity>,
    /// The authority of the certificates that clients need.
    pub client_ca: Option<PathBuf>,
    /// The file of the token that clients need.
    pub token: Option<PathBuf>,
    /// Threads that evaluate batches.
    pub threads: usize,
    /// Threads that talk to clients.
    pub io_threads: usize,
    /// Bounds of requests.
    pub limits: Limits,
    /// Numbers that networks are computed with, for clients: int16, f32 or bf16.
    pub precision: String,
}

/// A server at work.
pub struct Server {
    runtime: Runtime,
    shared: Arc<Shared>,
    address: String,
    health: HealthReporter,
    stop: watch::Sender<bool>,
    served: tokio::task::JoinHandle<()>,
    workers: Vec<JoinHandle<()>>,
    socket: Option<SocketFile>,
    process: Health,
    /// Last, so that threads of the device end with a server that is dropped without [`Server::drain`].
    closing: Closing,
}

/// Ends the threads of the device.
struct Closing(Arc<Scheduler>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Options {
    /// Plain service of a port of this machine.
    pub fn local(listen: Listen, threads: usize) -> Options {
        Options {
            listen,
            identity: None,
            client_ca: None,
            token: None,
            threads,
            io_threads: 1,
            limits: Limits::default(),
            precision: String::new(),
        }
    }

    /// Whether other machines can use the server only with a certificate or a token.
    fn check(&self) -> Result<(), ServerError> {
        let address = self.listen.to_string();
        if self.client_ca.is_some() && self.identity.is_none() {
            return Err(ServerError::NoIdentity);
        }
        let is_protected = self.identity.is_some() && (self.client_ca.is_some() || self.token.is_some());
        match self.listen.is_local() {
            Ok(is_local) if is_local || is_protected => Ok(()),
            Ok(_) => Err(ServerError::Unprotected { address }),
            Err(source) => Err(ServerError::Bind { address, source }),
        }
    }
}

impl Server {
    /// Opens the address and begins to serve the models of a provider. Evaluated batches are progress for `process`.
    ///
    /// # Errors
    /// An address, a certificate or a token that cannot be used, or an address that any user could use.
    pub fn start(options: Options, provider: Arc<dyn ModelProvider>, process: Health) -> Result<Server, ServerError> {
        options.check()?;
        let Options { listen, identity, client_ca, token, threads, io_threads, limits, precision } = options;
        let tls = identity.as_ref().map(|identity| server_tls(identity, client_ca.as_deref())).transpose()?;
        let token = token.as_deref().map(Token::read).transpose()?;
        show_metrics();
        let address = |source| ServerError::Bind { address: listen.to_string(), source };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(io_threads)
            .thread_name("clients")
            .enable_all()
            .build()
            .map_err(ServerError::Threads)?;
        let bound = runtime.block_on(async { listen.bind() }).map_err(address)?;
        let url = url(&listen, &bound, tls.is_some());
        let socket = listen.socket();
        let cache = Cache::new(provider, limits.memory, limits.batch).with_stalled_after(limits.stalled_after);
        let cache = Arc::new(cache);
        let scheduler = Arc::new(Scheduler::new(limits.batch, limits.wait, limits.queue, threads));
        let workers = spawn(threads, &scheduler, &cache, limits.batch, &process)?;
        let closing = Closing(Arc::clone(&scheduler));
        let shared = Arc::new(Shared::new(limits, precision, cache, scheduler));
        let (stop, stopped) = watch::channel(false);
        let services = Services { transport: transport(&shared.limits, tls)?, token, shared: Arc::clone(&shared) };
        let incoming = connections(bound, &shared.limits);
        let (health, service) = tonic_health::server::health_reporter();
        runtime.block_on(async {
            health.set_serving::<EvaluationServer<EvaluationService>>().await;
            health.set_serving::<GrpcInferenceServiceServer<KserveService>>().await;
        });
        let served = runtime.spawn(serve(services, service, incoming, stopped));
        Ok(Server { runtime, shared, address: url, health, stop, served, workers, socket, process, closing })
    }

    /// The address for clients: `http://127.0.0.1:9470`, or `unix:///path`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Streams and calls under way.
    pub fn streams(&self) -> usize {
        self.shared.active.load(Ordering::Relaxed)
    }

    /// Models in memory.
    pub fn models(&self) -> usize {
        self.shared.cache.len()
    }

    /// Positions that wait for the device.
    pub fn waiting(&self) -> usize {
        self.shared.scheduler.load().positions
    }

    /// Adapts the credit of clients, and reports metrics and liveness. To be called several times a second.
    pub fn tick(&self) {
        self.shared.adapt_credit();
        let load = self.shared.scheduler.load();
        metrics::INFERENCE_QUEUE.set(load.positions as f64);
        metrics::INFERENCE_QUEUE_AGE.set(load.age.as_secs_f64());
        metrics::INFERENCE_STREAMS.set(self.shared.active.load(Ordering::Relaxed) as f64);
        metrics::INFERENCE_CREDIT.set(*self.shared.credit.borrow() as f64);
        // With nothing to do it is alive; with a device that hangs, or fails, it is not.
        if load.is_at_rest() && !self.shared.cache.is_failing() && !self.shared.cache.is_stalled() {
            self.process.heartbeat();
        }
    }

    /// Takes no more batches, finishes what waits and what is under way, and ends all streams; within a time at most.
    /// Returns whether every batch has its response.
    pub fn drain(self, within: Duration) -> bool {
        let Server { runtime, shared, health, stop, served, workers, socket, closing, .. } = self;
        let until = Instant::now() + within;
        runtime.block_on(async {
            health.set_service_status("", ServingStatus::NotServing).await;
            health.set_not_serving::<EvaluationServer<EvaluationService>>().await;
            health.set_not_serving::<GrpcInferenceServiceServer<KserveService>>().await;
        });
        shared.draining.send_replace(true);
        stop.send_replace(true);
        let is_idle = || shared.active.load(Ordering::Relaxed) == 0;
        while !is_idle() && Instant::now() < until {
            thread::sleep(POLL);
        }
        let is_answered = is_idle();
        drop(closing);
        if is_answered {
            workers.into_iter().for_each(|worker| drop(worker.join()));
        }
        // Streams that watch the health are open for as long as their clients want.
        drop(runtime.block_on(async { tokio::time::timeout(Duration::from_millis(100), served).await }));
        runtime.shutdown_timeout(Duration::from_millis(100));
        drop(socket);
        is_answered
    }
}

/// Counters are there from the beginning, so that an alert sees the first of what they count.
fn show_metrics() {
    let counters = [
        metrics::INFERENCE_POSITIONS,
        metrics::INFERENCE_INTERACTIVE,
        metrics::INFERENCE_BATCHES,
        metrics::INFERENCE_SLOTS,
        metrics::INFERENCE_BATCH_REQUESTS,
        metrics::INFERENCE_WAIT,
        metrics::INFERENCE_BUSY,
        metrics::INFERENCE_EXPIRED,
        metrics::INFERENCE_REJECTED,
        metrics::INFERENCE_ERRORS,
        metrics::INFERENCE_CONNECTIONS,
        metrics::INFERENCE_UNAUTHENTICATED,
        metrics::INFERENCE_LOADS,
        metrics::INFERENCE_LOAD_FAILURES,
        metrics::INFERENCE_EVICTIONS,
    ];
    counters.into_iter().for_each(|counter| counter.add(0));
    [metrics::INFERENCE_MODELS, metrics::INFERENCE_MODEL_BYTES].into_iter().for_each(|gauge| gauge.show());
}

fn spawn(
    threads: usize,
    scheduler: &Arc<Scheduler>,
    cache: &Arc<Cache>,
    batch: usize,
    process: &Health,
) -> Result<Vec<JoinHandle<()>>, ServerError> {
    let spawn = |_| {
        let (scheduler, cache, process) = (Arc::clone(scheduler), Arc::clone(cache), process.clone());
        let thread = thread::Builder::new().name("device".to_owned());
        thread.spawn(move || work(&scheduler, &cache, batch, &process)).map_err(ServerError::Threads)
    };
    (0..threads).map(spawn).collect()
}

fn url(listen: &Listen, bound: &Bound, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    match (listen, bound.address()) {
        (Listen::Unix(path), _) => format!("unix://{}", path.display()),
        (Listen::Tcp(_), Some(address)) => format!("{scheme}://{address}"),
        (Listen::Tcp(address), None) => format!("{scheme}://{address}"),
    }
}

/// The transport, with its bounds.
fn transport(limits: &Limits, tls: Option<ServerTlsConfig>) -> Result<tonic::transport::Server, ServerError> {
    let server = tonic::transport::Server::builder()
        .initial_stream_window_size(WINDOWS[0])
        .initial_connection_window_size(WINDOWS[1])
        .max_frame_size(FRAME)
        .max_concurrent_streams(limits.streams)
        .http2_keepalive_interval(Some(IDLE / 3))
        .http2_keepalive_timeout(Some(IDLE / 3));
    match tls {
        Some(tls) => server.tls_config(tls.timeout(HANDSHAKE)).map_err(ServerError::Tls),
        None => Ok(server),
    }
}

/// What [`serve`] serves.
struct Services {
    transport: tonic::transport::Server,
    token: Option<Token>,
    shared: Arc<Shared>,
}

/// Serves connections until it is to stop; all services are behind the token if there is one.
async fn serve(
    services: Services,
    health: HealthServer<impl tonic_health::pb::health_server::Health>,
    incoming: Incoming,
    mut stopped: watch::Receiver<bool>,
) {
    let Services { transport, token, shared } = services;
    let bytes = shared.limits.message_bytes;
    let evaluation = EvaluationServer::new(EvaluationService(Arc::clone(&shared))).max_decoding_message_size(bytes);
    let kserve = GrpcInferenceServiceServer::new(KserveService(shared)).max_decoding_message_size(bytes);
    let reflection = tonic_reflection::server::Builder::configure().register_encoded_file_descriptor_set(DESCRIPTORS);
    let reflection = reflection.build_v1().expect("the descriptors were compiled with this program");
    let guard = InterceptorLayer::new(move |request: Request<()>| check(request, token.as_ref()));
    let router = transport.layer(guard).add_service(health).add_service(evaluation).add_service(kserve);
    let until = async move { drop(stopped.wait_for(|stop| *stop).await) };
    let served = router.add_service(reflection).serve_with_incoming_shutdown(incoming, until).await;
    if let Err(error) = served {
        tracing::error!(%error, "gRPC server failed");
    }
}

/// Lets calls with the token pass, and connections with such calls live.
fn check(request: Request<()>, token: Option<&Token>) -> Result<Request<()>, Status> {
    match token {
        Some(token) if !token.is_in(request.metadata()) => {
            metrics::INFERENCE_UNAUTHENTICATED.add(1);
            Err(Status::unauthenticated("the call has not this server's token; give it with --inference-token-file"))
        }
        _ => {
            peer(&request)?.called();
            Ok(request)
        }
    }
}
