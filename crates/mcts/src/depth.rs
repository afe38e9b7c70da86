//! Depth of searches.

/// Depths of the leaves of one search: moves from the root, since the root was last advanced.
///
/// Ends of games count as leaves, each time they are visited; the root itself and leaves that were taken do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Depth {
    leaves: u32,
    sum: u64,
    max: u32,
}

impl Depth {
    pub(crate) fn count(&mut self, depth: usize) {
        self.leaves += 1;
        self.sum += depth as u64;
        self.max = self.max.max(depth as u32);
    }

    /// Mean depth; 0 when there were no leaves.
    pub fn mean(&self) -> f32 {
        (self.sum as f64 / f64::from(self.leaves.max(1))) as f32
    }

    /// Depth of the deepest leaf; 0 when there were none.
    pub fn max(&self) -> u32 {
        self.max
    }
}
