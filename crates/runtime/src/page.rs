//! Self-contained HTML pages: content, styles, scripts, and data as JSON.
//!
//! Every page has the same frame, the same style and the same helpers for drawing (`page/frame.html`, `page/style.css`,
//! `page/draw.js`), and what it adds to them. It shows no number that is not among its facts.

use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;

const FRAME: &str = include_str!("page/frame.html");
const STYLE: &str = include_str!("page/style.css");
const DRAW: &str = include_str!("page/draw.js");

/// Parts of a page besides its data.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// The title.
    pub title: &'a str,
    /// HTML of its content.
    pub body: &'a str,
    /// What it adds to the common style.
    pub style: &'a str,
    /// What it adds to the common scripts, which read the facts into a constant of this name.
    pub scripts: &'a [&'a str],
}

impl Page<'_> {
    /// The page that shows these facts.
    ///
    /// # Panics
    /// When the facts cannot be said in JSON.
    pub fn of(&self, facts: &impl Serialize) -> String {
        // A name could end the script it stands in.
        let json = serde_json::to_string(facts).expect("facts are numbers and text").replace('<', "\\u003c");
        let style = [STYLE, self.style].concat();
        let scripts = [&[DRAW], self.scripts].concat().join("\n");
        let mut page = String::new();
        let mut rest = FRAME;
        let parts =
            [("TITLE", self.title), ("STYLE", &style), ("BODY", self.body), ("FACTS", &json), ("SCRIPTS", &scripts)];
        for (name, text) in parts {
            let (before, after) = rest.split_once(&format!("[[{name}]]")).expect("the frame has a place for each part");
            page.extend([before, text]);
            rest = after;
        }
        page + rest
    }
}

/// Writes a temporary file and renames it: a reader sees either the old contents or the new ones, and never half of
/// it.
///
/// # Errors
/// The place cannot be written.
pub fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = file.with_added_extension("partial");
    fs::write(&aside, bytes)?;
    fs::rename(&aside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Page<'_> = Page { title: "a page", body: "<p>[[FACTS]]</p>", style: "own {}", scripts: &["own()"] };

    #[test]
    fn facts_stay_in_their_place() {
        let page = PAGE.of(&["</script> [[SCRIPTS]]"]);
        assert!(page.contains(r#"["\u003c/script> [[SCRIPTS]]"]</script>"#), "{page}");
        assert!(page.contains("own()\n</script>") && page.contains("own {}\n</style>"), "{page}");
        assert!(page.contains("<title>a page</title>") && page.contains("<body>\n<p>[[FACTS]]</p>"), "{page}");
        // That of the facts and that of the scripts.
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
