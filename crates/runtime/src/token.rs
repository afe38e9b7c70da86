//! Tokens of servers: secrets in files.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Characters of a token at least: what cannot be guessed.
const LEAST: usize = 16;
/// Characters of a token at most: what fits a header.
const MOST: usize = 4096;

/// A file that has no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// A file that cannot be read.
    #[error("cannot read token file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The response of the file system.
        source: io::Error,
    },
    /// A token that can be guessed, or that does not fit a header.
    #[error(
        "token file {} has no token of {LEAST} to {MOST} printable ASCII characters without blanks on its first line",
        path.display()
    )]
    NoToken {
        /// The file.
        path: PathBuf,
    },
}

/// Warns of a file with a secret that every user of the machine can read.
pub fn warn_of_readers(secret: &Path) {
    if is_public(secret).unwrap_or_default() {
        tracing::warn!(file = %secret.display(), "every user can read this secret; remove the right with chmod o=");
    }
}

/// Whether every user can read a file: its mode says so, and those of all folders on the way let them pass.
fn is_public(file: &Path) -> io::Result<bool> {
    let file = fs::canonicalize(file)?;
    let modes = file.ancestors().map(|path| fs::metadata(path).map(|found| found.permissions().mode()));
    Ok(lets_others_read(modes.collect::<io::Result<Vec<u32>>>()?))
}

/// The same by the modes of the file and of the folders that it is in.
fn lets_others_read(modes: Vec<u32>) -> bool {
    let mut modes = modes.into_iter();
    modes.next().is_some_and(|file| file & 0o004 != 0) && modes.all(|folder| folder & 0o001 != 0)
}

/// Reads the token on the first line of a file. Blanks around it are removed. A file that every user can read is warned
/// of.
///
/// # Errors
/// The file cannot be read, or its first line is no token.
pub fn read_token(path: &Path) -> Result<String, TokenError> {
    warn_of_readers(path);
    reread_token(path)
}

/// The same for a file that was read before and may have changed. No warning is repeated.
///
/// # Errors
/// As [`read_token`].
pub fn reread_token(path: &Path) -> Result<String, TokenError> {
    let bytes = fs::read(path).map_err(|source| TokenError::File { path: path.to_owned(), source })?;
    first_line(&bytes).map(str::to_owned).ok_or_else(|| TokenError::NoToken { path: path.to_owned() })
}

/// Whether this is a token: 16 to 4096 printable ASCII characters without blanks (RFC 6750 allows no others in a
/// header).
pub fn is_token(text: &str) -> bool {
    (LEAST..=MOST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn first_line(bytes: &[u8]) -> Option<&str> {
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    std::str::from_utf8(line.trim_ascii()).ok().filter(|text| is_token(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_the_first_line_without_blanks_around_it() {
        for text in ["a-secret-of-20-chars", "a-secret-of-20-chars\r\n", "  a-secret-of-20-chars \nmore\n"] {
            assert_eq!(first_line(text.as_bytes()), Some("a-secret-of-20-chars"), "{text:?}");
        }
    }

    #[test]
    fn length_and_characters_of_tokens_are_bounded() {
        for length in [LEAST, MOST] {
            assert!(is_token(&"~".repeat(length)) && is_token(&"!".repeat(length)), "{length}");
        }
        for text in ["", &"a".repeat(LEAST - 1), &"a".repeat(MOST + 1), "a secret with blanks", "ein-geheimnis-für-uns"]
        {
            assert!(!is_token(text), "{text}");
        }
        for bytes in [&b""[..], b"\na-secret-of-20-chars", b"a-secret-of-20-char\xff"] {
            assert_eq!(first_line(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn secret_is_public_where_file_and_folders_are() {
        for (modes, expected) in [
            (&[0o100_644, 0o40_755, 0o40_755][..], true),
            (&[0o100_604, 0o41_777], true),
            (&[0o100_640, 0o40_755], false),
            (&[0o100_600, 0o40_755], false),
            (&[0o100_644, 0o40_755, 0o40_700, 0o40_755], false),
        ] {
            assert_eq!(lets_others_read(modes.to_vec()), expected, "{modes:?}");
        }
        assert!(is_public(Path::new("/etc/passwd")).unwrap(), "every user reads it");
        assert!(is_public(Path::new("/nonexistent/token")).is_err());
    }

    #[test]
    fn absent_file_is_named() {
        let error = read_token(Path::new("/nonexistent/token")).unwrap_err().to_string();
        assert_eq!(error, "cannot read token file /nonexistent/token");
    }
}
