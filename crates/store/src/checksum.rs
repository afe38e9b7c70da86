//! The checksums of a Parquet file: hashes of the file, of its footer and of every column in it, in its own footer.
//!
//! A reader of the whole file checks the first. A reader of a few columns of some rows reads the footer, which is
//! then trustworthy, and checks only the parts that it reads.

#[cfg(any(test, feature = "testing"))]
use parquet::file::metadata::ParquetMetaDataReader;
use sha2::{Digest, Sha256};

use crate::parts::sha256;

/// The entry of the footer's metadata with the SHA-256 of the file.
pub(crate) const FILE: &str = "tengen.sha256";

/// The entry with the SHA-256 of the footer.
pub(crate) const FOOTER: &str = "tengen.footer";

/// The entry with the [`short`] hashes of the columns: of the first row group, then of the second, ….
pub(crate) const CHUNKS: &str = "tengen.chunks";

/// The placeholder of a hash while it is computed.
pub(crate) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How the footer has the entries, up to their values: the key, then in Thrift's compact protocol the header of the
/// next field, a string, and its length of 64.
const FILE_MARK: &[u8] = b"tengen.sha256\x18\x40";
const FOOTER_MARK: &[u8] = b"tengen.footer\x18\x40";

/// Digits of a short hash.
pub(crate) const SHORT: usize = 16;

/// The length of the footer and `PAR1`: the last bytes of a Parquet file.
pub(crate) const TAIL: usize = 8;

/// A hash of a column: 64 bits are enough against accidents.
pub(crate) fn short(bytes: &[u8]) -> String {
    format!("{:.SHORT$x}", Sha256::digest(bytes))
}

/// Puts the hashes of footer and file in their places.
///
/// # Panics
/// When the bytes are no Parquet file with blank checksums.
pub(crate) fn close(bytes: &mut [u8]) {
    fill(bytes).expect("a Parquet file has a footer with entries for the checksums");
}

/// As [`close`]; `None` where there are no places for them.
fn fill(bytes: &mut [u8]) -> Option<()> {
    let footer = footer_start(bytes)?;
    let end = bytes.len() - TAIL;
    let footer_at = footer + find(&bytes[footer..end], FOOTER_MARK)?;
    let hash = sha256(&bytes[footer..end]);
    bytes[footer_at..footer_at + BLANK.len()].copy_from_slice(hash.as_bytes());
    let file_at = footer + find(&bytes[footer..end], FILE_MARK)?;
    let hash = sha256(bytes);
    bytes[file_at..file_at + BLANK.len()].copy_from_slice(hash.as_bytes());
    Some(())
}

/// The bytes with the checksums that a hostile writer would give them: of the columns, of the footer and of the file.
/// `None` where they have no places for them. Where the footer cannot be decoded, the hashes of the columns stay.
#[cfg(any(test, feature = "testing"))]
pub fn with_right_checksums(mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let footer = footer_start(&bytes)?;
    let end = bytes.len() - TAIL;
    if let Some((at, hashes)) = chunk_hashes(&bytes, footer) {
        bytes[at..at + hashes.len()].copy_from_slice(hashes.as_bytes());
    }
    for mark in [FOOTER_MARK, FILE_MARK] {
        let at = footer + find(&bytes[footer..end], mark)?;
        bytes[at..at + BLANK.len()].copy_from_slice(BLANK.as_bytes());
    }
    fill(&mut bytes)?;
    Some(bytes)
}

/// The hashes of the columns that a footer describes, and where it has them.
#[cfg(any(test, feature = "testing"))]
fn chunk_hashes(bytes: &[u8], footer: usize) -> Option<(usize, String)> {
    let end = bytes.len() - TAIL;
    let metadata = ParquetMetaDataReader::decode_metadata(&bytes[footer..end]).ok()?;
    let mut hashes = String::new();
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let (start, length) = (usize::try_from(start).ok()?, usize::try_from(column.compressed_size()).ok()?);
        hashes += &short(bytes.get(start..start.checked_add(length)?)?);
    }
    // As the other marks, but for the length, which has seven bits a byte.
    let mut mark = [CHUNKS.as_bytes(), b"\x18"].concat();
    let mut length = hashes.len();
    while length >= 0x80 {
        mark.push(length as u8 | 0x80);
        length >>= 7;
    }
    mark.push(length as u8);
    let at = footer + bytes[footer..end].windows(mark.len()).position(|window| window == mark)? + mark.len();
    (at + hashes.len() <= end).then_some((at, hashes))
}

/// Compares the checksum of a whole file with its bytes.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let footer = footer_start(bytes).ok_or_else(cut_off)?;
    let at = footer + find(&bytes[footer..], FILE_MARK).ok_or_else(cut_off)?;
    compare(bytes, &[at], at)
}

/// Compares the checksum of a footer with its bytes: those between the last column and the [`TAIL`].
pub(crate) fn check_footer(footer: &[u8]) -> Result<(), String> {
    let file = find(footer, FILE_MARK).ok_or_else(cut_off)?;
    let own = find(footer, FOOTER_MARK).ok_or_else(cut_off)?;
    compare(footer, &[file.min(own), file.max(own)], own)
}

/// Whether the hash of the bytes, with blanks at some places, is the one that stands at `checksum`.
fn compare(bytes: &[u8], blanks: &[usize], checksum: usize) -> Result<(), String> {
    let mut hash = Sha256::new();
    let mut done = 0;
    for &blank in blanks {
        // In damaged files a checksum may begin within another.
        hash.update(bytes.get(done..blank).ok_or_else(altered)?);
        hash.update(BLANK);
        done = blank + BLANK.len();
    }
    hash.update(&bytes[done..]);
    let found = format!("{:x}", hash.finalize());
    if found.as_bytes() == &bytes[checksum..checksum + BLANK.len()] { Ok(()) } else { Err(altered()) }
}

pub(crate) fn cut_off() -> String {
    "it is cut off, or was not written by Tengen".to_owned()
}

pub(crate) fn altered() -> String {
    "its contents are not the ones it was written with".to_owned()
}

/// Where the footer begins.
fn footer_start(bytes: &[u8]) -> Option<usize> {
    let tail = bytes.last_chunk::<TAIL>()?;
    (bytes.len() - TAIL).checked_sub(footer_length(tail)?)
}

/// The length of the footer, as the last bytes of a file tell.
pub(crate) fn footer_length(tail: &[u8; TAIL]) -> Option<usize> {
    let length = tail.strip_suffix(b"PAR1")?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()
}

/// Where the value after a mark is.
fn find(footer: &[u8], mark: &[u8]) -> Option<usize> {
    let at = footer.windows(mark.len()).position(|window| window == mark)? + mark.len();
    (at + BLANK.len() <= footer.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{examples, games, synthetic};

    use super::*;
    use crate::projection::{decode, encode};

    fn refused(bytes: Vec<u8>) -> bool {
        decode(bytes.into(), None).is_err()
    }

    #[test]
    fn every_cut_and_every_altered_bit_is_noticed() {
        let whole = encode(&examples::to_batch(&[])).to_vec();
        assert!(!refused(whole.clone()));
        for at in 0..whole.len() {
            assert!(refused(whole[..at].to_vec()), "cut at {at}");
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            assert!(refused(bytes), "altered at {at}");
        }
    }

    #[test]
    fn checksums_that_overlap_are_damage() {
        let footer = [FILE_MARK, &BLANK.as_bytes()[..20], FOOTER_MARK, BLANK.as_bytes()].concat();
        assert_eq!(check_footer(&footer), Err(altered()));
    }

    #[test]
    fn every_altered_bit_of_a_footer_but_the_other_checksum_is_noticed() {
        let whole = encode(&examples::to_batch(&[])).to_vec();
        let start = footer_start(&whole).unwrap();
        let footer = &whole[start..whole.len() - TAIL];
        assert_eq!(check_footer(footer), Ok(()));
        let checksum = find(footer, FILE_MARK).unwrap();
        for at in (0..footer.len()).filter(|at| !(checksum..checksum + BLANK.len()).contains(at)) {
            let mut bytes = footer.to_vec();
            bytes[at] ^= 1 << (at % 8);
            assert!(check_footer(&bytes).is_err(), "altered at {at}");
        }
    }

    /// Where these bytes are.
    fn place(bytes: &[u8], of: &[u8]) -> usize {
        bytes.windows(of.len()).position(|window| window == of).unwrap()
    }

    #[test]
    fn altered_column_and_footer_pass_with_right_checksums() {
        let whole = encode(&games::to_batch(&[synthetic::game("m-1", "w", 0, Size::new(5).unwrap(), 8)])).to_vec();
        assert_eq!(with_right_checksums(whole.clone()).as_ref(), Some(&whole));
        let start = footer_start(&whole).unwrap();
        // The first column begins behind `PAR1`, and the footer has the version of the table.
        for at in [4, start + place(&whole[start..], b"games/")] {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            assert!(check(&bytes).is_err(), "altered at {at}");
            let right = with_right_checksums(bytes.clone()).unwrap();
            let footer = &right[start..right.len() - TAIL];
            assert_eq!((check(&right), check_footer(footer)), (Ok(()), Ok(())), "altered at {at}");
            let metadata = ParquetMetaDataReader::decode_metadata(footer).unwrap();
            let hashes = place(footer, CHUNKS.as_bytes());
            for column in metadata.row_group(0).columns() {
                let (first, length) = column.byte_range();
                let hash = short(&right[first as usize..][..length as usize]);
                assert!(place(footer, hash.as_bytes()) > hashes, "altered at {at}");
            }
            assert_eq!(right[at], bytes[at], "what was altered stays so");
        }
    }

    #[test]
    fn bytes_without_places_for_checksums_get_none() {
        let file = |parts: &[&[u8]]| {
            let footer = parts.concat();
            [&footer[..], &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat()
        };
        let blank = BLANK.as_bytes();
        for bytes in [
            b"garbage".to_vec(),
            file(&[]),
            file(&[FOOTER_MARK, blank]),
            // The second value would reach into the tail, or a blank would cover the second mark.
            file(&[FOOTER_MARK, blank, FILE_MARK, &blank[..60]]),
            file(&[FILE_MARK, &blank[..20], FOOTER_MARK, blank]),
        ] {
            assert_eq!(with_right_checksums(bytes.clone()), None, "{bytes:?}");
        }
    }

    #[test]
    fn checksum_is_the_hash_of_the_file_without_it() {
        let whole = encode(&examples::to_batch(&[])).to_vec();
        let text = String::from_utf8_lossy(&whole).into_owned();
        let at = text.find(FILE).unwrap();
        let checksum: String = text[at..].chars().skip(FILE.len()).filter(char::is_ascii_hexdigit).take(64).collect();
        let blank = text.replace(&checksum, BLANK);
        assert_eq!(blank.len(), text.len());
        let at = footer_start(&whole).unwrap();
        let at = at + find(&whole[at..], FILE_MARK).unwrap();
        let mut bytes = whole;
        bytes[at..at + 64].copy_from_slice(BLANK.as_bytes());
        assert_eq!(checksum, sha256(&bytes));
    }
}
