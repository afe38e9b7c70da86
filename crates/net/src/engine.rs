//! The code that evaluates batches: crate `cpu` on a CPU; libtorch on a GPU, and for bf16.

use std::sync::Arc;
#[cfg(feature = "torch")]
use std::sync::{Mutex, PoisonError};

use cpu::{InstructionSet, Scales};
#[cfg(feature = "torch")]
use tch::Tensor;

use crate::evaluator::PlaneEvaluator;
use crate::{Device, NetError, Precision, Weights, of_inference};
#[cfg(feature = "torch")]
use crate::{layers::Layers, tensor_options::TensorOptions, threads::single};

/// Weights that were made ready for a device.
pub(crate) enum Engine {
    Cpu(Arc<cpu::Model>),
    #[cfg(feature = "torch")]
    /// libtorch reads tensors from many threads at once, but a tensor handle must not be shared; the lock is held only
    /// while handles are copied.
    Torch(Mutex<Box<Layers>>),
}

/// The same for one thread: evaluates planes on a device of this machine.
pub struct Session(Kernels);

enum Kernels {
    Cpu(Box<cpu::Session>),
    #[cfg(feature = "torch")]
    Torch(Box<Layers>),
}

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
        let layers = Layers::new(weights, TensorOptions::open(device, precision)?, batch)?;
        Ok(Engine::Torch(Mutex::new(Box::new(layers))))
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
            Precision::Bf16 => return Err(NetError::NoPrecision { precision, place: "in crate cpu" }),
        };
        Ok(Engine::Cpu(cpu::Model::new(&description, precision, set)?))
    }

    /// What a thread evaluates with; the weights are shared.
    pub(crate) fn session(&self) -> Session {
        match self {
            Engine::Cpu(model) => Session::on_cpu(model.session()),
            #[cfg(feature = "torch")]
            Engine::Torch(layers) => {
                let layers = layers.lock().unwrap_or_else(PoisonError::into_inner).share();
                Session(Kernels::Torch(Box::new(layers)))
            }
        }
    }
}

impl Session {
    pub(crate) fn on_cpu(session: cpu::Session) -> Session {
        Session(Kernels::Cpu(Box::new(session)))
    }

    /// The scales that crate `cpu` has observed.
    pub(crate) fn into_scales(self) -> Scales {
        match self.0 {
            Kernels::Cpu(session) => session.into_scales(),
            #[cfg(feature = "torch")]
            Kernels::Torch(_) => Scales(Vec::new()),
        }
    }
}

impl PlaneEvaluator for Session {
    fn rows(&self, positions: usize) -> usize {
        match &self.0 {
            Kernels::Cpu(_) => positions,
            #[cfg(feature = "torch")]
            Kernels::Torch(layers) => layers.rows(positions),
        }
    }

    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        match &mut self.0 {
            Kernels::Cpu(session) => session.evaluate(planes, policies, values),
            #[cfg(feature = "torch")]
            Kernels::Torch(layers) => {
                single();
                let output = layers.forward(planes)?;
                // The first rows of the output; those that only fill the batch stay where they are.
                let copy = |tensor: &Tensor, to: &mut [f32]| tensor.f_copy_data(to, to.len());
                copy(&output.policies, policies)?;
                copy(&output.values, values)?;
            }
        }
        Ok(())
    }
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use go::Size;
    use tch::Kind;

    use super::*;
    use crate::Shape;

    /// Policies and values of a batch.
    fn answers(engine: &Engine, shape: Shape, planes: &[u8], positions: usize) -> [Vec<f32>; 2] {
        let (mut policies, mut values) = (vec![0.0; positions * shape.size.moves()], vec![0.0; positions]);
        engine.session().evaluate(planes, &mut policies, &mut values).unwrap();
        [policies, values]
    }

    fn largest(one: &[Vec<f32>; 2], other: &[Vec<f32>; 2]) -> f32 {
        let all = one.concat().into_iter().zip(other.concat());
        all.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    }

    /// f32 of crate `cpu` against libtorch's, over everything that a shape may have, sizes of boards and batches.
    #[test]
    fn cpu_f32_equals_libtorch_for_every_shape_and_size() {
        const SEED: u64 = 4;
        for (nth, side) in [2, 3, 5, 7, 9, 13, 19].into_iter().enumerate() {
            for (kind, shape) in Shape::samples(Size::new(side).unwrap()).into_iter().enumerate() {
                let filters = [1, 8, 20, 33, 48][(nth + kind) % 5];
                let shape = Shape { filters, ..shape };
                let batch = [1, 3, 16, 37][(nth + 3 * kind) % 4];
                let count = batch * shape.inputs.len(shape.size);
                let planes: Vec<u8> = (0..count).map(|i| u8::from(i * i % 11 < 4)).collect();
                let weights = Weights::synthetic(shape, SEED);
                let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
                let torch = Engine::Torch(Mutex::new(Box::new(Layers::new(&weights, options, batch).unwrap())));
                let cpu = Engine::open(&weights, Device::Cpu, Precision::F32, batch).unwrap();
                let [cpu, torch] = [cpu, torch].map(|engine| answers(&engine, shape, &planes, batch));
                let apart = largest(&cpu, &torch);
                // A few roundings of f32 over six layers, with outputs that made-up weights make large.
                assert!(apart < 1e-4, "{shape}, batch of {batch}: {apart}");
            }
        }
    }

    /// The answers in f32 that the tests of crate `cpu` compare with are libtorch's. `UPDATE_EXPECT=1` writes them anew.
    #[test]
    fn fixtures_of_crate_cpu_are_outputs_of_libtorch() {
        use safetensors::tensor::{Dtype, SafeTensors, TensorView};
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpu/tests/data");
        let floats = |bytes: &[u8]| -> Vec<f32> {
            bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
        };
        let bytes = |floats: &[f32]| -> Vec<u8> { floats.iter().flat_map(|number| number.to_le_bytes()).collect() };
        for name in ["plain", "pooled", "features", "all"] {
            let weights =
                Weights::from_bytes(&std::fs::read(folder.join(format!("{name}.safetensors"))).unwrap()).unwrap();
            let path = folder.join(format!("{name}.answers.safetensors"));
            let file = std::fs::read(&path).unwrap();
            let stored = SafeTensors::deserialize(&file).unwrap();
            let (planes, values) = (stored.tensor("planes").unwrap(), stored.tensor("values").unwrap());
            let batch = values.shape().iter().product();
            let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
            let torch = Engine::Torch(Mutex::new(Box::new(Layers::new(&weights, options, batch).unwrap())));
            let found = answers(&torch, weights.shape(), planes.data(), batch);
            let policies = stored.tensor("policies").unwrap();
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                let [new_policies, new_values] = found.map(|numbers| bytes(&numbers));
                let tensors = [
                    ("planes", planes.clone()),
                    ("policies", TensorView::new(Dtype::F32, policies.shape().to_vec(), &new_policies).unwrap()),
                    ("values", TensorView::new(Dtype::F32, values.shape().to_vec(), &new_values).unwrap()),
                ];
                std::fs::write(path, safetensors::serialize(tensors, None).unwrap()).unwrap();
            } else {
                let apart = largest(&found, &[floats(policies.data()), floats(values.data())]);
                assert!(apart < 1e-5, "{name}: {apart}");
            }
        }
    }
}
