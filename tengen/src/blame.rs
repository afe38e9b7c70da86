//! Whose fault an error is, and so the exit code.

use cli::{Misconfigured, StoreRefuses, StoreUnreachable};
use evaluator::EvaluatorError;
use selfplay::SelfplayError;
use shuffler::ShufflerError;
use store::StoreError;
use trainer::TrainerError;

/// Marks an error that the operator can mend, and one of a store that cannot be reached or refuses writes.
pub fn blame(error: anyhow::Error) -> anyhow::Error {
    match of_store(&error) {
        Some(StoreError::Unreachable { .. }) => StoreUnreachable::new(error).into(),
        Some(StoreError::Refused { .. }) => StoreRefuses::new(error).into(),
        Some(found) if found.is_misconfiguration() => Misconfigured::new(error).into(),
        None if error.downcast_ref().is_some_and(TrainerError::is_of_the_device) => Misconfigured::new(error).into(),
        _ => error,
    }
}

/// The store's part in an error, whichever stage met it.
fn of_store(error: &anyhow::Error) -> Option<&StoreError> {
    let of_selfplay = || error.downcast_ref::<SelfplayError>().and_then(SelfplayError::store);
    let of_shuffler = || match error.downcast_ref() {
        Some(ShufflerError::Store(found)) => Some(found),
        _ => None,
    };
    let of_trainer = || match error.downcast_ref() {
        Some(TrainerError::Store(found)) => Some(found),
        _ => None,
    };
    let of_evaluator = || match error.downcast_ref() {
        Some(EvaluatorError::Store(found) | EvaluatorError::Missing { source: found, .. }) => Some(found),
        _ => None,
    };
    let own = error.downcast_ref::<StoreError>();
    own.or_else(of_selfplay).or_else(of_shuffler).or_else(of_trainer).or_else(of_evaluator)
}
