//! A page that needs no other file: styles, scripts and data are in it.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::{PLOTS, STYLE};

/// The parts of a page that needs no other file.
#[derive(Clone, Debug, Default)]
pub struct Standalone<'a> {
    /// The title.
    pub title: String,
    /// What it adds to the common style.
    pub style: &'a str,
    /// What it adds to the common scripts, which read the facts from the element `facts`.
    pub scripts: &'a [&'a str],
}

impl Standalone<'_> {
    /// The page with this content, and the facts that it shows as JSON.
    ///
    /// # Panics
    /// When the facts cannot be said in JSON.
    pub fn page(&self, content: &Markup, facts: &impl Serialize) -> String {
        // In a block, names of these scripts are no names of the common ones.
        let scripts = format!("{PLOTS}\nenhance(document, embedded);\n{{\n{}\n}}\n", self.scripts.concat());
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) (PreEscaped(self.style)) }
                }
                body {
                    main #content { (content) }
                    (facts_element(facts))
                    script type="module" { (PreEscaped(scripts)) }
                }
            }
        };
        page.into_string()
    }
}

/// Facts as JSON in a page, where its scripts read them from the element `facts`. Policies of content do not count it
/// as a script.
///
/// # Panics
/// When the facts cannot be said in JSON.
pub fn facts_element(facts: &impl Serialize) -> Markup {
    // A name could end the script it stands in.
    let json = serde_json::to_string(facts).expect("facts are numbers and text").replace('<', "\\u003c");
    html! { script type="application/json" id="facts" { (PreEscaped(json)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_stay_in_their_place() {
        let standalone = Standalone { title: "a <page>".to_owned(), style: "own {}", scripts: &["own()"] };
        let page = standalone.page(&html! { p { "[[FACTS]]" } }, &["</script> <!--"]);
        assert!(page.contains(r#"["\u003c/script> \u003c!--"]</script>"#), "{page}");
        assert!(page.contains("<title>a &lt;page&gt;</title>") && page.contains("own {}</style>"), "{page}");
        assert!(page.contains("{\nown()\n}\n</script>"), "{page}");
        // That of the facts and that of the scripts.
        assert_eq!(page.matches("</script>").count(), 2);
    }
}
