//! Two clocks: the one on the wall, and the one that runs only while this thread is on a core.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use runtime::thread_time;

/// Time that a thread has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) wall: Duration,
    /// Time on a core.
    pub(super) core: Duration,
}

/// Measures this thread from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    began: Instant,
    core: Option<Duration>,
}

impl Stopwatch {
    pub(super) fn start() -> Stopwatch {
        Stopwatch { began: Instant::now(), core: thread_time() }
    }

    pub(super) fn spent(&self) -> Spent {
        let wall = self.began.elapsed();
        // Where the system does not tell, the thread is taken to have had its core to itself.
        let core = self.core.zip(thread_time()).map_or(wall, |(before, now)| now.saturating_sub(before));
        Spent { wall, core }
    }
}

/// Things done in some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    pub(super) count: f64,
    pub(super) spent: Spent,
}

impl Rate {
    /// Counts what `step` says it did, again and again for about `time` of the wall's clock.
    pub(super) fn measure(time: Duration, mut step: impl FnMut() -> anyhow::Result<f64>) -> anyhow::Result<Rate> {
        let watch = Stopwatch::start();
        let mut count = 0.0;
        while count == 0.0 || watch.began.elapsed() < time {
            count += step()?;
        }
        Ok(Rate { count, spent: watch.spent() })
    }

    /// Things a second.
    pub(super) fn per_second(&self) -> f64 {
        self.count / self.spent.wall.as_secs_f64()
    }

    /// Things a second on a core.
    pub(super) fn per_core(&self) -> f64 {
        self.count / self.spent.core.as_secs_f64()
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, other: Rate) {
        self.count += other.count;
        self.spent.wall += other.spent.wall;
        self.spent.core += other.spent.core;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_no_time_on_a_core() {
        let watch = Stopwatch::start();
        std::thread::sleep(Duration::from_millis(50));
        let spent = watch.spent();
        assert!(spent.wall >= Duration::from_millis(50) && spent.core < spent.wall / 2, "{spent:?}");
    }

    /// Time on a core is part of the time on the wall, however busy the machine is.
    #[test]
    fn rate_counts_what_is_done() {
        let rate = Rate::measure(Duration::from_millis(30), || Ok(2.0)).unwrap();
        assert!(rate.count >= 2.0 && rate.spent.wall >= Duration::from_millis(30));
        assert!(rate.per_core() >= rate.per_second() * 0.9, "{rate:?}");
    }
}
