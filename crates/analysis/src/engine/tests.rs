use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{self, Receiver, Sender};

use config::Preset;
use go::{Game, Move, Size};
use mcts::{LARGEST_TREE, Settings, Value};
use play::{RandomModel, Uniform};
use testing::{FlushedBy, Stub};

use super::*;
use crate::Analysis;

/// A wait for what happens in any case.
const LONG: Duration = Duration::from_secs(24 * 3600);

fn options(threads: usize) -> AnalysisOptions {
    let config = Preset::Minigo.config();
    let settings = Settings::new(&config.search, &config.game);
    AnalysisOptions { settings, leaves: 4, threads, positions: 4, tree: LARGEST_TREE, seed: 1 }
}

fn game(moves: usize) -> Arc<Game> {
    let mut game = Game::new(Size::new(5).expect("a size"));
    for index in 0..moves {
        game.play(Move::from_index(game.size(), 2 * index).expect("a move")).expect("a legal move");
    }
    Arc::new(game)
}

fn task(turn: usize, visits: u32) -> Task {
    Task::new(game(6), turn, 7.5, visits)
}

fn tell(name: usize, to: &Sender<(usize, Event)>) -> Listener {
    let to = to.clone();
    Box::new(move |event| to.send((name, event)).expect("the test listens"))
}

fn done(event: Event) -> Analysis {
    match event {
        Event::Done(analysis) => analysis,
        other => panic!("not done: {other:?}"),
    }
}

/// The analyses of all turns of a game.
fn analyse(engine: &Engine, visits: u32) -> Vec<Analysis> {
    let (sender, events) = mpsc::channel();
    for turn in 0..=6 {
        engine.submit(task(turn, visits), tell(turn, &sender));
    }
    let mut found: Vec<(usize, Analysis)> = events.iter().take(7).map(|(turn, event)| (turn, done(event))).collect();
    found.sort_by_key(|(turn, _)| *turn);
    found.into_iter().map(|(_, analysis)| analysis).collect()
}

#[test]
fn analyses_do_not_depend_on_threads_or_neighbours() {
    let one = Engine::start(options(1), || Box::new(RandomModel::new())).expect("threads");
    let found = analyse(&one, 300);
    assert_eq!(found.iter().map(|analysis| analysis.visits).collect::<Vec<_>>(), [300; 7]);
    assert_eq!(found.iter().map(|analysis| analysis.turn).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert!(found[0] != found[1] && found[3].moves.len() > 2);
    let three = Engine::start(options(3), || Box::new(RandomModel::new())).expect("threads");
    assert_eq!(analyse(&three, 300), found);
    let alone = { AnalysisOptions { positions: 1, ..options(1) } };
    let alone = Engine::start(alone, || Box::new(RandomModel::new())).expect("threads");
    assert_eq!(analyse(&alone, 300), found);
}

/// Evaluates nothing before it is allowed to, and says its number and which boards it is shown.
fn gate(number: usize, shown: Sender<(usize, usize)>, open: Receiver<()>) -> impl Evaluator + Send {
    let flat = Stub::new(move |request| {
        shown.send((number, request.game.turn())).expect("the test listens");
        let moves = request.game.size().moves();
        (vec![1.0 / moves as f32; moves], Value::ZERO)
    });
    FlushedBy::new(flat, move |flat, _| {
        open.recv().map_err(|_| "the gate is gone")?;
        flat.flush()
    })
}

/// An engine whose evaluations the test releases one batch at a time, for each thread by itself.
fn gates(threads: usize) -> (Engine, Receiver<(usize, usize)>, Vec<Sender<()>>) {
    let (shown, see) = mpsc::channel();
    let (mut gates, mut keys) = (Vec::new(), Vec::new());
    for number in 0..threads {
        let (key, open) = mpsc::channel();
        gates.push(gate(number, shown.clone(), open));
        keys.push(key);
    }
    let gates = Mutex::new(gates);
    let make = move || -> Box<dyn Evaluator> {
        match gates.lock().expect("no panic").pop() {
            Some(gate) => Box::new(gate),
            None => Box::new(Uniform::new()),
        }
    };
    (Engine::start(options(threads), make).expect("threads"), see, keys)
}

/// The same of one thread.
fn gated() -> (Engine, Receiver<(usize, usize)>, Sender<()>) {
    let (engine, shown, mut keys) = gates(1);
    (engine, shown, keys.remove(0))
}

#[test]
fn search_ends_before_its_visits_where_the_tree_is_as_large_as_it_may_be() {
    let engine = Engine::start(AnalysisOptions { tree: 100_000, ..options(1) }, || Box::new(Uniform::new()));
    let found = analyse(&engine.expect("threads"), 100_000);
    assert!(found.iter().all(|analysis| (100..10_000).contains(&analysis.visits)), "{found:?}");
}

#[test]
fn urgent_task_interrupts_others() {
    let (engine, shown, open) = gated();
    let (sender, events) = mpsc::channel();
    engine.submit(task(0, 40), tell(0, &sender));
    assert_eq!(shown.recv(), Ok((0, 0)), "the first search begins");
    engine.submit(Task { priority: 5, ..task(6, 30) }, tell(6, &sender));
    engine.submit(Task { priority: -5, ..task(3, 30) }, tell(3, &sender));
    (0..1000).for_each(|_| open.send(()).expect("the gate is there"));
    let order: Vec<usize> = events.iter().take(3).map(|(turn, event)| (turn, done(event)).0).collect();
    assert_eq!(order, [6, 0, 3]);
}

/// A thread that took it would pause it, and nothing would give it back.
#[test]
fn less_urgent_task_waits_for_a_thread_that_can_search_it() {
    let (engine, shown, keys) = gates(2);
    let (sender, events) = mpsc::channel();
    engine.submit(Task { priority: 1, ..task(0, u32::MAX) }, tell(0, &sender));
    let (urgent, _) = shown.recv().expect("the urgent search begins");
    let other = 1 - urgent;
    engine.submit(task(1, 40), tell(1, &sender));
    assert_eq!(shown.recv(), Ok((other, 1)));
    engine.submit(task(2, 40), tell(2, &sender));
    keys[urgent].send(()).expect("the gate is there");
    assert_eq!(shown.recv(), Ok((urgent, 1)), "a leaf below the root");
    assert!(engine.shared.lock().queue.has_waiting(), "the thread of the urgent search took another task");
    (0..1000).for_each(|_| keys[other].send(()).expect("the gate is there"));
    let mut found: Vec<usize> = events.iter().take(2).map(|(turn, event)| (turn, done(event)).0).collect();
    found.sort_unstable();
    assert_eq!(found, [1, 2]);
    drop(keys);
    assert!(matches!(events.recv(), Ok((0, Event::Failed(_)))));
}

#[test]
fn urgent_task_interrupts_nothing_while_a_thread_is_idle() {
    let (engine, shown, keys) = gates(2);
    let (sender, events) = mpsc::channel();
    engine.submit(task(0, 40), tell(0, &sender));
    let (busy, _) = shown.recv().expect("the first search begins");
    while engine.shared.lock().idle == 0 {
        thread::yield_now();
    }
    // The idle thread is not notified at once.
    {
        let mut state = engine.shared.lock();
        state.queue.add(Task { priority: 1, ..task(6, 40) }, tell(6, &sender));
        state.queue.add(task(3, 40), tell(3, &sender));
    }
    keys[busy].send(()).expect("the gate is there");
    let first = shown.recv().expect("a position");
    assert_ne!(first, (busy, 6), "the first search was interrupted");
    engine.shared.changed.notify_one();
    let mut begun = vec![first];
    while !begun.contains(&(1 - busy, 6)) {
        begun.push(shown.recv().expect("a position"));
    }
    for key in &keys {
        (0..1000).for_each(|_| key.send(()).expect("the gate is there"));
    }
    let mut found: Vec<usize> = events.iter().take(3).map(|(turn, event)| (turn, done(event)).0).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 3, 6]);
}

#[test]
fn search_that_is_late_has_a_best_move() {
    let engine = Engine::start(options(1), || Box::new(Uniform::new())).expect("threads");
    let (sender, events) = mpsc::channel();
    engine.submit(Task { time: Some(Duration::ZERO), ..task(0, 40) }, tell(0, &sender));
    let found = done(events.recv().expect("an event").1);
    assert!((1..40).contains(&found.visits) && !found.moves.is_empty(), "{found:?}");
}

#[test]
fn stopped_tasks_end_with_what_is_known() {
    let (engine, shown, open) = gated();
    let (sender, events) = mpsc::channel();
    let first = engine.submit(task(0, u32::MAX), tell(0, &sender));
    assert_eq!(shown.recv(), Ok((0, 0)));
    let second = engine.submit(Task { priority: -1, ..task(1, 10) }, tell(1, &sender));
    engine.stop(second);
    assert!(matches!(events.recv(), Ok((1, Event::Nothing))));
    open.send(()).expect("the gate is there");
    assert_eq!(shown.recv(), Ok((0, 1)), "a leaf below the root");
    assert!(!engine.wait_for(Duration::ZERO), "the first search is not over");
    engine.stop(first);
    open.send(()).expect("the gate is there");
    let (turn, event) = events.recv().expect("an event");
    let known = done(event);
    assert!(turn == 0 && known.visits >= 1 && known.visits <= 8, "{known:?}");
    assert!(engine.wait_for(LONG));
}

#[test]
fn progress_is_reported_until_the_end() {
    let engine = Engine::start(options(1), || Box::new(Uniform::new())).expect("threads");
    let (sender, events) = mpsc::channel();
    let progress = Some([Duration::ZERO; 2]);
    engine.submit(Task { progress, ..task(0, 500) }, tell(0, &sender));
    drop(sender);
    let said: Vec<Event> = events.iter().map(|(_, event)| event).collect();
    let (last, before) = said.split_last().expect("events");
    assert!(matches!(last, Event::Done(analysis) if analysis.visits == 500));
    let visits: Vec<u32> = before
        .iter()
        .map(|event| match event {
            Event::Progress(analysis) => analysis.visits,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(visits.len() > 3 && visits.is_sorted(), "{visits:?}");
}

#[test]
fn failed_evaluation_ends_its_task_only() {
    let (engine, shown, open) = gated();
    let (sender, events) = mpsc::channel();
    engine.submit(task(0, 40), tell(0, &sender));
    assert_eq!(shown.recv(), Ok((0, 0)));
    drop(open);
    assert!(matches!(events.recv(), Ok((0, Event::Failed(error))) if error.to_string() == "the gate is gone"));
    // The next evaluator has no gate.
    assert_eq!(analyse(&engine, 20).len(), 7);
}

/// A server that evaluates the roots and a batch of leaves, and is away then until no search waits for it.
fn outage(waits: Sender<()>) -> impl Evaluator {
    let mut batches = 0;
    FlushedBy::new(Uniform::new(), move |model, stop| {
        batches += 1;
        model.flush()?;
        if batches != 3 {
            return Ok(());
        }
        waits.send(()).expect("the test listens");
        while !stop() {
            thread::yield_now();
        }
        Err("no server responds".into())
    })
}

#[test]
fn stopped_task_waits_for_no_server_and_holds_up_no_other() {
    let ((waits, waiting), (begin, begun)) = (mpsc::channel(), mpsc::channel::<()>());
    let (begun, opened) = (Mutex::new(begun), Arc::<AtomicUsize>::default());
    let count = Arc::clone(&opened);
    let make = move || -> Box<dyn Evaluator> {
        if count.fetch_add(1, Ordering::Relaxed) > 0 {
            return Box::new(Uniform::new());
        }
        // Both tasks are there by then.
        begun.lock().expect("no panic").recv().expect("the test begins");
        Box::new(outage(waits.clone()))
    };
    let engine = Engine::start(options(1), make).expect("threads");
    let (sender, events) = mpsc::channel();
    let [first, second] = [0, 1].map(|turn| engine.submit(task(turn, 300), tell(turn, &sender)));
    begin.send(()).expect("the thread begins");
    waiting.recv().expect("the server is away");
    engine.stop(first);
    let (turn, event) = events.recv().expect("an event");
    let known = done(event);
    assert!(turn == 0 && (1..300).contains(&known.visits), "{known:?}");
    assert!(!engine.wait_for(Duration::ZERO), "the second still waits");
    engine.stop(second);
    let (turn, event) = events.recv().expect("an event");
    assert!(turn == 1 && done(event).visits >= 1);
    assert!(engine.wait_for(LONG));
    assert_eq!(analyse(&engine, 20).len(), 7);
    assert_eq!(opened.load(Ordering::Relaxed), 1, "the same evaluator goes on");
}

#[test]
fn caches_are_cleared_while_positions_are_searched() {
    let (engine, shown, open) = gated();
    let (sender, events) = mpsc::channel();
    engine.submit(task(0, 40), tell(0, &sender));
    assert_eq!(shown.recv(), Ok((0, 0)));
    engine.clear_caches();
    open.send(()).expect("the gate is there");
    // The rest is evaluated without the gate.
    assert_eq!(done(events.recv().expect("an event").1).visits, 40);
}
