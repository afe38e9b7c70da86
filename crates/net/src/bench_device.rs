//! A device alone, with all that it needs in its memory: what others are compared with.

use tch::{Kind, Tensor};

use crate::layers::Layers;
use crate::shim::unpanicked;
use crate::tensor_options::TensorOptions;
use crate::threads::single;
use crate::{Device, NetError, Precision, Weights};

/// A network whose planes lie on the device already, and whose outputs stay there.
pub struct BareNetwork {
    layers: Layers,
    planes: Tensor,
}

/// The product of two square matrices of random numbers.
pub struct MatrixProduct {
    factors: [Tensor; 2],
    side: usize,
    kind: Kind,
}

impl BareNetwork {
    /// A network for batches of so many positions.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn new(weights: &Weights, device: Device, precision: Precision, batch: usize) -> Result<BareNetwork, NetError> {
        single();
        let options = TensorOptions::open(device, precision)?;
        let shape = weights.shape();
        let side = shape.size.side() as i64;
        let rows = [batch as i64, shape.inputs.written() as i64, side, side];
        // Timings of zeros flatter: a chip that flips fewer bits is faster.
        let planes = Tensor::f_randint(2, rows, (Kind::Uint8, options.device))?;
        Ok(BareNetwork { layers: Layers::new(weights, options, batch)?, planes })
    }

    /// Starts so many evaluations of the batch, and waits for the last.
    ///
    /// # Errors
    /// The device fails.
    pub fn evaluate(&self, times: usize) -> Result<(), NetError> {
        let _no_gradients = tch::no_grad_guard();
        unpanicked(|| (0..times).try_for_each(|_| self.layers.on_device(&self.planes).map(drop)))?;
        wait_for(self.planes.device());
        Ok(())
    }
}

impl MatrixProduct {
    /// Matrices of so many rows and columns, in the numbers that networks compute with there.
    ///
    /// # Errors
    /// A device that cannot be used.
    pub fn new(device: Device, precision: Precision, side: usize) -> Result<MatrixProduct, NetError> {
        single();
        let TensorOptions { device, kind } = TensorOptions::open(device, precision)?;
        let factor = || Tensor::f_randn([side as i64, side as i64], (Kind::Float, device))?.f_to_kind(kind);
        Ok(MatrixProduct { factors: [factor()?, factor()?], side, kind })
    }

    /// Multiplies so many times, and waits for the last product.
    ///
    /// # Errors
    /// The device fails.
    pub fn multiply(&self, times: usize) -> Result<(), NetError> {
        let [a, b] = &self.factors;
        unpanicked(|| (0..times).try_for_each(|_| Ok(a.f_matmul(b).map(drop)?)))?;
        wait_for(a.device());
        Ok(())
    }

    /// Multiplications and additions of a product.
    pub fn operations(&self) -> f64 {
        2.0 * (self.side as f64).powi(3)
    }

    /// The numbers.
    pub fn precision(&self) -> Precision {
        if self.kind == Kind::BFloat16 { Precision::Bf16 } else { Precision::F32 }
    }
}

/// Waits until a GPU has done all that was started. A CPU has.
pub(crate) fn wait_for(device: tch::Device) {
    if let tch::Device::Cuda(number) = device {
        tch::Cuda::synchronize(number as i64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn bare_network_has_its_planes_on_the_device() {
        let shape = Shape { filters: 8, value_hidden: 8, ..Shape::plain(go::Size::new(5).unwrap()) };
        let network = |device| BareNetwork::new(&Weights::synthetic(shape, 1), device, Precision::F32, 6);
        let on_cpu = network(Device::Cpu).unwrap();
        on_cpu.evaluate(3).unwrap();
        let planes = &on_cpu.planes;
        assert_eq!((planes.size(), planes.kind()), (vec![6, shape.inputs.written() as i64, 5, 5], Kind::Uint8));
        // No machine has so many.
        assert!(network(Device::Cuda(1 << 20)).err().is_some_and(|error| error.is_of_the_device()));
    }

    #[test]
    fn matrix_product_counts_its_operations() {
        let product = MatrixProduct::new(Device::Cpu, Precision::F32, 8).unwrap();
        product.multiply(2).unwrap();
        assert_eq!((product.operations(), product.precision()), (1024.0, Precision::F32));
    }
}
