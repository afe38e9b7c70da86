//! Which models are in memory, and which make space for others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use remote::{Digest, Refusal};

use crate::network::Network;

/// Why a model is not made ready.
pub(super) enum Unready {
    /// Batches of the models in memory are under way, so that there is no space for another. It has to wait, which is
    /// no failure.
    InUse,
    Failed(Refusal),
}

/// How models that do not fit into memory together share it.
#[derive(Clone, Copy)]
pub(super) struct Turns {
    /// A model in use is kept for so long at least.
    pub(super) kept: Duration,
    /// Batches of a model that is to make space are refused for so long, so that those under way end. The model that
    /// needs the space is requested again after [`FAILED`](super::FAILED).
    pub(super) closing: Duration,
}

impl Turns {
    /// Much longer than a load, so that the device evaluates most of the time; much shorter than the patience of
    /// clients.
    pub(super) const DEFAULT: Turns = Turns { kept: Duration::from_secs(30), closing: Duration::from_secs(2) };
}

/// The models in memory, and those that are being opened. Nothing here waits, and the time is an argument.
pub(super) struct Memory {
    /// Bytes of all models.
    bound: u64,
    pub(super) turns: Turns,
    ready: HashMap<Digest, Ready>,
    /// Models that are made ready, and the bytes that they will take.
    opening: HashMap<Digest, u64>,
    /// The bytes of models that were found and fit into memory.
    sizes: HashMap<Digest, u64>,
    uses: u64,
}

/// A model in memory.
pub(super) struct Ready {
    network: Arc<Network>,
    used: u64,
    loaded: Instant,
    /// Until when it takes no batches, because it is to make space for another.
    closing: Option<Instant>,
}

impl Ready {
    fn is_closing(&self, now: Instant) -> bool {
        self.closing.is_some_and(|until| now < until)
    }
}

impl Memory {
    pub(super) fn new(bound: u64, turns: Turns) -> Memory {
        let (ready, opening, sizes) = (HashMap::new(), HashMap::new(), HashMap::new());
        Memory { bound, turns, ready, opening, sizes, uses: 0 }
    }

    /// Bytes of all models, at most.
    pub(super) fn bound(&self) -> u64 {
        self.bound
    }

    /// Models that are ready.
    pub(super) fn len(&self) -> usize {
        self.ready.len()
    }

    /// The bytes of the models that are ready.
    pub(super) fn bytes(&self) -> u64 {
        self.ready.values().map(|ready| ready.network.bytes).sum()
    }

    pub(super) fn has(&self, digest: Digest) -> bool {
        self.ready.contains_key(&digest)
    }

    pub(super) fn is_opening(&self, digest: Digest) -> bool {
        self.opening.contains_key(&digest)
    }

    /// The bytes of a model, if it was found before.
    pub(super) fn size(&self, digest: Digest) -> Option<u64> {
        self.sizes.get(&digest).copied()
    }

    /// Notes the bytes of a model that was found and fits.
    pub(super) fn note_size(&mut self, digest: Digest, bytes: u64) {
        self.sizes.insert(digest, bytes);
    }

    /// The network for a batch, if it is in memory. It takes none while it is to make space for another.
    pub(super) fn for_batch(&mut self, digest: Digest, now: Instant) -> Option<Result<Arc<Network>, Unready>> {
        let ready = self.ready.get_mut(&digest)?;
        if ready.is_closing(now) {
            return Some(Err(Unready::InUse));
        }
        self.uses += 1;
        ready.used = self.uses;
        Some(Ok(Arc::clone(&ready.network)))
    }

    /// Takes space into account for a model that fits and is opened now, and takes out those that make the space.
    pub(super) fn reserve(
        &mut self,
        digest: Digest,
        bytes: u64,
        now: Instant,
    ) -> Result<Vec<(Digest, Ready)>, Unready> {
        let evicted = self.make_room(self.bound - bytes, now)?;
        self.opening.insert(digest, bytes);
        Ok(evicted)
    }

    /// Adds a model, which was opened.
    pub(super) fn add(&mut self, network: Arc<Network>, now: Instant) {
        self.uses += 1;
        self.opening.remove(&network.digest);
        self.ready.insert(network.digest, Ready { network, used: self.uses, loaded: now, closing: None });
    }

    /// Frees the space of a model that was not opened, and takes back those that made it, where they fit.
    pub(super) fn give_up(&mut self, digest: Digest, evicted: Vec<(Digest, Ready)>) {
        self.opening.remove(&digest);
        for (digest, ready) in evicted {
            // Others may have taken the space meanwhile.
            if self.taken() + ready.network.bytes <= self.bound {
                self.ready.entry(digest).or_insert(ready);
            }
        }
    }

    /// Lets go of a network, unless its model was opened anew.
    pub(super) fn forget(&mut self, network: &Network) {
        if self.ready.get(&network.digest).is_some_and(|ready| ready.network.id == network.id) {
            self.ready.remove(&network.digest);
        }
    }

    /// The bytes of the models in memory and of those that are made ready.
    fn taken(&self) -> u64 {
        self.opening.values().sum::<u64>() + self.bytes()
    }

    /// Takes out the networks that were used least recently and of which no batch is under way, until the rest and
    /// those that are being opened take at most so many bytes. Where that cannot be, takes out none, and has others
    /// make space.
    fn make_room(&mut self, bytes: u64, now: Instant) -> Result<Vec<(Digest, Ready)>, Unready> {
        let mut taken = self.taken();
        let idle = self.ready.iter().filter(|(_, ready)| Arc::strong_count(&ready.network) == 1);
        let mut idle: Vec<_> = idle.map(|(&digest, ready)| (ready.used, digest, ready.network.bytes)).collect();
        let needed = taken - idle.iter().map(|(_, _, bytes)| bytes).sum::<u64>();
        if needed > bytes {
            self.close(needed - bytes, now);
            return Err(Unready::InUse);
        }
        idle.sort_unstable_by_key(|&(used, ..)| used);
        let mut evicted = Vec::new();
        for (_, digest, freed) in idle {
            if taken <= bytes {
                break;
            }
            evicted.extend(self.ready.remove(&digest).map(|ready| (digest, ready)));
            taken -= freed;
        }
        Ok(evicted)
    }

    /// Lets models in use take no batches until they have made space for so many bytes, those first that were loaded
    /// first. Without this a model of which there are always batches would keep all others out for ever.
    fn close(&mut self, mut bytes: u64, now: Instant) {
        let Turns { kept, closing } = self.turns;
        let had_turn = |ready: &Ready| {
            Arc::strong_count(&ready.network) > 1 && now.saturating_duration_since(ready.loaded) >= kept
        };
        let in_use = self.ready.values().filter(|ready| had_turn(ready));
        if in_use.map(|ready| ready.network.bytes).sum::<u64>() < bytes {
            return;
        }
        let until = now + closing;
        // The batches of one may end before those of another, and a large model needs the space of both.
        for ready in self.ready.values_mut().filter(|ready| ready.is_closing(now)) {
            ready.closing = Some(until);
        }
        let mut in_use: Vec<&mut Ready> = self.ready.values_mut().filter(|ready| had_turn(ready)).collect();
        in_use.sort_unstable_by_key(|ready| ready.network.id);
        for ready in in_use {
            if bytes == 0 {
                break;
            }
            bytes = bytes.saturating_sub(ready.network.bytes);
            ready.closing = Some(until);
            tracing::info!(digest = %ready.network.digest, "model in use makes space for another");
        }
    }
}

#[cfg(test)]
mod tests {
    use net::Shape;

    use super::*;
    use crate::network::Opened;
    use crate::queue::NetworkId;

    /// A network of 40 bytes, which nothing evaluates.
    fn network(number: u64) -> Arc<Network> {
        let shape = Shape::plain(go::Size::new(5).unwrap());
        let opened = Opened { shape, devices: 1, open: Box::new(|_| unreachable!("nothing is evaluated")) };
        Arc::new(Network::new(NetworkId(number), Digest::of(&number.to_le_bytes()), opened, 40, Arc::default()))
    }

    /// Else the first would take batches again as soon as its own have ended, and the second after it, for ever.
    #[test]
    fn models_that_make_space_together_are_closed_until_both_have() {
        let turns = Turns { kept: Duration::ZERO, closing: Duration::from_secs(3600) };
        let (mut memory, now) = (Memory::new(100, turns), Instant::now());
        let [one, two] = [network(1), network(2)];
        let digests = [one.digest, two.digest];
        for network in [&one, &two] {
            memory.add(Arc::clone(network), now);
        }
        let closing = |memory: &Memory| digests.map(|digest| memory.ready[&digest].closing);
        assert!(memory.make_room(20, now).is_err());
        let before = closing(&memory);
        assert!(before.iter().all(Option::is_some), "both have to make space");
        drop(one);
        assert!(memory.make_room(20, now + Duration::from_secs(1)).is_err(), "the second is in use");
        assert!(closing(&memory)[0] > before[0]);
        drop(two);
        assert!(memory.make_room(20, now + Duration::from_secs(1)).is_ok());
        assert_eq!(memory.len(), 0);
    }

    #[test]
    fn memory_evicts_nothing_for_a_model_that_does_not_fit_then() {
        let (mut memory, now) = (Memory::new(120, Turns::DEFAULT), Instant::now());
        let in_use = [network(1), network(2)];
        for network in &in_use {
            memory.add(Arc::clone(network), now);
        }
        let idle = network(3);
        let digest = idle.digest;
        memory.add(idle, now);
        assert!(memory.make_room(30, now).is_err());
        assert!(memory.has(digest));
    }
}
