//! What pages for players share.

use maud::{Markup, html};

use crate::play::message::LONGEST_MESSAGE;

/// The title of a page, with links to the other pages for players.
pub(super) fn heading(title: &str, others: &[(&str, &str)]) -> Markup {
    html! {
        .heading {
            h1 { (title) }
            @for (text, href) in others { a href=(href) { (text) } }
            p.connection #connection role="status" data-longest-message=(LONGEST_MESSAGE) {}
        }
        noscript { p.bad { "The board needs JavaScript. Most pages of runs do not." } }
    }
}

/// What happens, for eyes and for screen readers.
pub(super) fn status() -> Markup {
    html! { p.status #status role="status" aria-live="polite" {} }
}

/// Whether the field of another model is shown from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Second {
    Shown,
    Hidden,
}

/// The fields of a model and of another one.
pub(super) fn models(second: Second) -> Markup {
    html! {
        .field #model {}
        .field #second hidden[second == Second::Hidden] {}
    }
}

/// The field of a number of visits, which a search here has at most.
pub(super) fn visits(label: &str, most: u32) -> Markup {
    html! {
        .field {
            label for="visits" { (label) }
            input #visits type="number" min="1" max=(most) inputmode="numeric" required;
        }
    }
}
