//! One process at a time trains a run, or gives it its first model.

use store::LeaseName;

/// The right to train a run, which one process has at a time.
pub fn lease() -> LeaseName {
    LeaseName {
        stage: "trainer",
        name: "trainer".to_owned(),
        remedy: "a run has one trainer at a time, so stop one of them",
    }
}
