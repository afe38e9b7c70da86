//! The codec of both services: that of prost, for messages of few fields.
//!
//! An empty tensor takes two bytes of a message and some 300 of memory, so 16 MiB of them would take gigabytes. What is
//! inside of a field takes some 25 times its bytes at most.

use std::marker::PhantomData;

use bytes::Buf;
use prost::Message;
use prost::encoding::{DecodeContext, decode_key, skip_field};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// Fields of a message; the messages of clients and servers have about ten.
const MOST_FIELDS: usize = 256;

/// Writes messages `T` and reads messages `U`.
pub(crate) struct BoundedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for BoundedCodec<T, U> {
    fn default() -> BoundedCodec<T, U> {
        BoundedCodec(PhantomData)
    }
}

impl<T: Message + Send + 'static, U: Message + Default + Send + 'static> Codec for BoundedCodec<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> BoundedDecoder<U> {
        BoundedDecoder(ProstDecoder::default())
    }
}

/// Reads messages of at most [`MOST_FIELDS`].
pub(crate) struct BoundedDecoder<U>(ProstDecoder<U>);

impl<U: Message + Default> Decoder for BoundedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        check(bytes.chunk())?;
        self.0.decode(bytes)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

/// Refuses a message of too many fields, before memory is taken for them. One that is broken before passes, since
/// decoding it ends there, too.
fn check(message: &[u8]) -> Result<(), Status> {
    let mut rest = message;
    for _ in 0..MOST_FIELDS {
        let Ok((tag, kind)) = decode_key(&mut rest) else { return Ok(()) };
        if skip_field(kind, tag, &mut rest, DecodeContext::default()).is_err() {
            return Ok(());
        }
    }
    if rest.is_empty() {
        Ok(())
    } else {
        Err(Status::invalid_argument(format!("the message has more than {MOST_FIELDS} fields")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::kserve::ModelInferRequest;
    use crate::proto::kserve::model_infer_request::InferInputTensor;

    fn message(inputs: usize) -> Vec<u8> {
        let inputs = vec![InferInputTensor::default(); inputs];
        ModelInferRequest { inputs, ..ModelInferRequest::default() }.encode_to_vec()
    }

    #[test]
    fn many_fields_are_refused_before_they_are_decoded() {
        assert!(check(&message(0)).is_ok() && check(&message(MOST_FIELDS)).is_ok());
        let many = message(MOST_FIELDS + 1);
        assert!(many.len() < 3 * MOST_FIELDS);
        let error = check(&many).unwrap_err();
        assert_eq!(error.message(), "the message has more than 256 fields");
        // A group, which is skipped as field 100, hides none of those after it.
        let group = [&[0xa3, 0x06, 0x08, 0x00, 0xa4, 0x06], many.as_slice()].concat();
        assert!(check(&group).is_err());
    }

    #[test]
    fn broken_messages_are_for_the_decoder() {
        let cut = &message(2)[..3];
        assert!(check(cut).is_ok() && ModelInferRequest::decode(cut).is_err());
        let damaged = [&[0xff, 0xff], message(MOST_FIELDS + 1).as_slice()].concat();
        assert!(check(&damaged).is_ok() && ModelInferRequest::decode(damaged.as_slice()).is_err());
    }
}
