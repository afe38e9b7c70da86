//! Networks in memory, ready for all devices' threads.

use std::sync::{Arc, Mutex, PoisonError};

use net::{Packing, PlaneEvaluator, Shape};
use remote::Digest;

use crate::queue::NetworkId;

/// Opens a session of a network for one thread, on the device of a number from 0.
pub type OpenSession = Box<dyn Fn(usize) -> Box<dyn PlaneEvaluator> + Send + Sync>;

/// A network in memory.
pub(crate) struct Network {
    pub(crate) id: NetworkId,
    pub(crate) digest: Digest,
    pub(crate) shape: Shape,
    pub(crate) packing: Packing,
    /// Memory that it is counted with.
    pub(crate) bytes: u64,
    open: OpenSession,
    /// Of each device the sessions that no thread uses at the moment. A lock, because threads that evaluate batches of
    /// one network at the same time are few.
    free: Mutex<Vec<Vec<Box<dyn PlaneEvaluator>>>>,
    lent: Arc<Lent>,
}

/// How many sessions of each device threads use, those of all networks together.
#[derive(Default)]
pub(crate) struct Lent(Mutex<Vec<usize>>);

/// A device of which a session is lent, until it is dropped: also where its work panics.
struct Taken<'a> {
    lent: &'a Lent,
    device: usize,
}

impl Network {
    pub(crate) fn new(id: NetworkId, digest: Digest, opened: Opened, bytes: u64, lent: Arc<Lent>) -> Network {
        let Opened { shape, devices, open } = opened;
        let packing = shape.inputs.packing(shape.size);
        let free = Mutex::new((0..devices.max(1)).map(|_| Vec::new()).collect());
        Network { id, digest, shape, packing, bytes, open, free, lent }
    }

    /// Lends a session to some work: of the device of which the fewest are lent, so that none idles while others have
    /// several.
    pub(crate) fn with_session<T>(&self, work: impl FnOnce(&mut dyn PlaneEvaluator) -> T) -> T {
        let devices = self.free.lock().unwrap_or_else(PoisonError::into_inner).len();
        let lent = self.lent.take(devices);
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner)[lent.device].pop();
        let mut session = free.unwrap_or_else(|| (self.open)(lent.device));
        let done = work(&mut *session);
        self.free.lock().unwrap_or_else(PoisonError::into_inner)[lent.device].push(session);
        done
    }
}

impl Lent {
    /// Takes one of so many devices.
    fn take(&self, devices: usize) -> Taken<'_> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counts.len().max(devices);
        counts.resize(known, 0);
        let device = (0..devices).min_by_key(|&device| counts[device]).unwrap_or(0);
        counts[device] += 1;
        Taken { lent: self, device }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.lent.0.lock().unwrap_or_else(PoisonError::into_inner)[self.device] -= 1;
    }
}

/// What a provider of models hands out.
pub struct Opened {
    /// The shape of the network.
    pub shape: Shape,
    /// How many devices have it, at least one.
    pub devices: usize,
    /// Opens a session.
    pub open: OpenSession,
}

#[cfg(test)]
mod tests {
    use net::NetError;

    use super::*;

    /// Says which device it is on.
    struct On(usize);

    impl PlaneEvaluator for On {
        fn evaluate(&mut self, _: &[u8], _: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
            values.fill(self.0 as f32);
            Ok(())
        }
    }

    fn network(lent: &Arc<Lent>) -> Network {
        let shape = Shape::plain(go::Size::new(5).unwrap());
        let opened = Opened { shape, devices: 2, open: Box::new(|device| Box::new(On(device))) };
        Network::new(NetworkId(0), Digest::of(b"weights"), opened, 1, Arc::clone(lent))
    }

    fn device(session: &mut dyn PlaneEvaluator) -> f32 {
        let mut values = [-1.0];
        session.evaluate(&[], &mut [], &mut values).unwrap();
        values[0]
    }

    #[test]
    fn threads_share_devices_evenly_whatever_their_networks() {
        let lent = Arc::default();
        let [one, other] = [network(&lent), network(&lent)];
        let pair =
            |first: &Network, second: &Network| first.with_session(|on| (device(on), second.with_session(device)));
        for (first, second) in [(&one, &one), (&one, &other), (&other, &one), (&other, &other)] {
            assert_eq!(pair(first, second), (0.0, 1.0));
        }
    }
}
