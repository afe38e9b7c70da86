//! Fault injection: one request in so many fails, and the seed decides which and how.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The request is lost and not carried out.
    RequestLost,
    /// The request is carried out and its response is lost.
    ResponseLost,
    /// The request is carried out after [`Fault::DELAY`].
    Delayed,
    /// The server refuses the request with status 503.
    Refused,
    /// The request is carried out and the connection ends in the middle of its response.
    ResponseCut,
}

impl Fault {
    /// Faults of an HTTP server.
    pub(crate) const HTTP: &[Fault] =
        &[Fault::RequestLost, Fault::ResponseLost, Fault::Delayed, Fault::Refused, Fault::ResponseCut];

    /// Faults of a stream of bytes, by piece: the stream is cut before it; everything from it on is lost while the
    /// stream stays open; the piece is late; the stream is cut in the middle of it.
    pub(crate) const STREAM: &[Fault] = &[Fault::RequestLost, Fault::ResponseLost, Fault::Delayed, Fault::ResponseCut];

    /// How late a delayed request is.
    pub(crate) const DELAY: Duration = Duration::from_millis(20);
}

/// Decides which requests fail.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    kinds: &'static [Fault],
    one_in: u32,
    random: Mutex<Xoshiro256PlusPlus>,
}

impl FaultInjector {
    /// One request in `one_in` fails, each kind as likely; 0 for none.
    pub(crate) fn new(kinds: &'static [Fault], one_in: u32, seed: u64) -> FaultInjector {
        FaultInjector { kinds, one_in, random: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)) }
    }

    /// The fault of the next request, if any.
    pub(crate) fn draw(&self) -> Option<Fault> {
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        let hit = self.one_in > 0 && random.random_range(0..self.one_in) == 0;
        hit.then(|| self.kinds[random.random_range(0..self.kinds.len())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fault_injector_draws_each_kind_at_its_rate() {
        let injector = FaultInjector::new(Fault::HTTP, 10, 1);
        let drawn: Vec<Fault> = (0..10_000).filter_map(|_| injector.draw()).collect();
        assert!((900..1100).contains(&drawn.len()), "{} of 10,000", drawn.len());
        for kind in Fault::HTTP {
            let count = drawn.iter().filter(|fault| *fault == kind).count();
            assert!((150..250).contains(&count), "{kind:?}: {count}");
        }
    }

    #[test]
    fn fault_injector_of_zero_draws_none() {
        let injector = FaultInjector::new(Fault::HTTP, 0, 1);
        assert!((0..1000).all(|_| injector.draw().is_none()));
    }
}
