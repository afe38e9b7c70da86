//! Files that came gzipped.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;

/// The first two bytes of a gzip file.
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// An SGF collection is not larger, unpacked: a million games are a gigabyte.
const MOST_SGF: u64 = 1 << 32;

/// Games pack to a quarter, networks as text to a half. Zeros pack to a thousandth.
const MOST_RATIO: u64 = 100;

/// So many bytes may be packed in any way.
const SMALL: u64 = 64 << 20;

/// As [`unpacked`], for an SGF collection.
///
/// # Errors
/// As [`unpacked`].
pub fn unpacked_sgf(file: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    unpacked(file, MOST_SGF)
}

/// The content of a file that may be gzipped; a small file of nothing but zeros may stand for very many, so no more
/// than `most` bytes are unpacked, and above 64 MiB no more than a hundred times the file.
///
/// # Errors
/// A gzip file that is cut off or broken, or holds more than that; the text has the reason.
pub fn unpacked(file: &[u8], most: u64) -> Result<Cow<'_, [u8]>, String> {
    if !file.starts_with(&MAGIC) {
        return Ok(Cow::Borrowed(file));
    }
    let most = bound(file.len() as u64, most);
    let mut bytes = Vec::new();
    match MultiGzDecoder::new(file).take(most.saturating_add(1)).read_to_end(&mut bytes) {
        Err(error) => Err(format!("not a whole gzip file: {error}")),
        Ok(length) if length as u64 > most => Err(format!("a gzip file of more than {most} bytes")),
        Ok(_) => Ok(Cow::Owned(bytes)),
    }
}

/// Bytes that a file of this size may hold, `most` at most.
fn bound(packed: u64, most: u64) -> u64 {
    packed.saturating_mul(MOST_RATIO).max(SMALL).min(most)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn files_are_what_they_hold() {
        assert_eq!(unpacked(b"plain", 3).unwrap().as_ref(), b"plain");
        let both = [packed(b"one "), packed(b"two")].concat();
        assert_eq!(unpacked(&both, 7).unwrap().as_ref(), b"one two");
        assert_eq!(unpacked(&both, 6).unwrap_err(), "a gzip file of more than 6 bytes");
        assert_eq!(bound(4 << 20, MOST_SGF), 400 << 20, "a file of zeros");
        assert_eq!([bound(100, MOST_SGF), bound(100, 7), bound(u64::MAX, MOST_SGF)], [SMALL, 7, MOST_SGF]);
        assert!(unpacked(&both[..both.len() - 9], 7).unwrap_err().starts_with("not a whole gzip file: "));
    }
}
