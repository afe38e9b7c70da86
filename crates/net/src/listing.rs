//! Every tensor of a network, for inspection.

use record::unpacked;

use crate::file::{self, File};
use crate::layout::EPSILON;
use crate::weights::VERSION;
use crate::{FileKind, NetError, Shape, Weights};

/// The tensors of a network with whatever numbers they have. [`Weights`] are fit for use; these may be those of a
/// network whose training went wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The shape that the file states.
    pub shape: Shape,
    /// Every tensor, from the input on.
    pub tensors: Vec<ListedTensor>,
}

/// A tensor by its name.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedTensor {
    /// Its name, as [`Weights`] tell.
    pub name: String,
    /// Its dimensions, outputs first.
    pub dimensions: Vec<usize>,
    /// Its numbers, rows of the last dimension following each other.
    pub numbers: Vec<f32>,
}

impl Listing {
    /// A running variance below this one vanishes beside the number that batch norms add to it.
    pub const LEAST_VARIANCE: f64 = EPSILON;

    /// Reads a file of any kind that [`FileKind`] knows, plain or gzipped. In one of [`FileKind::Weights`] numbers may
    /// be anything.
    ///
    /// # Errors
    /// A file that is broken or of no kind, or a tensor missing or of other dimensions than the stated shape requires.
    pub fn read(file: &[u8]) -> Result<Listing, NetError> {
        let plain = unpacked(file, FileKind::MOST_BYTES).map_err(NetError::NotGzip)?;
        match FileKind::of(&plain)? {
            FileKind::Weights => Listing::of_file(&plain),
            FileKind::Folded | FileKind::LeelaZero => Ok(Listing::of_weights(&FileKind::read(&plain)?.1)),
        }
    }

    fn of_file(bytes: &[u8]) -> Result<Listing, NetError> {
        let file = File::read(bytes)?;
        let shape = file::shape(file.header(VERSION)?)?;
        let tensors = shape.tensors().into_iter().map(|spec| {
            let numbers = file.any_numbers("", &spec)?;
            Ok(ListedTensor { name: spec.name, dimensions: spec.dimensions, numbers })
        });
        Ok(Listing { shape, tensors: tensors.collect::<Result<_, NetError>>()? })
    }

    fn of_weights(weights: &Weights) -> Listing {
        let specs = weights.shape().tensors().into_iter();
        let tensors = specs.map(|spec| ListedTensor {
            numbers: weights.tensor(&spec.name).expect("weights have every tensor of their shape").to_vec(),
            name: spec.name,
            dimensions: spec.dimensions,
        });
        Listing { shape: weights.shape(), tensors: tensors.collect() }
    }

    /// The tensor of this name.
    pub fn tensor(&self, name: &str) -> Option<&ListedTensor> {
        self.tensors.iter().find(|tensor| tensor.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights() -> Weights {
        let config = config::Preset::Minigo.config();
        let network = config::Network { blocks: 1, filters: 4, value_hidden: 4, ..config.network };
        Weights::synthetic(Shape::new(&config::Game { size: 5, ..config.game }, &network), 1)
    }

    #[test]
    fn listing_reads_safetensors_and_leela_zero_files() {
        let weights = weights();
        let plain = Listing::read(&weights.to_bytes()).unwrap();
        assert_eq!(plain, Listing::of_weights(&weights));
        assert_eq!(plain.tensors[0].name, "stem.conv.weight");
        assert_eq!(plain.tensors[0].dimensions, [4, 17, 3, 3]);
        assert_eq!(plain.tensor("value.out.bias").unwrap().numbers, weights.tensor("value.out.bias").unwrap());
        assert_eq!(plain.tensor("nothing"), None);
        for kind in [FileKind::Folded, FileKind::LeelaZero] {
            let (file, _) = kind.write(&weights.in_play(), &[]).unwrap();
            assert_eq!(Listing::read(&file).unwrap().shape.filters, 4, "{kind}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_listed_too() {
        let weights = weights();
        let number = weights.tensor("value.out.bias").unwrap()[0].to_le_bytes();
        let mut file = weights.to_bytes();
        let at = file.windows(4).rposition(|four| four == number).unwrap();
        file[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(matches!(Weights::from_bytes(&file), Err(NetError::BadNumber { .. })));
        assert!(Listing::read(&file).unwrap().tensor("value.out.bias").unwrap().numbers[0].is_nan());
        assert!(Listing::read(&file[..file.len() / 2]).is_err() && Listing::read(b"nothing").is_err());
    }
}
