//! The training log: the same numbers as lines of JSON and as curves for TensorBoard.
//!
//! A stretch of training, which ends with a checkpoint, has two files of its own:
//! `GENERATION-TIME.jsonl` and `events.out.tfevents.TIME.GENERATION`. TensorBoard takes all event files of a folder, in
//! order of name, for one run.
//!
//! They are published after the checkpoint, or the model, of their last step. A kill between the two costs lines; in
//! the other order, the next process would train on the same batches and write lines of the same steps again.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use net::{Bin, Losses, Measured};
use serde_json::{Value, json};
use store::{LogName, Run, StoreError};

use crate::events::Events;
use crate::health_checks::Alarm;

/// The log of one stretch of training.
pub(crate) struct Journal {
    generation: u32,
    began: f64,
    lines: String,
    events: Events,
}

/// The subject of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// Batches that were trained on, before they were.
    Train,
    /// Games that are never trained on.
    Holdout,
    /// Human games.
    Human,
    /// Positions with results of deep searches.
    Deep,
}

impl Set {
    fn name(self) -> &'static str {
        match self {
            Set::Train => "train",
            Set::Holdout => "holdout",
            Set::Human => "human",
            Set::Deep => "deep",
        }
    }
}

impl Journal {
    pub(crate) fn new(generation: u32) -> Journal {
        let began = now();
        Journal { generation, began, lines: String::new(), events: Events::new(began) }
    }

    /// Writes down what positions cost after so many steps, and other numbers with their names.
    pub(crate) fn put(&mut self, step: u64, set: Set, losses: &Losses, others: &[(&str, f32)]) {
        let line = self.line(step, set, losses, others);
        self.push(&line);
    }

    /// Writes down what positions cost that were not trained on, how well the values are calibrated, and other numbers.
    /// The bins of the calibration are in the lines of JSON only: `calibration`.
    pub(crate) fn put_measured(&mut self, step: u64, set: Set, measured: &Measured, others: &[(&str, f32)]) {
        let Measured { losses, calibration, .. } = measured;
        let error = ("calibration_error", calibration.error() as f32);
        let mut line = self.line(step, set, losses, &[others, &[error]].concat());
        line["calibration"] = calibration.bins.iter().map(said).collect();
        self.push(&line);
    }

    /// A line of losses and other numbers, which become points of curves.
    fn line(&mut self, step: u64, set: Set, losses: &Losses, others: &[(&str, f32)]) -> Value {
        let set = set.name();
        let time = now();
        let mut line = json!({ "time": time, "generation": self.generation, "step": step, "set": set });
        for &(name, value) in losses.named().iter().chain(others) {
            line[name] = json!(shortest(value));
            self.events.scalar(time, step, &format!("{set}/{name}"), value);
        }
        line
    }

    fn push(&mut self, line: &Value) {
        self.lines.push_str(&line.to_string());
        self.lines.push('\n');
    }

    /// Writes down that something is wrong.
    pub(crate) fn alarm(&mut self, step: u64, alarm: &Alarm) {
        let (generation, text) = (self.generation, alarm.to_string());
        let line = json!({ "time": now(), "generation": generation, "step": step, "set": "alarm", "alarm": alarm.name(), "text": text });
        self.push(&line);
    }

    /// Whether nothing is written down.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Publishes both files.
    pub(crate) fn publish(self, run: &Run) -> Result<(), StoreError> {
        let (generation, time) = (self.generation, (self.began * 1000.0) as u64);
        run.logs().publish(&LogName { generation, time }.to_string(), Bytes::from(self.lines))?;
        let name = format!("events.out.tfevents.{time:013}.{generation:06}");
        run.logs().publish(&name, Bytes::from(self.events.into_bytes()))
    }
}

/// A bin of predictions as a line has it.
fn said(bin: &Bin) -> Value {
    let short = |number: Option<f64>| number.map(|number| shortest(number as f32));
    json!({ "count": bin.count, "prediction": short(bin.prediction), "outcome": short(bin.outcome) })
}

/// The number with the fewest digits that is this one among the f32.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_else(|_| f64::from(value))
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}
