//! The page: content, a style, scripts, and the data as JSON.

use runtime::Page;

use super::Facts;

const PAGE: Page<'_> = Page {
    title: "Tengen report",
    body: include_str!("page/body.html"),
    style: include_str!("page/report.css"),
    scripts: &[include_str!("page/charts.js"), include_str!("page/tables.js"), include_str!("page/board.js")],
};

/// One page that needs no other file.
pub fn page(facts: &Facts) -> String {
    PAGE.of(facts)
}
