//! One orientation for all the positions that are turned and mirrored into each other.

use super::Position;
use crate::symmetry::Symmetry;

impl Position {
    /// The symmetry after which the stones have the least hash of all eight images, and that hash. Both the hash and
    /// the stones after the symmetry are the same for all images of a position.
    pub fn canonical(&self) -> (Symmetry, u64) {
        let images = Symmetry::ALL.into_iter().zip(self.hashes);
        images.min_by_key(|&(_, hash)| hash).expect("there are eight symmetries")
    }

    /// All symmetries after which the stones have the least hash: several where the stones are images of themselves.
    pub fn canonical_symmetries(&self) -> impl Iterator<Item = Symmetry> {
        let (_, least) = self.canonical();
        Symmetry::ALL.into_iter().zip(self.hashes).filter(move |&(_, hash)| hash == least).map(|(symmetry, _)| symmetry)
    }
}
