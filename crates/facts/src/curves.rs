//! What training wrote down: losses and other numbers by step, alarms, calibration of values.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

/// Lines of a set that are kept. Of more, every other one is dropped: more than a screen can show.
const MOST_LINES: usize = 20_000;
/// Alarms that are kept, the newest.
const MOST_ALARMS: usize = 500;

/// The logs of training.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The names of the numbers, in the order of [`Line::values`].
    metrics: Vec<String>,
    /// By set (`train`, `holdout`, `human`, `deep`) and step. A step that was made again counts as it was made last.
    sets: BTreeMap<String, BTreeMap<u64, Line>>,
    /// The newest alarms, oldest first.
    pub alarms: VecDeque<Alarm>,
    /// How many there are of each model, those that are forgotten included.
    alarms_by_model: BTreeMap<u32, usize>,
    /// When each model had its last step, in seconds since 1970.
    pub ends: BTreeMap<u32, f64>,
    /// Predicted and actual results of the newest line of each set that has them.
    pub calibration: BTreeMap<String, (u64, Vec<Bin>)>,
    /// Lines that are none.
    pub unread: usize,
}

/// A line of the logs.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The model that was being trained.
    pub model: Option<u32>,
    /// When it was written, in seconds since 1970.
    pub time: Option<f64>,
    /// Its numbers; not a number where it has none.
    values: Vec<f32>,
}

/// Something was wrong in training.
#[derive(Clone, Debug, PartialEq)]
pub struct Alarm {
    /// The model that was being trained.
    pub model: u32,
    /// What kind it is.
    pub name: String,
    /// What it says.
    pub text: String,
}

/// Predictions of about the same result, of the side to move: 1 for a win, 0 for a loss, a draw is ½.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Positions.
    pub count: u64,
    /// Their mean predicted result, 0 to 1.
    pub prediction: f64,
    /// Their mean result, 0 to 1.
    pub outcome: f64,
}

impl Curves {
    /// Reads a log: lines of JSON.
    pub fn read(&mut self, log: &str) {
        for line in log.lines() {
            if self.read_line(line).is_none() {
                self.unread += 1;
            }
        }
    }

    fn read_line(&mut self, line: &str) -> Option<()> {
        let line: Value = serde_json::from_str(line).ok()?;
        let set = line["set"].as_str()?.to_owned();
        let step = line["step"].as_u64()?;
        let model = line["generation"].as_u64().and_then(|model| u32::try_from(model).ok());
        let time = line["time"].as_f64();
        if set == "alarm" {
            let text = |name: &str| line[name].as_str().map(str::to_owned);
            let alarm = Alarm { model: model?, name: text("alarm")?, text: text("text")? };
            *self.alarms_by_model.entry(alarm.model).or_default() += 1;
            self.alarms.push_back(alarm);
            if self.alarms.len() > MOST_ALARMS {
                self.alarms.pop_front();
            }
            return Some(());
        }
        // A line of losses has at least this one.
        line["policy"].as_f64()?;
        let mut values = vec![f32::NAN; self.metrics.len()];
        for (name, value) in line.as_object()? {
            let Some(value) = value.as_f64().filter(|_| !["time", "generation", "step"].contains(&name.as_str()))
            else {
                continue;
            };
            let place = self.metrics.iter().position(|metric| metric == name).unwrap_or_else(|| {
                self.metrics.push(name.clone());
                values.push(f32::NAN);
                values.len() - 1
            });
            values[place] = value as f32;
        }
        if let Some((model, time)) = model.zip(time) {
            let end = self.ends.entry(model).or_insert(time);
            *end = end.max(time);
        }
        if let Some(bins) = line["calibration"].as_array() {
            let known = self.calibration.get(&set).map_or(0, |(step, _)| *step);
            if step >= known {
                self.calibration.insert(set.clone(), (step, bins.iter().filter_map(bin).collect()));
            }
        }
        let lines = self.sets.entry(set).or_default();
        lines.insert(step, Line { model, time, values });
        if lines.len() > MOST_LINES {
            let mut keep = false;
            lines.retain(|_, _| {
                keep = !keep;
                keep
            });
        }
        Some(())
    }

    /// How many alarms the training of a model had. Their texts may be forgotten.
    pub fn alarms_of(&self, model: u32) -> usize {
        self.alarms_by_model.get(&model).copied().unwrap_or_default()
    }

    /// How many alarms there were.
    pub(crate) fn alarms_in_all(&self) -> usize {
        self.alarms_by_model.values().sum()
    }

    /// The sets that have lines.
    pub fn sets(&self) -> impl Iterator<Item = &str> {
        self.sets.keys().map(String::as_str)
    }

    /// The names of all numbers.
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// A number of a set by step, with the line that it stands in.
    pub fn values<'a>(&'a self, set: &str, metric: &str) -> impl Iterator<Item = (u64, f64, &'a Line)> {
        let place = self.metrics.iter().position(|name| name == metric);
        let lines = self.sets.get(set).into_iter().flatten();
        lines.filter_map(move |(&step, line)| {
            let value = f64::from(*line.values.get(place?)?);
            (!value.is_nan()).then_some((step, value, line))
        })
    }
}

fn bin(value: &Value) -> Option<Bin> {
    let count = value["count"].as_u64()?;
    Some(Bin { count, prediction: value["prediction"].as_f64()?, outcome: value["outcome"].as_f64()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"accuracy":0.5,"policy":1.5,"set":"train","step":10,"value":0.25,"generation":3,"time":1.5e9}"#;

    #[test]
    fn lines_have_any_numbers_and_the_last_of_a_step_counts() {
        let mut curves = Curves::default();
        curves.read(LINE);
        curves.read(&LINE.replace("1.5,", "2.5,").replace("\"value\"", "\"learning_rate\""));
        let values = |metric| curves.values("train", metric).map(|(step, value, _)| (step, value)).collect::<Vec<_>>();
        assert_eq!((values("policy"), values("learning_rate")), (vec![(10, 2.5)], vec![(10, 0.25)]));
        assert_eq!((values("value"), values("nothing")), (vec![], vec![]));
        assert_eq!((curves.ends[&3], curves.unread), (1.5e9, 0));
    }

    #[test]
    fn lines_that_are_none_are_counted() {
        let mut curves = Curves::default();
        for bad in ["{}", "[1]", "nonsense", &LINE.replace("1.5,", "\"1.5\","), &LINE.replace("10", "-1")] {
            curves.read(bad);
        }
        assert_eq!((curves.unread, curves.sets().count()), (5, 0));
    }

    #[test]
    fn alarms_and_calibration_are_kept() {
        let mut curves = Curves::default();
        curves.read(r#"{"set":"alarm","step":5,"generation":2,"time":1,"alarm":"stale","text":"again and again"}"#);
        let bins = r#","calibration":[{"count":7,"prediction":0.5,"outcome":0.25},{"count":0,"prediction":null,"outcome":null}]}"#;
        curves.read(&LINE.replace('}', bins));
        assert_eq!((curves.alarms[0].model, curves.alarms[0].name.as_str()), (2, "stale"));
        assert_eq!(curves.calibration["train"], (10, vec![Bin { count: 7, prediction: 0.5, outcome: 0.25 }]));
    }

    #[test]
    fn alarms_whose_text_is_forgotten_still_count() {
        let mut curves = Curves::default();
        for model in 1..=MOST_ALARMS + 100 {
            curves.read(&format!(r#"{{"set":"alarm","step":{model},"generation":{model},"alarm":"stale","text":""}}"#));
        }
        assert_eq!((curves.alarms.len(), curves.alarms[0].model), (MOST_ALARMS, 101));
        assert_eq!([1, 101, 601].map(|model| curves.alarms_of(model)), [1, 1, 0]);
        assert_eq!(curves.alarms_in_all(), MOST_ALARMS + 100);
    }

    #[test]
    fn long_logs_are_thinned_to_a_bound() {
        let mut curves = Curves::default();
        for step in 0..3 * MOST_LINES {
            curves.read(&LINE.replace("\"step\":10", &format!("\"step\":{step}")));
        }
        let steps: Vec<u64> = curves.values("train", "policy").map(|(step, _, _)| step).collect();
        assert!(steps.len() <= MOST_LINES && steps.len() > MOST_LINES / 3, "{}", steps.len());
        assert_eq!(steps[0], 0);
    }
}
