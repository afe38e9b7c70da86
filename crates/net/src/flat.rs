//! Tensors whose numbers lie one after the other, so that what is done to all of them is one operation.
//!
//! A small network on a GPU is trained as fast as operations are started, and an optimiser has half a dozen for each
//! tensor: as one tensor they cost nothing. The numbers are the same.

use std::ops::Deref;

use tch::Tensor;

use crate::NetError;
use crate::layout::{Role, TensorSpec};

/// How the numbers of an activation follow each other in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Plane after plane: libtorch's default.
    Planes,
    /// Point after point, a quarter faster to train with on a CPU (`experiments/0028-training-throughput`).
    Points,
}

/// Where each of the trained tensors lies: first the weights, which decay, and then the others.
#[derive(Clone, Debug)]
pub(crate) struct Arrangement {
    /// In the order of [`Tower::trainable`](crate::tower::Tower::trainable).
    places: Vec<Place>,
    /// The tensors in the order in which they lie.
    order: Vec<usize>,
    /// Numbers of the weights.
    weights: i64,
}

#[derive(Clone, Debug)]
struct Place {
    start: i64,
    dimensions: Vec<i64>,
    /// Whether channels follow each other in memory, and not points.
    by_points: bool,
}

/// Numbers that are arranged, and the tensors that they are.
pub(crate) struct Flat {
    pub(crate) numbers: Tensor,
    tensors: Vec<Tensor>,
}

impl Deref for Flat {
    type Target = [Tensor];

    /// The tensors in the order of [`Tower::trainable`](crate::tower::Tower::trainable).
    fn deref(&self) -> &[Tensor] {
        &self.tensors
    }
}

impl Arrangement {
    /// The arrangement of the trained ones of some tensors.
    pub(crate) fn new<'a>(specs: impl Iterator<Item = &'a TensorSpec>, format: Format) -> Arrangement {
        let trained: Vec<&TensorSpec> = specs.filter(|spec| spec.role.is_trainable()).collect();
        let mut order: Vec<usize> = (0..trained.len()).collect();
        order.sort_by_key(|&index| trained[index].role != Role::Weight);
        let place = |spec: &TensorSpec| {
            let dimensions: Vec<i64> = spec.dimensions.iter().map(|&n| n as i64).collect();
            Place { start: 0, by_points: format == Format::Points && dimensions.len() == 4, dimensions }
        };
        let mut places: Vec<Place> = trained.iter().map(|spec| place(spec)).collect();
        let (mut end, mut weights) = (0, 0);
        for &index in &order {
            places[index].start = end;
            end += places[index].len();
            if trained[index].role == Role::Weight {
                weights = end;
            }
        }
        Arrangement { places, order, weights }
    }

    /// The numbers of such tensors, copied.
    pub(crate) fn gather(&self, tensors: &[Tensor]) -> Result<Tensor, NetError> {
        let line = |&index: &usize| self.places[index].line(&tensors[index]);
        let lines = self.order.iter().map(line).collect::<Result<Vec<Tensor>, NetError>>()?;
        Ok(Tensor::f_cat(&lines, 0)?)
    }

    /// The same as tensors of their own.
    pub(crate) fn flat(&self, tensors: &[Tensor]) -> Result<Flat, NetError> {
        self.of_numbers(self.gather(tensors)?)
    }

    /// The tensors of arranged numbers; a change of either is one of the other.
    pub(crate) fn of_numbers(&self, numbers: Tensor) -> Result<Flat, NetError> {
        let tensors = self.places.iter().map(|place| place.tensor(&numbers)).collect::<Result<_, NetError>>()?;
        Ok(Flat { numbers, tensors })
    }

    /// The weights of arranged numbers.
    pub(crate) fn weights_of(&self, numbers: &Tensor) -> Result<Tensor, NetError> {
        Ok(numbers.f_narrow(0, 0, self.weights)?)
    }
}

impl Flat {
    /// As many zeros.
    pub(crate) fn zeros(&self, arrangement: &Arrangement) -> Result<Flat, NetError> {
        arrangement.of_numbers(self.numbers.f_zeros_like()?)
    }

    pub(crate) fn share(&self) -> Flat {
        let tensors = self.tensors.iter().map(Tensor::shallow_clone).collect();
        Flat { numbers: self.numbers.shallow_clone(), tensors }
    }
}

impl Place {
    fn len(&self) -> i64 {
        self.dimensions.iter().product()
    }

    /// The numbers of a tensor in the order in which they lie.
    fn line(&self, tensor: &Tensor) -> Result<Tensor, NetError> {
        let tensor = if self.by_points { tensor.f_permute([0, 2, 3, 1])? } else { tensor.shallow_clone() };
        Ok(tensor.f_reshape([-1])?)
    }

    fn tensor(&self, numbers: &Tensor) -> Result<Tensor, NetError> {
        let line = numbers.f_narrow(0, self.start, self.len())?;
        match self.dimensions[..] {
            [outputs, inputs, rows, columns] if self.by_points => {
                Ok(line.f_view([outputs, rows, columns, inputs])?.f_permute([0, 3, 1, 2])?)
            }
            _ => Ok(line.f_view(self.dimensions.as_slice())?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.flatten(0, -1)).unwrap()
    }

    fn spec(name: &str, dimensions: &[usize], role: Role) -> TensorSpec {
        TensorSpec { name: name.to_owned(), dimensions: dimensions.to_vec(), role }
    }

    #[test]
    fn tensors_are_views_of_numbers_with_the_weights_first() {
        let specs = [
            spec("bias", &[3], Role::Bias),
            spec("kernel", &[2, 3, 1, 2], Role::Weight),
            spec("mean", &[5], Role::Mean),
            spec("dense", &[2, 2], Role::Weight),
        ];
        let arrangement = Arrangement::new(specs.iter(), Format::Points);
        let counted =
            |len: i64, from: i64| Tensor::arange_start(from, from + len, (tch::Kind::Float, tch::Device::Cpu));
        let tensors = [counted(3, 100), counted(12, 0).view([2, 3, 1, 2]), counted(4, 50).view([2, 2])];
        let flat = arrangement.flat(&tensors).unwrap();
        // Channels of a point follow each other; the weights come first.
        let kernel = [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11].map(|n| n as f32);
        let expected = [&kernel[..], &[50.0, 51.0, 52.0, 53.0], &[100.0, 101.0, 102.0]].concat();
        assert_eq!(numbers(&flat.numbers), expected);
        assert_eq!(arrangement.weights_of(&flat.numbers).unwrap().size(), [16]);
        for (tensor, of_flat) in tensors.iter().zip(flat.iter()) {
            assert_eq!((numbers(tensor), tensor.size()), (numbers(of_flat), of_flat.size()));
        }
        let _ = flat[0].shallow_clone().fill_(7.0);
        assert_eq!(numbers(&flat.numbers)[16..], [7.0; 3], "a change of a tensor is one of the numbers");
        assert_eq!(numbers(&arrangement.gather(&flat).unwrap())[..16], expected[..16]);
    }
}
