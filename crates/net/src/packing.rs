//! Input planes as bits: the wire format of a position.
//!
//! Of the planes that are written for a position most hold 0 or 1 at each point: a bit each, plane after plane, point
//! after point, the lowest bit of a byte first. Planes that hold one number everywhere (whose turn it is, the board,
//! komi) are scalars of a byte each. Where scalars are in between, the planes before and after them begin with a byte
//! of their own. A position of 17 planes on 19x19 takes 723 bytes instead of 6,137.
//!
//! The planes of features have a [`dense`] form, too, in which planes that exclude each other share bits: 198 bytes
//! instead of 634 without tactics, and 612 instead of 1,311 with them.

mod bits;
mod dense;

use std::ops::Range;

use go::Size;

use crate::{Inputs, features, planes};
use bits::{SPREAD, gather};

/// How the planes of positions are packed for one set of inputs on one board. Packing loses nothing that
/// [`Inputs::of_game`] and [`Inputs::of_example`] write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    area: usize,
    planes: usize,
    /// The planes that hold one number everywhere.
    constant: Range<usize>,
    /// Whether there is a dense form.
    has_dense: bool,
}

impl Inputs {
    /// How the planes of positions on this board are packed.
    pub fn packing(self, size: Size) -> Packing {
        let constant = match self {
            Inputs::History | Inputs::LeelaZero => planes::COUNT - 1..planes::COUNT,
            Inputs::Features | Inputs::Tactics => features::KOMI - 1..features::KOMI + 1,
        };
        Packing::new(size.area(), self.written(), constant)
    }
}

impl Packing {
    /// The dense form is defined for the planes of two sets alone. It would drop planes that another set has.
    fn new(area: usize, planes: usize, constant: Range<usize>) -> Packing {
        Packing { area, planes, constant, has_dense: dense::knows(planes) }
    }

    /// Bytes of bits for each position: a bit for each point of each plane.
    pub fn bit_bytes(&self) -> usize {
        self.runs().map(|run| run.len().div_ceil(8)).iter().sum()
    }

    /// The same in the dense form, where there is one.
    pub fn dense_bit_bytes(&self) -> usize {
        if self.has_dense { dense::len(self.planes, self.area) } else { self.bit_bytes() }
    }

    /// Whether so many bytes are the bits of these positions, in either form.
    pub fn is_length(&self, bits: usize, positions: usize) -> bool {
        [self.bit_bytes(), self.dense_bit_bytes()].into_iter().any(|of_one| positions.checked_mul(of_one) == Some(bits))
    }

    /// Scalars of each position, one byte each.
    pub fn scalars(&self) -> usize {
        self.constant.len()
    }

    /// Planes of each position.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Bytes of the planes of each position.
    pub fn plane_bytes(&self) -> usize {
        self.planes * self.area
    }

    /// Places of the bytes that are bits: before and after the constant planes.
    pub(crate) fn runs(&self) -> [Range<usize>; 2] {
        [0..self.constant.start * self.area, self.constant.end * self.area..self.planes * self.area]
    }

    /// Whether planes survive packing: they are those of whole positions, 0 or 1 where they are bits, and the same
    /// everywhere where they are constant.
    pub fn can_pack(&self, planes: &[u8]) -> bool {
        let is_fine = |planes: &[u8]| {
            let mut constant = planes[self.constant.start * self.area..self.constant.end * self.area].chunks(self.area);
            self.runs().into_iter().all(|run| planes[run].iter().all(|&byte| byte <= 1))
                && constant.all(|plane| plane.iter().all(|&byte| byte == plane[0]))
        };
        planes.len().is_multiple_of(self.plane_bytes()) && planes.chunks_exact(self.plane_bytes()).all(is_fine)
    }

    /// Appends the bits and the scalars of positions, given as their planes one after the other.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions.
    pub fn pack(&self, planes: &[u8], bits: &mut Vec<u8>, scalars: &mut Vec<u8>) {
        let positions = self.positions(planes);
        bits.reserve(positions * self.bit_bytes());
        scalars.reserve(positions * self.scalars());
        for planes in planes.chunks_exact(self.plane_bytes()) {
            for run in self.runs() {
                pack(&planes[run], bits);
            }
            scalars.extend(self.constant(planes));
        }
    }

    /// The same in the dense form, where there is one and all positions survive it.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions.
    pub fn pack_densely(&self, planes: &[u8], bits: &mut Vec<u8>, scalars: &mut Vec<u8>) {
        let positions = self.positions(planes);
        let (bits_before, scalars_before) = (bits.len(), scalars.len());
        bits.reserve(positions * self.dense_bit_bytes());
        scalars.reserve(positions * self.scalars());
        let fits = self.has_dense
            && planes.chunks_exact(self.plane_bytes()).all(|planes| {
                scalars.extend(self.constant(planes));
                dense::pack(planes, self.area, bits)
            });
        if !fits {
            bits.truncate(bits_before);
            scalars.truncate(scalars_before);
            self.pack(planes, bits, scalars);
        }
    }

    /// Of how many positions these are the planes.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions.
    fn positions(&self, planes: &[u8]) -> usize {
        let of_one = self.plane_bytes();
        assert!(planes.len().is_multiple_of(of_one), "a position has {of_one} bytes of planes");
        planes.len() / of_one
    }

    fn constant(&self, planes: &[u8]) -> impl Iterator<Item = u8> {
        self.constant.clone().map(|plane| planes[plane * self.area])
    }

    /// Writes the planes of positions, given by their bits in either form, which differ in their lengths, and their
    /// scalars.
    ///
    /// # Panics
    /// When the lengths do not fit together.
    pub fn unpack(&self, bits: &[u8], scalars: &[u8], planes: &mut [u8]) {
        let positions = planes.len() / self.plane_bytes();
        assert_eq!(planes.len(), positions * self.plane_bytes(), "space for whole positions");
        assert!(self.is_length(bits.len(), positions), "bits of {positions} positions");
        assert_eq!(scalars.len(), positions * self.scalars(), "scalars of {positions} positions");
        let is_dense = bits.len() != positions * self.bit_bytes();
        let of_one = if is_dense { self.dense_bit_bytes() } else { self.bit_bytes() };
        let [before, after] = self.runs();
        let rows = planes.chunks_exact_mut(self.plane_bytes()).zip(bits.chunks_exact(of_one));
        for ((planes, bits), scalars) in rows.zip(scalars.chunks_exact(self.scalars())) {
            if is_dense {
                dense::unpack(bits, self.area, planes);
            } else {
                let (first, second) = bits.split_at(before.len().div_ceil(8));
                unpack(first, &mut planes[before.clone()]);
                unpack(second, &mut planes[after.clone()]);
            }
            let constant = planes[before.end..after.start].chunks_exact_mut(self.area);
            constant.zip(scalars).for_each(|(plane, &scalar)| plane.fill(scalar));
        }
    }
}

/// Appends a bit for each byte, which is 0 or 1.
fn pack(bytes: &[u8], bits: &mut Vec<u8>) {
    debug_assert!(bytes.iter().all(|&byte| byte <= 1), "planes of bits hold 0 and 1");
    let (whole, rest) = bytes.as_chunks::<8>();
    bits.extend(whole.iter().map(|&eight| gather(eight)));
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
    use testing::Noise;

    use super::*;

    fn round_trip(inputs: Inputs, size: Size, planes: &[u8]) -> Vec<u8> {
        let packing = inputs.packing(size);
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack(planes, &mut bits, &mut scalars);
        let positions = planes.len() / inputs.len(size);
        assert!(packing.can_pack(planes));
        assert_eq!((bits.len(), scalars.len()), (positions * packing.bit_bytes(), positions * packing.scalars()));
        let mut unpacked = vec![77; planes.len()];
        packing.unpack(&bits, &scalars, &mut unpacked);
        unpacked
    }

    /// Bytes of bits in the dense form, and the planes unpacked from them.
    fn dense_round_trip(inputs: Inputs, size: Size, planes: &[u8]) -> (usize, Vec<u8>) {
        let packing = inputs.packing(size);
        // What is there already is left alone.
        let (mut bits, mut scalars) = (vec![1, 2, 3], vec![4]);
        packing.pack_densely(planes, &mut bits, &mut scalars);
        assert_eq!((&bits[..3], &scalars[..1]), (&[1, 2, 3][..], &[4][..]));
        let mut unpacked = vec![77; planes.len()];
        packing.unpack(&bits[3..], &scalars[1..], &mut unpacked);
        (bits.len() - 3, unpacked)
    }

    proptest! {
        /// Positions of games by moves drawn from bytes, several of them one after the other.
        #[test]
        fn unpacked_planes_are_those_that_were_packed(
            side in 2..=19_usize,
            kind in 0..Inputs::ALL.len(),
            komi in -400.0..400.0_f32,
            moves in prop::collection::vec(any::<u16>(), 1..60),
        ) {
            let (inputs, size) = (Inputs::ALL[kind], Size::new(side).unwrap());
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
            prop_assert_eq!(round_trip(inputs, size, &planes), planes.clone());
            let (len, unpacked) = dense_round_trip(inputs, size, &planes);
            let positions = planes.len() / inputs.len(size);
            prop_assert_eq!(
                len,
                positions * inputs.packing(size).dense_bit_bytes(),
                "positions of a game have the dense form"
            );
            prop_assert_eq!(unpacked, planes);
        }

        /// Any bits and any scalars, not only those of a game.
        #[test]
        fn any_bits_and_scalars_survive(side in 2..=19_usize, kind in 0..Inputs::ALL.len(), seed: u64) {
            let (inputs, size) = (Inputs::ALL[kind], Size::new(side).unwrap());
            let constant = inputs.packing(size).constant;
            let mut noise = Noise(seed);
            let mut next = || (noise.bits() >> 56) as u8;
            let mut planes = Vec::new();
            for plane in 0..inputs.written() {
                let scalar = next();
                let is_constant = constant.contains(&plane);
                planes.extend((0..size.area()).map(|_| if is_constant { scalar } else { next() & 1 }));
            }
            prop_assert_eq!(round_trip(inputs, size, &planes), planes.clone());
            prop_assert_eq!(dense_round_trip(inputs, size, &planes).1, planes);
        }

        /// Whatever a client sends as the dense form, unpacking it ends with planes that can be packed.
        #[test]
        fn any_bytes_can_be_unpacked(side in 2..=19_usize, kind in 2..Inputs::ALL.len(), byte: u8, seed: u64) {
            let (inputs, size) = (Inputs::ALL[kind], Size::new(side).unwrap());
            let packing = inputs.packing(size);
            let mixed = |nth: usize| byte ^ (seed.rotate_left(nth as u32 % 64).wrapping_mul(nth as u64 | 1) >> 56) as u8;
            let bits: Vec<u8> = (0..packing.dense_bit_bytes()).map(mixed).collect();
            let mut planes = vec![77; packing.plane_bytes()];
            packing.unpack(&bits, &[1, byte], &mut planes);
            prop_assert!(packing.can_pack(&planes));
        }
    }

    #[test]
    fn one_position_without_the_dense_form_makes_its_batch_plain() {
        let size = Size::new(5).unwrap();
        let packing = Inputs::Tactics.packing(size);
        let mut planes = vec![0; 2 * packing.plane_bytes()];
        assert_eq!(dense_round_trip(Inputs::Tactics, size, &planes).0, 2 * packing.dense_bit_bytes());
        // In the second position: a liberty of no chain, one and two liberties of a chain, and two last moves.
        let point = |plane: usize, point: usize| packing.plane_bytes() + plane * size.area() + point;
        for places in [[point(0, 3), point(2, 4)], [point(2, 3), point(3, 3)], [point(10, 3), point(10, 4)]] {
            places.into_iter().for_each(|place| planes[place] = 1);
            let (len, unpacked) = dense_round_trip(Inputs::Tactics, size, &planes);
            assert!(len == 2 * packing.bit_bytes() && unpacked == planes, "{places:?}: {len}");
            places.into_iter().for_each(|place| planes[place] = 0);
        }
    }

    #[test]
    fn planes_that_the_dense_form_lacks_survive_packing() {
        let size = Size::new(5).unwrap();
        let tactics = Inputs::Tactics.packing(size);
        let packing = Packing::new(tactics.area, tactics.planes + 1, tactics.constant);
        assert_eq!(packing.dense_bit_bytes(), packing.bit_bytes());
        let mut planes = vec![0; packing.plane_bytes()];
        // On planes of tactics, and on the one that no set has.
        for plane in [features::COUNT, tactics.planes] {
            planes[plane * tactics.area + 3] = 1;
        }
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack_densely(&planes, &mut bits, &mut scalars);
        let mut unpacked = vec![77; planes.len()];
        packing.unpack(&bits, &scalars, &mut unpacked);
        assert_eq!(unpacked, planes);
    }

    #[test]
    fn packing_refuses_planes_that_it_would_change() {
        let size = Size::new(3).unwrap();
        let packing = Inputs::Features.packing(size);
        let good = vec![1; 2 * packing.plane_bytes()];
        assert!(packing.can_pack(&good) && packing.can_pack(&[]));
        assert!(!packing.can_pack(&good[1..]));
        let komi = features::KOMI * size.area();
        for (place, byte) in [(0, 2), (packing.plane_bytes() + 5, 200), (komi + 3, 9)] {
            let mut bad = good.clone();
            bad[place] = byte;
            assert!(!packing.can_pack(&bad), "{place}");
        }
    }

    #[test]
    fn packing_takes_known_bytes_on_19x19() {
        let size = Size::new(19).unwrap();
        let packings = Inputs::ALL.map(|inputs| inputs.packing(size));
        let bytes = packings.each_ref().map(|packing| packing.bit_bytes() + packing.scalars());
        assert_eq!(bytes, [723, 723, 634, 1311]);
        let dense = packings.map(|packing| packing.dense_bit_bytes() + packing.scalars());
        assert_eq!(dense, [723, 723, 198, 612]);
    }
}
