//! Exponential back-off: between the tries of a request, and between polls of many processes.
//!
//! Connections to inference servers have pauses of their own (crate `remote`): a generator with a seed draws them, so
//! that simulations of failures repeat.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Pauses that double up to a limit, each a quarter shorter or longer by chance, so that processes that started
/// together do not come back together.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Pauses from about `first` to about `longest`.
    pub fn new(first: Duration, longest: Duration) -> Backoff {
        Backoff { first, longest, next: first }
    }

    /// The next pause.
    pub fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        jittered(pause)
    }

    /// Starts again with the first pause, after something new.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

/// A time that is up to a quarter shorter or longer, by chance.
pub(crate) fn jittered(time: Duration) -> Duration {
    // The keys of a hash map are chance enough to keep processes apart; nothing that is trained depends on them.
    let chance = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
    time.mul_f64(0.75 + 0.5 * chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn backoff_doubles_up_to_its_limit_and_starts_again_after_a_reset() {
        let mut backoff = Backoff::new(SECOND, 10 * SECOND);
        let about = |pause: Duration, expected: f64| (0.74..=1.26).contains(&(pause.as_secs_f64() / expected));
        for expected in [1.0, 2.0, 4.0, 8.0, 10.0, 10.0] {
            assert!(about(backoff.pause(), expected), "{expected}");
        }
        backoff.reset();
        assert!(about(backoff.pause(), 1.0));
    }

    #[test]
    fn jittered_times_of_many_processes_are_spread() {
        let looks: Vec<f64> = (0..1000).map(|_| jittered(10 * SECOND).as_secs_f64()).collect();
        // Of 1,000 polls in five seconds some 200 fall into any one of them, and never half.
        for second in 0..5 {
            let begin = 7.5 + f64::from(second);
            let count = looks.iter().filter(|&&look| look >= begin && look < begin + 1.0).count();
            assert!((100..400).contains(&count), "{count} in second {second}");
        }
    }
}
