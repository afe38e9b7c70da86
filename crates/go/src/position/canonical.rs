//! One orientation for all the positions that are turned and mirrored into each other.

use super::Position;
use crate::symmetry::Symmetry;

impl Position {
    /// The symmetry after which the stones have the least hash of all eight images, and that hash. Both the hash and the stones after
    /// the symmetry are the same for all images of a position.
    pub fn canonical(&self) -> (Symmetry, u64) {
        let images = Symmetry::ALL.into_iter().zip(self.hashes);
        images.min_by_key(|&(_, hash)| hash).expect("there are eight symmetries")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::Color;
    use crate::size::Size;

    #[test]
    fn images_have_one_canonical_form() {
        let size = Size::new(5).unwrap();
        for diagram in
            ["X . . . ./. O . . ./. . . X ./. . . . ./. . . . O", ". . . . ./. X . X ./. . . . ./. . . . ./. . . . ."]
        {
            let position = Position::from_diagram(size, diagram, Color::Black).unwrap();
            let forms = Symmetry::ALL.map(|image| {
                let stones = image.apply_stones(size, position.stones());
                let (symmetry, hash) = Position::from_stones(size, &stones, Color::Black).unwrap().canonical();
                (symmetry.apply_stones(size, &stones), hash)
            });
            assert!(forms.iter().all(|form| form == &forms[0]), "{diagram}");
            let shown = Position::from_stones(size, &forms[0].0, Color::Black).unwrap();
            assert_eq!(shown.hash(), forms[0].1);
        }
        assert_eq!(Position::empty(size).canonical(), (Symmetry::Identity, 0));
    }
}
