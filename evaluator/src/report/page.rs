//! The page: a frame, a style, scripts, and the facts as JSON.

use cli::Page;

use super::Facts;

const PAGE: Page<'_> = Page {
    frame: include_str!("page/frame.html"),
    style: include_str!("page/report.css"),
    scripts: &[include_str!("page/charts.js"), include_str!("page/tables.js"), include_str!("page/board.js")],
};

/// One page that needs no other file.
pub fn page(facts: &Facts) -> String {
    PAGE.of(facts)
}
