//! Networks with their auxiliary heads. No evaluator has these, so the server evaluates them itself, on a CPU, one
//! position at a time.

use std::sync::{Mutex, PoisonError};

use cpu::{Auxiliary, CpuError, Description, Model, Precision, Prediction, Session};
use net::of_inference;

/// A network with its auxiliary heads.
pub(super) struct Predictor {
    heads: Auxiliary,
    session: Mutex<Session>,
}

impl Predictor {
    /// Reads a file of weights; `None` when it has no such heads.
    ///
    /// # Errors
    /// It is no network.
    pub(super) fn read(weights: &[u8]) -> Result<Option<Predictor>, CpuError> {
        let heads = Auxiliary::from_safetensors(weights)?;
        if heads.is_empty() {
            return Ok(None);
        }
        let model = Model::new(&Description::from_safetensors(weights)?, Precision::F32, of_inference())?;
        Ok(Some(Predictor { heads, session: Mutex::new(model.session()) }))
    }

    /// The prediction of a position, given as its planes.
    pub(super) fn predict(&self, planes: &[u8]) -> Prediction {
        // A session keeps nothing of a position, so one that a panic has left is as good as new.
        self.session.lock().unwrap_or_else(PoisonError::into_inner).predict(planes, &self.heads)
    }
}
