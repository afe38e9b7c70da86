//! Text inside SGF: encodings, escapes and line breaks.

use std::borrow::Cow;

/// Bytes at the beginning of a file in which its encoding is searched for.
const HEAD: usize = 1 << 10;

/// Parts of names of encodings that are read as UTF-8 or Latin-1.
const READ: &[&str] = &["utf", "latin1", "latin-1", "8859-1", "1252", "ascii"];

/// Parts of names of encodings in which the second byte of a character may be that of `\` or `]`.
const SHIFT_JIS: &[&str] = &["shift", "sjis", "932", "31j"];
const BIG5_AND_GBK: &[&str] = &["big5", "950", "gb", "936"];

/// The text of a file: UTF-8, or Latin-1 when it is not UTF-8.
///
/// Where `CA` names an encoding of which bytes would be taken for SGF, its characters are U+FFFD, so that all moves are
/// read. Tables of these encodings were rejected for their size.
pub(super) fn decode(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text));
    }
    let name = named(bytes).unwrap_or_default();
    Cow::Owned(if has(&name, SHIFT_JIS) {
        // The bytes between are letters of one byte (JIS X 0201).
        ascii_of(bytes, |byte| !(0xa0..=0xdf).contains(&byte))
    } else if has(&name, BIG5_AND_GBK) {
        ascii_of(bytes, |_| true)
    } else {
        bytes.iter().map(|&byte| char::from(byte)).collect()
    })
}

/// The encoding that `CA` of a file names, in small letters, where its text is read neither as that nor as UTF-8: names
/// and comments of such a file are not readable.
pub fn unread_encoding(bytes: &[u8]) -> Option<String> {
    std::str::from_utf8(bytes).err().and_then(|_| named(bytes)).filter(|name| !has(name, READ))
}

/// The encoding that a file names in `CA`, in small letters.
fn named(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(HEAD)];
    let start = head.windows(3).position(|window| window == b"CA[")? + 3;
    let length = head[start..].iter().position(|&byte| byte == b']')?;
    Some(String::from_utf8_lossy(&head[start..start + length]).trim().to_ascii_lowercase())
}

fn has(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}

/// The ASCII of a text in which some of the other bytes begin a character of two. Each other character is U+FFFD.
fn ascii_of(bytes: &[u8], is_first: fn(u8) -> bool) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut bytes = bytes.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte.is_ascii() {
            text.push(char::from(byte));
            continue;
        }
        if is_first(byte) {
            // No second byte is smaller: then the first stands alone.
            bytes.next_if(|&second| second >= 0x40);
        }
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
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
