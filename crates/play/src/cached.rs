//! An evaluator with an in-memory cache.

use evalcache::BOARDS;
use go::{Color, PointSet, Size, Stones, Symmetry};
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Value};
use std::hash::Hash;

use xxhash_rust::xxh3::Xxh3Default;

use crate::batches::{Batches, Ready};

/// Remembers evaluations, so that an equal request is ready at once.
///
/// Requests are equal when the network's input is: the last eight boards under the symmetry, the player to move, and
/// komi. Policies are kept as the network gives them, and turned back for each request. So on CPUs a cached evaluation
/// is the one that a network would give, bit for bit, and a cache changes no game. Planes of ladders are an exception:
/// those of a position and of its image may differ ([`go::Tactics::ladders`]), and the first evaluation serves both.
/// With a network that has them a game may depend on the games that share the cache. On a GPU an evaluation is the same
/// within rounding, and with a cache other positions are evaluated together, so games differ. Evaluators that depend on
/// more of the draw than its symmetry must not be cached. An evaluation that is added replaces what its slot held.
///
/// The policies of hits are kept until the flush after next, at most one for each visit between two flushes.
#[derive(Debug)]
pub struct Cached<E> {
    inner: E,
    slots: Option<Slots>,
    batches: Batches<Entry>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Hit(Ready),
    Miss { ticket: Ticket, key: u128, size: Size, to_move: Color, symmetry: Symmetry },
}

/// The cache: a table of slots, each for a range of keys.
#[derive(Debug)]
struct Slots {
    moves: usize,
    /// 0 for an empty slot.
    keys: Vec<u128>,
    policies: Vec<f32>,
    /// Values for the player to move.
    values: Vec<f32>,
}

impl<E: Evaluator> Cached<E> {
    /// An evaluator for boards of one size with a cache of up to `bytes` bytes. A cache too small for one evaluation is
    /// none.
    pub fn new(inner: E, size: Size, bytes: usize) -> Cached<E> {
        Cached { inner, slots: Slots::new(size.moves(), bytes), batches: Batches::new() }
    }
}

impl<E: Evaluator> Evaluator for Cached<E> {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let Some(slots) = &self.slots else { return self.inner.submit(request) };
        let key = key(&request);
        let (size, to_move) = (request.game.size(), request.game.to_move());
        let symmetry = request.draw.symmetry();
        let entry = match slots.get(key).filter(|(policy, _)| policy.len() == size.moves()) {
            Some((policy, for_mover)) => {
                let value = Value::for_mover(to_move, for_mover);
                Entry::Hit(self.batches.submitted().keep(size, symmetry, policy, value))
            }
            None => Entry::Miss { ticket: self.inner.submit(request), key, size, to_move, symmetry },
        };
        self.batches.push(entry)
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.flush_until(&mut || false)
    }

    fn flush_until(&mut self, stop: &mut dyn FnMut() -> bool) -> Result<(), EvaluateError> {
        let evaluated = self.inner.flush_until(stop);
        let Some(slots) = &mut self.slots else { return evaluated };
        // Also where nothing was evaluated: tickets of this batch mean nothing to the evaluator after the next flush.
        let flushed = self.batches.flush();
        evaluated?;
        for &entry in &flushed.entries {
            if let Entry::Miss { ticket, key, size, to_move, symmetry } = entry {
                slots.put(key, self.inner.get(ticket), size, to_move, symmetry);
            }
        }
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        if self.slots.is_none() {
            return self.inner.is_ready(ticket);
        }
        match self.batches.entry(ticket).1 {
            Entry::Hit(_) => true,
            Entry::Miss { ticket, .. } => self.inner.is_ready(*ticket),
        }
    }

    fn get(&self, ticket: Ticket) -> Evaluation<'_> {
        if self.slots.is_none() {
            return self.inner.get(ticket);
        }
        match self.batches.entry(ticket) {
            (batch, &Entry::Hit(ready)) => batch.evaluation(ready),
            (_, &Entry::Miss { ticket, .. }) => self.inner.get(ticket),
        }
    }

    fn pending(&self) -> usize {
        self.inner.pending()
    }

    fn capacity(&self) -> usize {
        self.inner.capacity()
    }
}

impl Slots {
    fn new(moves: usize, bytes: usize) -> Option<Slots> {
        let count = bytes / (size_of::<u128>() + (moves + 1) * size_of::<f32>());
        (count > 0).then(|| Slots {
            moves,
            keys: vec![0; count],
            policies: vec![0.0; count * moves],
            values: vec![0.0; count],
        })
    }

    /// The share of all keys that are smaller, in slots. A remainder takes a division of 128 bits.
    fn slot(&self, key: u128) -> usize {
        (((key >> 64) * self.keys.len() as u128) >> 64) as usize
    }

    /// The policy as the network gave it, and the value for the player to move.
    fn get(&self, key: u128) -> Option<(&[f32], f32)> {
        let slot = self.slot(key);
        (self.keys[slot] == key).then(|| (&self.policies[slot * self.moves..][..self.moves], self.values[slot]))
    }

    /// Evaluations of boards of another size are not kept.
    fn put(&mut self, key: u128, evaluation: Evaluation<'_>, size: Size, to_move: Color, symmetry: Symmetry) {
        if evaluation.policy.len() == self.moves {
            let slot = self.slot(key);
            self.keys[slot] = key;
            self.values[slot] = evaluation.value.mover(to_move);
            let policy = &mut self.policies[slot * self.moves..][..self.moves];
            symmetry.apply_values(size, evaluation.policy, policy);
        }
    }
}

/// 128 bits of everything that a network sees of a request, so that two requests never share a key in practice.
fn key(request: &Request<'_>) -> u128 {
    let Request { game, komi, draw } = request;
    let mut hasher = Xxh3Default::new();
    (game.size(), game.to_move(), komi.to_bits()).hash(&mut hasher);
    // Boards differ in few stones from the one after: the images of these are enough.
    let (mut newer, mut image) = (Stones::EMPTY, Stones::EMPTY);
    for &stones in (0..BOARDS).map_while(|k| game.stones_ago(k)) {
        for color in Color::BOTH {
            let (new, old) = (*newer.of(color), *stones.of(color));
            let turned = |points: PointSet| draw.symmetry().apply_set(game.size(), &points);
            *image.of_mut(color) = (*image.of(color) - turned(new - old)) | turned(old - new);
        }
        newer = stones;
        image.hash(&mut hasher);
    }
    hasher.digest128().max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use go::{Game, Move, Point, Symmetry};
    use mcts::Draw;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::batches::tests::fails_once;
    use crate::{GameRng, RandomModel};

    const BYTES: usize = 1 << 20;

    fn size() -> Size {
        Size::new(5).expect("a size")
    }

    fn after(moves: usize) -> Game {
        let mut game = Game::new(size());
        for point in Point::all(size()).take(moves) {
            game.play(Move::Play(point)).expect("an empty point");
        }
        game
    }

    fn request(game: &Game) -> Request<'_> {
        Request { game, komi: 7.0, draw: Draw::PLAIN }
    }

    /// What an evaluation is, to compare.
    fn read(evaluator: &dyn Evaluator, ticket: Ticket) -> (Vec<f32>, f32) {
        let evaluation = evaluator.get(ticket);
        (evaluation.policy.to_vec(), evaluation.value.black())
    }

    #[test]
    fn hit_is_ready_at_once_and_stays_until_the_flush_after_next() {
        let mut cached = Cached::new(RandomModel::new(), size(), BYTES);
        let (first, second) = (after(3), after(4));
        let ticket = cached.submit(request(&first));
        assert!(!cached.is_ready(ticket));
        cached.flush().expect("it cannot fail");
        let expected = read(&cached, ticket);
        let hit = cached.submit(request(&first));
        assert!(cached.is_ready(hit) && cached.pending() == 0);
        assert_eq!(read(&cached, hit), expected);
        let miss = cached.submit(request(&second));
        assert_eq!((cached.is_ready(miss), cached.pending()), (false, 1));
        cached.flush().expect("it cannot fail");
        assert_eq!(read(&cached, hit), expected);
        assert_ne!(read(&cached, miss), expected);
    }

    /// Images of a position with the same canonical form share an evaluation.
    #[test]
    fn hit_is_turned_back_by_the_symmetry_of_its_request() {
        let mut cached = Cached::new(RandomModel::new(), size(), BYTES);
        let game = after(3);
        let ticket = cached.submit(request(&game));
        cached.flush().expect("it cannot fail");
        let (policy, value) = read(&cached, ticket);
        for symmetry in Symmetry::ALL {
            let mut image = Game::new(size());
            for &mv in game.moves() {
                image.play(symmetry.apply_move(size(), mv)).expect("a legal move");
            }
            let draw = Draw::PLAIN.seen_in(symmetry.inverse());
            let hit = cached.submit(Request { game: &image, komi: 7.0, draw });
            assert!(cached.is_ready(hit), "{symmetry:?}");
            let mut expected = vec![0.0; size().moves()];
            symmetry.apply_values(size(), &policy, &mut expected);
            assert_eq!(read(&cached, hit), (expected, value), "{symmetry:?}");
        }
    }

    #[test]
    fn positions_of_a_flush_that_failed_are_forgotten() {
        let mut cached = Cached::new(fails_once(RandomModel::new()), size(), BYTES);
        let (lost, game) = (after(3), after(4));
        let _lost = cached.submit(request(&lost));
        assert!(cached.flush().is_err());
        let ticket = cached.submit(request(&game));
        cached.flush().expect("it fails once");
        let mut plain = RandomModel::new();
        let expected = plain.submit(request(&game));
        plain.flush().expect("it cannot fail");
        assert_eq!(read(&cached, ticket), read(&plain, expected));
        let again = cached.submit(request(&lost));
        assert!(!cached.is_ready(again));
    }

    #[test]
    fn cache_without_capacity_evaluates_positions() {
        let mut cached = Cached::new(RandomModel::new(), size(), 100);
        let game = after(2);
        for _ in 0..2 {
            let ticket = cached.submit(request(&game));
            assert!(!cached.is_ready(ticket));
            cached.flush().expect("it cannot fail");
            assert_eq!(cached.get(ticket).policy.len(), 26);
        }
    }

    #[test]
    fn slot_keeps_the_evaluation_that_came_last() {
        let mut slots = Slots::new(5, 2 * (16 + 6 * 4)).expect("room for two");
        let policy = [0.1, 0.2, 0.3, 0.4, 0.0];
        let put = |slots: &mut Slots, key, black| {
            let evaluation = Evaluation { policy: &policy, value: Value::for_black(black) };
            slots.put(key, evaluation, Size::MIN, Color::White, Symmetry::Identity);
        };
        let (small, other, large) = (8, 1 << 126, 1 << 127);
        put(&mut slots, small, 0.25);
        put(&mut slots, large, 0.5);
        assert_eq!(slots.get(small), Some((&policy[..], -0.25)));
        assert_eq!(slots.get(other), None, "the slot of the small one, another key");
        put(&mut slots, other, 0.75);
        assert_eq!((slots.get(small), slots.get(other).is_some(), slots.get(large).is_some()), (None, true, true));
    }

    #[test]
    fn key_depends_on_all_that_a_network_sees() {
        let game = after(3);
        let mut passed = game.clone();
        passed.play(Move::Pass).expect("a pass is legal");
        let mut white = game.clone();
        white.set_to_move(game.to_move().opponent());
        // The same board by another way.
        let mut detour = Game::new(size());
        for index in [2, 1, 0] {
            detour.play(Move::Play(Point::from_index(size(), index).expect("a point"))).expect("an empty point");
        }
        assert_eq!(detour.position().stones(), game.position().stones());
        let keys: Vec<u128> = [&game, &passed, &white, &detour, &after(4)]
            .into_iter()
            .map(|game| key(&request(game)))
            .chain([key(&Request { komi: 7.5, ..request(&game) })])
            .chain([key(&Request { draw: Draw::PLAIN.seen_in(Symmetry::Flip), ..request(&game) })])
            .collect();
        let distinct: BTreeSet<u128> = keys.iter().copied().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(key(&request(&after(3))), keys[0]);
    }

    /// With captures, so that older boards have stones that newer ones have not.
    #[test]
    fn keys_of_images_are_equal_when_they_look_the_same() {
        let (mut rng, mut keys, mut captured) = (GameRng::seed_from_u64(1), BTreeSet::new(), 0);
        let mut games = Symmetry::ALL.map(|symmetry| (symmetry, Game::new(size())));
        for _ in 0..1000 {
            let mv = Move::from_index(size(), rng.random_range(0..size().moves())).expect("an index of a move");
            if !games[0].1.is_legal(mv) {
                continue;
            }
            for (symmetry, game) in &mut games {
                game.play(symmetry.apply_move(size(), mv)).expect("a legal move");
            }
            let seen = games.iter().map(|(symmetry, game)| {
                key(&Request { draw: Draw::PLAIN.seen_in(symmetry.inverse()), ..request(game) })
            });
            let seen: BTreeSet<u128> = seen.collect();
            assert_eq!(seen.len(), 1, "{}", games[0].1.position());
            keys.extend(seen);
            captured = games[0].1.captures(Color::Black) + games[0].1.captures(Color::White);
        }
        assert!(captured > 20 && keys.len() + 1 >= games[0].1.turn(), "{captured} captured, {} keys", keys.len());
    }
}
