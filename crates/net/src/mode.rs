//! Training or playing.

/// Where batch norms take their statistics from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// From the batch itself.
    Training,
    /// From the running ones.
    Playing,
}
