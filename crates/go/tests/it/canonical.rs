//! One orientation for all the positions that are turned and mirrored into each other.

use go::Color::Black;
use go::{Position, Symmetry};
use testing::transformed;

use crate::boards::{position, size};

#[test]
fn images_have_one_canonical_form() {
    let size = size(5);
    for diagram in
        ["X . . . ./. O . . ./. . . X ./. . . . ./. . . . O", ". . . . ./. X . X ./. . . . ./. . . . ./. . . . ."]
    {
        let position = position(5, diagram, Black);
        let forms = Symmetry::ALL.map(|image| {
            let stones = transformed(image, size, position.stones());
            let (symmetry, hash) = Position::from_stones(size, &stones, Black).unwrap().canonical();
            (transformed(symmetry, size, &stones), hash)
        });
        assert!(forms.iter().all(|form| form == &forms[0]), "{diagram}");
        let shown = Position::from_stones(size, &forms[0].0, Black).unwrap();
        assert_eq!(shown.hash(), forms[0].1);
    }
    assert_eq!(Position::empty(size).canonical(), (Symmetry::Identity, 0));
    assert_eq!(Position::empty(size).canonical_symmetries().count(), 8);
}

#[test]
fn canonical_symmetries_are_those_of_the_stones() {
    let size = size(5);
    for (diagram, count) in [
        ("X . . . ./. O . . ./. . . X ./. . . . ./. . . . O", 1),
        ("X . . . ./. O . . ./. . . . ./. . . . ./. . . . O", 2),
    ] {
        let position = position(5, diagram, Black);
        let stones = |symmetry: Symmetry| transformed(symmetry, size, position.stones());
        let found: Vec<Symmetry> = position.canonical_symmetries().collect();
        assert_eq!(found.len(), count, "{diagram}");
        assert_eq!(found[0], position.canonical().0);
        assert!(found.iter().all(|&symmetry| stones(symmetry) == stones(found[0])), "{diagram}");
    }
}
