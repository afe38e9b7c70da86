//! Two clocks: the one on the wall, and the one that runs only while this thread is on a core.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use runtime::{Stop, thread_time};

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
        Spent { wall, core: core_time(self.core, thread_time(), wall) }
    }
}

/// Where the system does not tell, the thread is taken to have had its core to itself.
fn core_time(before: Option<Duration>, now: Option<Duration>, wall: Duration) -> Duration {
    before.zip(now).map_or(wall, |(before, now)| now.saturating_sub(before))
}

/// Things done in some time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    pub(super) count: f64,
    pub(super) spent: Spent,
}

impl Rate {
    /// Counts what `step` says it did, again and again for about `time` of the wall's clock, or until `stop` is
    /// requested.
    pub(super) fn measure(
        time: Duration,
        stop: &Stop,
        step: impl FnMut() -> anyhow::Result<f64>,
    ) -> anyhow::Result<Rate> {
        let watch = Stopwatch::start();
        let count = count(|| watch.began.elapsed() < time, stop, step)?;
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

/// Counts what `step` says it did, until it has done something and there is no more time, or `stop` is requested.
fn count(
    has_time: impl Fn() -> bool,
    stop: &Stop,
    mut step: impl FnMut() -> anyhow::Result<f64>,
) -> anyhow::Result<f64> {
    let mut count = 0.0;
    while !stop.requested() && (count == 0.0 || has_time()) {
        count += step()?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn work_of_another_thread_takes_no_time_on_a_core() {
        let watch = Stopwatch::start();
        let work = || {
            let watch = Stopwatch::start();
            while watch.spent().core < Duration::from_millis(50) {}
            watch.spent().core
        };
        let other = std::thread::spawn(work).join().unwrap();
        let own = watch.spent().core;
        assert!(own < other, "{own:?}, {other:?}");
    }

    #[test]
    fn time_on_a_core_that_is_unknown_is_the_time_on_the_wall() {
        assert_eq!(core_time(Some(seconds(3)), Some(seconds(5)), seconds(9)), seconds(2));
        assert_eq!(core_time(None, Some(seconds(5)), seconds(9)), seconds(9));
        assert_eq!(core_time(Some(seconds(3)), None, seconds(9)), seconds(9));
    }

    #[test]
    fn steps_are_counted_until_the_time_is_over_and_something_was_done() {
        let counted = |time: u32, done: &[f64]| {
            let calls = Cell::new(0);
            let step = || Ok(done[calls.replace(calls.get() + 1)]);
            (count(|| (calls.get() as u32) < time, &Stop::never(), step).unwrap(), calls.get())
        };
        assert_eq!(counted(3, &[2.0, 0.0, 4.0, 8.0]), (6.0, 3));
        assert_eq!(counted(0, &[0.0, 0.0, 4.0, 8.0]), (4.0, 3));
    }

    #[test]
    fn count_ends_when_a_stop_is_requested() {
        let stop = Stop::never();
        let step = || {
            stop.request();
            Ok(2.0)
        };
        assert_eq!(count(|| true, &stop, step).unwrap(), 2.0);
    }

    #[test]
    fn rates_are_by_the_wall_and_by_the_core() {
        let mut rate = Rate::default();
        for core in [1, 2] {
            rate += Rate { count: 6.0, spent: Spent { wall: seconds(3), core: seconds(core) } };
        }
        assert_eq!((rate.per_second(), rate.per_core()), (2.0, 4.0));
    }
}
