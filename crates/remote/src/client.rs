//! The handle of the pool: what evaluators of all threads have their batches evaluated with.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use runtime::{InferenceArgs, Stop};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tonic::transport::Endpoint;

use crate::address::Tiers;
use crate::connection::{Announced, Connecting, Grpc, tuned};
use crate::credentials::Credentials;
use crate::dispatcher::{Command, Dispatcher, Job};
use crate::pool::Settings;
use crate::proto::v1;
use crate::transport::Transport;
use crate::{Encoding, PROTOCOL, Priority, RemoteError};

/// The patience of a process that is to stop: it has to be done within its drain time.
const HURRY: Duration = Duration::from_secs(1);
/// The part of the deadline after which a batch goes to another server: so it is evaluated there at the deadline.
const AHEAD: f64 = 15.0 / 16.0;

/// The inference servers of a process: connections that all of its threads share. Clones are the same pool.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    priority: Priority,
}

struct Shared {
    /// `None` once the last handle is dropped.
    commands: Option<UnboundedSender<Command>>,
    thread: Option<JoinHandle<()>>,
    largest: Arc<AtomicU32>,
    encoding: Encoding,
    tiers: Tiers,
    announced: Arc<Announced>,
    stop: Stop,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.shared.tiers).field(&self.priority).finish()
    }
}

impl Client {
    /// Begins to connect to the servers that the arguments name; `None` where they name none. `client` is the name that
    /// servers log.
    ///
    /// # Errors
    /// Arguments that cannot be used. Servers that cannot be reached are no error.
    pub fn open(
        args: &InferenceArgs,
        client: &str,
        priority: Priority,
        stop: &Stop,
    ) -> Result<Option<Client>, RemoteError> {
        let Some(tiers) = args.inference.as_ref().map(|text| text.parse::<Tiers>()).transpose()? else {
            return Ok(None);
        };
        let settings = settings(Duration::from_millis(args.inference_deadline), tiers.local);
        let credentials = Credentials::read(args, &tiers)?;
        let tuned = |endpoint| tuned(endpoint, settings.connect);
        let endpoints = tiers.addresses().map(|address| credentials.endpoint(address).map(tuned));
        let endpoints: Vec<Endpoint> = endpoints.collect::<Result<_, _>>()?;
        let hello = v1::Hello { protocol: PROTOCOL, client: client.to_owned() };
        let connect = move |server: usize| -> Connecting {
            let endpoint = endpoints[server].clone();
            Box::pin(async move { endpoint.connect().await })
        };
        let announced = Arc::<Announced>::default();
        let transport = Grpc::new(connect, hello, credentials.token, Arc::clone(&announced));
        let encoding = &args.inference_encoding;
        let encoding = Encoding::of_name(encoding).ok_or_else(|| RemoteError::Encoding(encoding.clone()))?;
        let shared = Client::start(tiers, settings, encoding, transport, announced, stop)?;
        Ok(Some(Client { shared: Arc::new(shared), priority }))
    }

    fn start(
        tiers: Tiers,
        settings: Settings,
        encoding: Encoding,
        transport: impl Transport,
        announced: Arc<Announced>,
        stop: &Stop,
    ) -> Result<Shared, RemoteError> {
        let (commands, received) = unbounded_channel();
        let largest = Arc::new(AtomicU32::new(u32::MAX));
        let servers: Vec<_> = tiers.servers.iter().map(|(tier, address)| (*tier, address.to_string())).collect();
        // Chance spreads the clients of a server; nothing that is computed depends on it.
        let seed = RandomState::new().hash_one(0);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(RemoteError::Thread)?;
        let seen = Arc::clone(&largest);
        let work = move || {
            runtime.block_on(async {
                Dispatcher::new(&servers, settings, seed, transport, received, seen).run().await;
            });
            // Dropped, it would wait for a name that is still being looked up.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("inference".to_owned()).spawn(work).map_err(RemoteError::Thread)?;
        let deadline = settings.deadline.div_f64(AHEAD);
        tracing::info!(servers = %tiers, ?deadline, "positions are evaluated by inference servers");
        let (commands, thread, stop) = (Some(commands), Some(thread), stop.clone());
        Ok(Shared { commands, thread, largest, encoding, tiers, announced, stop })
    }

    /// The same pool for positions of another priority.
    pub fn with_priority(&self, priority: Priority) -> Client {
        Client { shared: Arc::clone(&self.shared), priority }
    }

    /// Whose positions are evaluated.
    pub(crate) fn priority(&self) -> Priority {
        self.priority
    }

    /// Whether the network of this process evaluates what no server can.
    pub fn has_local(&self) -> bool {
        self.shared.tiers.local
    }

    /// The largest batch that all known servers take.
    pub(crate) fn largest(&self) -> usize {
        self.shared.largest.load(Ordering::Relaxed).max(1) as usize
    }

    /// The numbers that the first server computes with that responds (`int16`, `f32` or `bf16`), and the number format
    /// of responses. It is always the same. `None` when no server responds within a time.
    pub fn arithmetic(&self, time: Duration) -> Option<(Arc<str>, Encoding)> {
        Some((self.shared.announced.wait(time)?, self.encoding()))
    }

    /// How servers write their responses.
    pub(crate) fn encoding(&self) -> Encoding {
        self.shared.encoding
    }

    /// Has a batch evaluated. Its end comes back over [`Job::done`], or never when the pool has ended.
    pub(crate) fn submit(&self, job: Job) {
        self.command(Command::Evaluate(job));
    }

    /// Takes back the batches whose [`Job::gone`] says that nothing waits for them any more.
    pub(crate) fn forget_gone(&self) {
        self.command(Command::Forget);
    }

    /// Whether the process is to stop. Then batches do not wait long any more for a server, or for its response.
    pub(crate) fn is_stopping(&self) -> bool {
        let stopping = self.shared.stop.requested();
        if stopping {
            self.command(Command::Patience(HURRY));
        }
        stopping
    }

    fn command(&self, command: Command) {
        if let Some(commands) = &self.shared.commands {
            // Without a receiver the sender of the job's answer is dropped, which the caller notices.
            let _ended = commands.send(command);
        }
    }
}

/// The times of a pool whose batches have this deadline. A long one is for a slow link, on which a connection takes
/// three round trips with TLS, the greeting included, or for slow servers.
fn settings(deadline: Duration, local: bool) -> Settings {
    let Settings { connect, give_up: [silent, lost], patience, .. } = Settings::DEFAULT;
    let [connect, silent] = [connect, silent].map(|time| time.max(2 * deadline));
    // In the proportion of the defaults.
    let (lost, patience) = (lost.max(16 * deadline / 5), patience.max(4 * deadline));
    let deadline = deadline.mul_f64(AHEAD);
    Settings { deadline, connect, give_up: [silent, lost], patience, local, ..Settings::DEFAULT }
}

impl Drop for Shared {
    /// Waits for the thread, which logs what the servers did.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use testing::PATIENCE;

    use super::*;

    /// As by the lookup of a name, which cannot be interrupted.
    #[test]
    fn client_ends_while_a_connection_blocks_a_thread() {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let (began, blocked) = channel();
        let connect = {
            let lock = Arc::clone(&lock);
            move |_: usize| -> Connecting {
                let (lock, began) = (Arc::clone(&lock), began.clone());
                tokio::task::spawn_blocking(move || {
                    let _over = began.send(());
                    drop(lock.lock());
                });
                Box::pin(pending())
            }
        };
        let announced = Arc::<Announced>::default();
        let transport = Grpc::new(connect, v1::Hello::default(), None, Arc::clone(&announced));
        let (tiers, settings) = ("http://127.0.0.1:1".parse().unwrap(), settings(Duration::from_millis(250), false));
        let shared = Client::start(tiers, settings, Encoding::F32, transport, announced, &Stop::never()).unwrap();
        blocked.recv().unwrap();
        let (sender, ended) = channel();
        thread::spawn(move || {
            drop(shared);
            let _over = sender.send(());
        });
        ended.recv_timeout(PATIENCE).expect("the client does not wait for the thread");
        drop(held);
    }

    #[test]
    fn connections_with_a_long_deadline_have_longer() {
        for (deadline, connect, silent, lost, patience) in [
            (1, 500, 60_000, 240_000, 300_000),
            (250, 500, 60_000, 240_000, 300_000),
            (251, 502, 60_000, 240_000, 300_000),
            (2000, 4000, 60_000, 240_000, 300_000),
            (40_000, 80_000, 80_000, 240_000, 300_000),
            (600_000, 1_200_000, 1_200_000, 1_920_000, 2_400_000),
        ] {
            let settings = settings(Duration::from_millis(deadline), false);
            let [connect, silent, lost, patience] = [connect, silent, lost, patience].map(Duration::from_millis);
            assert_eq!((settings.connect, settings.give_up), (connect, [silent, lost]), "{deadline} ms");
            assert!(settings.patience == patience && settings.deadline < lost, "{deadline} ms");
        }
    }
}
