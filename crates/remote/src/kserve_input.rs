//! Positions in a request of the Open Inference Protocol.

use bytes::Bytes;
use go::Size;
use net::Packing;
use prost::Message;

use crate::proto::kserve::ModelInferRequest;
use crate::proto::kserve::model_infer_request::InferInputTensor;

/// Bytes of the planes of a position at most: those of all inputs on 19x19.
const MOST_BYTES: usize = 12 << 10;
/// Bytes of a request beside its planes at most.
const AROUND: usize = 16 << 10;

/// The type of bytes in the words of the protocol.
pub const UINT8: &str = "UINT8";

/// The positions of a request, packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KserveInput {
    /// Positions, at least one.
    pub positions: usize,
    /// Bits of the planes.
    pub bits: Vec<u8>,
    /// Constant planes.
    pub scalars: Vec<u8>,
}

/// A request whose input is not that of the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KserveInputError {
    /// No tensor, or more than one.
    #[error("expected one input: planes or packed")]
    Count,
    /// A tensor of another name.
    #[error("the input is neither planes nor packed")]
    Name,
    /// A tensor of another type or shape.
    #[error("{name} is {UINT8} of [n, {expected:?}] for a network of {size}x{size}")]
    Shape {
        /// The tensor.
        name: String,
        /// Dimensions after the number of positions.
        expected: Vec<i64>,
        /// The board.
        size: Size,
    },
    /// No positions, or too many.
    #[error("{found} positions, expected 1 to {most}")]
    Positions {
        /// In the request.
        found: i64,
        /// Allowed.
        most: usize,
    },
    /// A request that is larger than one for any network.
    #[error("{found} bytes for {positions} positions, no network takes as many")]
    TooLong {
        /// Of the request.
        found: usize,
        /// By the shape.
        positions: usize,
    },
    /// Bytes that do not fit the shape.
    #[error("{found} bytes, expected {expected} for {positions} positions")]
    Length {
        /// In the request.
        found: usize,
        /// By the shape.
        expected: usize,
        /// By the shape.
        positions: usize,
    },
    /// Planes that are none of a position.
    #[error("planes are 0 or 1, and constant where the model's are")]
    Planes,
    /// Numbers that are no bytes.
    #[error("{UINT8} contents are 0 to 255")]
    Numbers,
    /// No contents, or several.
    #[error("the input has no contents, or those of several inputs")]
    Contents,
}

impl KserveInput {
    /// Positions of a request by its shape, one at least. Whether that is right is for [`KserveInput::read`]; the
    /// request is no larger than one of so many positions for any network, so that it may wait for its network.
    ///
    /// # Errors
    /// It is larger, or has more than `most` positions.
    pub fn positions(request: &ModelInferRequest, most: usize) -> Result<usize, KserveInputError> {
        let first = request.inputs.first().and_then(|input| input.shape.first());
        let by_shape = first.copied().unwrap_or_default();
        let positions = usize::try_from(by_shape).unwrap_or_default().max(1);
        if positions > most {
            return Err(KserveInputError::Positions { found: by_shape, most });
        }
        let found = request.encoded_len();
        let fits = found <= positions.saturating_mul(MOST_BYTES).saturating_add(AROUND);
        if fits { Ok(positions) } else { Err(KserveInputError::TooLong { found, positions }) }
    }

    /// Reads a request of at most `most` positions for a network.
    ///
    /// # Errors
    /// The input is not that of the network.
    pub fn read(
        request: &ModelInferRequest,
        size: Size,
        packing: &Packing,
        most: usize,
    ) -> Result<KserveInput, KserveInputError> {
        let [tensor] = request.inputs.as_slice() else { return Err(KserveInputError::Count) };
        let side = size.side() as i64;
        let (is_packed, of_one, len) = match tensor.name.as_str() {
            "planes" => (false, vec![packing.planes() as i64, side, side], packing.plane_bytes()),
            "packed" => (true, vec![packed_len(packing) as i64], packed_len(packing)),
            _ => return Err(KserveInputError::Name),
        };
        let dimensions = tensor.shape.split_first().filter(|(_, rest)| **rest == of_one && tensor.datatype == UINT8);
        let Some((&found, _)) = dimensions else {
            return Err(KserveInputError::Shape { name: tensor.name.clone(), expected: of_one, size });
        };
        let positions = usize::try_from(found).unwrap_or_default();
        if !(1..=most).contains(&positions) {
            return Err(KserveInputError::Positions { found, most });
        }
        let bytes = contents(request, tensor)?;
        let expected = positions * len;
        if bytes.len() != expected {
            return Err(KserveInputError::Length { found: bytes.len(), expected, positions });
        }
        if is_packed { Ok(KserveInput::of_packed(packing, &bytes)) } else { KserveInput::of_planes(packing, &bytes) }
    }

    /// Planes that would not survive packing are none of a position.
    fn of_planes(packing: &Packing, planes: &[u8]) -> Result<KserveInput, KserveInputError> {
        if !packing.can_pack(planes) {
            return Err(KserveInputError::Planes);
        }
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack(planes, &mut bits, &mut scalars);
        Ok(KserveInput { positions: planes.len() / packing.plane_bytes(), bits, scalars })
    }

    fn of_packed(packing: &Packing, bytes: &[u8]) -> KserveInput {
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        let rows = bytes.chunks_exact(packed_len(packing));
        let positions = rows.len();
        for row in rows {
            let (of_bits, of_scalars) = row.split_at(packing.bit_bytes());
            bits.extend_from_slice(of_bits);
            scalars.extend_from_slice(of_scalars);
        }
        KserveInput { positions, bits, scalars }
    }
}

/// The bytes of the only input, as raw contents or as numbers.
fn contents(request: &ModelInferRequest, tensor: &InferInputTensor) -> Result<Bytes, KserveInputError> {
    match (request.raw_input_contents.as_slice(), &tensor.contents) {
        ([bytes], _) => Ok(bytes.clone()),
        ([], Some(contents)) => {
            let bytes: Result<Vec<u8>, _> = contents.uint_contents.iter().map(|&number| u8::try_from(number)).collect();
            Ok(bytes.map_err(|_| KserveInputError::Numbers)?.into())
        }
        _ => Err(KserveInputError::Contents),
    }
}

fn packed_len(packing: &Packing) -> usize {
    packing.bit_bytes() + packing.scalars()
}
