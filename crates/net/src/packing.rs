//! Input planes as bits: what a position takes on a wire.
//!
//! Of the planes that are written for a position most hold 0 or 1 at each point: a bit each, plane after plane, point after
//! point, the lowest bit of a byte first. Planes that hold one number everywhere (whose turn it is, the board, komi) are
//! scalars of a byte each. Where scalars are in between, the planes before and after them begin with a byte of their own. A
//! position of 17 planes on 19x19 takes 723 bytes instead of 6,137.

use std::ops::Range;

use go::Size;

use crate::{Inputs, features, planes};

/// The eight bytes of 0 and 1 that the bits of a byte stand for.
const SPREAD: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = ((byte >> bit) & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// How the planes of positions are packed for one set of inputs on one board. Packing loses nothing that
/// [`Inputs::of_game`] and [`Inputs::of_example`] write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    area: usize,
    planes: usize,
    /// The planes that hold one number everywhere.
    constant: Range<usize>,
}

impl Inputs {
    /// How the planes of positions on this board are packed.
    pub fn packing(self, size: Size) -> Packing {
        let constant = match self {
            Inputs::History | Inputs::LeelaZero => planes::COUNT - 1..planes::COUNT,
            Inputs::Features | Inputs::Tactics => features::KOMI - 1..features::KOMI + 1,
        };
        Packing { area: size.area(), planes: self.written(), constant }
    }
}

impl Packing {
    /// Bytes of bits for each position.
    pub fn bits(&self) -> usize {
        self.runs().map(|run| run.len().div_ceil(8)).iter().sum()
    }

    /// Scalars of each position, one byte each.
    pub fn scalars(&self) -> usize {
        self.constant.len()
    }

    /// Bytes of the planes of each position.
    pub fn planes(&self) -> usize {
        self.planes * self.area
    }

    /// Places of the bytes that are bits: before and after the constant planes.
    fn runs(&self) -> [Range<usize>; 2] {
        [0..self.constant.start * self.area, self.constant.end * self.area..self.planes * self.area]
    }

    /// Whether planes survive packing: they are those of whole positions, 0 or 1 where they are bits, and the same everywhere
    /// where they are constant.
    pub fn can_pack(&self, planes: &[u8]) -> bool {
        let is_fine = |planes: &[u8]| {
            let mut constant = planes[self.constant.start * self.area..self.constant.end * self.area].chunks(self.area);
            self.runs().into_iter().all(|run| planes[run].iter().all(|&byte| byte <= 1))
                && constant.all(|plane| plane.iter().all(|&byte| byte == plane[0]))
        };
        planes.len().is_multiple_of(self.planes()) && planes.chunks_exact(self.planes()).all(is_fine)
    }

    /// Appends the bits and the scalars of positions, given as their planes one after the other.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions.
    pub fn pack(&self, planes: &[u8], bits: &mut Vec<u8>, scalars: &mut Vec<u8>) {
        assert!(planes.len().is_multiple_of(self.planes()), "a position has {} bytes of planes", self.planes());
        let positions = planes.len() / self.planes();
        bits.reserve(positions * self.bits());
        scalars.reserve(positions * self.scalars());
        for planes in planes.chunks_exact(self.planes()) {
            for run in self.runs() {
                pack(&planes[run], bits);
            }
            scalars.extend(self.constant.clone().map(|plane| planes[plane * self.area]));
        }
    }

    /// Writes the planes of positions, given by their bits and scalars.
    ///
    /// # Panics
    /// When the lengths do not fit together.
    pub fn unpack(&self, bits: &[u8], scalars: &[u8], planes: &mut [u8]) {
        let positions = planes.len() / self.planes();
        assert_eq!(planes.len(), positions * self.planes(), "space for whole positions");
        assert_eq!(bits.len(), positions * self.bits(), "bits of {positions} positions");
        assert_eq!(scalars.len(), positions * self.scalars(), "scalars of {positions} positions");
        let [before, after] = self.runs();
        let rows = planes.chunks_exact_mut(self.planes()).zip(bits.chunks_exact(self.bits()));
        for ((planes, bits), scalars) in rows.zip(scalars.chunks_exact(self.scalars())) {
            let (first, second) = bits.split_at(before.len().div_ceil(8));
            unpack(first, &mut planes[before.clone()]);
            unpack(second, &mut planes[after.clone()]);
            let constant = planes[before.end..after.start].chunks_exact_mut(self.area);
            constant.zip(scalars).for_each(|(plane, &scalar)| plane.fill(scalar));
        }
    }
}

/// Appends a bit for each byte, which is 0 or 1.
fn pack(bytes: &[u8], bits: &mut Vec<u8>) {
    // Each factor moves the lowest bit of one of the eight bytes into the highest byte of the product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    debug_assert!(bytes.iter().all(|&byte| byte <= 1), "planes of bits hold 0 and 1");
    let (whole, rest) = bytes.as_chunks::<8>();
    bits.extend(whole.iter().map(|&eight| (u64::from_le_bytes(eight).wrapping_mul(GATHER) >> 56) as u8));
    if !rest.is_empty() {
        bits.push(rest.iter().enumerate().fold(0, |byte, (bit, &value)| byte | (value << bit)));
    }
}

/// The opposite. Bits after the last byte are ignored.
fn unpack(bits: &[u8], bytes: &mut [u8]) {
    let (whole, rest) = bytes.as_chunks_mut::<8>();
    for (eight, &byte) in whole.iter_mut().zip(bits) {
        *eight = SPREAD[usize::from(byte)];
    }
    if let Some(&last) = bits.last().filter(|_| !rest.is_empty()) {
        rest.copy_from_slice(&SPREAD[usize::from(last)][..rest.len()]);
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Move, Symmetry};
    use proptest::prelude::*;

    use super::*;

    const ALL: [Inputs; 4] = [Inputs::History, Inputs::LeelaZero, Inputs::Features, Inputs::Tactics];

    fn round_trip(inputs: Inputs, size: Size, planes: &[u8]) -> Vec<u8> {
        let packing = inputs.packing(size);
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack(planes, &mut bits, &mut scalars);
        let positions = planes.len() / inputs.len(size);
        assert!(packing.can_pack(planes));
        assert_eq!((bits.len(), scalars.len()), (positions * packing.bits(), positions * packing.scalars()));
        let mut unpacked = vec![77; planes.len()];
        packing.unpack(&bits, &scalars, &mut unpacked);
        unpacked
    }

    proptest! {
        /// Positions of games by moves drawn from bytes, several of them one after the other.
        #[test]
        fn unpacked_planes_are_those_that_were_packed(
            side in 2..=19_usize,
            kind in 0..ALL.len(),
            komi in -400.0..400.0_f32,
            moves in prop::collection::vec(any::<u16>(), 1..60),
        ) {
            let (inputs, size) = (ALL[kind], Size::new(side).unwrap());
            let mut game = Game::new(size);
            let mut planes = Vec::new();
            for (turn, drawn) in moves.into_iter().enumerate() {
                let mv = Move::from_index(size, usize::from(drawn) % size.moves()).unwrap();
                if game.is_legal(mv) {
                    game.play(mv).unwrap();
                }
                let before = planes.len();
                planes.resize(before + inputs.len(size), 9);
                inputs.of_game(&game, komi, Symmetry::ALL[turn % Symmetry::ALL.len()], &mut planes[before..]);
            }
            prop_assert_eq!(round_trip(inputs, size, &planes), planes);
        }

        /// Any bits and any scalars, not only those of a game.
        #[test]
        fn any_bits_and_scalars_survive(side in 2..=19_usize, kind in 0..ALL.len(), seed: u64) {
            let (inputs, size) = (ALL[kind], Size::new(side).unwrap());
            let constant = inputs.packing(size).constant;
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            };
            let mut planes = Vec::new();
            for plane in 0..inputs.written() {
                let scalar = next();
                let is_constant = constant.contains(&plane);
                planes.extend((0..size.area()).map(|_| if is_constant { scalar } else { next() & 1 }));
            }
            prop_assert_eq!(round_trip(inputs, size, &planes), planes);
        }
    }

    #[test]
    fn planes_that_packing_would_change_are_told() {
        let size = Size::new(3).unwrap();
        let packing = Inputs::Features.packing(size);
        let good = vec![1; 2 * packing.planes()];
        assert!(packing.can_pack(&good) && packing.can_pack(&[]));
        assert!(!packing.can_pack(&good[1..]));
        let komi = features::KOMI * size.area();
        for (place, byte) in [(0, 2), (packing.planes() + 5, 200), (komi + 3, 9)] {
            let mut bad = good.clone();
            bad[place] = byte;
            assert!(!packing.can_pack(&bad), "{place}");
        }
    }

    #[test]
    fn packing_takes_known_bytes_on_19x19() {
        let size = Size::new(19).unwrap();
        let bytes = ALL.map(|inputs| inputs.packing(size)).map(|packing| packing.bits() + packing.scalars());
        assert_eq!(bytes, [723, 723, 634, 1311]);
    }
}
