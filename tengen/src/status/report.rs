//! The state of a run, as text and as JSON.

use std::fmt;
use std::time::Duration;

use config::RunName;
use facts::Activity;
use serde::{Serialize, Serializer};

/// Processes that a line names; the others are counted.
const NAMED: usize = 4;

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct RunStatus {
    pub(super) run: RunName,
    /// What could be read of it, or why it cannot be read.
    #[serde(flatten, serialize_with = "flat")]
    pub(super) state: Result<State, String>,
}

/// The fields of the state, or the field `error`.
fn flat<S: Serializer>(state: &Result<State, String>, serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Flat<'a> {
        State(&'a State),
        Error { error: &'a str },
    }
    match state {
        Ok(state) => Flat::State(state),
        Err(error) => Flat::Error { error },
    }
    .serialize(serializer)
}

/// What could be read of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct State {
    /// The newest model; 0 before the first.
    pub(super) model: u32,
    /// Models after which the run is finished.
    pub(super) models: u32,
    /// Seconds since anything was published.
    pub(super) idle_seconds: Option<u64>,
    /// Games per hour over the last hour, without imported ones.
    pub(super) games_per_hour: Option<f64>,
    /// Models per hour over the last ones.
    pub(super) models_per_hour: Option<f64>,
    /// Optimiser steps per second while the last model was trained.
    pub(super) steps_per_second: Option<f64>,
    /// The rating of the newest model that has one.
    pub(super) newest_rating: Option<Rating>,
    /// The highest rating of a model of the run.
    pub(super) best_rating: Option<Rating>,
    pub(super) stages: Vec<Stage>,
    pub(super) alarms: Vec<String>,
}

/// The rating of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Rating {
    pub(super) player: String,
    /// Elo above the anchor.
    pub(super) elo: f64,
    /// Half of the 95 % interval against the mean of the run's other models.
    pub(super) margin: f64,
}

/// A stage and its processes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Stage {
    pub(super) stage: &'static str,
    #[serde(flatten)]
    pub(super) activity: Activity,
    /// Processes that hold a lease, which self-play and training need; `None` for the other stages.
    pub(super) processes: Option<Vec<Process>>,
}

/// A process that holds a lease.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Process {
    /// The name that it works under.
    pub(super) worker: String,
    /// `process 7 on host`; `None` for one of many, whose lease was not read, and for one of another version.
    pub(super) process: Option<String>,
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.state {
            Ok(state) => write!(f, "{}: {state}", self.run),
            Err(error) => write!(f, "{}: ALARM: {error}", self.run),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "model {} of {}", self.model, self.models)?;
        let rates = [
            self.games_per_hour.map(|rate| format!("{rate:.0} games/h")),
            self.models_per_hour.map(|rate| format!("{rate:.2} models/h")),
            self.steps_per_second.map(|rate| format!("{rate:.1} steps/s")),
            self.newest_rating.as_ref().map(ToString::to_string),
            self.best_rating
                .as_ref()
                .filter(|best| Some(*best) != self.newest_rating.as_ref())
                .map(|best| format!("best {best}")),
        ];
        rates.into_iter().flatten().try_for_each(|rate| write!(f, ", {rate}"))?;
        if let Some(seconds) = self.idle_seconds {
            write!(f, ", last object {} ago", runtime::format::duration(Duration::from_secs(seconds)))?;
        }
        self.stages.iter().try_for_each(|stage| write!(f, "\n  {stage}"))?;
        self.alarms.iter().try_for_each(|alarm| write!(f, "\n  ALARM: {alarm}"))
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:.0} ± {:.0} Elo", self.player, self.elo, self.margin)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:10} {}", self.stage, self.activity)?;
        let Some(processes) = &self.processes else { return Ok(()) };
        let named = processes.iter().take(NAMED).map(|process| match &process.process {
            Some(of) => format!("{} ({of})", process.worker),
            None => process.worker.clone(),
        });
        let names = named.collect::<Vec<_>>().join(", ");
        match (processes.len(), processes.len().saturating_sub(NAMED)) {
            (0, _) if self.activity == Activity::Finished => Ok(()),
            (0, _) => f.write_str("; no process"),
            (1, _) => write!(f, "; by {names}"),
            (all, 0) => write!(f, "; by {all} processes: {names}"),
            (all, others) => write!(f, "; by {all} processes: {names} and {others} more"),
        }
    }
}
