//! Where the games of a model belong.

use config::ModelId;

/// The name of a series of games, which is that of a worker in records and files. Leases have the name of the worker
/// itself.
pub(crate) struct Series(String);

/// The number of a model's folder, and the series of games that a worker plays.
///
/// The built-in models share folder 0, so the series of `uniform` has a name of its own.
pub(crate) fn of(id: &ModelId, worker: &str) -> (u32, Series) {
    match id {
        ModelId::Uniform => (0, Series(format!("{worker}-uniform"))),
        ModelId::Random => (0, Series(worker.to_owned())),
        ModelId::Trained { number, .. } => (*number, Series(worker.to_owned())),
    }
}

impl Series {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}
