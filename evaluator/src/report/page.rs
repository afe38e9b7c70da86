//! The page: a frame, a style, scripts, and the facts as JSON.

use super::Facts;

const FRAME: &str = include_str!("page/frame.html");
const STYLE: &str = include_str!("page/style.css");
const SCRIPTS: [&str; 4] = [
    include_str!("page/draw.js"),
    include_str!("page/charts.js"),
    include_str!("page/tables.js"),
    include_str!("page/board.js"),
];

/// One page that needs no other file.
pub fn page(facts: &Facts) -> String {
    // A name could end the script it stands in.
    let json = serde_json::to_string(facts).expect("facts are numbers and text").replace('<', "\\u003c");
    let scripts = SCRIPTS.join("\n");
    let parts = [("STYLE", STYLE), ("FACTS", &json), ("SCRIPTS", &scripts)];
    let mut page = String::new();
    let mut rest = FRAME;
    for (name, text) in parts {
        let (before, after) = rest.split_once(&format!("[[{name}]]")).expect("the frame has a place for each part");
        page.extend([before, text]);
        rest = after;
    }
    page + rest
}
