//! What there is to show of a network, or of several: as a page, as JSON for its scripts, and as tables for programs.

use std::fmt;

use maud::{Markup, html};
use page::{DataTable, Standalone};
use serde::Serialize;

use super::facts::Facts;
use super::parts::{SCRIPT, STYLE, TableLinks};
use super::series::Series;
use super::{network_body, series_body, tables};

/// What was found.
#[derive(Debug)]
pub struct Inspection(Kind);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Kind {
    Network(Box<Facts>),
    Series(Box<Series>),
}

impl Inspection {
    pub(super) fn of_network(facts: Facts) -> Inspection {
        Inspection(Kind::Network(Box::new(facts)))
    }

    pub(super) fn of_series(series: Series) -> Inspection {
        Inspection(Kind::Series(Box::new(series)))
    }

    /// A name for a file.
    pub(super) fn name(&self) -> String {
        match &self.0 {
            Kind::Network(facts) => facts.model.name.clone(),
            Kind::Series(series) => series.ends().join("-to-"),
        }
    }

    /// The names of the networks.
    pub fn title(&self) -> String {
        match &self.0 {
            Kind::Network(facts) => network_body::title(facts),
            Kind::Series(series) => series.ends().join(" to "),
        }
    }

    /// The content of a page, whole without scripts. Those of [`SCRIPT`] read the facts from the element `facts`.
    pub fn body(&self, links: &TableLinks<'_>) -> Markup {
        match &self.0 {
            Kind::Network(facts) => network_body::body(facts, links),
            Kind::Series(series) => series_body::body(series, links),
        }
    }

    /// The names of the tables.
    pub fn tables(&self) -> &'static [&'static str] {
        match &self.0 {
            Kind::Network(_) => &["tensors", "histograms", "kernels", "channels"],
            Kind::Series(_) => &["networks", "tensors", "histograms"],
        }
    }

    /// The table of a name, if it is one of them.
    pub fn table(&self, name: &str) -> Option<DataTable> {
        match &self.0 {
            Kind::Network(facts) => tables::of_network(facts, name),
            Kind::Series(series) => tables::of_series(series, name),
        }
    }

    /// The facts as JSON.
    ///
    /// # Errors
    /// Numbers that JSON has not; facts have none.
    pub fn facts(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(&self.0)
    }

    /// A page that needs no other file.
    pub(super) fn page(&self) -> String {
        let standalone = Standalone { title: format!("{}: Tengen", self.title()), style: STYLE, scripts: &[SCRIPT] };
        standalone.page(&self.body(&|_| html! {}), &self.0)
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Network(facts) => facts.fmt(f),
            Kind::Series(series) => series.fmt(f),
        }
    }
}
