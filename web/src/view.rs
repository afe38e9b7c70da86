//! Pages in the frame of the application.

use axum::response::{Html, IntoResponse, Response};
use config::RunName;
use maud::Markup;
use page::{Frame, Link};

use crate::assets::asset;

/// The pages beside those of runs that a server has; all of its pages lead to them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Navigation {
    /// The pages for players.
    pub(crate) has_players: bool,
    /// The opening book.
    pub(crate) has_book: bool,
}

/// The part of the application that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Section {
    /// The list of runs, and the pages of a run.
    Runs,
    /// Comparisons of runs.
    Compare,
    /// The opening book.
    Book,
    /// Play and review.
    Play,
    /// None of them: errors.
    None,
}

/// A page before it has content.
#[derive(Clone, Debug)]
pub(crate) struct View(Frame);

impl View {
    /// A page with the navigation of the application.
    pub(crate) fn new(navigation: Navigation, title: impl Into<String>, section: Section) -> View {
        let link = |text: &str, href: &str, of: Section| Link::new(text, href).current(section == of);
        let mut site = vec![
            Link::new("Tengen", "/"),
            link("Runs", "/", Section::Runs),
            link("Compare", "/compare", Section::Compare),
        ];
        if navigation.has_players {
            site.push(link("Play", "/play", Section::Play));
        }
        if navigation.has_book {
            site.push(link("Book", "/book", Section::Book));
        }
        View(Frame {
            title: title.into(),
            styles: vec![asset("style.css")],
            scripts: vec![asset("page.js")],
            site,
            ..Frame::default()
        })
    }

    /// Adds a style sheet of `web/assets`.
    pub(crate) fn style(mut self, name: &str) -> View {
        self.0.styles.push(asset(name));
        self
    }

    /// Adds a script of `web/assets`, a module.
    pub(crate) fn script(mut self, name: &str) -> View {
        self.0.scripts.push(asset(name));
        self
    }

    /// Adds the navigation of a run; `current` is the last part of the page's address.
    pub(crate) fn of_run(mut self, run: &RunName, current: &str) -> View {
        let pages = [
            ("Overview", ""),
            ("Models", "models"),
            ("Games", "games"),
            ("Live", "live"),
            ("Matches", "matches"),
            ("Openings", "openings"),
            ("Configuration", "config"),
        ];
        self.0.section = pages
            .map(|(text, part)| {
                let href = if part.is_empty() { format!("/runs/{run}") } else { format!("/runs/{run}/{part}") };
                Link::new(text, href).current(part == current)
            })
            .into();
        self
    }

    /// Makes the page show what is new: it reads events of this address.
    pub(crate) fn live(mut self, events: String) -> View {
        self.0.events = Some(events);
        self
    }

    /// Without scripts a page that `is_incomplete` is loaded again.
    pub(crate) fn reloaded_if(mut self, is_incomplete: bool) -> View {
        self.0.is_incomplete = is_incomplete;
        self
    }

    /// The page with this content.
    pub(crate) fn page(&self, content: &Markup) -> Response {
        Html(self.0.page(content).into_string()).into_response()
    }
}
