//! What training wrote down.

use std::collections::BTreeMap;

use serde_json::Value;
use store::{Run, StoreError};

use super::facts::Curve;

/// Points of a curve: more than a screen can show.
const POINTS: usize = 600;

/// What the logs say.
#[derive(Default)]
pub(super) struct Logs {
    /// The losses of training and of holdout. A step that was made again counts as it was made last; of a long run every so
    /// many steps are taken.
    pub(super) curves: Vec<Curve>,
    /// When each model had its last step, in seconds since 1970.
    pub(super) ends: BTreeMap<u32, f64>,
    /// Lines that are none.
    pub(super) unread: usize,
}

pub(super) fn read_all(run: &Run) -> Result<Logs, StoreError> {
    let mut sets: BTreeMap<String, BTreeMap<u64, [f64; 3]>> = BTreeMap::new();
    let mut logs = Logs::default();
    for name in run.logs().list()?.iter().filter(|name| name.ends_with(".jsonl")) {
        let log = run.logs().read(name)?;
        for line in String::from_utf8_lossy(&log).lines() {
            match read(line) {
                Some(Line { set, step, losses, ended }) => {
                    sets.entry(set).or_default().insert(step, losses);
                    if let Some((model, time)) = ended {
                        let end = logs.ends.entry(model).or_insert(time);
                        *end = end.max(time);
                    }
                }
                None => logs.unread += 1,
            }
        }
    }
    // Training first.
    logs.curves = sets.into_iter().rev().map(|(set, steps)| curve(set, &steps)).collect();
    Ok(logs)
}

/// A line of the logs.
#[derive(Debug, PartialEq)]
struct Line {
    set: String,
    step: u64,
    /// Policy, value, accuracy.
    losses: [f64; 3],
    /// Of which model it is, and when it was written, in seconds since 1970.
    ended: Option<(u32, f64)>,
}

fn read(line: &str) -> Option<Line> {
    let line: Value = serde_json::from_str(line).ok()?;
    let number = |name: &str| line[name].as_f64();
    let model = line["generation"].as_u64().and_then(|model| u32::try_from(model).ok());
    Some(Line {
        set: line["set"].as_str()?.to_owned(),
        step: line["step"].as_u64()?,
        losses: [number("policy")?, number("value")?, number("accuracy")?],
        ended: model.zip(number("time")),
    })
}

fn curve(set: String, steps: &BTreeMap<u64, [f64; 3]>) -> Curve {
    let every = steps.len().div_ceil(POINTS).max(1);
    // The last step is always among them.
    let skip = (steps.len() + every - 1) % every;
    let kept = || steps.iter().skip(skip).step_by(every);
    let of = |loss: usize| kept().map(|(_, losses)| losses[loss]).collect();
    Curve { set, step: kept().map(|(&step, _)| step).collect(), policy: of(0), value: of(1), accuracy: of(2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_has_its_last_step_and_no_more_points_than_are_shown() {
        for length in [1, 2, 599, 600, 601, 5000] {
            let steps = (1..=length).map(|step| (step, [step as f64, 0.5, 0.25])).collect();
            let curve = curve("train".to_owned(), &steps);
            assert!(curve.step.len() <= POINTS, "{}", curve.step.len());
            assert_eq!((curve.step.last(), curve.policy.last()), (Some(&length), Some(&(length as f64))));
            assert_eq!(curve.step.len(), curve.value.len());
        }
    }

    #[test]
    fn lines_that_are_no_losses_are_known() {
        let good = r#"{"accuracy":0.5,"policy":1.5,"set":"train","step":10,"value":0.25,"other":1}"#;
        let line = Line { set: "train".to_owned(), step: 10, losses: [1.5, 0.25, 0.5], ended: None };
        assert_eq!(read(good).as_ref(), Some(&line));
        let timed = good.replace("\"other\":1", "\"generation\":3,\"time\":1.5e9");
        assert_eq!(read(&timed), Some(Line { ended: Some((3, 1.5e9)), ..line }));
        for bad in ["", "{}", "[1]", &good.replace("1.5", "\"1.5\""), &good.replace("10", "-1")] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
