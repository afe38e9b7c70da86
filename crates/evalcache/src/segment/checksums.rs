//! Segments whose checksums are right, whatever else is wrong in them.

use xxhash_rust::xxh3::xxh3_64;

use super::format::PRELUDE;
use super::head::Head;
use super::write::assemble;
use super::{block, filter};

/// The bytes of a segment with the lengths and checksums that fit its other bytes, as a hostile writer makes them.
/// `None` for bytes whose head means nothing. For tests of readers, whom wrong checksums keep from everything else.
pub fn with_right_checksums(bytes: &[u8]) -> Option<Vec<u8>> {
    let (prelude, rest) = bytes.split_at_checked(PRELUDE)?;
    let head_len = u32::from_le_bytes(prelude[8..12].try_into().ok()?);
    let (head, rest) = rest.split_at_checked(head_len as usize)?;
    let mut head = Head::from_bytes(head)?;
    let filter_at = head.filters();
    let (filters, blocks) = rest.split_at_checked(*filter_at.last()? as usize)?;
    let blocks = blocks.get(..head.blocks_len() as usize)?;
    head.filters_sum = xxh3_64(filters);
    let mut start = 0;
    for (number, entry) in head.blocks.iter_mut().enumerate() {
        entry.filter_sum = filter::sum(&filters[filter_at[number] as usize..filter_at[number + 1] as usize]);
        entry.sum = block::sum(number, &blocks[start..entry.end as usize]);
        start = entry.end as usize;
    }
    Some(assemble(&head, filters, blocks.to_vec()))
}
