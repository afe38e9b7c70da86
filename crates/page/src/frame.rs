//! The frame of a page of the application: head, navigation, content.

use maud::{DOCTYPE, Markup, html};

/// An entry of the navigation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it reads.
    pub text: String,
    /// Where it leads.
    pub href: String,
    /// Whether it leads to the page that it stands on.
    pub is_current: bool,
}

impl Link {
    /// An entry that leads elsewhere.
    pub fn new(text: impl Into<String>, href: impl Into<String>) -> Link {
        Link { text: text.into(), href: href.into(), is_current: false }
    }

    /// The same entry, marked where it leads to this page.
    pub fn current(self, is_current: bool) -> Link {
        Link { is_current, ..self }
    }
}

/// The parts of a page besides its content.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The title.
    pub title: String,
    /// Addresses of style sheets.
    pub styles: Vec<String>,
    /// Addresses of scripts, which are modules.
    pub scripts: Vec<String>,
    /// Navigation of the application.
    pub site: Vec<Link>,
    /// Navigation of the run that the page belongs to.
    pub section: Vec<Link>,
    /// Address of the page's events, if it has any: where it reads that it is outdated.
    pub events: Option<String>,
    /// Whether the page is to be loaded again soon where there are no scripts.
    pub is_incomplete: bool,
}

impl Frame {
    /// The page with this content.
    pub fn page(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Tengen" }
                    link rel="icon" href="data:,";
                    @if self.is_incomplete { noscript { meta http-equiv="refresh" content="5"; } }
                    @for style in &self.styles { link rel="stylesheet" href=(style); }
                    @for script in &self.scripts { script type="module" src=(script) {} }
                }
                body data-events=[&self.events] {
                    a.skip href="#content" { "Skip to content" }
                    (navigation("Tengen", "site", &self.site))
                    @if !self.section.is_empty() { (navigation("Run", "section", &self.section)) }
                    main #content tabindex="-1" { (content) }
                }
            }
        }
    }
}

fn navigation(label: &str, class: &str, links: &[Link]) -> Markup {
    html! {
        nav aria-label=(label) class=(class) {
            @for Link { text, href, is_current } in links {
                a href=(href) aria-current=[is_current.then_some("page")] { (text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_escapes_and_marks_the_current_page() {
        let links = vec![Link::new("<Runs>", "/?a=1&b=2"), Link::new("Play", "/play").current(true)];
        let frame = Frame { title: "a <b>".to_owned(), site: links, ..Frame::default() };
        let page = frame.page(&html! { p { "content" } }).into_string();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<title>a &lt;b&gt; · Tengen</title>"), "{page}");
        assert!(page.contains("<a href=\"/?a=1&amp;b=2\">&lt;Runs&gt;</a>"), "{page}");
        assert!(page.contains("<a href=\"/play\" aria-current=\"page\">Play</a>"), "{page}");
        assert!(!page.contains("data-events") && !page.contains("<script"), "{page}");
    }
}
