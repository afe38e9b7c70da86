//! Games of self-play by model.

use page::{Axis, Format, Interval, Mark, Plot, Point, Series};
use record::statistics::wilson_score;

use crate::counts::Counts;
use crate::reader::Facts;

const BY_MODEL: &str = "model; 0 is random";

/// A plot with one point for each model.
pub(super) fn by_model(facts: &Facts, series: &str, y: Axis, point: impl Fn(u32, &Counts) -> Option<Point>) -> Plot {
    let points = facts.games.iter().filter_map(|(&model, games)| point(model, &games.counts)).collect();
    Plot {
        x: Axis::new(BY_MODEL),
        y,
        series: vec![Series { name: series.to_owned(), points, ..Series::default() }],
        empty: "No games yet.".to_owned(),
        ..Plot::default()
    }
}

/// A share of games with its interval.
pub(super) fn share(model: u32, hits: u64, games: u64) -> Option<Point> {
    Some(score(model, hits as f64, games)?.label(format!("{hits} of {games} games")))
}

/// A score with its interval; `None` without games.
fn score(model: u32, points: f64, games: u64) -> Option<Point> {
    let (low, high) = wilson_score(points, games as usize);
    (games > 0).then(|| Point::new(model.into(), points / games as f64).within(low, high))
}

/// Games of each model.
pub(super) fn games(facts: &Facts) -> Plot {
    by_model(facts, "games", Axis::new("games"), |model, counts| Some(Point::new(model.into(), counts.games() as f64)))
}

/// Moves of a game.
pub(super) fn lengths(facts: &Facts) -> Plot {
    let plot = by_model(facts, "moves of a game", Axis::new("moves"), |model, counts| {
        let lengths = counts.lengths()?;
        let label = format!("median {}, {} to {}", lengths.median, lengths.shortest, lengths.longest);
        let point = Point::new(model.into(), lengths.mean).within(lengths.tenth.into(), lengths.ninetieth.into());
        Some(point.label(label))
    });
    Plot {
        caption: "The mean; the band is the 10th to the 90th percentile.".to_owned(),
        interval: Interval::Percentiles,
        ..plot
    }
}

/// How games end.
pub(super) fn ends(facts: &Facts) -> Plot {
    type Count = fn(&Counts) -> u64;
    let kinds: [(&str, Count); 5] = [
        ("two passes", |counts| counts.ends.passes),
        ("all pass-alive", |counts| counts.ends.pass_alive),
        ("resignation", |counts| counts.ends.resignation),
        ("move limit", |counts| counts.ends.move_limit),
        ("forfeit", |counts| counts.ends.forfeit),
    ];
    let series = kinds.iter().map(|(name, count)| {
        let points =
            facts.games.iter().filter(|(_, games)| games.counts.games() > 0).map(|(&model, games)| {
                Point::new(model.into(), count(&games.counts) as f64 / games.counts.games() as f64)
            });
        Series { name: (*name).to_owned(), points: points.collect(), ..Series::default() }
    });
    Plot {
        caption: "Share of the games of a model.".to_owned(),
        x: Axis::new(BY_MODEL),
        y: Axis::new("share of games").format(Format::Percent),
        series: series.filter(|series| series.points.iter().any(|point| point.y > 0.0)).collect(),
        empty: "No games yet.".to_owned(),
        ..Plot::default()
    }
}

/// Black’s score.
pub(super) fn black_share(facts: &Facts) -> Plot {
    let axis = Axis::new("score of Black").format(Format::Percent);
    let plot = by_model(facts, "black’s score", axis, |model, counts| {
        let results = counts.results;
        let point = score(model, results.black_points(), results.games())?;
        let label = format!("Black {}, White {}, drawn {}", results.black_won, results.white_won, results.drawn);
        Some(point.label(label))
    });
    Plot {
        caption: "A draw counts half; the band is 95 %.".to_owned(),
        marks: vec![Mark { name: "even".to_owned(), y: 0.5 }],
        ..plot
    }
}

/// Depth of search.
pub(super) fn depth(facts: &Facts) -> Plot {
    let plot = by_model(facts, "search depth", Axis::new("moves from the root"), |model, counts| {
        Some(Point::new(model.into(), counts.mean_depth()?))
    });
    Plot { caption: "Mean depth of the leaves.".to_owned(), ..plot }
}
