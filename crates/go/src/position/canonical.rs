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

    /// All symmetries after which the stones have the least hash: several where the stones are images of themselves.
    pub fn canonical_symmetries(&self) -> impl Iterator<Item = Symmetry> {
        let (_, least) = self.canonical();
        Symmetry::ALL.into_iter().zip(self.hashes).filter(move |&(_, hash)| hash == least).map(|(symmetry, _)| symmetry)
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
        assert_eq!(Position::empty(size).canonical_symmetries().count(), 8);
    }

    #[test]
    fn canonical_symmetries_are_those_of_the_stones() {
        let size = Size::new(5).unwrap();
        for (diagram, count) in [
            ("X . . . ./. O . . ./. . . X ./. . . . ./. . . . O", 1),
            ("X . . . ./. O . . ./. . . . ./. . . . ./. . . . O", 2),
        ] {
            let position = Position::from_diagram(size, diagram, Color::Black).unwrap();
            let stones = |symmetry: Symmetry| symmetry.apply_stones(size, position.stones());
            let found: Vec<Symmetry> = position.canonical_symmetries().collect();
            assert_eq!(found.len(), count, "{diagram}");
            assert_eq!(found[0], position.canonical().0);
            assert!(found.iter().all(|&symmetry| stones(symmetry) == stones(found[0])), "{diagram}");
        }
    }
}
