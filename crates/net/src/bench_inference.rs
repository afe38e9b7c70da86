//! The network alone, with nobody making moves: what everything around it is measured against.

use crate::device::Place;
use crate::engine::{Answers, Session};
use crate::mode::Mode;
use crate::threads::single;
use crate::tower::{Format, Tower};
use crate::{Device, Model, NetError, Precision, Weights};

/// A network that evaluates the same made-up batch again and again, on the thread that asks.
pub struct InferenceBench {
    way: Way,
    planes: Vec<u8>,
    answers: Answers,
}

enum Way {
    /// As in play.
    Session { session: Session, batch: usize, moves: usize },
    /// Nothing special.
    Tower(Box<Tower>),
}

impl InferenceBench {
    /// The network that plays, without the writing of planes before it and the turning back of answers after it.
    pub fn of(model: &Model) -> InferenceBench {
        let (size, batch) = (model.shape().size, model.batch());
        let planes = vec![1; batch * model.shape().inputs.len(size)];
        let way = Way::Session { session: model.session(), batch, moves: size.moves() };
        InferenceBench { way, planes, answers: Answers::default() }
    }

    /// A network that does nothing special: f32, batch norms not folded, libtorch's default layout.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn plain(weights: &Weights, device: Device, batch: usize) -> Result<InferenceBench, NetError> {
        let place = Place::open(device, Precision::F32)?;
        let tower = Tower::new(weights, place, Format::Planes)?;
        let shape = weights.shape();
        let planes = vec![1; batch * shape.inputs.len(shape.size)];
        Ok(InferenceBench { way: Way::Tower(Box::new(tower)), planes, answers: Answers::default() })
    }

    /// Evaluates the batch once.
    ///
    /// # Errors
    /// The device fails.
    pub fn evaluate(&mut self) -> Result<(), NetError> {
        let InferenceBench { way, planes, answers } = self;
        match way {
            Way::Session { session, batch, moves } => session.evaluate(planes, *batch, *moves, answers),
            // The answers come home, as they do in play: a GPU is not done before that.
            Way::Tower(tower) => {
                single();
                let _no_gradients = tch::no_grad_guard();
                let output = tower.forward(planes, Mode::Playing)?;
                Ok(output.values.f_to_device(tch::Device::Cpu).map(drop)?)
            }
        }
    }
}
