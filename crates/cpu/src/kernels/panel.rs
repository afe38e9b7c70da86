//! The last two steps of a convolution: products for each frequency, and the transform back.

use super::products::{self, Products};
use super::simd::{Element, Simd};
use super::slice::product;
use super::transforms::{self, Scatter, Tile};
use crate::board::{FREQUENCIES, LANES};

/// A panel of output channels, which is convolved block of tiles by block.
pub(crate) struct Panel<'a, T> {
    /// Padded channels of the inputs.
    pub(crate) depth: usize,
    /// Transformed, by column, frequency and channel.
    pub(crate) inputs: &'a [T],
    /// By frequency and input, `T::STEP` inputs of each output channel side by side; those of the next panel may
    /// follow.
    pub(crate) weights: &'a [T],
    /// Factors of the sums of integers, by frequency and output channel, from the first of the panel on; empty for f32.
    pub(crate) scales: &'a [f32],
    pub(crate) scatter: Scatter<'a>,
    /// Tiles of a block at most.
    pub(crate) block: usize,
    /// Space for the products of a block.
    pub(crate) products: &'a mut [f32],
}

impl<T: Element> Panel<'_, T> {
    fn columns(&self) -> usize {
        product([self.scatter.positions, self.scatter.board.columns()])
    }

    pub(super) fn check(&self, out: usize) {
        let Scatter { width, channels, .. } = self.scatter;
        self.scatter.check(out);
        assert!(self.depth.is_multiple_of(LANES), "channels are padded");
        assert!(self.inputs.len() >= product([FREQUENCIES, self.columns(), self.depth]), "the inputs are there");
        assert!(self.weights.len() >= product([FREQUENCIES, self.depth, width]), "the weights are there");
        let scales = product([FREQUENCIES - 1, channels]).saturating_add(width);
        assert!(T::STEP == 1 || self.scales.len() >= scales, "the scales are there");
        let block = self.block.min(self.columns());
        assert!(self.block > 0 && self.products.len() >= product([FREQUENCIES, block, width]), "there is space");
    }
}

/// # Safety
/// [`Panel::check`] holds, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn panel<S: Simd, T: Element>(job: Panel<'_, T>, out: &mut [f32]) {
    let all = job.columns();
    let Panel { depth, inputs, weights, scales, scatter, block, products } = job;
    let (width, len, block) = (scatter.width, depth * scatter.width, block.min(S::TILES));
    let (mut tile, mut column) = (Tile::FIRST, 0);
    while column < all {
        let columns = block.min(all - column);
        let is_last = column + columns == all;
        for frequency in 0..FREQUENCIES {
            // After the last weights come those of the next panel, or the first again.
            let has_next = frequency + 1 < FREQUENCIES || is_last && weights.len() > FREQUENCIES * len;
            let job = Products {
                depth,
                width,
                weights: &weights[frequency * len..],
                next: &weights[if has_next { (frequency + 1) * len } else { 0 }..],
                columns,
                inputs: &inputs[(column * FREQUENCIES + frequency) * depth..],
                strides: (FREQUENCIES * depth, FREQUENCIES * width),
                scales: scales.get(frequency * scatter.channels..).unwrap_or(&[]),
            };
            // SAFETY: the caller's promise; by `check` everything is there for each frequency and column of the block.
            unsafe { products::products::<S, T>(job, &mut products[frequency * width..]) };
        }
        // SAFETY: the caller's promise; the tiles are those of the block.
        tile = unsafe { transforms::scatter::<S>(&scatter, products, (tile, columns), out) };
        column += columns;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    #[test]
    #[should_panic(expected = "the inputs are there")]
    fn columns_whose_number_wraps_are_refused() {
        let scatter = Scatter {
            board: Board::new(2),
            positions: usize::MAX / LANES + 1,
            width: LANES,
            first: 0,
            channels: LANES,
            bias: &[0.0; LANES],
            add: false,
            relu: false,
            strict: false,
        };
        let (depth, weights) = (LANES, &[0.0_f32; FREQUENCIES * LANES * LANES]);
        let products = &mut [0.0; FREQUENCIES * LANES];
        Panel { depth, inputs: &[], weights, scales: &[], scatter, block: 1, products }.check(usize::MAX);
    }
}
