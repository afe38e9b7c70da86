//! Positions on their way to a server.

use std::time::Duration;

use bytes::Bytes;
use net::Packing;

use crate::model_key::{ModelKey, ModelKeyError};
use crate::proto::v1;
use crate::{Encoding, Priority};

/// Bytes of the planes of a position at most, and of its scalars: more than those of any inputs on 19x19.
const MOST_BYTES: usize = 2048;

/// Positions for one model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Chosen by the client.
    pub id: u64,
    /// The model.
    pub model: ModelKey,
    /// Positions, at least one.
    pub positions: usize,
    /// Time from arrival after which the response is of no use.
    pub deadline: Option<Duration>,
    /// Bits of the planes.
    pub bits: Bytes,
    /// Constant planes.
    pub scalars: Bytes,
    /// How the response is to be written.
    pub answers: Encoding,
    /// Whose positions these are.
    pub priority: Priority,
}

/// A message that is no batch, or none for this network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// No model can be meant.
    #[error(transparent)]
    Model(#[from] ModelKeyError),
    /// Nothing to evaluate.
    #[error("a batch of 0 positions")]
    Empty,
    /// More positions than the server takes at once.
    #[error("{positions} positions in a batch, at most {most} are allowed; send them in several")]
    TooMany {
        /// In the message.
        positions: usize,
        /// Allowed.
        most: usize,
    },
    /// More bytes than any network takes.
    #[error("{found} bytes of {what} for {positions} positions, no network takes as many")]
    TooLong {
        /// Planes or scalars.
        what: &'static str,
        /// Positions of the batch.
        positions: usize,
        /// In the message.
        found: usize,
    },
    /// A number format of another version of the protocol.
    #[error("encoding {0} is unknown")]
    Encoding(i32),
    /// Planes of another board or other inputs, or cut off.
    #[error("{found} bytes of {what} for {positions} positions, the network takes {expected}; board or inputs differ")]
    Length {
        /// Planes or scalars.
        what: &'static str,
        /// Positions of the batch.
        positions: usize,
        /// What the network needs.
        expected: usize,
        /// In the message.
        found: usize,
    },
}

impl Batch {
    /// Packs planes, as [`net::Inputs::of_game`] writes them, position after position. They are those of self-play.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions.
    pub fn pack(id: u64, model: ModelKey, packing: &Packing, planes: &[u8], answers: Encoding) -> Batch {
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack_densely(planes, &mut bits, &mut scalars);
        let positions = planes.len() / packing.plane_bytes();
        let (bits, scalars) = (bits.into(), scalars.into());
        Batch { id, model, positions, deadline: None, bits, scalars, answers, priority: Priority::Selfplay }
    }

    /// Whether the planes are those of this network.
    ///
    /// # Errors
    /// They have another length.
    pub fn check(&self, packing: &Packing) -> Result<(), BatchError> {
        let Batch { positions, .. } = *self;
        let [bits, scalars] = [&self.bits, &self.scalars].map(Bytes::len);
        let parts = [
            ("planes", packing.dense_bit_bytes(), bits, packing.is_length(bits, positions)),
            ("scalars", packing.scalars(), scalars, positions.checked_mul(packing.scalars()) == Some(scalars)),
        ];
        match parts.into_iter().find(|(.., fits)| !fits) {
            Some((what, of_one, found, _)) => {
                Err(BatchError::Length { what, positions, expected: positions.saturating_mul(of_one), found })
            }
            None => Ok(()),
        }
    }

    /// The same in memory of its own. What was read keeps the whole message in memory, in which there may be more.
    pub fn detached(self) -> Batch {
        let [bits, scalars] = [&self.bits, &self.scalars].map(|bytes| Bytes::copy_from_slice(bytes));
        Batch { bits, scalars, ..self }
    }

    /// Reads a message of at most `most` positions. Whether the planes fit the network is for [`Batch::check`]; they
    /// are not longer than those of any network, so that a batch may wait for its network.
    ///
    /// # Errors
    /// The message is no batch.
    pub fn read(message: v1::Batch, most: usize) -> Result<Batch, BatchError> {
        let v1::Batch { id, model, positions, deadline_micros, planes, scalars, answers, priority } = message;
        let positions = usize::try_from(positions).unwrap_or(usize::MAX);
        if positions == 0 {
            return Err(BatchError::Empty);
        }
        if positions > most {
            return Err(BatchError::TooMany { positions, most });
        }
        let longest = positions.saturating_mul(MOST_BYTES);
        let parts = [("planes", planes.len()), ("scalars", scalars.len())];
        if let Some((what, found)) = parts.into_iter().find(|&(_, found)| found > longest) {
            return Err(BatchError::TooLong { what, positions, found });
        }
        let encoding = Encoding::try_from(answers).map_err(|_| BatchError::Encoding(answers))?;
        Ok(Batch {
            id,
            model: model.ok_or(ModelKeyError::Missing)?.try_into()?,
            positions,
            deadline: (deadline_micros > 0).then(|| Duration::from_micros(deadline_micros)),
            bits: planes,
            scalars,
            answers: encoding,
            // One of another version has no precedence.
            priority: Priority::try_from(priority).unwrap_or_default(),
        })
    }
}

impl From<Batch> for v1::Batch {
    fn from(batch: Batch) -> v1::Batch {
        let Batch { id, model, positions, deadline, bits, scalars, answers, priority } = batch;
        let micros = |deadline: Duration| u64::try_from(deadline.as_micros()).unwrap_or(u64::MAX).max(1);
        v1::Batch {
            id,
            model: Some((&model).into()),
            positions: u32::try_from(positions).expect("a batch has fewer than 2^32 positions"),
            deadline_micros: deadline.map_or(0, micros),
            planes: bits,
            scalars,
            answers: answers.into(),
            priority: priority.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use go::{Game, Size, Symmetry};
    use net::Inputs;
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    fn batch(positions: usize) -> (Packing, Batch) {
        let (size, inputs) = (Size::new(9).unwrap(), Inputs::Tactics);
        let mut planes = vec![0; positions * inputs.len(size)];
        for row in planes.chunks_exact_mut(inputs.len(size)) {
            inputs.of_game(&Game::new(size), 7.0, Symmetry::Identity, row);
        }
        let model = ModelKey { run: "v15".parse().unwrap(), number: 330, digest: None };
        let packing = inputs.packing(size);
        let batch = Batch::pack(7, model, &packing, &planes, Encoding::F16);
        (packing, batch)
    }

    #[test]
    fn batch_survives_its_message() {
        let (packing, batch) = batch(3);
        let batch = Batch { deadline: Some(Duration::from_millis(250)), priority: Priority::Interactive, ..batch };
        let read = Batch::read(v1::Batch::from(batch.clone()), 3).unwrap();
        assert_eq!(read, batch);
        assert_eq!(read.check(&packing), Ok(()));
    }

    #[test]
    fn batch_refuses_counts_lengths_and_encodings() {
        let (packing, batch) = batch(3);
        let message = v1::Batch::from(batch.clone());
        let refused = |message: v1::Batch| Batch::read(message, 3).unwrap_err();
        assert_eq!(refused(v1::Batch { positions: 0, ..message.clone() }), BatchError::Empty);
        let many = refused(v1::Batch { positions: u32::MAX, ..message.clone() });
        assert_eq!(many, BatchError::TooMany { positions: u32::MAX as usize, most: 3 });
        assert_eq!(refused(v1::Batch { answers: 9, ..message.clone() }), BatchError::Encoding(9));
        let long = |length: usize| v1::Batch { scalars: vec![0; length].into(), ..message.clone() };
        assert!(Batch::read(long(3 * MOST_BYTES), 3).is_ok());
        let found = 3 * MOST_BYTES + 1;
        assert_eq!(refused(long(found)), BatchError::TooLong { what: "scalars", positions: 3, found });
        assert_eq!(refused(v1::Batch { model: None, ..message }), ModelKeyError::Missing.into());
        for other in [
            Batch { positions: 2, ..batch.clone() },
            Batch { bits: batch.bits.slice(1..), ..batch.clone() },
            Batch { scalars: Bytes::new(), ..batch.clone() },
        ] {
            assert!(matches!(other.check(&packing), Err(BatchError::Length { .. })), "{other:?}");
        }
        let other_board = Inputs::Tactics.packing(Size::new(13).unwrap());
        assert!(batch.check(&other_board).unwrap_err().to_string().contains("board or inputs differ"));
    }

    #[test]
    fn planes_of_all_inputs_are_short_enough() {
        for inputs in [Inputs::History, Inputs::LeelaZero, Inputs::Features, Inputs::Tactics] {
            let packing = inputs.packing(Size::new(19).unwrap());
            let longest = packing.bit_bytes().max(packing.dense_bit_bytes()).max(packing.scalars());
            assert!(longest <= MOST_BYTES, "{inputs}: {longest}");
        }
    }

    #[test]
    fn detached_batch_is_the_same_in_memory_of_its_own() {
        let (_, batch) = batch(3);
        let detached = batch.clone().detached();
        assert_eq!(detached, batch);
        assert_ne!([detached.bits.as_ptr(), detached.scalars.as_ptr()], [batch.bits.as_ptr(), batch.scalars.as_ptr()]);
    }

    proptest! {
        /// Whatever the bytes, reading them ends with a batch that can be unpacked or with an error.
        #[test]
        fn any_bytes_are_a_batch_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(message) = v1::Batch::decode(bytes.as_slice()) {
                read_and_unpack(message);
            }
        }

        /// Messages that are right except for a few bytes.
        #[test]
        fn damaged_batches_are_a_batch_or_an_error(
            positions in 1..4_usize,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut bytes = v1::Batch::from(batch(positions).1).encode_to_vec();
            for (place, byte) in damage {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
                if let Ok(message) = v1::Batch::decode(bytes) {
                    read_and_unpack(message);
                }
            }
        }
    }

    fn read_and_unpack(message: v1::Batch) {
        let (packing, _) = batch(1);
        let Ok(batch) = Batch::read(message, 1000) else { return };
        if batch.check(&packing).is_ok() {
            let mut planes = vec![0; batch.positions * packing.plane_bytes()];
            packing.unpack(&batch.bits, &batch.scalars, &mut planes);
            assert_eq!(planes.len(), batch.positions * packing.plane_bytes());
        }
    }
}
