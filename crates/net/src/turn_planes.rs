//! How a network is told whose turn it is.

use tch::Tensor;

use crate::{NetError, planes};

/// The planes that tell whose turn it is, after those of the stones.
///
/// At the border the two ways are not the same: a convolution sees zeros beyond it, so a plane of ones is more than a
/// bias. A network that looks at a plane of ones when White is to move cannot be one that sees a plane of zeros then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TurnPlanes {
    /// One plane: 1 everywhere when Black is to move. 17 planes in all, those of [`planes`] (AlphaGo Zero, Minigo).
    #[default]
    One,
    /// That plane, and another that is 1 everywhere when White is to move. 18 planes in all (Leela Zero).
    Two,
}

impl TurnPlanes {
    /// Planes in all.
    pub const fn count(self) -> usize {
        match self {
            TurnPlanes::One => planes::COUNT,
            TurnPlanes::Two => planes::COUNT + 1,
        }
    }

    /// The way that has so many planes in all.
    pub(crate) fn of_count(count: usize) -> Option<TurnPlanes> {
        [TurnPlanes::One, TurnPlanes::Two].into_iter().find(|way| way.count() == count)
    }

    /// The planes of positions as the network wants them, from those that every position has.
    pub(crate) fn complete(self, planes: Tensor) -> Result<Tensor, NetError> {
        match self {
            TurnPlanes::One => Ok(planes),
            TurnPlanes::Two => {
                let black = planes.f_narrow(1, planes::COUNT as i64 - 1, 1)?;
                let white = black.f_eq(0)?.f_to_kind(planes.kind())?;
                Ok(Tensor::f_cat(&[planes, white], 1)?)
            }
        }
    }
}
