//! Evaluation on a device that works beside the CPU.
//!
//! A GPU needs thousands of positions at once, and the next ones before it is done. So the threads that search do not
//! call it: each hands the planes of its positions to the [`queue`] of the network on the device and sleeps. The one
//! thread of the queue puts the positions of several of them together, starts their evaluation, and keeps a second
//! batch on the device while the first is computed. Planes travel as bits ([`Packing`](crate::Packing)),
//! [unpacked](unpacking) on the device, through host memory that the device reads by itself; outputs come back the same
//! way.
//!
//! Batches have one of few sizes, so that libtorch prepares itself for each but once. Which kernel computes a row
//! depends on that size, and so do its last bits: unlike a CPU, a GPU does not give a position the same output in every
//! batch.

mod gpu;
mod queue;
mod unpacking;

use crate::NetError;

pub use gpu::largest_batch;
pub(crate) use gpu::open;
pub(crate) use queue::Queue;
pub use queue::QueueCounts;
#[cfg(test)]
pub(crate) use queue::tests::Failing;

/// Planes of positions as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedPlanes {
    pub(crate) positions: usize,
    pub(crate) bits: Vec<u8>,
    pub(crate) scalars: Vec<u8>,
}

/// Outputs of the positions of a client.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outputs {
    /// Probabilities of the moves, one row a position.
    pub(crate) policies: Vec<f32>,
    /// Values for the side to move.
    pub(crate) values: Vec<f32>,
}

/// A device that evaluates batches in the order in which they are started.
pub(crate) trait Accelerator {
    /// A batch that is being evaluated.
    type Flight;

    /// Starts the evaluation of the positions of some clients, and returns before it is done.
    fn launch(&mut self, clients: &[&PackedPlanes]) -> Result<Self::Flight, NetError>;

    /// Whether [`Accelerator::read`] would return at once.
    fn is_done(&self, flight: &Self::Flight) -> Result<bool, NetError>;

    /// Waits for the end of the evaluation and copies the outputs, those of each client to its own.
    fn read(&mut self, flight: Self::Flight, outputs: &mut [&mut Outputs]) -> Result<(), NetError>;

    /// Rows that are computed for so many positions.
    fn rows(&self, positions: usize) -> usize;

    /// Bytes that travel to the device for such a batch, and back.
    fn bytes(&self, positions: usize) -> [usize; 2];
}
