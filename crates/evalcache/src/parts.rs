//! The parts of the models, to measure what each is worth.

use crate::layout::shares as p;

/// Which contexts a fit uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// What coded neighbours have.
    pub(crate) neighbours: bool,
    /// The remaining steps, and how the policy compares with the expectation so far.
    pub(crate) rest: bool,
}

impl Parts {
    pub(crate) const ALL: Parts = Parts { neighbours: true, rest: true };

    /// Whether a context is used. Those of the class, the size and the value always are.
    pub(crate) fn have(self, context: u32) -> bool {
        match context {
            p::REST..p::NEAR | p::EXPECTED..p::LARGEST => self.rest,
            p::NEAR..p::EXPECTED | p::LARGEST..p::SIZE_REST | p::SIZE_NEAR..p::SIZE_FIRST => self.neighbours,
            p::SIZE_REST..p::SIZE_CLASS | p::SIZE_FIRST..p::DIGIT => self.rest,
            _ => true,
        }
    }
}
