//! Plots as values: what they show, for every form that they have (drawing, table, JSON, CSV).

use crate::Scale;

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Its name on its page and in addresses.
    pub id: String,
    /// The heading.
    pub title: String,
    /// What it shows, and how to read it.
    pub caption: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Values of y to compare with.
    pub marks: Vec<Mark>,
    /// What the intervals of points are.
    pub interval: Interval,
    /// What stands in place of a plot without points.
    pub empty: String,
}

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// The quantity, and its unit.
    pub label: String,
    /// How it is divided.
    pub scale: Scale,
    /// How its numbers read.
    pub format: Format,
}

impl Axis {
    /// A linear axis of short numbers.
    pub fn new(label: impl Into<String>) -> Axis {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// The same axis with other numbers.
    pub fn format(self, format: Format) -> Axis {
        Axis { format, ..self }
    }
}

/// How numbers read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Few digits.
    #[default]
    Short,
    /// Whole numbers with signs.
    Signed,
    /// Percent of one.
    Percent,
}

impl Format {
    /// The name for scripts; short numbers are what they write without one.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self {
            Format::Short => None,
            Format::Signed => Some("signed"),
            Format::Percent => Some("percent"),
        }
    }

    /// A number in this form.
    pub(crate) fn of(self, number: f64) -> String {
        match self {
            Format::Short => crate::number::short(number),
            Format::Signed => crate::number::signed(number),
            Format::Percent if number.abs() < 0.095 && number != 0.0 => crate::number::percent(number, 1),
            Format::Percent => crate::number::percent(number, 0),
        }
    }
}

/// Points that belong together.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// How it is drawn.
    pub shape: Shape,
    /// From left to right.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// A line through the points, and a band where they have intervals.
    #[default]
    Line,
    /// As a line, with broken strokes.
    Dashed,
    /// Dots, and bars where they have intervals.
    Dots,
    /// A line that stays until the next point.
    Steps,
}

/// A point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From below.
    pub y: f64,
    /// An interval of y.
    pub interval: Option<(f64, f64)>,
    /// What it is of.
    pub label: Option<String>,
}

impl Point {
    /// A point without an interval.
    pub fn new(x: f64, y: f64) -> Point {
        Point { x, y, ..Point::default() }
    }

    /// The same point with an interval of y.
    pub fn within(self, low: f64, high: f64) -> Point {
        Point { interval: Some((low, high)), ..self }
    }

    /// The same point with a label.
    pub fn label(self, label: impl Into<String>) -> Point {
        Point { label: Some(label.into()), ..self }
    }
}

/// What the intervals of the points of a plot are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interval {
    /// Where the true value is with 95 % confidence.
    #[default]
    Confidence,
    /// Where eight in ten of the values are whose mean a point is.
    Percentiles,
}

impl Interval {
    /// The heading of a column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Interval::Confidence => "95 % interval",
            Interval::Percentiles => "10th to 90th percentile",
        }
    }
}

/// A value of y to compare with, a line from left to right.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What it is.
    pub name: String,
    /// Where it is.
    pub y: f64,
}

impl Plot {
    /// The same plot with another scale from left to right. An axis of shares stays as it is: 0, which is one of them,
    /// is on no logarithmic axis.
    pub fn scaled(mut self, scale: Scale) -> Plot {
        if self.x.format != Format::Percent {
            self.x.scale = scale;
        }
        self
    }

    /// Whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_of_shares_stays_linear() {
        let scale = |format| {
            let plot = Plot { x: Axis::new("x").format(format), ..Plot::default() };
            plot.scaled(Scale::Log).x.scale
        };
        assert_eq!([Format::Short, Format::Percent].map(scale), [Scale::Log, Scale::Linear]);
    }
}
