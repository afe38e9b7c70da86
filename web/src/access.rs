//! Who may use the application: the rules of access, checked once when it starts.

use std::path::Path;

use runtime::{TokenError, read_token};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::hosts::Hosts;

/// The name of the cookie with a session begins with this.
const COOKIE: &str = "tengen_session";

/// Rules of access.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) hosts: Hosts,
    /// Digest of the token that visitors must give.
    session: Option<String>,
    /// The name of the cookie with a session, which follows from the token: browsers share cookies between the ports of
    /// a host.
    pub(crate) cookie: String,
    /// Whether play and analysis are absent.
    pub(crate) read_only: bool,
    /// Whether connections are encrypted.
    pub(crate) is_tls: bool,
}

impl Access {
    /// Rules of an address on this machine: these hosts beside IP addresses and localhost, and no token.
    pub(crate) fn new(hosts: Hosts) -> Access {
        Access { hosts, session: None, cookie: COOKIE.to_owned(), read_only: false, is_tls: false }
    }

    /// The same without play and analysis.
    pub(crate) fn with_runs_alone(self) -> Access {
        Access { read_only: true, ..self }
    }

    /// Requires the token on the first line of a file.
    ///
    /// # Errors
    /// The file cannot be read or has no token.
    pub(crate) fn with_token(self, file: &Path) -> Result<Access, TokenError> {
        let token = read_token(file)?;
        let cookie = format!("{COOKIE}_{}", &digest("tengen web cookie\0", &token)[..8]);
        Ok(Access { session: Some(session(&token)), cookie, ..self })
    }

    /// Whether visitors need a token.
    pub(crate) fn needs_token(&self) -> bool {
        self.session.is_some()
    }

    /// The session of a visitor who gives this token, if it is the right one.
    pub(crate) fn session_of(&self, token: &str) -> Option<&str> {
        self.session.as_deref().filter(|wanted| is_same(wanted, &session(token)))
    }

    /// Whether a session is one of this application, or none is needed.
    pub(crate) fn admits(&self, given: Option<&str>) -> bool {
        self.session.as_deref().is_none_or(|wanted| given.is_some_and(|given| is_same(wanted, given)))
    }
}

/// What a browser keeps instead of the token. It survives a restart of the server, and ends with the token.
fn session(token: &str) -> String {
    digest("tengen web session\0", token)
}

/// A token in hexadecimal, for one purpose.
fn digest(purpose: &str, token: &str) -> String {
    let digest = Sha256::new().chain_update(purpose).chain_update(token).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_same(one: &str, other: &str) -> bool {
    one.as_bytes().ct_eq(other.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with_token(text: &str) -> Result<Access, TokenError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, text).unwrap();
        Access::new(Hosts::default()).with_token(&file)
    }

    #[test]
    fn session_follows_from_the_token_alone() {
        let access = with_token("correct-horse-battery\nsecond line\n").unwrap();
        let session = access.session_of("correct-horse-battery").unwrap();
        assert!(access.admits(Some(session)) && !access.admits(None) && !access.admits(Some("correct-horse-battery")));
        assert_eq!(access.session_of("correct-horse-batterz"), None);
        assert!(Access::new(Hosts::default()).admits(None));
    }

    #[test]
    fn short_tokens_and_absent_files_are_errors() {
        for text in ["", "short\nlong-enough-on-the-second-line"] {
            assert!(matches!(with_token(text), Err(TokenError::NoToken { .. })), "{text}");
        }
        assert!(Access::new(Hosts::default()).with_token(Path::new("/nonexistent/token")).is_err());
    }
}
