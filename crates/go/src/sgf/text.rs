//! Text inside SGF: encodings, escapes and line breaks.

use std::borrow::Cow;

/// The text of a file: UTF-8, or Latin-1 when it is not UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// The text of a value: a backslash is dropped and the character after it kept, a line break after a backslash is
/// dropped, every kind of line break is `\n`, and other white space is a space.
pub(super) fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        let (c, escaped) = if c == '\\' { (chars.next(), true) } else { (Some(c), false) };
        match c {
            Some(c @ ('\n' | '\r')) => {
                chars.next_if_eq(if c == '\n' { &'\r' } else { &'\n' });
                if !escaped {
                    out.push('\n');
                }
            }
            Some(c) => out.push(if c.is_whitespace() { ' ' } else { c }),
            None => {}
        }
    }
    out
}

/// A value with `text`.
pub(super) fn escape(text: &str) -> String {
    escape_all(text, &['\\', ']'])
}

/// A part of a value with a colon.
pub(super) fn escape_part(text: &str) -> String {
    escape_all(text, &['\\', ']', ':'])
}

fn escape_all(text: &str, special: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if special.contains(&c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The parts before and after the first colon that has no backslash; the second is empty when there is none.
pub(super) fn split_composed(raw: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, c) in raw.char_indices() {
        if c == ':' && !escaped {
            return (&raw[..at], &raw[at + 1..]);
        }
        escaped = c == '\\' && !escaped;
    }
    (raw, "")
}
