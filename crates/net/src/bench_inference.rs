//! Inference alone, without games: the reference of other benchmarks.

use std::sync::Mutex;

use crate::engine::{Engine, Session};
use crate::evaluator::PlaneEvaluator;
use crate::flat::Format;
use crate::layers::Layers;
use crate::mode::Mode;
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::tower::Tower;
use crate::{Device, Model, NetError, Precision, Shape, Weights};

/// A network that evaluates the same made-up batch again and again, on the thread that asks.
pub struct InferenceBench {
    way: Way,
    planes: Vec<u8>,
}

enum Way {
    /// As in play.
    Session { session: Session, policies: Vec<f32>, values: Vec<f32> },
    /// Nothing special.
    Tower(Box<Tower>),
}

impl InferenceBench {
    /// The network that plays, without the writing of planes before it and the inverse symmetry of outputs after it.
    pub fn of(model: &Model) -> InferenceBench {
        InferenceBench::with(model.session(), model.shape(), model.batch())
    }

    /// Crate `cpu` in int16 with an instruction set.
    ///
    /// # Errors
    /// An instruction set that this processor lacks, or weights that int16 cannot represent.
    pub fn on_cpu(weights: &Weights, set: cpu::InstructionSet, batch: usize) -> Result<InferenceBench, NetError> {
        Ok(InferenceBench::session(weights, Engine::on_cpu(weights, Precision::Int16, set)?, batch))
    }

    /// libtorch with folded batch norms and oneDNN's layout.
    ///
    /// # Errors
    /// A device that cannot be used, or that lacks the precision.
    pub fn libtorch(
        weights: &Weights,
        device: Device,
        precision: Precision,
        batch: usize,
    ) -> Result<InferenceBench, NetError> {
        let layers = Layers::new(weights, TensorOptions::open(device, precision)?, batch)?;
        Ok(InferenceBench::session(weights, Engine::Torch(Mutex::new(Box::new(layers))), batch))
    }

    fn session(weights: &Weights, engine: Engine, batch: usize) -> InferenceBench {
        InferenceBench::with(engine.session(), weights.shape(), batch)
    }

    fn with(session: Session, Shape { size, inputs, .. }: Shape, batch: usize) -> InferenceBench {
        let (policies, values) = (vec![0.0; batch * size.moves()], vec![0.0; batch]);
        InferenceBench { way: Way::Session { session, policies, values }, planes: vec![1; batch * inputs.len(size)] }
    }

    /// A network that does nothing special: f32, batch norms not folded, libtorch's default layout.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn plain(weights: &Weights, device: Device, batch: usize) -> Result<InferenceBench, NetError> {
        let options = TensorOptions::open(device, Precision::F32)?;
        let tower = Tower::new(weights, options, Format::Planes)?;
        let shape = weights.shape();
        let planes = vec![1; batch * shape.inputs.len(shape.size)];
        Ok(InferenceBench { way: Way::Tower(Box::new(tower)), planes })
    }

    /// The batch that is evaluated: the planes of its positions, one after the other.
    pub fn planes(&self) -> &[u8] {
        &self.planes
    }

    /// Evaluates the batch once.
    ///
    /// # Errors
    /// The device fails.
    pub fn evaluate(&mut self) -> Result<(), NetError> {
        let InferenceBench { way, planes } = self;
        match way {
            Way::Session { session, policies, values } => session.evaluate(planes, policies, values),
            // The outputs are copied back, as in play: a GPU is not done before that.
            Way::Tower(tower) => {
                single();
                let _no_gradients = tch::no_grad_guard();
                let output = tower.forward(planes, Mode::Playing)?;
                Ok(output.values.f_to_device(tch::Device::Cpu).map(drop)?)
            }
        }
    }
}
