//! Planes from their bits, on the device.

use tch::{Kind, Tensor};

use crate::{NetError, Packing};

/// Turns [`PackedPlanes`](super::PackedPlanes) on a device into planes there. The dense form, which saves time on a
/// network, is not read: bits of a plane each are a hundredth of what a GPU can take in.
pub(super) struct Unpacking {
    packing: Packing,
    side: i64,
    /// The numbers 0 to 7, by which a byte is shifted for each of its bits.
    shifts: Tensor,
}

impl Unpacking {
    pub(super) fn new(packing: Packing, side: usize, device: tch::Device) -> Result<Unpacking, NetError> {
        let shifts = Tensor::f_from_slice(&[0u8, 1, 2, 3, 4, 5, 6, 7])?.f_to_device(device)?;
        Ok(Unpacking { packing, side: side as i64, shifts })
    }

    /// Bytes of each position.
    pub(super) fn bytes(&self) -> usize {
        self.packing.bit_bytes() + self.packing.scalars()
    }

    /// … of which so many are bits.
    pub(super) fn bit_bytes(&self) -> usize {
        self.packing.bit_bytes()
    }

    /// Planes of bytes (rows, planes, side, side) from the bits of all rows and then their scalars.
    pub(super) fn unpack(&self, packed: &Tensor, rows: usize) -> Result<Tensor, NetError> {
        let (rows, area) = (rows as i64, self.side * self.side);
        let [bits, scalars] = [self.packing.bit_bytes(), self.packing.scalars()].map(|bytes| bytes as i64);
        let bytes = packed.f_narrow(0, 0, rows * bits)?.f_view([rows, bits, 1])?;
        let spread = bytes.f_bitwise_right_shift(&self.shifts)?.f_bitwise_and(1i64)?.f_view([rows, 8 * bits])?;
        let [before, after] = self.packing.runs().map(|run| run.len() as i64);
        let run = |start: i64, len: i64| spread.f_narrow(1, start, len)?.f_view([rows, len / area, area]);
        let scalars = packed.f_narrow(0, rows * bits, rows * scalars)?.f_view([rows, scalars, 1])?;
        let constant = scalars.f_expand([-1, -1, area], false)?;
        let planes = Tensor::f_cat(&[run(0, before)?, constant, run((before + 7) / 8 * 8, after)?], 1)?;
        debug_assert_eq!(planes.kind(), Kind::Uint8, "planes are bytes");
        Ok(planes.f_view([rows, -1, self.side, self.side])?)
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Move, Size, Symmetry};

    use super::*;
    use crate::Inputs;

    #[test]
    fn device_unpacks_what_was_packed() {
        for (inputs, side) in
            [(Inputs::History, 5), (Inputs::LeelaZero, 19), (Inputs::Features, 9), (Inputs::Tactics, 13)]
        {
            let size = Size::new(side).unwrap();
            let (packing, mut game) = (inputs.packing(size), Game::new(size));
            let mut planes = vec![0; 6 * packing.plane_bytes()];
            for (turn, planes) in planes.chunks_exact_mut(packing.plane_bytes()).enumerate() {
                game.play(Move::from_index(size, 3 * turn).unwrap()).unwrap();
                inputs.of_game(&game, -3.5, Symmetry::ALL[turn], planes);
            }
            let (mut packed, mut scalars) = (Vec::new(), Vec::new());
            packing.pack(&planes, &mut packed, &mut scalars);
            packed.append(&mut scalars);
            let unpacking = Unpacking::new(packing, side, tch::Device::Cpu).unwrap();
            assert_eq!(packed.len(), 6 * unpacking.bytes());
            let unpacked = unpacking.unpack(&Tensor::from_slice(&packed), 6).unwrap();
            assert_eq!(unpacked.size(), [6, inputs.written() as i64, side as i64, side as i64]);
            assert!(Vec::<u8>::try_from(unpacked.flatten(0, -1)).unwrap() == planes, "{inputs} on {size}x{size}");
        }
    }
}
