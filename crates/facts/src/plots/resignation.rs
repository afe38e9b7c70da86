//! Resign thresholds, and what they cost.

use std::collections::BTreeMap;

use page::{Axis, Format, Plot, Point, Series, Shape};

use super::games::{by_model, share};
use crate::control::limits;
use crate::reader::Facts;

/// The share of calibration games whose winner may resign.
const WANTED: &str = "wanted";

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

/// Wins that each threshold would have resigned, among the games that chose it.
pub(super) fn false_positives(facts: &Facts) -> Plot {
    let all = || facts.thresholds.values().map(|(_, threshold)| threshold);
    let rate = all().map(|threshold| {
        let rate = threshold.false_positive_rate;
        let hits = (rate * threshold.games as f64).round();
        Point::new(threshold.to_model.into(), rate).label(format!("{hits} of {} games", threshold.games))
    });
    let wanted = all().map(|threshold| Point::new(threshold.to_model.into(), threshold.quantile.into()));
    Plot {
        caption: "Wins that the threshold would have resigned, among the calibration games that it comes from. It is \
                  chosen so that they are near the wanted share, whatever the network is worth: see the false \
                  positives in force."
            .to_owned(),
        x: Axis::new("newest model of its calibration games"),
        y: Axis::new("share of calibration games").format(Format::Percent),
        series: vec![
            Series { name: "false positives in sample".to_owned(), shape: Shape::Dots, points: rate.collect() },
            Series { name: WANTED.to_owned(), shape: Shape::Line, points: wanted.collect() },
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

/// A control chart of calibration games whose winner would have resigned by the threshold in force, which comes from
/// other games: the share that is wanted, and the limits around it.
pub(super) fn would_be_wrong(facts: &Facts) -> Plot {
    let axis = Axis::new("share of calibration games").format(Format::Percent);
    let plot = by_model(facts, "false positives, 95 %", axis, |model, counts| {
        share(model, counts.would_resign_wrongly, counts.in_force)
    });
    let of_shares = plot.series.into_iter().map(|series| Series { shape: Shape::Dots, ..series });
    let wanted = f64::from(facts.config.resign.quantile);
    let calibrating = calibrating(facts);
    let line = |name: &str, shape, of: fn((f64, f64, f64)) -> f64| {
        let played = facts.games.iter().filter(|(_, games)| games.counts.in_force > 0);
        let points = played.map(|(&model, games)| {
            let before = calibrating.range(..=model).next_back().map_or(facts.config.resign.min_games, |(_, &n)| n);
            let (low, high) = limits(wanted, games.counts.in_force as usize, before);
            Point::new(model.into(), of((low, wanted, high)))
        });
        Series { name: name.to_owned(), shape, points: points.collect() }
    };
    let lines = [
        line(WANTED, Shape::Line, |(_, wanted, _)| wanted),
        line("upper limit", Shape::Dashed, |(_, _, high)| high),
        line("lower limit", Shape::Dashed, |(low, _, _)| low),
    ];
    Plot {
        caption: concat!(
            "Calibration games of a model whose winner would have resigned by the threshold in force, which comes from ",
            "earlier games. Control chart: points outside of the limits, three standard errors, are no chance. Games ",
            "whose loser would have resigned first count for the quantile and not here, so shares are a little lower.",
        )
        .to_owned(),
        series: of_shares.chain(lines).collect(),
        empty: "No calibration game under a threshold yet.".to_owned(),
        ..plot
    }
}

/// By model: the calibration games of the first threshold that has games of it.
fn calibrating(facts: &Facts) -> BTreeMap<u32, usize> {
    let mut found = BTreeMap::new();
    for (_, threshold) in facts.thresholds.values() {
        found.entry(threshold.to_model).or_insert(threshold.games);
    }
    found
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;
    use record::{GameRecord, Outcome, synthetic};
    use store::{ResignThreshold, Store};

    use super::*;
    use crate::reader::Reader;

    /// Of the games that choose a threshold, its share loses, whatever happens in those that are played under it.
    #[test]
    fn chart_has_limits_where_games_did_not_choose_the_threshold() {
        let run = Store::in_memory().unwrap().run(&"tiny".parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        let game = |index| GameRecord {
            calibration: true,
            resign_threshold: Some(-0.9),
            would_resign_turn: (index < 3).then_some(4),
            outcome: Outcome::Black,
            ..synthetic::game("tiny-2", "w", index, Size::new(5).unwrap(), 8)
        };
        run.games().publish(2, "w", &(0..10).map(game).collect::<Vec<_>>()).unwrap();
        let threshold = ResignThreshold {
            threshold: -0.9,
            quantile: 0.05,
            games: 90,
            from_model: 1,
            to_model: 1,
            in_force_games: 0,
            in_force_wrong: 0,
            false_positive_rate: 0.05,
            rate_low: 0.02,
            rate_high: 0.12,
        };
        run.resign().publish(&threshold).unwrap();
        let mut reader = Reader::open(run).unwrap();
        reader.list().unwrap();
        while !reader.is_done() {
            reader.read(8).unwrap();
        }
        let facts = reader.facts();

        let chart = would_be_wrong(&facts);
        let point = |name: &str| chart.series.iter().find(|series| series.name == name).unwrap().points[0].clone();
        let wrong = point("false positives, 95 %");
        assert_eq!((wrong.x, wrong.y, wrong.label.as_deref()), (2.0, 0.3, Some("3 of 10 games")));
        // 3 · √(0.05 · 0.95 · (1/10 + 1/90)) above the quantile.
        assert!((point("upper limit").y - 0.267_945).abs() < 1e-5 && (point(WANTED).y - 0.05).abs() < 1e-6);

        let in_sample = false_positives(&facts);
        assert!(in_sample.series.iter().flat_map(|series| &series.points).all(|point| point.interval.is_none()));
        assert!(in_sample.series.iter().all(|series| !series.name.ends_with("limit")), "they would mean nothing");
    }
}
