//! The code that evaluates batches: crate `cpu` on a CPU; libtorch on a GPU, and for bf16.

use std::sync::Arc;
#[cfg(feature = "torch")]
use std::sync::{Mutex, PoisonError};

use cpu::InstructionSet;

use crate::evaluator::PlaneEvaluator;
use crate::{Device, NetError, Precision, Weights, of_inference};
#[cfg(feature = "torch")]
use crate::{Packing, Shape};
#[cfg(feature = "torch")]
use crate::{
    accelerator::{self, Queue, QueueCounts},
    layers::Layers,
    tensor_options::TensorOptions,
};

/// Weights that were made ready for a device.
pub(crate) enum Engine {
    Cpu(Arc<cpu::Model>),
    #[cfg(feature = "torch")]
    /// libtorch reads tensors from many threads at once, but a tensor handle must not be shared; the lock is held only
    /// while handles are copied.
    Torch(Mutex<Box<Layers>>),
    #[cfg(feature = "torch")]
    /// A GPU, and how its planes are packed and how many moves there are.
    Queued(Arc<Queue>, Packing, usize),
}

/// What evaluates planes for one thread on a device of this machine.
pub type Session = Box<dyn PlaneEvaluator>;

impl Engine {
    pub(crate) fn open(
        weights: &Weights,
        device: Device,
        precision: Precision,
        batch: usize,
    ) -> Result<Engine, NetError> {
        if device.infers_on_cpu(precision)? {
            return Engine::on_cpu(weights, precision, of_inference());
        }
        Engine::of_torch(weights, device, precision, batch)
    }

    #[cfg(feature = "torch")]
    fn of_torch(weights: &Weights, device: Device, precision: Precision, batch: usize) -> Result<Engine, NetError> {
        let options = TensorOptions::open(device, precision)?;
        if options.device.is_cuda() {
            return Engine::queued(weights, options, batch);
        }
        Ok(Engine::Torch(Mutex::new(Box::new(Layers::new(weights, options, batch)?))))
    }

    /// A device with a queue; the CPU too, in tests.
    #[cfg(feature = "torch")]
    pub(crate) fn queued(weights: &Weights, options: TensorOptions, batch: usize) -> Result<Engine, NetError> {
        let Shape { size, inputs, .. } = weights.shape();
        let queue = accelerator::open(weights, options, batch)?;
        Ok(Engine::Queued(Arc::new(queue), inputs.packing(size), size.moves()))
    }

    /// What the queue of the device has done; `None` where there is none.
    #[cfg(feature = "torch")]
    pub(crate) fn queue_counts(&self) -> Option<QueueCounts> {
        match self {
            Engine::Queued(queue, ..) => Some(queue.counts()),
            Engine::Cpu(_) | Engine::Torch(_) => None,
        }
    }

    #[cfg(not(feature = "torch"))]
    fn of_torch(_: &Weights, _: Device, _: Precision, _: usize) -> Result<Engine, NetError> {
        Err(NetError::NoTorch)
    }

    /// Crate `cpu` with an instruction set.
    pub(crate) fn on_cpu(weights: &Weights, precision: Precision, set: InstructionSet) -> Result<Engine, NetError> {
        let description = weights.description()?;
        let scales;
        let precision = match precision {
            Precision::F32 => cpu::Precision::F32,
            Precision::Auto | Precision::Int16 => {
                scales = weights.scales(set)?;
                cpu::Precision::Int16(&scales)
            }
            Precision::Bf16 => {
                let (place, others) = ("in crate cpu", "auto, int16 or f32");
                return Err(NetError::NoPrecision { precision, place, others });
            }
        };
        Ok(Engine::Cpu(cpu::Model::new(&description, precision, set)?))
    }

    /// A session of one thread; the weights are shared.
    pub(crate) fn session(&self) -> Session {
        match self {
            Engine::Cpu(model) => Box::new(model.session()),
            #[cfg(feature = "torch")]
            Engine::Torch(layers) => Box::new(layers.lock().unwrap_or_else(PoisonError::into_inner).share()),
            #[cfg(feature = "torch")]
            Engine::Queued(queue, packing, moves) => Box::new(queue.client(packing.clone(), *moves)),
        }
    }
}

#[cfg(test)]
mod instruction_set_tests;
#[cfg(feature = "torch")]
#[cfg(test)]
mod parity_tests;
#[cfg(feature = "torch")]
#[cfg(test)]
mod search_tests;
