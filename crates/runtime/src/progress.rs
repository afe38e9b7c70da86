//! Progress bars.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};

use crate::{console, format};

/// Without a terminal, progress is a log line, and not more often than this.
const BETWEEN_LINES: Duration = Duration::from_secs(15);

/// The progress of one piece of work: a bar on a terminal, otherwise a log line every quarter of a minute.
///
/// May be shared by threads. Dropping it takes the bar away.
#[derive(Debug)]
pub struct Progress {
    label: String,
    total: Option<u64>,
    start: Instant,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    done: u64,
    /// Those of `done` that took this process no time.
    skipped: u64,
    note: String,
    last_line: Instant,
}

impl Progress {
    /// Starts to show work called `label`, of `total` steps where that is known.
    pub fn new(label: impl Into<String>, total: Option<u64>) -> Progress {
        let (label, start) = (label.into(), Instant::now());
        let bar = console::has_bars().then(|| bar(&label, total));
        let state = Mutex::new(State { done: 0, skipped: 0, note: String::new(), last_line: start });
        Progress { label, total, start, bar, state }
    }

    /// `done` steps are done, counted from the start of the work.
    pub fn set(&self, done: u64) {
        let mut state = self.state();
        state.done = done;
        match &self.bar {
            Some(bar) => bar.set_position(done),
            None => self.line_when_due(&mut state),
        }
    }

    /// `steps` more steps are done, by an earlier process: they count, and say nothing about the rate and the time
    /// left.
    pub fn skip(&self, steps: u64) {
        if steps == 0 {
            return;
        }
        let mut state = self.state();
        state.done += steps;
        state.skipped += steps;
        if let Some(bar) = &self.bar {
            bar.set_position(state.done);
            // With a message the bar takes note of the position at once, so that what it forgets then is this jump.
            bar.set_message(state.note.clone());
            bar.reset_eta();
        }
    }

    /// Present figures, such as a rate or a loss.
    pub fn note(&self, note: impl Into<String>) {
        let mut state = self.state();
        state.note = note.into();
        match &self.bar {
            Some(bar) => bar.set_message(state.note.clone()),
            None => self.line_when_due(&mut state),
        }
    }

    /// Ends the bar with a log line that says how much was done in which time.
    pub fn finish(self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let (state, took) = (self.state(), self.start.elapsed());
        tracing::info!(
            done = state.done,
            rate = format::rate(state.worked(), took),
            took = format::duration(took),
            note = noted(&state),
            task = self.label,
            "finished"
        );
    }

    fn line_when_due(&self, state: &mut State) {
        if state.last_line.elapsed() < BETWEEN_LINES {
            return;
        }
        state.last_line = Instant::now();
        let took = self.start.elapsed();
        tracing::info!(
            done = state.done,
            total = self.total,
            rate = format::rate(state.worked(), took),
            left = self.left(state, took).map(format::duration),
            note = noted(state),
            task = self.label,
            "progress"
        );
    }

    /// The time the rest will take at the rate so far; `None` where that is none, or longer than a duration can be.
    fn left(&self, state: &State, took: Duration) -> Option<Duration> {
        let rest = self.total?.saturating_sub(state.done) as f64;
        Duration::try_from_secs_f64(took.as_secs_f64() * (rest / state.worked() as f64)).ok()
    }

    /// Every field is a plain value, so what a panicking thread left behind can be shown.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Steps of this process.
    fn worked(&self) -> u64 {
        self.done.saturating_sub(self.skipped)
    }
}

fn noted(state: &State) -> Option<&str> {
    Some(state.note.as_str()).filter(|note| !note.is_empty())
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
            console::bars().remove(bar);
        }
    }
}

fn bar(label: &str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{prefix} {bar:24} {human_pos}/{human_len} {rate:.dim} ETA {eta} {wide_msg:.dim}")
        }
        None => (ProgressBar::no_length(), "{prefix} {spinner} {human_pos} {rate:.dim} {elapsed} {wide_msg:.dim}"),
    };
    let style = ProgressStyle::with_template(template)
        .expect("the template is a constant")
        .with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // The template engine has nowhere to report a failed write to.
            let _ = out.write_str(&format::per_second(state.per_sec()));
        })
        .progress_chars("━╸─");
    let bar = console::bars().add(bar.with_style(style).with_prefix(label.to_owned()));
    // Ticking shows that a long step is still alive.
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_rate_so_far() {
        let left = |total, done| {
            let progress = Progress::new("games", total);
            progress.set(done);
            progress.left(&progress.state(), Duration::from_secs(10))
        };
        assert_eq!(left(Some(40), 0), None);
        assert_eq!(left(Some(40), 10), Some(Duration::from_secs(30)));
        assert_eq!(left(Some(40), 50), Some(Duration::ZERO));
        assert_eq!(left(None, 5), None);
        assert_eq!(left(Some(u64::MAX), 1), None);
    }

    #[test]
    fn time_left_of_resumed_work_follows_the_rate_of_this_process() {
        let progress = Progress::new("games", Some(1000));
        progress.skip(900);
        assert_eq!(progress.left(&progress.state(), Duration::from_secs(10)), None, "nothing is done since");
        progress.set(905);
        assert_eq!(progress.left(&progress.state(), Duration::from_secs(10)), Some(Duration::from_secs(190)));
        let state = progress.state();
        assert_eq!((state.done, state.worked()), (905, 5));
    }

    #[test]
    fn lines_come_only_when_due() {
        let progress = Progress::new("games", None);
        let start = progress.state().last_line;
        progress.set(3);
        progress.note("fast");
        let mut state = progress.state();
        assert_eq!((state.done, state.note.as_str(), state.last_line), (3, "fast", start));
        state.last_line = start - BETWEEN_LINES;
        progress.line_when_due(&mut state);
        assert!(state.last_line >= start);
    }
}
