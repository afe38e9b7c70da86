//! Where the games of a model belong.

use config::ModelId;

/// The number of a model's folder, and the name of the series of games that a worker plays.
///
/// The built-in models share folder 0, so the series of `uniform` has a name of its own.
pub(crate) fn of(id: &ModelId, worker: &str) -> (u32, String) {
    match id {
        ModelId::Uniform => (0, format!("{worker}-uniform")),
        ModelId::Random => (0, worker.to_owned()),
        ModelId::Trained { number, .. } => (*number, worker.to_owned()),
    }
}
