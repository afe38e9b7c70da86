//! Drivers: the work of a stage, one step at a time, and the loop over the steps.
//!
//! A stage library has one [`Driver`]. The stage's `main` loops over it with [`drive`]; `tengen run` loops over
//! several. What a driver has to show goes to a [`Reporter`], so that two drivers can work in one process, or in a test
//! without any output.

use std::fmt;
use std::time::{Duration, Instant};

use store::{Backoff, LeaseName, Run, StoreError};

use crate::{Stop, format};

/// Time between two log lines about the same wait.
const BETWEEN_LINES: Duration = Duration::from_secs(60);

/// The work of a stage.
pub trait Driver {
    /// Why a step failed.
    type Error;

    /// Does the next piece of work, or returns at once when there is none. A step that takes long ends early when the
    /// process is to stop.
    ///
    /// # Errors
    /// Any error of the stage.
    fn step(&mut self) -> Result<Step, Self::Error>;

    /// The pauses between steps that wait.
    fn pause(&self) -> Backoff;

    /// Hands off or discards work in progress. The loop calls it once, on shutdown.
    ///
    /// # Errors
    /// As [`Driver::step`].
    fn shut_down(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Some work is done; the next step may follow at once.
    Worked,
    /// There is nothing to do yet.
    Waiting(Waiting),
    /// There will be nothing more to do.
    Finished,
}

/// The reason why a driver waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The thing, the same for as long as it is waited for: `games of model 3`.
    pub what: String,
    /// How much of it is there. While that grows, the pauses stay short.
    pub there: u64,
    /// More about it: `40 of 100`. May be empty.
    pub detail: String,
}

impl Waiting {
    /// A thing that comes all at once.
    pub fn new(what: impl Into<String>) -> Waiting {
        Waiting { what: what.into(), there: 0, detail: String::new() }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, ": {}", self.detail) }
    }
}

/// Receives what a driver reports: for a progress bar, the log and metrics; or for nothing ([`Silent`]). A closure is a
/// reporter, too.
pub trait Reporter<Event> {
    /// Something has happened.
    fn report(&mut self, event: Event);
}

impl<Event, F: FnMut(Event)> Reporter<Event> for F {
    fn report(&mut self, event: Event) {
        self(event);
    }
}

/// Reports nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl<Event> Reporter<Event> for Silent {
    fn report(&mut self, _: Event) {}
}

/// Loops over the steps of a driver until it has finished or the process is to stop. Pauses between steps that wait,
/// and logs what they wait for.
///
/// # Errors
/// As [`Driver::step`].
pub fn drive<D: Driver>(driver: &mut D, stop: &Stop) -> Result<(), D::Error> {
    let mut wait = Wait::new(driver.pause());
    while !stop.requested() {
        match driver.step()? {
            Step::Worked => wait = Wait::new(driver.pause()),
            Step::Waiting(waiting) => {
                stop.health().heartbeat();
                stop.wait(wait.next(waiting));
            }
            Step::Finished => return Ok(()),
        }
    }
    driver.shut_down()
}

/// Does some work under a lease. It is stopped when another process has taken the lease over. `None` when the process
/// is to stop before it has the lease.
///
/// # Errors
/// As [`Leases::hold`](store::Leases::hold), and those of the work.
pub fn with_lease<T, E: From<StoreError>>(
    run: &Run,
    name: LeaseName,
    stop: &Stop,
    work: impl FnOnce() -> Result<T, E>,
) -> Result<Option<T>, E> {
    let sleep = |time| {
        stop.health().heartbeat();
        stop.wait(time);
        stop.flow()
    };
    let lost = {
        let stop = stop.clone();
        move || stop.request()
    };
    let done = run.leases().hold(name, &sleep, lost, work)?;
    if done.is_none() {
        tracing::info!("stopped before another process had released the lease");
    }
    Ok(done)
}

/// One wait after the other, with nothing done in between.
struct Wait {
    backoff: Backoff,
    /// The reason and the begin of a wait.
    last: Option<(Waiting, Instant)>,
    said: Option<Instant>,
}

impl Wait {
    fn new(backoff: Backoff) -> Wait {
        Wait { backoff, last: None, said: None }
    }

    /// The time until the next step.
    fn next(&mut self, waiting: Waiting) -> Duration {
        let began = match self.last.take() {
            Some((last, began)) if last.what == waiting.what => {
                if last.there != waiting.there {
                    self.backoff.reset();
                }
                began
            }
            _ => {
                self.backoff.reset();
                self.said = None;
                Instant::now()
            }
        };
        if self.said.is_none_or(|said| said.elapsed() >= BETWEEN_LINES) {
            tracing::info!(reason = %waiting, waited = format::duration(began.elapsed()), "waiting");
            self.said = Some(Instant::now());
        }
        self.last = Some((waiting, began));
        self.backoff.pause()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Does the given steps, and then waits for ever.
    struct Script<'a> {
        steps: Vec<Result<Step, &'static str>>,
        stop: &'a Stop,
        shut_down: usize,
    }

    impl Driver for Script<'_> {
        type Error = &'static str;

        fn step(&mut self) -> Result<Step, &'static str> {
            if self.steps.len() == 1 {
                self.stop.request();
            }
            self.steps.remove(0)
        }

        fn pause(&self) -> Backoff {
            Backoff::new(Duration::from_millis(1), Duration::from_millis(1))
        }

        fn shut_down(&mut self) -> Result<(), &'static str> {
            self.shut_down += 1;
            Ok(())
        }
    }

    fn run(steps: &[Result<Step, &'static str>]) -> (Result<(), &'static str>, usize, usize) {
        let stop = Stop::never();
        let mut script = Script { steps: steps.to_vec(), stop: &stop, shut_down: 0 };
        let ended = drive(&mut script, &stop);
        (ended, script.steps.len(), script.shut_down)
    }

    #[test]
    fn drive_returns_when_the_driver_finishes_fails_or_is_stopped() {
        let (worked, waiting) = (Ok(Step::Worked), Ok(Step::Waiting(Waiting::new("games"))));
        let rest = [worked.clone(), worked.clone()];
        let with = |last: Result<Step, &'static str>| [&[worked.clone(), waiting.clone(), last], &rest[..]].concat();
        assert_eq!(run(&with(Ok(Step::Finished))), (Ok(()), 2, 0));
        assert_eq!(run(&with(Err("broken"))), (Err("broken"), 2, 0));
        assert_eq!(run(&[worked.clone(), waiting.clone(), worked.clone()]), (Ok(()), 0, 1), "stopped in the last step");
    }

    #[test]
    fn wait_pauses_grow_until_there_is_more_or_another_thing_is_waited_for() {
        let mut wait = Wait::new(Backoff::new(Duration::from_secs(1), Duration::from_secs(100)));
        let games = |there| Waiting { what: "games".to_owned(), there, detail: String::new() };
        let mut next = |waiting| wait.next(waiting).as_secs_f64();
        for _ in 0..6 {
            next(games(3));
        }
        assert!(next(games(3)) > 4.0);
        assert!(next(games(4)) < 1.5);
        for _ in 0..6 {
            next(games(4));
        }
        assert!(next(Waiting::new("a model")) < 1.5);
    }
}
