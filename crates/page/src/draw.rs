//! Plots as SVG that fits its place without scripts.
//!
//! Curves are in a view box that stretches with the page, with strokes that do not; texts are placed by shares of the
//! width, and keep their size. So one drawing serves a phone and a wide screen.

use std::fmt::Write;

use maud::{Markup, html};

use crate::Scale;
use crate::plot::{Plot, Point, Series, Shape};
use crate::scale::Range;

/// Units of the view box along each side.
const UNITS: f64 = 10_000.0;
/// Points of a series that are drawn: more than a screen can show.
const MOST_POINTS: usize = 600;
/// Colours of the style, `c0` and so on.
const COLOURS: usize = 6;
/// Strokes of the style: the plain one, `stroke1` and so on.
const STROKES: usize = 4;
/// Series of a plot that differ in colour or stroke; of more, some look the same.
pub const LOOKS: usize = COLOURS * STROKES;

/// The drawing of a plot: labels on the left, curves, labels below.
pub(crate) fn svg(plot: &Plot) -> Markup {
    let points = || plot.series.iter().flat_map(|series| &series.points);
    let x = Range::of(plot.x.scale, points().map(|point| point.x));
    let marks = plot.marks.iter().map(|mark| mark.y);
    let y = Range::padded(plot.y.scale, points().flat_map(values).chain(marks));
    let is_whole = points().all(|point| point.x.fract() == 0.0);
    let along_x = placed(x, 6).filter(|(tick, _)| !is_whole || tick.fract() == 0.0).collect::<Vec<_>>();
    let along_y = placed(y, 5).collect::<Vec<_>>();
    html! {
        div.plot role="img" aria-label=(description(plot)) data-x=(said(x, plot.x.scale)) data-y=(said(y, plot.y.scale))
            data-x-format=[plot.x.format.name()] data-y-format=[plot.y.format.name()] {
            svg.left {
                @for &(tick, at) in &along_y {
                    text x="100%" y=(below(at)) dx="-6" dy="4" text-anchor="end" { (plot.y.format.of(tick)) }
                }
            }
            svg.area {
                @for &(_, at) in &along_y { line.grid x1="0" x2="100%" y1=(below(at)) y2=(below(at)) {} }
                @for &(_, at) in &along_x { line.grid x1=(along(at)) x2=(along(at)) y1="0" y2="100%" {} }
                @for (mark, at) in plot.marks.iter().filter_map(|mark| Some((mark, y.share(mark.y)?))) {
                    line.mark x1="0" x2="100%" y1=(below(at)) y2=(below(at)) {}
                    text.mark x="100%" y=(below(at)) dx="-4" dy=(if at > 0.93 { 13 } else { -4 }) text-anchor="end" { (mark.name) }
                }
                svg.curves viewBox=(format!("0 0 {UNITS} {UNITS}")) preserveAspectRatio="none" width="100%" height="100%" {
                    @for (number, series) in plot.series.iter().enumerate() { (curve(series, number, x, y)) }
                }
            }
            svg.below {
                @for (number, &(tick, at)) in along_x.iter().enumerate() {
                    text.minor[number % 2 == 1 && along_x.len() > 3] x=(along(at)) y="15" text-anchor=(anchor(at)) { (plot.x.format.of(tick)) }
                }
                text.label x="50%" y="33" text-anchor="middle" { (plot.x.label) }
            }
        }
    }
}

/// Round numbers of an axis and where they are.
fn placed(range: Range, count: usize) -> impl Iterator<Item = (f64, f64)> {
    range.ticks(count).into_iter().filter_map(move |tick| Some((tick, range.share(tick)?)))
}

/// A range for scripts.
fn said(range: Range, scale: Scale) -> String {
    let (low, high) = range.ends();
    format!("{low} {high} {}", scale.name())
}

/// Labels near the ends stay inside.
fn anchor(share: f64) -> &'static str {
    match share {
        _ if share < 0.02 => "start",
        _ if share > 0.98 => "end",
        _ => "middle",
    }
}

fn values(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    [point.y, low, high].into_iter()
}

fn along(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

fn below(share: f64) -> String {
    along(1.0 - share)
}

/// What a screen reader says of the drawing; the table has the numbers.
fn description(plot: &Plot) -> String {
    let names: Vec<_> = plot.series.iter().map(|series| series.name.as_str()).collect();
    format!("{}: {} by {}: {}", plot.title, plot.y.label, plot.x.label, names.join(", "))
}

fn curve(series: &Series, number: usize, x: Range, y: Range) -> Markup {
    let drawn = thinned(&series.points);
    let at = |point: &Point, value: f64| Some((UNITS * x.share(point.x)?, UNITS * (1.0 - y.share(value)?)));
    let intervals = drawn.iter().filter(|point| point.interval.is_some()).count();
    html! {
        g class=(look(number)) {
            @match series.shape {
                Shape::Dots => {
                    @if intervals > 0 { path.bars d=(bars(&drawn, &at)) {} }
                    path.dots d=(dots(&drawn, &at)) {}
                }
                shape => {
                    // A single interval is no area.
                    @if intervals == 1 { path.bars d=(bars(&drawn, &at)) {} }
                    @if intervals > 1 { path.band d=(band(&drawn, &at)) {} }
                    path.line.dashed[shape == Shape::Dashed] d=(line(&drawn, shape == Shape::Steps, &at)) {}
                    // A single point is no line.
                    @if drawn.len() == 1 { path.dots d=(dots(&drawn, &at)) {} }
                }
            }
        }
    }
}

/// The classes of the series of a number: a colour, and a stroke from where colours repeat.
pub(crate) fn look(number: usize) -> String {
    let colour = number % COLOURS;
    match number / COLOURS % STROKES {
        0 => format!("c{colour}"),
        stroke => format!("c{colour} stroke{stroke}"),
    }
}

type At<'a> = dyn Fn(&Point, f64) -> Option<(f64, f64)> + 'a;

/// At most so many points, the first and the last among them, evenly chosen.
fn thinned(points: &[Point]) -> Vec<&Point> {
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points
        .iter()
        .enumerate()
        .filter(|(place, _)| place % every == 0 || *place == last)
        .map(|(_, point)| point)
        .collect()
}

fn line(points: &[&Point], steps: bool, at: &At<'_>) -> String {
    let mut path = String::new();
    for (px, py) in points.iter().filter_map(|point| at(point, point.y)) {
        // Writing to a string cannot fail.
        let _ = match (path.is_empty(), steps) {
            (true, _) => write!(path, "M{px:.0} {py:.0}"),
            (false, false) => write!(path, "L{px:.0} {py:.0}"),
            (false, true) => write!(path, "H{px:.0}V{py:.0}"),
        };
    }
    path
}

fn dots(points: &[&Point], at: &At<'_>) -> String {
    let places = points.iter().filter_map(|point| at(point, point.y));
    places.map(|(px, py)| format!("M{px:.0} {py:.0}h0")).collect()
}

fn bars(points: &[&Point], at: &At<'_>) -> String {
    let ends = points.iter().filter_map(|point| {
        let (low, high) = point.interval?;
        Some((at(point, low)?, at(point, high)?))
    });
    ends.map(|((px, low), (_, high))| format!("M{px:.0} {low:.0}V{high:.0}")).collect()
}

/// Along the upper ends, and back along the lower ones.
fn band(points: &[&Point], at: &At<'_>) -> String {
    let with = |upper: bool| {
        points.iter().filter_map(move |point| {
            let (low, high) = point.interval?;
            at(point, if upper { high } else { low })
        })
    };
    let mut outline: Vec<(f64, f64)> = with(true).collect();
    let back: Vec<_> = with(false).collect();
    outline.extend(back.into_iter().rev());
    let mut path = String::new();
    for (place, (px, py)) in outline.iter().enumerate() {
        let _ = write!(path, "{}{px:.0} {py:.0}", if place == 0 { 'M' } else { 'L' });
    }
    if path.is_empty() { path } else { path + "Z" }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Axis, Format, Mark};

    fn plot(points: Vec<Point>, shape: Shape) -> Plot {
        let series = Series { name: "a".to_owned(), shape, points };
        Plot { x: Axis::new("x"), y: Axis::new("y"), series: vec![series], ..Plot::default() }
    }

    #[test]
    fn drawing_has_no_numbers_that_are_none() {
        let points = vec![Point::new(f64::NAN, 1.0), Point::new(1.0, f64::INFINITY), Point::new(2.0, 3.0)];
        for shape in [Shape::Line, Shape::Dots, Shape::Steps, Shape::Dashed] {
            for points in [points.clone(), vec![], vec![Point::new(0.0, 0.0).within(-1.0, 1.0)]] {
                let drawn = svg(&plot(points, shape)).into_string();
                assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
            }
        }
    }

    #[test]
    fn formats_of_axes_are_known_to_scripts() {
        let drawn = |format| {
            let plot = plot(vec![Point::new(0.0, 0.5)], Shape::Line);
            svg(&Plot { y: plot.y.clone().format(format), ..plot }).into_string()
        };
        assert!(!drawn(Format::Short).contains("-format="));
        for (format, name) in [(Format::Signed, "signed"), (Format::Percent, "percent")] {
            let drawn = drawn(format);
            assert!(
                drawn.contains(&format!(" data-y-format=\"{name}\"")) && !drawn.contains("data-x-format"),
                "{drawn}"
            );
            assert!(crate::PLOTS.contains(&format!("case '{name}':")));
        }
        assert!(crate::PLOTS.contains("{ x: drawing.dataset.xFormat, y: drawing.dataset.yFormat }"));
    }

    #[test]
    fn units_of_drawings_and_scripts_are_equal() {
        assert!(crate::PLOTS.contains(&format!("const UNITS = {UNITS};\n")));
    }

    #[test]
    fn series_differ_in_colour_or_stroke() {
        let looks: BTreeSet<String> = (0..LOOKS).map(look).collect();
        assert_eq!((looks.len(), look(0).as_str(), look(7).as_str()), (LOOKS, "c0", "c1 stroke1"));
        let classes: BTreeSet<&str> = looks.iter().flat_map(|look| look.split(' ')).collect();
        assert!(classes.iter().all(|class| crate::STYLE.contains(&format!(".{class} "))), "{classes:?}");
    }

    #[test]
    fn long_series_are_thinned_and_keep_their_ends() {
        for length in [1, 2, 599, 600, 601, 5000] {
            let points: Vec<_> = (0..length).map(|at| Point::new(f64::from(at), 0.0)).collect();
            let drawn = thinned(&points);
            assert!(drawn.len() <= MOST_POINTS + 1, "{}", drawn.len());
            assert_eq!((drawn[0].x, drawn[drawn.len() - 1].x), (0.0, f64::from(length - 1)));
        }
    }

    #[test]
    fn line_of_one_point_shows_its_interval() {
        let drawn = |points| svg(&plot(points, Shape::Line)).into_string();
        let point = |x: f64| Point::new(x, 0.0).within(-10.0, 10.0);
        let single = drawn(vec![point(1.0)]);
        assert!(single.contains("class=\"bars\"") && !single.contains("class=\"band\""), "{single}");
        let two = drawn(vec![point(1.0), point(2.0)]);
        assert!(!two.contains("class=\"bars\"") && two.contains("class=\"band\""), "{two}");
    }

    #[test]
    fn marks_and_bands_are_inside_the_drawing() {
        let mut plot =
            plot(vec![Point::new(0.0, 0.0).within(-10.0, 10.0), Point::new(1.0, 5.0).within(0.0, 8.0)], Shape::Line);
        plot.marks.push(Mark { name: "GNU Go".to_owned(), y: 100.0 });
        let drawn = svg(&plot).into_string();
        assert!(drawn.contains("GNU Go") && drawn.contains("class=\"band\""), "{drawn}");
        let percents = drawn.split('"').filter_map(|text| text.strip_suffix('%')?.parse::<f64>().ok());
        assert!(percents.into_iter().all(|share| (0.0..=100.0).contains(&share)));
    }
}
