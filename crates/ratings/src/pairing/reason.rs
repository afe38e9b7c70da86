//! Why two players should meet.

use std::fmt;

use record::statistics::margin;

use crate::bradley_terry::Estimate;

/// Why two players should meet. It prints as a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Their games are more informative about the objective than others.
    Instructive {
        /// Posterior of the difference of the two, the games in flight counted as if they were over.
        before: Estimate,
        /// The error of the objective: the root of its mean variance, in Elo.
        known: f64,
        /// The same after the games.
        will_be: f64,
        /// Pairs whose games are about as informative.
        equals: usize,
    },
    /// Drawn at random, to find out where the ratings mislead.
    Random {
        /// Posterior of the difference of the two.
        before: Estimate,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let difference = |before: Estimate| format!("{:+.0} ±{:.0} Elo", before.elo, before.margin());
        match *self {
            Reason::Instructive { before, known, will_be, equals } => {
                write!(
                    f,
                    "the error of the objective is ±{:.1} Elo and is expected to be ±{:.1}",
                    margin(known),
                    margin(will_be)
                )?;
                write!(f, "; the difference is {}", difference(before))?;
                if equals > 1 { write!(f, "; one of {equals} such pairs") } else { Ok(()) }
            }
            Reason::Random { before } => {
                write!(f, "random pair, to test the ratings; expected {}", difference(before))
            }
        }
    }
}
