//! What training wrote down, by optimiser step.

use std::collections::BTreeMap;

use page::{Axis, Format, Mark, Plot, Point, Series, Shape};
use record::statistics::wilson_score;

use crate::curves::{Bin, Curves};
use crate::reader::Facts;

/// A curve of the page: numbers of sets by step.
struct Shown {
    id: &'static str,
    caption: &'static str,
    label: &'static str,
    /// The set, the number in it, and what it is called.
    lines: &'static [(&'static str, &'static str, &'static str)],
    format: Format,
}

const SHOWN: &[Shown] = &[
    Shown {
        id: "policy-loss",
        caption: "Cross-entropy in nats: of training batches before their step, the validation set, human games, deep searches.",
        label: "policy loss",
        lines: &[
            ("train", "policy", "training"),
            ("holdout", "policy", "validation"),
            ("human", "policy", "human games"),
            ("deep", "policy", "deep searches"),
        ],
        format: Format::Short,
    },
    Shown {
        id: "value-loss",
        caption: "As the configuration weights it.",
        label: "value loss",
        lines: &[("train", "value", "training"), ("holdout", "value", "validation"), ("human", "value", "human games")],
        format: Format::Short,
    },
    Shown {
        id: "ownership-loss",
        caption: "Cross-entropy of the points in nats, less that of the target with itself; of networks with the head.",
        label: "ownership loss",
        lines: &[("train", "ownership", "training"), ("holdout", "ownership", "validation")],
        format: Format::Short,
    },
    Shown {
        id: "score-loss",
        caption: "Huber loss of the margin in points by the side of the board; of networks with the head.",
        label: "score loss",
        lines: &[("train", "score", "training"), ("holdout", "score", "validation")],
        format: Format::Short,
    },
    Shown {
        id: "opponent-policy-loss",
        caption: "Cross-entropy of the opponent’s next move in nats; of networks with the head.",
        label: "opponent policy loss",
        lines: &[("train", "opponent_policy", "training"), ("holdout", "opponent_policy", "validation")],
        format: Format::Short,
    },
    Shown {
        id: "l2",
        caption: "λ‖w‖² / 2 over the weights.",
        label: "L2 penalty",
        lines: &[("train", "l2", "L2 penalty")],
        format: Format::Short,
    },
    Shown {
        id: "total-loss",
        caption: "The sum of the losses by their weights, and the L2 penalty. Training minimises it with auxiliary losses \
                  averaged over each part of a batch (train.norm_batch).",
        label: "total loss",
        lines: &[("train", "total", "training"), ("holdout", "total", "validation"), ("human", "total", "human games")],
        format: Format::Short,
    },
    Shown {
        id: "accuracy",
        caption: "Share of positions whose most probable move is that of the search, or of the human player.",
        label: "top-1 accuracy",
        lines: &[
            ("train", "accuracy", "training"),
            ("holdout", "accuracy", "validation"),
            ("human", "accuracy", "human games"),
            ("deep", "accuracy", "deep searches"),
        ],
        format: Format::Percent,
    },
    Shown {
        id: "value-error",
        caption: "Squared error of the predicted outcome, or of the value of a deep search, (v − t)²; there also by stage of the \
                  game: after 0 to 14 moves, 15 to 26, and more. A constant has the error of the dashed lines.",
        label: "value MSE",
        lines: &[
            ("train", "value_error", "training"),
            ("holdout", "value_error", "validation"),
            ("human", "value_error", "human games"),
            ("deep", "value_error", "deep searches"),
            ("deep", "value_error_early", "deep, early"),
            ("deep", "value_error_middle", "deep, middle"),
            ("deep", "value_error_late", "deep, late"),
            ("holdout", "constant_error", "constant, validation"),
            ("human", "constant_error", "constant, human games"),
        ],
        format: Format::Short,
    },
    Shown {
        id: "entropies",
        caption: "Of the network’s policy and of the search policy, on the validation set. A policy far below its target has \
                  collapsed.",
        label: "entropy in nats",
        lines: &[("holdout", "output_entropy", "network"), ("holdout", "target_entropy", "search")],
        format: Format::Short,
    },
    Shown {
        id: "surprise",
        caption: "Divergence of the network’s policy from the search policy on the validation set: policy loss minus the \
                  entropy of the target, which is the noise that no network predicts.",
        label: "divergence in nats",
        lines: &[("holdout", "policy - target_entropy", "validation")],
        format: Format::Short,
    },
    Shown {
        id: "learning-rate",
        caption: "Of each step.",
        label: "learning rate",
        lines: &[("train", "learning_rate", "learning rate")],
        format: Format::Short,
    },
    Shown {
        id: "gradient-norm",
        caption: "Of the last batch before the line of the log.",
        label: "gradient norm",
        lines: &[("train", "gradient_norm", "gradient norm")],
        format: Format::Short,
    },
];

/// Losses of heads that a network may lack.
const OF_HEADS: [&str; 3] = ["ownership", "score", "opponent_policy"];

/// Between two numbers whose difference is shown.
const DIFFERENCE: &str = " - ";

/// The numbers of the training log that curves show, each with its set. The log of networks with all heads has them
/// all.
pub fn logged_numbers() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = SHOWN.iter().flat_map(|shown| shown.lines);
    lines.flat_map(|&(set, metric, _)| metric.split(DIFFERENCE).map(move |number| (set, number)))
}

/// A curve by its name; `None` for a name that is none.
pub(super) fn curve(facts: &Facts, name: &str) -> Option<Plot> {
    let shown = SHOWN.iter().find(|shown| shown.id == name)?;
    let lines = shown.lines.iter().map(|&(set, metric, name)| {
        let mut points = points(&facts.curves, set, metric);
        // A network without the head has no such loss, and the logs have 0.
        if OF_HEADS.contains(&metric) && points.iter().all(|point| point.y == 0.0) {
            points.clear();
        }
        let shape = if metric == "constant_error" { Shape::Dashed } else { Shape::Line };
        Series { name: name.to_owned(), shape, points }
    });
    Some(Plot {
        caption: shown.caption.to_owned(),
        x: Axis::new("optimiser step"),
        y: Axis::new(shown.label).format(shown.format),
        series: lines.filter(|series| !series.points.is_empty()).collect(),
        empty: "No training yet.".to_owned(),
        ..Plot::default()
    })
}

/// The points of a number, or of the difference of two.
fn points(curves: &Curves, set: &str, metric: &str) -> Vec<Point> {
    let Some((one, other)) = metric.split_once(DIFFERENCE) else {
        return curves.values(set, metric).map(|(step, value, _)| Point::new(step as f64, value)).collect();
    };
    // A line of the logs may lack either number.
    let other: BTreeMap<u64, f64> = curves.values(set, other).map(|(step, value, _)| (step, value)).collect();
    let both = curves.values(set, one).filter_map(|(step, value, _)| Some((step, value - other.get(&step)?)));
    both.map(|(step, value)| Point::new(step as f64, value)).collect()
}

/// Predicted and actual results of the newest validations.
pub(super) fn calibration(facts: &Facts) -> Plot {
    let names = [("holdout", "validation"), ("human", "human games")];
    let series = names.iter().filter_map(|&(set, name)| {
        let (step, bins) = facts.curves.calibration.get(set)?;
        let points = bins.iter().filter(|bin| bin.count > 0).map(result_of);
        Some(Series { name: format!("{name}, step {step}"), shape: Shape::Dots, points: points.collect() })
    });
    let mut series: Vec<Series> = series.collect();
    if !series.is_empty() {
        let points = vec![Point::new(0.0, 0.0), Point::new(1.0, 1.0)];
        series.push(Series { name: "calibrated".to_owned(), shape: Shape::Dashed, points });
    }
    Plot {
        caption: "Mean result of the side to move by its predicted result, a draw counting half, newest validation; bars are \
                  95 %, as if all positions were of different games."
            .to_owned(),
        x: Axis::new("predicted result").format(Format::Percent),
        y: Axis::new("result").format(Format::Percent),
        series,
        marks: vec![Mark { name: String::new(), y: 0.5 }],
        empty: "No validation yet.".to_owned(),
        ..Plot::default()
    }
}

/// The mean result of a bin with its interval: a share of points.
fn result_of(bin: &Bin) -> Point {
    let (low, high) = wilson_score(bin.outcome * bin.count as f64, bin.count as usize);
    Point::new(bin.prediction, bin.outcome).within(low, high).label(format!("{} positions", bin.count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval of 81 of 263: Newcombe, Statistics in Medicine 17 (1998), table I.
    #[test]
    fn results_of_calibration_are_shares_of_points() {
        let point = result_of(&Bin { count: 263, prediction: 0.25, outcome: 81.0 / 263.0 });
        let (low, high) = point.interval.unwrap();
        assert_eq!((point.x, point.y), (0.25, 81.0 / 263.0));
        assert!((low - 0.2553).abs() < 1e-4 && (high - 0.3662).abs() < 1e-4, "{low} {high}");
        let lost = result_of(&Bin { count: 20, prediction: 0.05, outcome: 0.0 }).interval.unwrap();
        assert!(lost.0.abs() < 1e-12 && (lost.1 - 0.161_125).abs() < 1e-6, "{lost:?}");
    }

    #[test]
    fn difference_has_the_steps_with_both_numbers() {
        let mut curves = Curves::default();
        curves.read(
            r#"{"set":"holdout","step":1,"policy":3.0}
            {"set":"holdout","step":2,"policy":2.5,"target_entropy":1.0}
            {"set":"holdout","step":3,"policy":2.0,"target_entropy":null}
            {"set":"holdout","step":4,"policy":1.75,"target_entropy":1.25}"#,
        );
        let expected = [Point::new(2.0, 1.5), Point::new(4.0, 0.5)];
        assert_eq!(points(&curves, "holdout", "policy - target_entropy"), expected);
        assert_eq!(points(&curves, "holdout", "policy").len(), 4);
    }
}
