//! What is written down about training: the same numbers as lines of JSON and as curves for TensorBoard.
//!
//! A stretch of training, which ends with a checkpoint, has two files of its own:
//! `GENERATION-TIME.jsonl` and `events.out.tfevents.TIME.GENERATION`. TensorBoard takes all event files of a folder, in
//! order of name, for one run.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use net::Losses;
use serde_json::json;
use store::{Run, StoreError};

use crate::checkup::Alarm;
use crate::events::Events;

/// The log of one stretch of training.
pub(crate) struct Journal {
    generation: u32,
    began: f64,
    lines: String,
    events: Events,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Batches that were learned from, before they were.
    Train,
    /// Games that are never learned from.
    Holdout,
}

impl Journal {
    pub(crate) fn new(generation: u32) -> Journal {
        let began = now();
        Journal { generation, began, lines: String::new(), events: Events::new(began) }
    }

    /// Writes down what positions cost after so many steps, and other numbers with their names.
    pub(crate) fn put(&mut self, step: u64, set: Set, losses: &Losses, others: &[(&str, f32)]) {
        let set = match set {
            Set::Train => "train",
            Set::Holdout => "holdout",
        };
        let time = now();
        let mut line = json!({ "time": time, "generation": self.generation, "step": step, "set": set });
        for &(name, value) in losses.named().iter().chain(others) {
            line[name] = json!(shortest(value));
            self.events.scalar(time, step, &format!("{set}/{name}"), value);
        }
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    /// Writes down that something is wrong.
    pub(crate) fn alarm(&mut self, step: u64, alarm: &Alarm) {
        let (generation, text) = (self.generation, alarm.to_string());
        let line = json!({ "time": now(), "generation": generation, "step": step, "set": "alarm", "alarm": alarm.name(), "text": text });
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    /// Publishes both files.
    pub(crate) fn publish(self, run: &Run) -> Result<(), StoreError> {
        let (generation, milliseconds) = (self.generation, (self.began * 1000.0) as u64);
        run.publish_log(&format!("{generation:06}-{milliseconds:013}.jsonl"), Bytes::from(self.lines))?;
        let name = format!("events.out.tfevents.{milliseconds:013}.{generation:06}");
        run.publish_log(&name, Bytes::from(self.events.into_bytes()))
    }
}

/// The number with the fewest digits that is this one among the f32.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}
