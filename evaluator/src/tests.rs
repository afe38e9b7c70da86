//! Test support shared by the modules of this crate.

pub(crate) mod fixture;
