//! The numbers that models consist of, as a file has them.

use crate::Steps;
use crate::fixed::Offsets;
use crate::layout::{CLASSES, CONTEXTS, FOUND, LogOdds, bits as exact, given as fixed, halves, shares as policy};

/// The probability of a move without steps, in 1/65536 of a step and below half of one: by how many moves of the policy
/// have steps, and by its class. The first tells how flat the policy is.
pub(crate) type Floors = [[u16; CLASSES]; FOUND];

/// Floors of 0.
pub(crate) fn no_floors() -> Box<Floors> {
    Box::new([[0; CLASSES]; FOUND])
}

/// No floor is larger.
pub(crate) const MAX_FLOOR: u16 = i16::MAX as u16;

/// The models of one kind of evaluations: log-odds for each context, and what moves without steps had on average.
///
/// They are part of every file that was written with them; a digest names them.
#[derive(Clone, PartialEq, Eq)]
pub struct Tables {
    steps: Steps,
    log_odds: Box<LogOdds>,
    /// Those of distances again, for a position at a time.
    offsets: Box<Offsets>,
    floors: Box<Floors>,
    digest: u64,
}

impl Tables {
    /// Log-odds in tables of this kind.
    pub(crate) const fn len(steps: Steps) -> usize {
        match steps {
            Steps::Exact => exact::END,
            Steps::S256 | Steps::S2048 => policy::END,
        }
    }

    /// Tables that know nothing.
    pub fn flat(steps: Steps) -> Tables {
        Tables::new(steps, vec![0; Tables::len(steps)], no_floors())
    }

    pub(crate) fn new(steps: Steps, log_odds: Vec<i16>, floors: Box<Floors>) -> Tables {
        assert_eq!(log_odds.len(), Tables::len(steps), "one number for each context");
        let mut padded = Box::new([0; CONTEXTS]);
        padded[..log_odds.len()].copy_from_slice(&log_odds);
        let offsets = Box::new(Offsets::new(&padded));
        let mut tables = Tables { steps, log_odds: padded, offsets, floors, digest: 0 };
        tables.digest = xxhash_rust::xxh3::xxh3_64(&tables.to_bytes());
        tables
    }

    /// How exact the evaluations are.
    pub fn steps(&self) -> Steps {
        self.steps
    }

    /// A name of the contents.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Bytes of memory.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Tables>() + size_of::<LogOdds>() + size_of::<Offsets>() + size_of::<Floors>()
    }

    pub(crate) fn log_odds(&self) -> &LogOdds {
        &self.log_odds
    }

    pub(crate) fn offsets(&self) -> &Offsets {
        &self.offsets
    }

    /// The floors of a policy of which `found` moves have steps.
    pub(crate) fn floors(&self, found: u32) -> &[u16; CLASSES] {
        &self.floors[halves(found).min(FOUND - 1)]
    }

    /// The bytes in a file: the code of the steps, the floors and the log-odds, each of two bytes, the lower first.
    /// Runs of contexts that never occurred are short: 0x8000 and how many zeros there are.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = vec![self.steps.code()];
        let floors = self.floors.as_flattened().iter().map(|&floor| floor.min(MAX_FLOOR) as i16);
        let numbers: Vec<i16> = floors.chain(self.log_odds[..Tables::len(self.steps)].iter().copied()).collect();
        let mut rest = &numbers[..];
        while let Some((&first, others)) = rest.split_first() {
            let zeros = rest.iter().take(usize::from(u16::MAX)).take_while(|&&number| number == 0).count();
            if zeros >= 2 {
                words.extend([0x8000, zeros as u16]);
                rest = &rest[zeros..];
            } else {
                words.push(first.max(-i16::MAX) as u16);
                rest = others;
            }
        }
        words.into_iter().flat_map(u16::to_le_bytes).collect()
    }

    /// Undoes [`Tables::to_bytes`]; `None` for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Tables> {
        let mut words = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        if !bytes.len().is_multiple_of(2) {
            return None;
        }
        let steps = Steps::of_code(words.next()?)?;
        let mut floors = no_floors();
        let places = floors.as_flattened_mut();
        let len = places.len() + Tables::len(steps);
        let mut numbers: Vec<i16> = Vec::with_capacity(len);
        while numbers.len() < len {
            match words.next()? {
                0x8000 => {
                    let zeros = usize::from(words.next()?);
                    if zeros < 2 || zeros > len - numbers.len() {
                        return None;
                    }
                    numbers.resize(numbers.len() + zeros, 0);
                }
                number => numbers.push(number as i16),
            }
        }
        let log_odds = numbers.split_off(places.len());
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number.try_into().ok()?;
        }
        words.next().is_none().then(|| Tables::new(steps, log_odds, floors))
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tables({}, {:016x})", self.steps, self.digest)
    }
}

const _: () = assert!(fixed::END < policy::END && fixed::END < exact::END);
const _: () = assert!(policy::END <= CONTEXTS && exact::END <= CONTEXTS);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tables_are_what_their_bytes_say() {
        for steps in Steps::ALL {
            let mut log_odds: Vec<i16> = (0..Tables::len(steps)).map(|i| (i % 700) as i16 - 350).collect();
            log_odds[100..5000].fill(0);
            log_odds[6000] = i16::MIN + 1;
            let mut floors = Box::new([[7; CLASSES]; FOUND]);
            floors[3][5] = MAX_FLOOR;
            let tables = Tables::new(steps, log_odds, floors);
            let bytes = tables.to_bytes();
            assert_eq!(Tables::from_bytes(&bytes), Some(tables.clone()));
            assert_ne!(tables.digest(), Tables::flat(steps).digest());
            assert_eq!(Tables::from_bytes(&bytes[..bytes.len() - 2]), None);
            assert_eq!(Tables::from_bytes(&[bytes, vec![0; 2]].concat()), None);
        }
    }

    proptest! {
        #[test]
        fn tables_of_other_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            prop_assert_eq!(Tables::from_bytes(&bytes), None);
        }
    }
}
