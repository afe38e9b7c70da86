//! The tensors that follow from a shape, as crate `cpu` lists them.

pub(crate) use cpu::{DenseSpec, EPSILON, Role, TensorSpec, UnitSpec};
use cpu::{Header, Layout};

use crate::Shape;

impl Shape {
    /// Multiplications and additions of one evaluation in play, counting each as one; taps that fall off the board
    /// count too, and batch norms, being folded away, do not.
    pub fn operations(&self) -> u64 {
        let shape = self.in_play();
        let area = self.size.area();
        let convolutions: usize =
            shape.units().iter().map(|unit| unit.inputs * unit.outputs * unit.kernel * unit.kernel * area).sum();
        let times = |layer: &DenseSpec| if layer.at_every_point { area } else { 1 };
        let dense: usize = shape.dense_layers().iter().map(|layer| layer.inputs * layer.outputs * times(layer)).sum();
        2 * (convolutions + dense) as u64
    }

    /// Trained parameters.
    pub fn parameters(&self) -> usize {
        let trainable = self.tensors().into_iter().filter(|tensor| tensor.role.is_trainable());
        trainable.map(|tensor| tensor.count()).sum()
    }

    /// The layers of the network.
    pub(crate) fn layout(&self) -> Layout {
        Header::from(*self).layout()
    }

    /// Every convolution with its batch norm, from the input on.
    pub(crate) fn units(&self) -> Vec<UnitSpec> {
        self.layout().units().cloned().collect()
    }

    /// Every dense layer that plays.
    pub(crate) fn dense_layers(&self) -> Vec<DenseSpec> {
        self.layout().dense_layers().cloned().collect()
    }

    /// Every tensor of the network.
    pub(crate) fn tensors(&self) -> Vec<TensorSpec> {
        self.layout().tensors()
    }
}
