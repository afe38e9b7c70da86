//! What pages of networks share. The page of a file and that of the web application are made of the same parts.

use maud::{Markup, html};
use page::number::{short, whole};
use store::{Source, SourceKind};

use super::facts::ModelFacts;

/// What the pages add to the common style.
pub const STYLE: &str = include_str!("page/style.css");

/// What scripts add, as a module that reads the facts: JSON in the element `facts`.
pub const SCRIPT: &str = include_str!("page/tips.js");

/// Links to a table of data by its name; nothing where the page has the data itself.
pub type TableLinks<'a> = dyn Fn(&str) -> Markup + 'a;

/// A number with few digits; a dash for none.
pub(super) fn plain(number: Option<f64>) -> String {
    number.map_or_else(|| "–".to_owned(), short)
}

/// A name that may be broken behind its dots.
pub(super) fn named(name: &str) -> Markup {
    html! { code { @for (place, part) in name.split('.').enumerate() { @if place > 0 { wbr; "." } (part) } } }
}

pub(super) fn dimensions(dimensions: &[usize]) -> String {
    dimensions.iter().map(ToString::to_string).collect::<Vec<_>>().join("×")
}

/// A cell with a count of what should be 0.
pub(super) fn faults(count: usize, text: &str) -> Markup {
    html! { td.bad[count > 0] { (text) } }
}

/// Shape and origin of a network.
pub(super) fn card(card: &ModelFacts) -> Markup {
    let source = |source: &Source| {
        let kind = match source.kind {
            SourceKind::Model => "model",
            SourceKind::Weights => "weights",
            SourceKind::Games => "games",
        };
        format!("{} ({kind})", source.name)
    };
    let origin: Vec<String> = card.origin.iter().map(source).collect();
    let terms = [
        ("Name", Some(card.name.clone())),
        ("Shape", Some(card.shape.clone())),
        ("Parameters", Some(whole(card.parameters as f64))),
        ("File", Some(format!("{} bytes", whole(card.bytes as f64)))),
        ("Steps", card.step.map(|step| whole(step as f64))),
        ("Configuration", card.config_digest.clone()),
        ("Parent", card.parent.clone()),
        ("First model of the run", card.first.clone()),
        ("Origin", (!origin.is_empty()).then(|| origin.join(", "))),
    ];
    html! {
        dl { @for (name, text) in terms { @if let Some(text) = text { dt { (name) } dd { (text) } } } }
    }
}

/// Where the numbers of a page are.
pub(super) fn footer() -> Markup {
    html! {
        footer.quiet {
            "Made by Tengen " (env!("CARGO_PKG_VERSION")) ". All numbers are in this page as JSON, in the element “facts”."
        }
    }
}
