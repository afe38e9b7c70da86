//! The class of an error: what a library says of its own errors, and marks for all others.

use std::error::Error;
use std::fmt;

use config::ConfigError;
use exit_class::{Classified, Classifier, ExitClass, classify};
use store::StoreError;

use crate::RunError;

/// The errors that every program may end with.
const COMMON: &[Classifier] =
    &[classify::<Marked>, classify::<StoreError>, classify::<ConfigError>, classify::<RunError>];

/// The class of the first error of the chain that has one: an error that [`Classify`] marked, of a store, a
/// configuration or a run, or of one of these types.
pub fn class_of(error: &anyhow::Error, errors: &[Classifier]) -> ExitClass {
    exit_class::exit_class(error.chain(), &[COMMON, errors].concat())
}

/// An error with a class. Prints as what it wraps.
#[derive(Debug)]
struct Marked {
    class: ExitClass,
    error: anyhow::Error,
}

/// Gives a class to an error that has none of its own.
pub trait Classify<T> {
    /// Marks the error.
    fn class(self, class: ExitClass) -> anyhow::Result<T>;

    /// Marks the error as one of [`ExitClass::Configuration`].
    fn misconfigured(self) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> Classify<T> for Result<T, E> {
    fn class(self, class: ExitClass) -> anyhow::Result<T> {
        self.map_err(|error| Marked { class, error: error.into() }.into())
    }

    fn misconfigured(self) -> anyhow::Result<T> {
        self.class(ExitClass::Configuration)
    }
}

impl Classified for Marked {
    fn class(&self) -> ExitClass {
        self.class
    }
}

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Marked {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Context;

    use super::*;

    fn refused() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused")
    }

    #[test]
    fn exit_class_of_a_marked_error_is_found_below_its_context() {
        assert_eq!(class_of(&refused().into(), &[]), ExitClass::Failure);
        for class in ExitClass::ALL {
            let error = Err::<(), _>(refused()).class(class).context("a").context("b").unwrap_err();
            assert_eq!(class_of(&error, &[]), class);
        }
    }
}
