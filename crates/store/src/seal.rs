//! The seal of a Parquet file: its hash, in its own footer.

use sha2::{Digest, Sha256};

use crate::parts::{hex, sha256};

/// The entry of the footer's metadata.
pub(crate) const KEY: &str = "tengen.sha256";

/// What stands in its place while the hash is computed.
pub(crate) const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// How the footer has the entry, up to its value: the key, then in Thrift's compact protocol the header of the next field,
/// a string, and its length of 64.
const MARK: &[u8] = b"tengen.sha256\x18\x40";

/// Puts the hash in its place.
///
/// # Panics
/// When the bytes are no Parquet file with a blank seal.
pub(crate) fn close(bytes: &mut [u8]) {
    let at = find(bytes).expect("the footer has an entry for the seal");
    let hash = sha256(bytes);
    bytes[at..at + BLANK.len()].copy_from_slice(hash.as_bytes());
}

/// Compares the seal with the bytes.
pub(crate) fn check(bytes: &[u8]) -> Result<(), String> {
    let Some(at) = find(bytes) else { return Err("it is cut off, or was not written by Tengen".to_owned()) };
    let (seal, after) = bytes[at..].split_at(BLANK.len());
    let hash = Sha256::new().chain_update(&bytes[..at]).chain_update(BLANK).chain_update(after).finalize();
    if hex(&hash).as_bytes() == seal {
        Ok(())
    } else {
        Err("its contents are not the ones it was written with".to_owned())
    }
}

/// Where the seal is. The last eight bytes of a Parquet file are the length of its footer and `PAR1`.
fn find(bytes: &[u8]) -> Option<usize> {
    let body = bytes.strip_suffix(b"PAR1")?;
    let (body, length) = body.split_last_chunk()?;
    let start = body.len().checked_sub(u32::from_le_bytes(*length) as usize)?;
    let mark = body[start..].windows(MARK.len()).position(|window| window == MARK)?;
    let at = start + mark + MARK.len();
    (at + BLANK.len() <= body.len()).then_some(at)
}

#[cfg(test)]
mod tests {
    use record::examples;

    use super::*;
    use crate::columns::{decode, encode};

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
    fn the_seal_is_the_hash_of_the_file_without_it() {
        let whole = encode(&examples::to_batch(&[])).to_vec();
        let text = String::from_utf8_lossy(&whole).into_owned();
        let at = text.find("tengen.sha256").unwrap();
        let seal: String =
            text[at..].chars().skip("tengen.sha256".len()).filter(char::is_ascii_hexdigit).take(64).collect();
        let blank = text.replace(&seal, BLANK);
        assert_eq!(blank.len(), text.len());
        let at = find(&whole).unwrap();
        let mut bytes = whole;
        bytes[at..at + 64].copy_from_slice(BLANK.as_bytes());
        assert_eq!(seal, sha256(&bytes));
    }
}
