//! Resign thresholds, and what they cost.

use page::{Axis, Format, Plot, Point, Series, Shape};

use super::games::{by_model, share};
use crate::control::limits;
use crate::reader::Facts;

/// Every threshold by the newest model that played a game of it.
pub(super) fn thresholds(facts: &Facts) -> Plot {
    let points = facts.thresholds.values().map(|(_, threshold)| {
        let models = format!("{} games of models {} to {}", threshold.games, threshold.from_model, threshold.to_model);
        Point::new(threshold.to_model.into(), threshold.threshold.into()).label(models)
    });
    Plot {
        caption: "A player resigns when its root value, −1 to 1, is below it.".to_owned(),
        x: Axis::new("newest model of its calibration games"),
        y: Axis::new("root value"),
        series: vec![Series { name: "threshold".to_owned(), shape: Shape::Steps, points: points.collect() }],
        empty: "No threshold yet; resignation is disabled.".to_owned(),
        ..Plot::default()
    }
}

/// A control chart of wins that the threshold would have resigned: the share that is wanted, and three standard errors
/// around it for the number of games that each threshold comes from.
pub(super) fn false_positives(facts: &Facts) -> Plot {
    let all = || facts.thresholds.values().map(|(_, threshold)| threshold);
    let rate = all().map(|threshold| {
        let rate = threshold.false_positive_rate;
        let point = Point::new(threshold.to_model.into(), rate).within(threshold.rate_low, threshold.rate_high);
        let hits = (rate * threshold.games as f64).round();
        point.label(format!("{hits} of {} games", threshold.games))
    });
    let line = |name: &str, shape, of: fn((f64, f64, f64)) -> f64| Series {
        name: name.to_owned(),
        shape,
        points: all()
            .map(|threshold| {
                let wanted = f64::from(threshold.quantile);
                let (low, high) = limits(wanted, threshold.games);
                Point::new(threshold.to_model.into(), of((low, wanted, high)))
            })
            .collect(),
    };
    Plot {
        caption: "Wins that the threshold would have resigned, among the calibration games that it comes from. Control chart: \
                  points outside of the limits, three standard errors, are no chance."
            .to_owned(),
        x: Axis::new("newest model of its calibration games"),
        y: Axis::new("share of calibration games").format(Format::Percent),
        series: vec![
            Series { name: "false positives, 95 %".to_owned(), shape: Shape::Dots, points: rate.collect() },
            line("wanted", Shape::Line, |(_, wanted, _)| wanted),
            line("upper limit", Shape::Dashed, |(_, _, high)| high),
            line("lower limit", Shape::Dashed, |(low, _, _)| low),
        ],
        empty: "No threshold yet.".to_owned(),
        ..Plot::default()
    }
}

/// Games that were resigned.
pub(super) fn resigned(facts: &Facts) -> Plot {
    let axis = Axis::new("share of games").format(Format::Percent);
    by_model(facts, "resigned games", axis, |model, counts| share(model, counts.ends.resignation, counts.games()))
}

/// Calibration games whose winner was below the threshold in force.
pub(super) fn would_be_wrong(facts: &Facts) -> Plot {
    let first = facts.thresholds.values().map(|(_, threshold)| threshold.to_model).min();
    let axis = Axis::new("share of calibration games").format(Format::Percent);
    let plot = by_model(facts, "false positives in force", axis, |model, counts| {
        // Without a threshold there are no resignations.
        first.filter(|&first| model > first)?;
        share(model, counts.would_resign_wrongly, counts.calibration)
    });
    Plot {
        caption:
            "Calibration games of a model whose winner would have resigned by the threshold in force; the band is 95 %."
                .to_owned(),
        ..plot
    }
}
