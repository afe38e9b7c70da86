//! Self-play with a network that costs nothing: what everything beside a network allows.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::RunConfig;
use go::Game;
use mcts::{Draw, EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};
use net::{Inputs, Shape};
use play::{Cached, EvaluatorStats, Instrumented, RandomModel};
use runtime::ResourceArgs;
use serde::Serialize;

use super::Bench;
use super::played::{Played, evaluations, on_threads, selfplay, total};
use super::subject::Subject;

/// Number of synthetic outputs. They fit into the nearest cache of a core.
const ANSWERS: u64 = 16;

/// One case.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "selfplay without network")]
pub(super) struct Case {
    board: usize,
    inputs: String,
    batch: usize,
    visits: u32,
    threads: usize,
    evaluations_per_s: f64,
    evaluations_per_s_per_core: f64,
    /// Time on a core that an evaluation takes for its planes, for the cache, and for all other things, in
    /// microseconds.
    planes_us: f64,
    cache_us: f64,
    search_us: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { board, inputs, batch, visits, threads, planes_us, cache_us, search_us, .. } = self;
        write!(f, "selfplay {board}x{board} without network, {inputs}, {visits} visits, ")?;
        write!(f, "{threads} threads with batches of {batch}: ")?;
        write!(f, "{:.0} evaluations/s on a core; ", self.evaluations_per_s_per_core)?;
        write!(
            f,
            "{planes_us:.1} µs for planes, {cache_us:.1} µs for the cache, {search_us:.1} µs for search and records"
        )
    }
}

/// What one thread did.
struct ThreadMeasurement {
    played: Played,
    /// Shares of the time that writing planes took, and submitting positions, which includes it.
    planes: f64,
    submitting: f64,
}

pub(super) fn measure(bench: &Bench<'_>, place: &ResourceArgs, subject: &Subject) -> anyhow::Result<Case> {
    let (config, shape) = (&subject.config, subject.weights.shape());
    let threads = place.threads();
    let measured = on_threads(threads, |thread| of_thread(bench, config, shape, place.cache(), thread))?;
    let rate = total(&measured.iter().map(|thread| evaluations(&thread.played)).collect::<Vec<_>>());
    let evaluation_us = 1e6 / rate.per_core();
    let part =
        |of: fn(&ThreadMeasurement) -> f64| evaluation_us * measured.iter().map(of).sum::<f64>() / threads as f64;
    let [planes_us, submitting_us] = [part(|thread| thread.planes), part(|thread| thread.submitting)];
    Ok(Case {
        board: shape.size.side(),
        inputs: shape.inputs.to_string(),
        batch: config.selfplay.batch,
        visits: config.at(0).search.visits,
        threads,
        evaluations_per_s: measured.iter().map(|thread| evaluations(&thread.played).per_second()).sum(),
        evaluations_per_s_per_core: rate.per_core(),
        planes_us,
        cache_us: submitting_us - planes_us,
        search_us: evaluation_us - submitting_us,
    })
}

fn of_thread(
    bench: &Bench<'_>,
    config: &RunConfig,
    shape: Shape,
    cache: usize,
    thread: usize,
) -> anyhow::Result<ThreadMeasurement> {
    let stats = Arc::new(EvaluatorStats::default());
    let [planes, submitting] = [(); 2].map(|()| Rc::new(Cell::new(Duration::ZERO)));
    let network = SubmitClock { inner: NullNetwork::new(shape, config.selfplay.batch), spent: Rc::clone(&planes) };
    let cached = SubmitClock { inner: Cached::new(network, shape.size, cache), spent: Rc::clone(&submitting) };
    let mut evaluator = Instrumented::new(cached, Arc::clone(&stats));
    let began = Instant::now();
    let played = selfplay(&mut evaluator, &stats, config, thread, bench.time, bench.stop)?;
    let all = began.elapsed();
    let [planes, submitting] = [planes, submitting].map(|spent| spent.get().div_duration_f64(all));
    Ok(ThreadMeasurement { played, planes, submitting })
}

/// Writes the planes of positions as a network does, and gives each one of a few synthetic outputs.
struct NullNetwork {
    inputs: Inputs,
    /// The planes of a batch.
    planes: Vec<u8>,
    answers: Vec<Answer>,
    tickets: Tickets,
    capacity: usize,
    submitted: Vec<usize>,
    flushed: Vec<usize>,
}

struct Answer {
    policy: Vec<f32>,
    value: Value,
}

impl NullNetwork {
    fn new(shape: Shape, capacity: usize) -> NullNetwork {
        let game = Game::new(shape.size);
        NullNetwork {
            inputs: shape.inputs,
            planes: vec![0; capacity * shape.inputs.len(shape.size)],
            answers: (0..ANSWERS).map(|bits| Answer::new(&game, bits)).collect(),
            tickets: Tickets::default(),
            capacity,
            submitted: Vec::with_capacity(capacity),
            flushed: Vec::with_capacity(capacity),
        }
    }
}

impl Answer {
    /// An output of the model `random`, with a policy that prefers some moves as a trained network does.
    fn new(game: &Game, bits: u64) -> Answer {
        let mut random = RandomModel::new();
        let ticket = random.submit(Request { game, komi: 0.0, draw: Draw::new(bits) });
        random.flush().expect("a built-in model evaluates every position");
        let Evaluation { policy, value } = random.get(ticket);
        let mut policy: Vec<f32> = policy.iter().map(|p| p.powi(5)).collect();
        let sum: f32 = policy.iter().sum();
        policy.iter_mut().for_each(|p| *p /= sum);
        Answer { policy, value }
    }
}

impl Evaluator for NullNetwork {
    fn submit(&mut self, Request { game, komi, draw }: Request<'_>) -> Ticket {
        let len = self.inputs.len(game.size());
        let place = self.submitted.len() % self.capacity;
        self.inputs.of_game(game, komi, draw.symmetry(), &mut self.planes[place * len..][..len]);
        self.submitted.push((game.position().hash() % ANSWERS) as usize);
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        std::mem::swap(&mut self.submitted, &mut self.flushed);
        self.submitted.clear();
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        let Answer { policy, value } = &self.answers[self.flushed[self.tickets.index(ticket)]];
        Evaluation { policy, value: *value }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

/// An evaluator with a clock that runs while positions are submitted, and only then; `Instrumented` has that of
/// flushes.
struct SubmitClock<E> {
    inner: E,
    spent: Rc<Cell<Duration>>,
}

impl<E: Evaluator> Evaluator for SubmitClock<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let began = Instant::now();
        let ticket = self.inner.submit(request);
        self.spent.set(self.spent.get() + began.elapsed());
        ticket
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.inner.flush()
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.inner.is_ready(ticket)
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        self.inner.get(ticket)
    }

    fn pending(&self) -> usize {
        self.inner.pending()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}
