//! The origin of a segment's evaluations, and the offsets of its blocks.

use std::sync::Arc;

use go::Size;
use xxhash_rust::xxh3::xxh3_64;

use super::error::ReadError;
use super::filter::{self, MARK_BITS, SLOT_BITS};
use super::format::{FOOTER, MAGIC, MAGIC_END, PRELUDE, VERSION};
use super::source::SegmentBytes;
use crate::key::KEY_BITS;
use crate::{Key, Steps, Tables};

/// No head is longer: the tables and the directory of 2^20 blocks.
const MAX_HEAD: u32 = 1 << 25;
/// Fewer entries than this a block do not make more blocks.
const LEAST: u64 = 120;
/// Bytes of a block in the directory.
const ENTRY: usize = 16;
const MAX_BLOCK_BITS: u32 = 20;
/// Why a file of a later version is refused. Its second head may be laid out as those of this one, and its codes not.
pub(super) const LATER: &str = "a later version wrote it";

/// Whether a network sees komi, which is then part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KomiCoding {
    /// The network does not see it.
    Unseen,
    /// The network sees it.
    Seen,
}

impl KomiCoding {
    /// Both of them.
    const ALL: [KomiCoding; 2] = [KomiCoding::Unseen, KomiCoding::Seen];

    /// The number in a file.
    const fn code(self) -> u8 {
        match self {
            KomiCoding::Unseen => 0,
            KomiCoding::Seen => 1,
        }
    }

    fn of_code(code: u8) -> Option<KomiCoding> {
        KomiCoding::ALL.into_iter().find(|komi| komi.code() == code)
    }
}

/// In which symmetry positions are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symmetries {
    /// The canonical one: one evaluation for all images.
    Canonical,
    /// The mean of all eight: one evaluation for all images, which is better and costs eight.
    Mean8,
    /// The requested one: the output is that of the network, so that on CPUs a cache changes no game, planes of ladders
    /// aside ([`Key`](crate::Key)).
    Requested,
}

impl Symmetries {
    /// All of them.
    pub const ALL: [Symmetries; 3] = [Symmetries::Canonical, Symmetries::Mean8, Symmetries::Requested];

    /// The number in a file.
    const fn code(self) -> u8 {
        match self {
            Symmetries::Canonical => 0,
            Symmetries::Mean8 => 1,
            Symmetries::Requested => 2,
        }
    }

    fn of_code(code: u8) -> Option<Symmetries> {
        Symmetries::ALL.into_iter().find(|symmetries| symmetries.code() == code)
    }
}

impl std::fmt::Display for Symmetries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Symmetries::Canonical => "canonical",
            Symmetries::Mean8 => "mean8",
            Symmetries::Requested => "requested",
        })
    }
}

impl std::str::FromStr for Symmetries {
    type Err = String;

    fn from_str(text: &str) -> Result<Symmetries, String> {
        let found = Symmetries::ALL.into_iter().find(|symmetries| symmetries.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is none of canonical, mean8 and requested"))
    }
}

/// What evaluations are of. Those of different sets are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Set {
    /// A digest of the weights of the model, and of the arithmetic that evaluates it.
    pub model: [u8; 32],
    /// The board.
    pub size: Size,
    /// Whether keys depend on komi.
    pub komi: KomiCoding,
    /// The symmetry.
    pub symmetries: Symmetries,
    /// How exact they are.
    pub steps: Steps,
}

/// The head of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The origin of the evaluations.
    pub set: Set,
    /// The models that they were coded with.
    pub tables: Arc<Tables>,
    /// Evaluations.
    pub entries: u64,
    /// The numbers of the files that this one stands for.
    pub replaces: Vec<u32>,
    /// Whether lengths of codes have two bytes.
    pub(super) wide: bool,
    /// Bits of a key that choose a block.
    pub(super) block_bits: u32,
    pub(super) filters_sum: u64,
    pub(super) blocks: Vec<BlockRef>,
}

/// A block in the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockRef {
    /// Where it ends; it begins where the one before ends.
    pub(super) end: u32,
    pub(super) entries: u16,
    pub(super) filter_sum: u16,
    pub(super) sum: u64,
}

/// How many bits choose a block among so many entries.
pub(super) fn block_bits(entries: u64) -> u32 {
    (entries / LEAST).checked_ilog2().unwrap_or(0).min(MAX_BLOCK_BITS)
}

impl Head {
    pub(super) fn block_of(&self, key: Key) -> usize {
        key.part(0, self.block_bits) as usize
    }

    pub(super) fn slot_of(&self, key: Key) -> usize {
        key.part(self.block_bits, SLOT_BITS) as usize
    }

    pub(super) fn mark_of(&self, key: Key) -> u8 {
        key.part(self.block_bits + SLOT_BITS, MARK_BITS) as u8
    }

    pub(super) fn rest_of(&self, key: Key) -> u128 {
        key.part(KEY_BITS - self.rest_bits(), self.rest_bits())
    }

    pub(super) fn rest_bits(&self) -> u32 {
        KEY_BITS - self.block_bits - SLOT_BITS - MARK_BITS
    }

    pub(super) fn key(&self, block: usize, slot: usize, mark: u8, rest: u128) -> Key {
        let high = ((block as u128) << SLOT_BITS | slot as u128) << MARK_BITS | u128::from(mark);
        Key::from_bits(high << self.rest_bits() | rest)
    }

    /// Where the filter of each block begins, and where the last ends.
    pub(super) fn filters(&self) -> Vec<u32> {
        let mut at = 0;
        let lens = self.blocks.iter().map(|block| filter::len(block.entries.into()) as u32);
        let ends = lens.map(|len| {
            at += len;
            at
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// Bytes of all blocks.
    pub(super) fn blocks_len(&self) -> u64 {
        self.blocks.last().map_or(0, |block| u64::from(block.end))
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let Set { model, size, komi, symmetries, steps } = self.set;
        let mut out = model.to_vec();
        let (komi, symmetries) = (komi.code(), symmetries.code());
        out.extend([size.side() as u8, komi, symmetries, u8::from(self.wide), self.block_bits as u8, 0]);
        out.extend(steps.code().to_le_bytes());
        out.extend(self.entries.to_le_bytes());
        out.extend(self.filters_sum.to_le_bytes());
        let tables = self.tables.to_bytes();
        out.extend((self.replaces.len() as u32).to_le_bytes());
        out.extend((tables.len() as u32).to_le_bytes());
        out.extend(self.replaces.iter().flat_map(|number| number.to_le_bytes()));
        out.extend(tables);
        for block in &self.blocks {
            out.extend(block.end.to_le_bytes());
            out.extend(block.entries.to_le_bytes());
            out.extend(block.filter_sum.to_le_bytes());
            out.extend(block.sum.to_le_bytes());
        }
        out
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Head> {
        let mut rest = bytes;
        let model: [u8; 32] = take(&mut rest, 32)?.try_into().ok()?;
        let &[side, komi, symmetries, wide, block_bits, 0] = take(&mut rest, 6)? else { return None };
        let steps = Steps::of_code(u16::from_le_bytes(take(&mut rest, 2)?.try_into().ok()?))?;
        let entries = u64::from_le_bytes(take(&mut rest, 8)?.try_into().ok()?);
        let filters_sum = u64::from_le_bytes(take(&mut rest, 8)?.try_into().ok()?);
        let (replaced, tables) = (number(&mut rest)? as usize, number(&mut rest)? as usize);
        if u32::from(block_bits) > MAX_BLOCK_BITS || replaced > rest.len() / 4 {
            return None;
        }
        let replaces = (0..replaced).map(|_| number(&mut rest)).collect::<Option<_>>()?;
        let tables = Tables::from_bytes(take(&mut rest, tables)?)?;
        let set = Set {
            model,
            size: Size::new(side.into()).ok()?,
            komi: KomiCoding::of_code(komi)?,
            symmetries: Symmetries::of_code(symmetries)?,
            steps,
        };
        let count = 1 << block_bits;
        if rest.len() != count * ENTRY || tables.steps() != steps || wide > 1 {
            return None;
        }
        let mut blocks = Vec::with_capacity(count);
        for entry in rest.chunks_exact(ENTRY) {
            let (end, entries) = entry.split_at(4);
            blocks.push(BlockRef {
                end: u32::from_le_bytes(end.try_into().ok()?),
                entries: u16::from_le_bytes(entries[..2].try_into().ok()?),
                filter_sum: u16::from_le_bytes(entries[2..4].try_into().ok()?),
                sum: u64::from_le_bytes(entries[4..].try_into().ok()?),
            });
        }
        let filters: u64 = blocks.iter().map(|block| filter::len(block.entries.into()) as u64).sum();
        let sum: u64 = blocks.iter().map(|block| u64::from(block.entries)).sum();
        let ordered = blocks.windows(2).all(|pair| pair[0].end <= pair[1].end);
        let head = Head {
            set,
            tables: Arc::new(tables),
            entries,
            replaces,
            wide: wide == 1,
            block_bits: block_bits.into(),
            filters_sum,
            blocks,
        };
        (ordered && sum == entries && filters <= u32::MAX.into()).then_some(head)
    }
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, others) = rest.split_at_checked(count)?;
    *rest = others;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}

/// The first bytes of a file.
pub(super) fn prelude(head: &[u8]) -> [u8; PRELUDE] {
    let mut bytes = [0; PRELUDE];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
    bytes[8..12].copy_from_slice(&(head.len() as u32).to_le_bytes());
    bytes[12..].copy_from_slice(&xxh3_64(head).to_le_bytes());
    bytes
}

/// The last bytes of a file of this length.
pub(super) fn footer(head: &[u8], len: u64) -> [u8; FOOTER] {
    let mut bytes = [0; FOOTER];
    bytes[..4].copy_from_slice(&(head.len() as u32).to_le_bytes());
    bytes[4..12].copy_from_slice(&xxh3_64(head).to_le_bytes());
    bytes[12..20].copy_from_slice(&len.to_le_bytes());
    bytes[20..].copy_from_slice(&MAGIC_END);
    bytes
}

/// The head from the beginning, and its length.
pub(super) fn read_first(source: &impl SegmentBytes) -> Result<(Head, u32), ReadError> {
    if source.size() < (PRELUDE + FOOTER) as u64 {
        return Err(ReadError::NoSegment("too short"));
    }
    let mut bytes = [0; PRELUDE];
    source.read(0, &mut bytes).map_err(ReadError::Source)?;
    if bytes[..4] != MAGIC {
        return Err(ReadError::NoSegment("wrong magic bytes"));
    }
    let version = u16::from_le_bytes([bytes[4], bytes[5]]);
    if version > VERSION {
        return Err(ReadError::NoSegment(LATER));
    }
    if version != VERSION || bytes[6..8] != [0, 0] {
        return Err(ReadError::NoSegment("unknown version"));
    }
    let (len, sum) = length_and_sum(&bytes[8..]);
    read_head(source, PRELUDE as u64, len, sum)
}

/// The head from the end, and its length.
pub(super) fn read_second(source: &impl SegmentBytes) -> Result<(Head, u32), ReadError> {
    let Some(at) = source.size().checked_sub(FOOTER as u64) else {
        return Err(ReadError::NoSegment("too short"));
    };
    let mut bytes = [0; FOOTER];
    source.read(at, &mut bytes).map_err(ReadError::Source)?;
    let (len, sum) = length_and_sum(&bytes);
    if bytes[20..] != MAGIC_END || bytes[12..20] != source.size().to_le_bytes() {
        return Err(ReadError::NoSegment("its last bytes are others"));
    }
    let start = at.checked_sub(len.into()).ok_or(ReadError::NoSegment("its head is longer than itself"))?;
    read_head(source, start, len, sum)
}

fn length_and_sum(bytes: &[u8]) -> (u32, u64) {
    let mut sum = [0; 8];
    sum.copy_from_slice(&bytes[4..12]);
    (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), u64::from_le_bytes(sum))
}

fn read_head(source: &impl SegmentBytes, at: u64, len: u32, sum: u64) -> Result<(Head, u32), ReadError> {
    if len > MAX_HEAD || at + u64::from(len) > source.size() {
        return Err(ReadError::NoSegment("its head is longer than itself"));
    }
    let mut bytes = vec![0; len as usize];
    source.read(at, &mut bytes).map_err(ReadError::Source)?;
    if xxh3_64(&bytes) != sum {
        return Err(ReadError::NoSegment("the checksum of its head is another"));
    }
    let head = Head::from_bytes(&bytes).ok_or(ReadError::NoSegment("its head cannot be read"))?;
    Ok((head, len))
}
