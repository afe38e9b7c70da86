//! The interface between input planes and an implementation that computes a network's output.

use crate::NetError;

/// Evaluates input planes: a [`Session`](crate::Session) on a device of this machine, or a network elsewhere.
///
/// [`Network`](crate::Network) writes planes, turns policies back and checks the output, so that all networks do this
/// in one way. Output for a row depends on that row alone, whatever else is in the batch: bit for bit on a CPU, within
/// the rounding of its numbers on a GPU.
pub trait PlaneEvaluator: Send {
    /// Rows of planes that [`PlaneEvaluator::evaluate`] reads for so many positions. The rows after those of the
    /// positions may hold anything; they fill a batch of fixed size.
    fn rows(&self, positions: usize) -> usize {
        positions
    }

    /// Evaluates as many positions as there are `values`. `planes` holds [`PlaneEvaluator::rows`] of them one after the
    /// other, as [`Inputs::of_game`](crate::Inputs::of_game) writes them. `policies` receives a probability for each
    /// move of each position, in the symmetry of the planes; `values` one value for each position, for the side to
    /// move.
    ///
    /// # Errors
    /// The device or the server failed.
    ///
    /// # Panics
    /// When the lengths do not fit together.
    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError>;

    /// The same, but that it fails once `stop` says so. What waits for a server calls it several times a second
    /// meanwhile, and a device of this machine never does.
    ///
    /// # Errors
    /// As [`PlaneEvaluator::evaluate`], or `stop` said so.
    ///
    /// # Panics
    /// As [`PlaneEvaluator::evaluate`].
    fn evaluate_until(
        &mut self,
        planes: &[u8],
        policies: &mut [f32],
        values: &mut [f32],
        _: &mut dyn FnMut() -> bool,
    ) -> Result<(), NetError> {
        self.evaluate(planes, policies, values)
    }
}

/// Checks that the output of a batch consists of finite numbers, which that of a GPU with bad memory does not.
///
/// # Errors
/// The policy or the value of a position is not finite.
pub fn check_output(policies: &[f32], values: &[f32]) -> Result<(), NetError> {
    let moves = (policies.len() / values.len().max(1)).max(1);
    // Without a branch for each number, several are checked at once.
    let is_finite = |numbers: &[f32]| numbers.iter().fold(true, |all, number| all & number.is_finite());
    let is_bad = |(policy, value): (&[f32], &f32)| !(value.is_finite() && is_finite(policy));
    let bad = policies.chunks_exact(moves).zip(values).position(is_bad);
    bad.map_or(Ok(()), |row| Err(NetError::BadAnswer { row }))
}

impl PlaneEvaluator for cpu::Session {
    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        cpu::Session::evaluate(self, planes, policies, values);
        Ok(())
    }
}

impl<E: PlaneEvaluator + ?Sized> PlaneEvaluator for Box<E> {
    fn rows(&self, positions: usize) -> usize {
        (**self).rows(positions)
    }

    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        (**self).evaluate(planes, policies, values)
    }

    fn evaluate_until(
        &mut self,
        planes: &[u8],
        policies: &mut [f32],
        values: &mut [f32],
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<(), NetError> {
        (**self).evaluate_until(planes, policies, values, stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_position_with_a_number_that_is_not_finite_is_named() {
        let row = |policies: &[f32], values: &[f32]| match check_output(policies, values) {
            Err(NetError::BadAnswer { row }) => Some(row),
            _ => None,
        };
        assert_eq!(row(&[0.5; 4], &[0.0; 2]), None);
        assert_eq!(row(&[0.5, 0.5, 0.5, f32::NAN], &[0.0; 2]), Some(1));
        assert_eq!(row(&[0.5; 4], &[0.0, f32::INFINITY]), Some(1));
        assert_eq!(row(&[f32::NEG_INFINITY, 0.5, f32::NAN, 0.5], &[0.0; 2]), Some(0));
    }
}
