//! The network alone, with nobody making moves: what everything around it is measured against.

use crate::device::Place;
use crate::layers::Layers;
use crate::mode::Mode;
use crate::threads::single;
use crate::tower::{Format, Tower};
use crate::{Device, Model, NetError, Precision, Weights};

/// A network that evaluates the same made-up batch again and again, on the thread that asks.
pub struct InferenceBench {
    way: Way,
    planes: Vec<u8>,
}

enum Way {
    /// As in play.
    Layers(Box<Layers>),
    /// Nothing special.
    Tower(Box<Tower>),
}

impl InferenceBench {
    /// The network that plays, without the writing of planes before it and the turning back of answers after it.
    pub fn of(model: &Model) -> InferenceBench {
        let layers = model.layers();
        let planes = vec![1; layers.batch() * model.shape().inputs.len(model.shape().size)];
        InferenceBench { way: Way::Layers(Box::new(layers)), planes }
    }

    /// A network that does nothing special: f32, batch norms not folded, libtorch's default layout.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn plain(weights: &Weights, device: Device, batch: usize) -> Result<InferenceBench, NetError> {
        let place = Place::open(device, Precision::F32)?;
        let tower = Tower::new(weights, place, Format::Planes)?;
        let shape = weights.shape();
        Ok(InferenceBench { way: Way::Tower(Box::new(tower)), planes: vec![1; batch * shape.inputs.len(shape.size)] })
    }

    /// Evaluates the batch once.
    ///
    /// # Errors
    /// The device fails.
    pub fn evaluate(&self) -> Result<(), NetError> {
        single();
        let _no_gradients = tch::no_grad_guard();
        match &self.way {
            Way::Layers(layers) => layers.forward(&self.planes).map(drop),
            // The answers come home, as they do in play: a GPU is not done before that.
            Way::Tower(tower) => {
                let answers = tower.forward(&self.planes, Mode::Playing)?;
                Ok(answers.values.f_to_device(tch::Device::Cpu).map(drop)?)
            }
        }
    }
}
