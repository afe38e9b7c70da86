//! Planes as tensors of libtorch.

use tch::Tensor;

use crate::{Inputs, NetError, features, planes};

impl Inputs {
    /// The input channels, from the bytes of some positions as a tensor of positions, planes, rows and columns.
    pub(crate) fn complete(self, planes: Tensor) -> Result<Tensor, NetError> {
        let last = |first: i64| planes.f_narrow(1, first, 1);
        match self {
            Inputs::History => Ok(planes),
            Inputs::LeelaZero => {
                let white = last(planes::COUNT as i64 - 1)?.f_eq(0)?.f_to_kind(planes.kind())?;
                Ok(Tensor::f_cat(&[planes, white], 1)?)
            }
            Inputs::Features | Inputs::Tactics => {
                let komi = features::KOMI as i64;
                let scaled = scaled_komi(last(komi)?, planes.size()[3])?;
                let rest = planes.f_narrow(1, komi + 1, planes.size()[1] - komi - 1)?;
                Ok(Tensor::f_cat(&[planes.f_narrow(1, 0, komi)?, scaled, rest], 1)?)
            }
        }
    }
}

/// The plane of komi as points by the side of the board, which is what scores are measured in.
fn scaled_komi(bytes: Tensor, side: i64) -> Result<Tensor, NetError> {
    Ok(bytes.f_sub_scalar(f64::from(features::NO_KOMI))?.f_div_scalar(2 * side)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn komi_is_in_points_by_the_side_of_the_board() {
        let plane = scaled_komi(Tensor::from_slice(&[113u8, 143]).to_kind(tch::Kind::Float), 5).unwrap();
        assert_eq!(Vec::<f32>::try_from(plane).unwrap(), [-1.5, 1.5]);
    }
}
