//! Exit classes: outcomes of a process, as a supervisor distinguishes it by the exit code.
//!
//! Each library error states its class ([`Classified`]). The entry point of a program finds the first classified error
//! of a chain ([`exit_class`]); errors of other libraries are failures.

use std::error::Error;
use std::iter;

/// Outcome of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitClass {
    /// All work is done, or Ctrl-C stopped it.
    Finished,
    /// A bug, damaged data, or an error that no other class describes.
    Failure,
    /// A wrong argument, configuration or name; a restart does not help.
    Configuration,
    /// The store or every inference server is unreachable; a restart may help.
    StoreUnreachable,
    /// SIGTERM stopped the process before its work was done; a restart resumes it.
    Preempted,
    /// The store refuses writes until the operator frees space or grants permission.
    StoreRefuses,
}

impl ExitClass {
    /// All classes, by exit code.
    pub const ALL: [ExitClass; 6] = [
        ExitClass::Finished,
        ExitClass::Failure,
        ExitClass::Configuration,
        ExitClass::StoreUnreachable,
        ExitClass::Preempted,
        ExitClass::StoreRefuses,
    ];

    /// The exit code. The pod failure policies of `k8s/` depend on these numbers.
    pub const fn code(self) -> u8 {
        match self {
            ExitClass::Finished => 0,
            ExitClass::Failure => 1,
            ExitClass::Configuration => 2,
            ExitClass::StoreUnreachable => 3,
            ExitClass::Preempted => 4,
            ExitClass::StoreRefuses => 5,
        }
    }

    /// The meaning, as `--help` states it.
    pub const fn meaning(self) -> &'static str {
        match self {
            ExitClass::Finished => "finished, or stopped with Ctrl-C",
            ExitClass::Failure => "failed",
            ExitClass::Configuration => "the arguments or the configuration are wrong",
            ExitClass::StoreUnreachable => "the store or every inference server is unreachable",
            ExitClass::Preempted => "stopped by SIGTERM before it was finished; a restart resumes the work",
            ExitClass::StoreRefuses => {
                "the store refuses writes: it is full, read-only, or the credentials do not allow them"
            }
        }
    }
}

/// The page with causes and remedies.
pub const PAGE: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/reference/exit-codes.md");

/// The exit codes of every program, for `--help`.
pub fn exit_codes() -> String {
    let codes = ExitClass::ALL.map(|class| format!("  {}  {}", class.code(), class.meaning()));
    format!("Exit codes:\n{}\n\nCauses and remedies: {PAGE}", codes.join("\n"))
}

/// A library error that states its class.
pub trait Classified: Error + 'static {
    /// Outcome of a process that cannot handle this error.
    fn class(&self) -> ExitClass;
}

/// The class of an error if it is of one type; see [`classify`].
pub type Classifier = fn(&(dyn Error + 'static)) -> Option<ExitClass>;

/// The [`Classifier`] of a type.
pub fn classify<E: Classified>(error: &(dyn Error + 'static)) -> Option<ExitClass> {
    error.downcast_ref::<E>().map(E::class)
}

/// The class of the first error of a chain that one of the classifiers knows; [`ExitClass::Failure`] if there is none.
pub fn exit_class<'a>(chain: impl Iterator<Item = &'a (dyn Error + 'static)>, known: &[Classifier]) -> ExitClass {
    let mut classes = chain.filter_map(|error| known.iter().find_map(|classify| classify(error)));
    classes.next().unwrap_or(ExitClass::Failure)
}

/// An error and its causes on one line, the outermost first. Many errors print their cause themselves; it is not
/// repeated.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut line = String::new();
    for part in iter::successors(Some(error), |&error| error.source()) {
        let part = part.to_string().trim().replace('\n', "; ");
        if line.is_empty() {
            line = part;
        } else if !line.ends_with(&part) {
            line = format!("{line}: {part}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use super::*;

    #[derive(Debug)]
    struct Outer(Option<Inner>);

    #[derive(Debug)]
    struct Inner;

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("outer")
        }
    }

    impl fmt::Display for Inner {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("inner")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.0.as_ref().map(|inner| inner as _)
        }
    }

    impl Error for Inner {}

    impl Classified for Outer {
        fn class(&self) -> ExitClass {
            ExitClass::Configuration
        }
    }

    impl Classified for Inner {
        fn class(&self) -> ExitClass {
            ExitClass::StoreUnreachable
        }
    }

    #[test]
    fn exit_class_of_a_chain_is_that_of_its_first_classified_error() {
        let error = Outer(Some(Inner));
        let class = |known: &[Classifier]| {
            exit_class(iter::successors(Some(&error as &(dyn Error + 'static)), |&e| e.source()), known)
        };
        assert_eq!(class(&[classify::<Inner>, classify::<Outer>]), ExitClass::Configuration);
        assert_eq!(class(&[classify::<Inner>]), ExitClass::StoreUnreachable);
        assert_eq!(class(&[]), ExitClass::Failure);
    }

    /// A sentence with the sentence of its cause.
    #[derive(Debug)]
    struct Sentence(&'static str, Option<Box<Sentence>>);

    impl fmt::Display for Sentence {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Sentence {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    #[test]
    fn chain_is_one_line_and_says_each_thing_once() {
        let caused_by = |text, cause| Sentence(text, Some(Box::new(Sentence(cause, None))));
        assert_eq!(chain(&Outer(Some(Inner))), "outer: inner");
        assert_eq!(chain(&caused_by("opening it: cause", "cause")), "opening it: cause");
        assert_eq!(chain(&caused_by("first\nsecond\n", "third")), "first; second: third");
    }

    #[test]
    fn exit_codes_are_those_of_the_pod_failure_policies() {
        assert_eq!(ExitClass::ALL.map(ExitClass::code), [0, 1, 2, 3, 4, 5]);
        let help = exit_codes();
        assert!(help.contains("\n  3  the store or every inference server is unreachable\n"), "{help}");
    }
}
