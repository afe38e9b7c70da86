//! Parts of the pages of networks. The page of a file and that of the web application are made of them.

use maud::PreEscaped;
use page::Standalone;
use serde::Serialize;

/// The content of a page, what it adds to the common style, and the script that draws the facts: JSON in the element `facts`.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// HTML.
    pub body: &'static str,
    /// CSS.
    pub style: &'static str,
    /// A module.
    pub script: &'static str,
}

/// One network, or two of them.
pub const NETWORK: Parts = Parts {
    body: include_str!("page/body.html"),
    style: include_str!("page/inspect.css"),
    script: concat!(
        include_str!("page/draw.js"),
        include_str!("page/words.js"),
        include_str!("page/pictures.js"),
        include_str!("page/page.js")
    ),
};

/// Several networks.
pub const SERIES: Parts = Parts {
    body: include_str!("page/series.html"),
    style: include_str!("page/series.css"),
    script: concat!(include_str!("page/draw.js"), include_str!("page/words.js"), include_str!("page/series.js")),
};

impl Parts {
    /// A page that needs no other file.
    pub(super) fn page(&self, title: &str, facts: &impl Serialize) -> String {
        let standalone = Standalone { title: title.to_owned(), style: self.style, scripts: &[self.script] };
        standalone.page(&PreEscaped(self.body.to_owned()), facts)
    }
}
