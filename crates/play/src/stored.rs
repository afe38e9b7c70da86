//! An evaluator with a cache that outlives the process.

use std::ops::Range;
use std::sync::Arc;

use evalcache::{Key, KomiCoding, Symmetries, View};
use go::{Color, MAX_MOVES, Symmetry};
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Value};

use crate::batches::{Batches, Ready};

/// Evaluations of one model that are kept somewhere, for any number of threads. Each lends its calls a buffer, so that
/// they allocate nothing once it is large enough.
pub trait EvaluationStore: Send + Sync {
    /// In which symmetry positions are evaluated.
    fn symmetries(&self) -> Symmetries;

    /// Whether the model sees komi.
    fn komi(&self) -> KomiCoding;

    /// The evaluation of a position in its canonical view: the policy in a buffer, and the value for the player to
    /// move. `None`, and any policy, where there is none or it cannot be read.
    fn get(&self, key: Key, view: &View, policy: &mut [f32], buffer: &mut Vec<u8>) -> Option<f32>;

    /// Keeps an evaluation, and rounds it to the later result of [`EvaluationStore::get`]: the policy in its place, the
    /// value as the result.
    fn put(&self, key: Key, view: &View, policy: &mut [f32], value: f32, buffer: &mut Vec<u8>) -> f32;
}

/// Reads a store of evaluations before an evaluator is used, and keeps the evaluator's output there.
///
/// Requests are equal when the network's input is, up to a symmetry unless the store keeps evaluations as they are
/// [requested](Symmetries::Requested). An evaluation depends on the request and on how the store keeps it, and not on
/// whether it was there: an evaluation that is stored in steps is returned in steps the first time, too. With planes of
/// ladders it may also depend on which image of the position was evaluated first: see [`Key`].
///
/// The policies of a batch are kept until the flush after next.
pub struct Stored<E> {
    inner: E,
    store: Arc<dyn EvaluationStore>,
    batches: Batches<Entry>,
    /// Positions that were submitted to the evaluator since the last flush.
    misses: Vec<Miss>,
    /// Their tickets.
    tickets: Vec<Ticket>,
    buffer: Vec<u8>,
}

enum Entry {
    Ready(Ready),
    Miss,
}

/// A position that was submitted to the evaluator.
struct Miss {
    /// The number of its entry.
    entry: usize,
    /// Which tickets are its own: one, or one for each symmetry.
    tickets: Range<usize>,
    key: Key,
    view: View,
    to_move: Color,
    /// From the game to the view.
    symmetry: Symmetry,
}

impl<E: Evaluator> Stored<E> {
    /// An evaluator that asks `store` first.
    pub fn new(inner: E, store: Arc<dyn EvaluationStore>) -> Stored<E> {
        Stored { inner, store, batches: Batches::new(), misses: Vec::new(), tickets: Vec::new(), buffer: Vec::new() }
    }

    /// The key of a request, and the symmetry that leads to its view.
    fn key(&self, request: &Request<'_>) -> (Symmetry, Key) {
        let komi = (self.store.komi() == KomiCoding::Seen).then_some(request.komi);
        match self.store.symmetries() {
            Symmetries::Requested => {
                let symmetry = request.draw.symmetry();
                (symmetry, Key::requested(request.game, komi, symmetry))
            }
            Symmetries::Canonical | Symmetries::Mean8 => Key::canonical(request.game, komi),
        }
    }

    /// Submits a position to the evaluator, in one symmetry or in all, and returns which tickets stand for it.
    fn ask(&mut self, request: Request<'_>, symmetry: Symmetry) -> Range<usize> {
        let first = self.tickets.len();
        let all = Symmetry::ALL;
        let asked = if self.store.symmetries() == Symmetries::Mean8 { &all[..] } else { &[symmetry] };
        for &symmetry in asked {
            self.tickets.push(self.inner.submit(Request { draw: request.draw.seen_in(symmetry), ..request }));
        }
        first..self.tickets.len()
    }
}

/// The mean of some evaluations of a position, as its view has it.
fn mean(inner: &impl Evaluator, miss: &Miss, tickets: &[Ticket], policy: &mut [f32]) -> f32 {
    let mut turned = [0.0; MAX_MOVES];
    let turned = &mut turned[..policy.len()];
    let share = 1.0 / tickets.len() as f32;
    let mut value = 0.0;
    policy.fill(0.0);
    for &ticket in tickets {
        let found = inner.get(ticket);
        miss.symmetry.apply_values(miss.view.size(), found.policy, turned);
        policy.iter_mut().zip(&*turned).for_each(|(sum, more)| *sum += share * more);
        value += share * found.value.mover(miss.to_move);
    }
    value
}

impl<E: Evaluator> Evaluator for Stored<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let (symmetry, key) = self.key(&request);
        let size = request.game.size();
        let view = View::new(request.game, symmetry);
        let mut policy = [0.0; MAX_MOVES];
        let policy = &mut policy[..size.moves()];
        let entry = match self.store.get(key, &view, policy, &mut self.buffer) {
            Some(value) => {
                let value = Value::for_mover(request.game.to_move(), value);
                Entry::Ready(self.batches.submitted().keep(size, symmetry, policy, value))
            }
            None => {
                let entry = self.batches.submitted().entries.len();
                let tickets = self.ask(request, symmetry);
                self.misses.push(Miss { entry, tickets, key, view, to_move: request.game.to_move(), symmetry });
                Entry::Miss
            }
        };
        self.batches.push(entry)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flush_until(&mut || false)
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        let evaluated = self.inner.flush_until(stop);
        let flushed = self.batches.flush();
        if evaluated.is_err() {
            // After the next flush their tickets would stand for other positions.
            self.misses.clear();
            self.tickets.clear();
            return evaluated;
        }
        for miss in &self.misses {
            let size = miss.view.size();
            let mut policy = [0.0; MAX_MOVES];
            let policy = &mut policy[..size.moves()];
            let value = mean(&self.inner, miss, &self.tickets[miss.tickets.clone()], policy);
            let value = self.store.put(miss.key, &miss.view, policy, value, &mut self.buffer);
            let value = Value::for_mover(miss.to_move, value);
            flushed.entries[miss.entry] = Entry::Ready(flushed.keep(size, miss.symmetry, policy, value));
        }
        self.misses.clear();
        self.tickets.clear();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        matches!(self.batches.entry(ticket), (_, Entry::Ready(_)))
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        match self.batches.entry(ticket) {
            (batch, &Entry::Ready(ready)) => batch.evaluation(ready),
            (_, Entry::Miss) => panic!("an evaluation is read when it is ready"),
        }
    }

    fn pending(&self) -> usize {
        self.inner.pending()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use evalcache::{Steps, Tables};
    use go::{Game, Move, Size};
    use mcts::Draw;
    use testing::Stub;

    use super::*;
    use crate::batches::tests::fails_once;
    use crate::{Cached, EvaluatorStats, Instrumented};

    /// Evaluations in memory.
    struct Kept {
        symmetries: Symmetries,
        tables: Tables,
        entries: Mutex<BTreeMap<Key, Vec<u8>>>,
    }

    impl Kept {
        fn new(symmetries: Symmetries, steps: Steps) -> Arc<Kept> {
            Arc::new(Kept { symmetries, tables: Tables::flat(steps), entries: Mutex::default() })
        }
    }

    impl EvaluationStore for Kept {
        fn symmetries(&self) -> Symmetries {
            self.symmetries
        }

        fn komi(&self) -> KomiCoding {
            KomiCoding::Seen
        }

        fn get(&self, key: Key, view: &View, policy: &mut [f32], _: &mut Vec<u8>) -> Option<f32> {
            let entries = self.entries.lock().expect("no panic");
            entries.get(&key).map(|code| self.tables.decode(view, code, policy))
        }

        fn put(&self, key: Key, view: &View, policy: &mut [f32], value: f32, buffer: &mut Vec<u8>) -> f32 {
            buffer.clear();
            self.tables.encode(view, policy, value, buffer).expect("an evaluation");
            self.entries.lock().expect("no panic").insert(key, buffer.clone());
            self.tables.decode(view, buffer, policy)
        }
    }

    /// An evaluation that depends on the orientation of the input.
    fn oriented(request: &Request<'_>) -> (Vec<f32>, Value) {
        let &Request { game, komi, draw } = request;
        let symmetry = draw.symmetry();
        let view = View::new(game, symmetry);
        let raw: Vec<f32> = (0..view.size().moves())
            .map(|i| 1.0 + ((i * 37 + game.turn() * 11 + game.position().stones().both().len()) % 17) as f32)
            .collect();
        let sum: f32 = raw.iter().sum();
        let seen: Vec<f32> = raw.iter().map(|p| p / sum).collect();
        let mut policy = vec![0.0; seen.len()];
        symmetry.inverse().apply_values(game.size(), &seen, &mut policy);
        (policy, Value::for_mover(game.to_move(), komi / 20.0))
    }

    /// Evaluates so, and counts the positions.
    fn counting(asked: &Cell<usize>) -> impl Evaluator {
        Stub::new(move |request| {
            asked.set(asked.get() + 1);
            oriented(request)
        })
    }

    fn size() -> Size {
        Size::new(5).expect("a size")
    }

    fn game(symmetry: Symmetry) -> Game {
        let mut game = Game::new(size());
        for index in [1, 7, 13, 25, 20] {
            let mv = Move::from_index(size(), index).expect("a move");
            game.play(symmetry.apply_move(size(), mv)).expect("a legal move");
        }
        game
    }

    fn ask(stored: &mut Stored<impl Evaluator>, game: &Game, komi: f32, symmetry: Symmetry) -> (Vec<f32>, f32) {
        let ticket = stored.submit(Request { game, komi, draw: Draw::PLAIN.seen_in(symmetry) });
        if !stored.is_ready(ticket) {
            stored.flush().expect("it cannot fail");
        }
        let found = stored.get(ticket);
        (found.policy.to_vec(), found.value.black())
    }

    #[test]
    fn images_share_an_evaluation_that_is_the_same_the_first_time() {
        for symmetries in [Symmetries::Canonical, Symmetries::Mean8] {
            let count = Cell::new(0);
            let mut stored = Stored::new(counting(&count), Kept::new(symmetries, Steps::S256));
            let first = ask(&mut stored, &game(Symmetry::Identity), 7.0, Symmetry::Rot90);
            let asked = count.get();
            assert_eq!(asked, if symmetries == Symmetries::Mean8 { 8 } else { 1 });
            for symmetry in Symmetry::ALL {
                let (policy, value) = ask(&mut stored, &game(symmetry), 7.0, Symmetry::Flip);
                let mut back = vec![0.0; policy.len()];
                symmetry.inverse().apply_values(size(), &policy, &mut back);
                assert_eq!((back, value), first, "{symmetries} {symmetry:?}");
            }
            assert_eq!(count.get(), asked);
            ask(&mut stored, &game(Symmetry::Identity), 7.5, Symmetry::Identity);
            assert!(count.get() > asked, "komi is seen");
        }
    }

    #[test]
    fn shown_and_exact_evaluations_are_the_evaluators_bit_for_bit() {
        let (mut plain, asked) = (Stub::new(oriented), Cell::new(0));
        let store = Kept::new(Symmetries::Requested, Steps::Exact);
        let mut stored = Stored::new(counting(&asked), Arc::clone(&store) as Arc<dyn EvaluationStore>);
        for _ in 0..2 {
            for symmetry in Symmetry::ALL {
                let game = game(Symmetry::Identity);
                let ticket = plain.submit(Request { game: &game, komi: 7.0, draw: Draw::PLAIN.seen_in(symmetry) });
                plain.flush().expect("it cannot fail");
                let expected = plain.get(ticket);
                let found = ask(&mut stored, &game, 7.0, symmetry);
                assert_eq!(found, (expected.policy.to_vec(), expected.value.black()));
            }
        }
        assert_eq!((asked.get(), store.entries.lock().expect("no panic").len()), (8, 8));
    }

    #[test]
    fn positions_of_a_flush_that_failed_are_not_kept() {
        let store = Kept::new(Symmetries::Canonical, Steps::S2048);
        let kept = Arc::clone(&store) as Arc<dyn EvaluationStore>;
        let mut stored = Stored::new(fails_once(Stub::new(oriented)), kept);
        let (lost, empty) = (game(Symmetry::Identity), Game::new(size()));
        let _lost = stored.submit(Request { game: &lost, komi: 7.0, draw: Draw::PLAIN });
        assert!(stored.flush().is_err());
        let ticket = stored.submit(Request { game: &empty, komi: 7.0, draw: Draw::PLAIN });
        stored.flush().expect("it fails once");
        assert!(stored.is_ready(ticket));
        let keys: Vec<Key> = store.entries.lock().expect("no panic").keys().copied().collect();
        assert_eq!(keys, [Key::canonical(&empty, Some(7.0)).1]);
    }

    #[test]
    fn flush_is_stopped_through_all_that_wrap_an_evaluator() {
        let cached = Cached::new(fails_once(Stub::new(oriented)), size(), 1 << 20);
        let stored = Stored::new(cached, Kept::new(Symmetries::Canonical, Steps::S2048));
        let mut evaluator = Instrumented::new(stored, Arc::new(EvaluatorStats::default()));
        let game = game(Symmetry::Identity);
        let _ticket = evaluator.submit(Request { game: &game, komi: 7.0, draw: Draw::PLAIN });
        let error = evaluator.flush_until(&mut || true).expect_err("it is stopped");
        assert_eq!(error.to_string(), "the search was stopped");
    }

    #[test]
    fn evaluations_stay_until_the_flush_after_next() {
        let mut stored = Stored::new(Stub::new(oriented), Kept::new(Symmetries::Canonical, Steps::S2048));
        let game = game(Symmetry::Identity);
        let request = Request { game: &game, komi: 7.0, draw: Draw::PLAIN };
        let miss = stored.submit(request);
        assert_eq!((stored.is_ready(miss), stored.pending()), (false, 1));
        stored.flush().expect("it cannot fail");
        let hit = stored.submit(request);
        assert_eq!((stored.is_ready(hit), stored.pending()), (true, 0));
        assert_eq!(stored.get(hit).policy, stored.get(miss).policy);
        let expected = stored.get(miss).policy.to_vec();
        stored.flush().expect("it cannot fail");
        assert_eq!(stored.get(hit).policy, expected);
    }
}
