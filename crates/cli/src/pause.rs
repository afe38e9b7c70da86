//! Time between looks at what many others look at too.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Pauses that grow while there is nothing new, each of a length of its own, so that a thousand processes that were started
/// at once do not look at once for ever.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    least: Duration,
    most: Duration,
    next: Duration,
}

impl Pause {
    /// Pauses from about `least` to about `most`.
    pub fn new(least: Duration, most: Duration) -> Pause {
        Pause { least, most, next: least }
    }

    /// The next pause: half as long again as the last one.
    pub fn grow(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 3 / 2).min(self.most);
        scattered(pause)
    }

    /// Begins anew, when there was something new.
    pub fn reset(&mut self) {
        self.next = self.least;
    }
}

/// A time that is up to a quarter shorter or longer, by chance.
pub fn scattered(time: Duration) -> Duration {
    // The keys of a hash map are chance enough to keep processes apart; nothing that is learned depends on them.
    let chance = RandomState::new().hash_one(0) as f64 / u64::MAX as f64;
    time.mul_f64(0.75 + 0.5 * chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn pauses_grow_to_their_bound_and_begin_anew() {
        let mut pause = Pause::new(SECOND, 10 * SECOND);
        let about = |pause: Duration, expected: f64| (0.74..=1.26).contains(&(pause.as_secs_f64() / expected));
        for expected in [1.0, 1.5, 2.25, 3.375, 5.0625, 7.59375, 10.0, 10.0] {
            assert!(about(pause.grow(), expected), "{expected}");
        }
        pause.reset();
        assert!(about(pause.grow(), 1.0));
    }

    #[test]
    fn many_who_begin_together_are_soon_apart() {
        let looks: Vec<f64> = (0..1000).map(|_| scattered(10 * SECOND).as_secs_f64()).collect();
        // Of 1,000 looks in five seconds some 200 fall into any one of them, and never half.
        for second in 0..5 {
            let begin = 7.5 + f64::from(second);
            let count = looks.iter().filter(|&&look| look >= begin && look < begin + 1.0).count();
            assert!((100..400).contains(&count), "{count} in second {second}");
        }
    }
}
