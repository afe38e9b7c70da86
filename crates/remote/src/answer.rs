//! Network output on its way back.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::proto::v1;
use crate::{Encoding, LengthError};

/// The response to a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The batch.
    pub id: u64,
    /// Policies and values, or why there are none.
    pub result: Result<Output, Refusal>,
}

/// Network output as bytes; see [`Answer::output`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    policies: Bytes,
    values: Bytes,
    /// The numbers that its server computes with.
    pub(crate) precision: Option<Arc<str>>,
}

/// A batch that was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of reason; never [`v1::Status::Ok`].
    pub status: v1::Status,
    /// When trying again is worthwhile, where the server can say.
    pub retry_after: Option<Duration>,
    /// The reason.
    pub message: String,
}

/// A message that is no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// A status of another version of the protocol.
    #[error("status {0} is unknown")]
    Status(i32),
    /// More or fewer numbers than requested.
    #[error("{what}: {source}")]
    Length {
        /// Policies or values.
        what: &'static str,
        /// How many.
        source: LengthError,
    },
    /// A number that is not finite, as those of a GPU with bad memory.
    #[error("{what}: a number is not finite")]
    NotFinite {
        /// Policies or values.
        what: &'static str,
    },
}

impl Refusal {
    /// A batch that was not evaluated, for a reason.
    pub fn new(status: v1::Status, message: impl Into<String>) -> Refusal {
        Refusal { status, retry_after: None, message: message.into() }
    }

    /// The same, and when to try again.
    pub fn retry_after(self, time: Duration) -> Refusal {
        Refusal { retry_after: Some(time), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.as_str_name(), self.message)
    }
}

impl std::error::Error for Refusal {}

impl Answer {
    /// Network output for a batch, as bytes that [`Encoding::write`] wrote.
    pub fn output(id: u64, policies: impl Into<Bytes>, values: impl Into<Bytes>) -> Answer {
        Answer { id, result: Ok(Output { policies: policies.into(), values: values.into(), precision: None }) }
    }

    /// A batch that was not evaluated.
    pub fn refused(id: u64, refusal: Refusal) -> Answer {
        Answer { id, result: Err(refusal) }
    }

    /// Reads a message.
    ///
    /// # Errors
    /// The message is no response.
    pub fn read(message: v1::Answer) -> Result<Answer, AnswerError> {
        let v1::Answer { id, status, policies, values, retry_after_micros, message } = message;
        let result = match v1::Status::try_from(status).map_err(|_| AnswerError::Status(status))? {
            v1::Status::Ok => Ok(Output { policies, values, precision: None }),
            status => {
                let retry_after = (retry_after_micros > 0).then(|| Duration::from_micros(retry_after_micros));
                Err(Refusal { status, retry_after, message })
            }
        };
        Ok(Answer { id, result })
    }
}

impl Output {
    /// The same of a server that computes with these numbers.
    pub(crate) fn of_precision(self, precision: Option<Arc<str>>) -> Output {
        Output { precision, ..self }
    }

    /// Whether there are so many numbers, all of them finite.
    ///
    /// # Errors
    /// There are more or fewer, or one is not finite.
    pub(crate) fn check(&self, encoding: Encoding, policies: usize, values: usize) -> Result<(), AnswerError> {
        for (what, bytes, numbers) in [("policies", &self.policies, policies), ("values", &self.values, values)] {
            encoding.check(bytes, numbers).map_err(|source| AnswerError::Length { what, source })?;
            if !encoding.is_finite(bytes) {
                return Err(AnswerError::NotFinite { what });
            }
        }
        Ok(())
    }

    /// Reads the numbers: policies of all positions one after the other, and one value for each position.
    ///
    /// # Errors
    /// There are more or fewer.
    pub fn read(&self, encoding: Encoding, policies: &mut [f32], values: &mut [f32]) -> Result<(), AnswerError> {
        let parts = [("policies", &self.policies, policies), ("values", &self.values, values)];
        for (what, bytes, numbers) in parts {
            encoding.read(bytes, numbers).map_err(|source| AnswerError::Length { what, source })?;
        }
        Ok(())
    }
}

impl From<Answer> for v1::Answer {
    fn from(Answer { id, result }: Answer) -> v1::Answer {
        match result {
            Ok(Output { policies, values, .. }) => v1::Answer { id, policies, values, ..v1::Answer::default() },
            Err(Refusal { status, retry_after, message }) => {
                let micros = retry_after.map_or(0, |time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
                v1::Answer { id, status: status.into(), retry_after_micros: micros, message, ..v1::Answer::default() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use prost::Message;

    use super::*;

    #[test]
    fn response_survives_its_message() {
        let refusal = Refusal::new(v1::Status::ResourceExhausted, "full").retry_after(Duration::from_millis(3));
        assert_eq!(refusal.to_string(), "RESOURCE_EXHAUSTED: full");
        for answer in [Answer::output(1, vec![0; 8], vec![0; 4]), Answer::refused(2, refusal)] {
            assert_eq!(Answer::read(answer.clone().into()), Ok(answer));
        }
        let unknown = v1::Answer { status: 77, ..v1::Answer::default() };
        assert_eq!(Answer::read(unknown), Err(AnswerError::Status(77)));
    }

    #[test]
    fn output_of_another_length_is_refused() {
        let mut bytes = vec![0; 8];
        Encoding::F32.write(&[0.25, 0.75], &mut bytes);
        let Ok(output) = Answer::output(1, bytes.clone(), bytes[4..].to_vec()).result else { unreachable!() };
        let (mut policies, mut values) = ([0.0; 2], [0.0; 1]);
        output.read(Encoding::F32, &mut policies, &mut values).unwrap();
        assert_eq!((policies, values), ([0.25, 0.75], [0.75]));
        assert!(output.read(Encoding::F16, &mut policies, &mut values).is_err());
        assert!(output.read(Encoding::F32, &mut policies, &mut []).unwrap_err().to_string().starts_with("values"));
    }

    #[test]
    fn output_with_a_number_that_is_not_finite_is_refused() {
        for encoding in [Encoding::F32, Encoding::F16] {
            let check = |numbers: [f32; 3]| {
                let mut bytes = vec![0; 3 * encoding.width()];
                encoding.write(&numbers, &mut bytes);
                let (policies, values) = bytes.split_at(2 * encoding.width());
                Answer::output(1, policies.to_vec(), values.to_vec()).result.unwrap().check(encoding, 2, 1)
            };
            assert_eq!(check([0.25, 0.75, -1.0]), Ok(()));
            for number in [f32::NAN, f32::INFINITY] {
                assert_eq!(check([0.25, 0.75, number]), Err(AnswerError::NotFinite { what: "values" }));
                assert_eq!(check([0.25, number, 0.5]), Err(AnswerError::NotFinite { what: "policies" }));
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_response_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(message) = v1::Answer::decode(bytes.as_slice())
                && let Ok(Answer { result: Ok(output), .. }) = Answer::read(message)
            {
                let (mut policies, mut values) = ([0.0; 3], [0.0; 1]);
                let fits = output.policies.len() == 12 && output.values.len() == 4;
                prop_assert_eq!(output.read(Encoding::F32, &mut policies, &mut values).is_ok(), fits);
            }
        }
    }
}
