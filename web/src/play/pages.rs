//! The pages. Their scripts fill them; without scripts there is no board.

mod parts;
mod play;
mod review;
mod watch;

pub(super) use play::play;
pub(super) use review::review;
pub(super) use watch::watch;

#[cfg(test)]
mod tests {
    use super::parts::heading;
    use super::review::file;
    use crate::assets::text;
    use crate::play::message::{LONGEST_MESSAGE, LONGEST_SGF};

    #[test]
    fn scripts_read_from_the_page_what_the_server_takes() {
        let (page, files) = (heading("Play", &[]).into_string(), file().into_string());
        assert!(
            page.contains(&format!("id=\"connection\" role=\"status\" data-longest-message=\"{LONGEST_MESSAGE}\"")),
            "{page}"
        );
        assert!(files.contains(&format!("id=\"files\" data-longest-sgf=\"{LONGEST_SGF}\"")), "{files}");
        assert!(text("link.js").contains("byId('connection', HTMLElement).dataset.longestMessage"));
        assert!(text("files.js").contains("byId('files', HTMLElement).dataset.longestSgf"));
    }
}
