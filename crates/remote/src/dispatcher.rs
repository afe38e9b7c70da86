//! The pool at work: carries out the actions of the state machine, and reports the outcome to it.
//!
//! Evaluator threads send [`Command`]s. Connections, each a task of its own, send [`Incoming`] events. One task owns
//! the state machine and everything that is outstanding, so that nothing is locked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until};

use crate::pool::{Action, Event, Failure, Outcome, Pool, Reply, Settings, State, Time};
use crate::report::Reporter;
use crate::transport::{Incoming, Link, Transport};
use crate::{Batch, Output, RemoteError};

/// How often metrics are noted while batches come and go.
const NOTED: Duration = Duration::from_millis(200);

/// A request of an evaluator.
pub(crate) enum Command {
    /// Have a batch evaluated.
    Evaluate(Job),
    /// Forget the jobs that are gone.
    Forget,
    /// From now on batches that no server has evaluated fail after this time.
    Patience(Duration),
}

/// A batch to evaluate.
pub(crate) struct Job {
    /// The batch; number and deadline are those of an attempt.
    pub(crate) batch: Batch,
    /// Tells models apart.
    pub(crate) model: u64,
    /// Numbers of a policy.
    pub(crate) moves: usize,
    /// Whether nothing waits for the response any more.
    pub(crate) gone: Arc<AtomicBool>,
    /// Takes the response.
    pub(crate) done: Box<dyn FnOnce(Finished) + Send>,
}

impl Job {
    fn positions(&self) -> u32 {
        u32::try_from(self.batch.positions).expect("a batch has fewer than 2^32 positions")
    }
}

/// The end of a job.
#[derive(Debug)]
pub(crate) enum Finished {
    Answered(Output),
    /// The caller evaluates the batch.
    Local,
    Failed(RemoteError),
}

/// The pool and everything that is outstanding.
pub(crate) struct Dispatcher<T> {
    pool: Pool,
    transport: T,
    began: Instant,
    commands: UnboundedReceiver<Command>,
    incoming: (UnboundedSender<Incoming>, UnboundedReceiver<Incoming>),
    links: Vec<Option<Link>>,
    jobs: HashMap<u64, Job>,
    reporter: Reporter,
    /// When metrics are due.
    due: Option<Time>,
    /// The largest batch that every server takes.
    largest: Arc<AtomicU32>,
}

impl<T: Transport> Dispatcher<T> {
    /// A dispatcher for servers, given by tier and name.
    pub(crate) fn new(
        servers: &[(usize, String)],
        settings: Settings,
        seed: u64,
        transport: T,
        commands: UnboundedReceiver<Command>,
        largest: Arc<AtomicU32>,
    ) -> Dispatcher<T> {
        let tiers: Vec<usize> = servers.iter().map(|(tier, _)| *tier).collect();
        Dispatcher {
            pool: Pool::new(&tiers, settings, seed),
            transport,
            began: Instant::now(),
            commands,
            incoming: unbounded_channel(),
            links: servers.iter().map(|_| None).collect(),
            jobs: HashMap::new(),
            reporter: Reporter::new(servers),
            due: None,
            largest,
        }
    }

    /// Works until all senders of commands are gone.
    pub(crate) async fn run(mut self) {
        self.pool.advance(self.now());
        loop {
            self.act(&mut None);
            let next = self.pool.next().into_iter().chain(self.due).min();
            let next = self.began + next.unwrap_or(Duration::from_secs(3600));
            // Whatever comes lets the pool see what time it is, so nothing waits for ever at the end.
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(command) => self.obey(command),
                    None => break,
                },
                Some(incoming) = self.incoming.1.recv() => self.take(incoming),
                () = sleep_until(next) => {
                    self.note();
                    self.pool.advance(self.now());
                    continue;
                }
            }
            self.due.get_or_insert(self.now() + NOTED);
            self.note();
        }
        self.reporter.conclude(self.pool.servers());
    }

    fn now(&self) -> Time {
        self.began.elapsed()
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Evaluate(job) => {
                // The number is known before the pool acts on it.
                let batch = self.pool.submit(self.now(), job.model, job.positions());
                self.jobs.insert(batch, job);
            }
            Command::Forget => {
                let gone = self.jobs.extract_if(|_, job| job.gone.load(Ordering::Relaxed));
                gone.for_each(|(batch, _)| self.pool.forget(batch));
            }
            Command::Patience(patience) => self.pool.set_patience(patience),
        }
    }

    fn take(&mut self, incoming: Incoming) {
        let Incoming { connection, mut event, mut output } = incoming;
        match &mut event {
            Event::Welcome { server, .. } => self.reporter.on_greeting(connection.server, server.clone()),
            Event::Gone { problem } => self.reporter.on_failure(connection.server, problem.clone()),
            Event::Answer { attempt, reply } if *reply == Reply::Evaluated => {
                if let Some(reason) = self.problem(*attempt, output.as_ref()) {
                    *reply = Reply::Refused { reason };
                } else {
                    self.reporter.on_evaluation(connection.server);
                }
            }
            Event::Answer {
                reply: Reply::Exhausted { reason, .. } | Reply::Later { reason, .. } | Reply::Refused { reason },
                ..
            } => self.reporter.on_refusal(connection.server, reason.clone()),
            Event::Answer { .. } | Event::Credit { .. } => {}
        }
        self.pool.handle(self.now(), connection, event);
        self.act(&mut output);
    }

    /// What is wrong with the numbers of a response.
    fn problem(&self, attempt: u64, output: Option<&Output>) -> Option<String> {
        let job = self.jobs.get(&self.pool.batch_of(attempt)?)?;
        let Batch { positions, answers, .. } = job.batch;
        output?.check(answers, positions * job.moves, positions).err().map(|error| format!("its response: {error}"))
    }

    /// Carries out what the pool requests. `output` is that of the response that was reported to it, if it was one.
    fn act(&mut self, output: &mut Option<Output>) {
        while let Some(action) = self.pool.action() {
            match action {
                Action::Connect(connection) => {
                    self.links[connection.server] = Some(self.transport.connect(connection, self.incoming.0.clone()));
                }
                Action::Close(connection) => self.links[connection.server] = None,
                Action::Send { connection, attempt, batch, deadline } => {
                    if let (Some(link), Some(job)) = (&self.links[connection.server], self.jobs.get(&batch)) {
                        // Cloning a batch copies no planes.
                        link.send(Batch { id: attempt, deadline, ..job.batch.clone() });
                    }
                }
                Action::Done { batch, outcome } => {
                    let output = output.take_if(|_| outcome == Outcome::Answered);
                    self.finish(batch, outcome, output);
                }
                Action::Changed { server, state } => self.change(server, state),
            }
        }
    }

    fn finish(&mut self, batch: u64, outcome: Outcome, output: Option<Output>) {
        let Some(job) = self.jobs.remove(&batch) else { return };
        (job.done)(match (outcome, output) {
            (Outcome::Answered, Some(output)) => Finished::Answered(output),
            (Outcome::Answered, None) => Finished::Failed(RemoteError::Ended),
            (Outcome::Local, _) => {
                self.reporter.local();
                Finished::Local
            }
            (Outcome::Failed(failure), _) => Finished::Failed(self.error(failure)),
        });
    }

    fn error(&self, failure: Failure) -> RemoteError {
        match failure {
            Failure::TooLarge { most } => RemoteError::TooLarge { most },
            Failure::NoServer { waited } => RemoteError::NoServer { waited, problems: self.reporter.problems() },
            Failure::Refused { server, reason } | Failure::Invalid { server, reason } => {
                RemoteError::Refused { server: self.reporter.name(server).to_owned(), reason }
            }
        }
    }

    fn change(&mut self, server: usize, state: State) {
        if matches!(state, State::Down { .. }) {
            self.links[server] = None;
        }
        self.reporter.changed(server, state, &self.pool.servers()[server]);
        self.due = Some(Time::ZERO);
    }

    /// Notes metrics, and the largest batch that every server takes.
    fn note(&mut self) {
        let now = self.now();
        if self.due.is_some_and(|due| due <= now) {
            self.reporter.note(self.pool.servers());
            self.due = None;
            let largest = self.pool.servers().iter().map(|server| server.most).min();
            self.largest.store(largest.unwrap_or(u32::MAX), Ordering::Relaxed);
        }
    }
}
