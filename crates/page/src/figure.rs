//! Plots on a page: drawing, legend, table, and links to their data; and their data as JSON and as a table.

use maud::{Markup, html};
use serde_json::{Value, json};

use crate::data_table::{DataColumn, DataTable};
use crate::draw::{look, svg};
use crate::plot::{Plot, Point, Series, Shape};

/// Rows of the table below a plot; the files have all of them.
const MOST_ROWS: usize = 200;

/// Links of a plot to its data.
#[derive(Clone, Debug, Default)]
pub struct DataLinks {
    /// Names and addresses, such as "CSV".
    pub links: Vec<(String, String)>,
    /// Where scripts find the numbers: an address of JSON, or `#facts/NAME` for those in the page itself.
    pub source: Option<String>,
}

impl DataLinks {
    /// Links to JSON, which scripts read, too, to CSV and to Parquet: the address with each ending.
    pub fn of(address: impl Fn(&str) -> String) -> DataLinks {
        let links = [("JSON", "json"), ("CSV", "csv"), ("Parquet", "parquet")];
        let links = links.map(|(name, ending)| (name.to_owned(), address(ending)));
        DataLinks { source: Some(links[0].1.clone()), links: links.to_vec() }
    }

    /// The numbers in the page itself.
    pub fn embedded(name: &str) -> DataLinks {
        DataLinks { source: Some(format!("#facts/{name}")), links: Vec::new() }
    }
}

impl Plot {
    /// The plot as a part of a page.
    pub fn figure(&self, data: &DataLinks) -> Markup {
        html! {
            figure.figure id=(self.id) data-plot=[&data.source] {
                figcaption {
                    h3 { (self.title) }
                    @if !self.caption.is_empty() { p.quiet { (self.caption) } }
                }
                @if self.is_empty() {
                    p.empty { (self.empty) }
                } @else {
                    @if self.series.len() > 1 { (legend(&self.series)) }
                    div.y-label { (self.y.label) }
                    (svg(self))
                    div.numbers {
                        details { summary { "Numbers" } (self.table()) }
                        @for (name, address) in &data.links { a href=(address) download { (name) } }
                    }
                }
            }
        }
    }

    /// The numbers as a table.
    fn table(&self) -> Markup {
        let rows: usize = self.series.iter().map(|series| series.points.len()).sum();
        let every = rows.div_ceil(MOST_ROWS).max(1);
        let has_intervals = self.series.iter().flat_map(|series| &series.points).any(|point| point.interval.is_some());
        let has_labels = self.series.iter().flat_map(|series| &series.points).any(|point| point.label.is_some());
        html! {
            @if every > 1 { p.quiet { "Every " (ordinal(every)) " point; the files have all of them." } }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        @if self.series.len() > 1 { th scope="col" { "Series" } }
                        @if has_labels { th scope="col" { "Of" } }
                        th scope="col" { (self.x.label) }
                        th scope="col" { (self.y.label) }
                        @if has_intervals { th scope="col" { (self.interval.name()) } }
                    } }
                    tbody {
                        @for series in &self.series {
                            @for point in series.points.iter().rev().step_by(every) {
                                tr {
                                    @if self.series.len() > 1 { td { (series.name) } }
                                    @if has_labels { td { (point.label.as_deref().unwrap_or_default()) } }
                                    td { (self.x.format.of(point.x)) }
                                    td { (self.y.format.of(point.y)) }
                                    @if has_intervals {
                                        td { @if let Some((low, high)) = point.interval {
                                            (self.y.format.of(low)) " to " (self.y.format.of(high))
                                        } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The numbers for programs.
    pub fn json(&self) -> Value {
        let series = |series: &Series| {
            let points = || series.points.iter();
            let mut value = json!({
                "name": series.name,
                "x": points().map(|point| point.x).collect::<Vec<_>>(),
                "y": points().map(|point| point.y).collect::<Vec<_>>(),
            });
            if points().any(|point| point.interval.is_some()) {
                value["low"] = points().map(|point| point.interval.map(|(low, _)| low)).collect();
                value["high"] = points().map(|point| point.interval.map(|(_, high)| high)).collect();
            }
            if points().any(|point| point.label.is_some()) {
                value["label"] = points().map(|point| point.label.clone()).collect();
            }
            value
        };
        json!({
            "id": self.id,
            "title": self.title,
            "x": { "label": self.x.label, "scale": self.x.scale.name() },
            "y": { "label": self.y.label, "scale": self.y.scale.name() },
            "series": self.series.iter().map(series).collect::<Vec<_>>(),
            "marks": self.marks.iter().map(|mark| json!({ "name": mark.name, "y": mark.y })).collect::<Vec<_>>(),
        })
    }

    /// The numbers as a table: a row for each point.
    pub fn data(&self) -> DataTable {
        let points = || self.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
        let number = |of: fn(&Point) -> Option<f64>| DataColumn::Number(points().map(|(_, point)| of(point)).collect());
        let label = |point: &Point| point.label.clone().unwrap_or_default();
        DataTable {
            columns: vec![
                ("series", DataColumn::Text(points().map(|(series, _)| series.name.clone()).collect())),
                ("label", DataColumn::Text(points().map(|(_, point)| label(point)).collect())),
                ("x", number(|point| Some(point.x))),
                ("y", number(|point| Some(point.y))),
                ("low", number(|point| point.interval.map(|(low, _)| low))),
                ("high", number(|point| point.interval.map(|(_, high)| high))),
            ],
        }
    }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (1, ten) if ten != 11 => "st",
        (2, ten) if ten != 12 => "nd",
        (3, ten) if ten != 13 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn legend(series: &[Series]) -> Markup {
    html! {
        ul.legend {
            @for (number, series) in series.iter().enumerate() {
                li class=(look(number)) {
                    svg.key aria-hidden="true" {
                        @match series.shape {
                            Shape::Dots => path.dots d="M12 6h0" {},
                            shape => path.line.dashed[shape == Shape::Dashed] d="M0 6H24" {},
                        }
                    }
                    (series.name)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Interval, Point};

    fn plot() -> Plot {
        let points = (0..500).map(|at| Point::new(f64::from(at), 0.5).within(0.25, 1.0).label(format!("m-{at}")));
        let series = Series { name: "a, \"b\"".to_owned(), points: points.collect(), ..Series::default() };
        Plot {
            id: "elo".to_owned(),
            x: Axis::new("model"),
            y: Axis::new("Elo"),
            series: vec![series],
            ..Plot::default()
        }
    }

    #[test]
    fn csv_and_json_have_every_point() {
        let csv = plot().data().csv();
        assert_eq!(csv.lines().count(), 501);
        assert_eq!(csv.lines().nth(2), Some("\"a, \"\"b\"\"\",m-1,1,0.5,0.25,1"));
        let json = plot().json();
        assert_eq!(json["series"][0]["x"].as_array().map(Vec::len), Some(500));
        assert_eq!((&json["series"][0]["high"][0], &json["series"][0]["label"][9]), (&json!(1.0), &json!("m-9")));
    }

    #[test]
    fn table_is_short_and_has_the_newest_point() {
        let page = plot().figure(&DataLinks::default()).into_string();
        assert!(page.matches("<tr>").count() <= MOST_ROWS + 1, "{page}");
        assert!(page.contains("<td>m-499</td>") && page.contains("Every 3rd point"), "{page}");
    }

    #[test]
    fn legend_has_the_looks_of_the_drawing() {
        let series = vec![plot().series[0].clone(); 8];
        let page = Plot { series, ..plot() }.figure(&DataLinks::default()).into_string();
        for look in ["c1", "c1 stroke1"] {
            let [entries, curves] = ["li", "g"].map(|tag| page.matches(&format!("<{tag} class=\"{look}\">")).count());
            assert_eq!((entries, curves), (1, 1), "{look}");
        }
    }

    #[test]
    fn table_names_what_the_intervals_are() {
        let headings = [Interval::Confidence, Interval::Percentiles].map(|interval| {
            let page = Plot { interval, ..plot() }.figure(&DataLinks::default()).into_string();
            ["95 % interval", "10th to 90th percentile"].map(|heading| page.contains(&format!(">{heading}</th>")))
        });
        assert_eq!(headings, [[true, false], [false, true]]);
    }
}
