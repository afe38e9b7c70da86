//! The eight symmetries: a group, and indistinguishable by the rules.

use go::{Game, Move, Point, PointSet, Position, Scoring, Symmetry};
use proptest::prelude::*;
use testing::{Dice, transformed};

use crate::boards::{position, size, vertex};
use go::Color::Black;

const SIDES: [usize; 6] = [2, 3, 5, 9, 13, 19];

#[test]
fn each_symmetry_does_what_its_name_says() {
    let board = position(3, "X.O/.../...", Black);
    let expected = [
        (Symmetry::Identity, "X.O/.../..."),
        (Symmetry::Rot90, "O../.../X.."),
        (Symmetry::Rot180, ".../.../O.X"),
        (Symmetry::Rot270, "..X/.../..O"),
        (Symmetry::Flip, "X../.../O.."),
        (Symmetry::FlipRot90, ".../.../X.O"),
        (Symmetry::FlipRot180, "..O/.../..X"),
        (Symmetry::FlipRot270, "O.X/.../..."),
    ];
    for (symmetry, diagram) in expected {
        let moved = transformed(symmetry, size(3), board.stones());
        assert_eq!(moved, *position(3, diagram, Black).stones(), "{symmetry:?}");
    }
    assert_eq!(Symmetry::ALL, expected.map(|(symmetry, _)| symmetry));
}

#[test]
fn inverses_undo_and_compositions_do_one_after_the_other() {
    for side in SIDES {
        let size = size(side);
        for first in Symmetry::ALL {
            assert_eq!(Symmetry::compose(first, first.inverse()), Symmetry::Identity);
            assert_eq!(Symmetry::ALL[first.index()], first);
            for second in Symmetry::ALL {
                let both = Symmetry::compose(first, second);
                for point in Point::all(size) {
                    assert_eq!(both.point(size, point), second.point(size, first.point(size, point)));
                }
            }
        }
    }
}

#[test]
fn permutations_hit_every_move_once_and_keep_the_pass() {
    for side in SIDES {
        let size = size(side);
        for symmetry in Symmetry::ALL {
            let permutation = symmetry.permutation(size);
            assert_eq!(permutation.len(), size.moves());
            let mut hit = vec![0; size.moves()];
            for &index in permutation {
                hit[usize::from(index)] += 1;
            }
            assert!(hit.iter().all(|&times| times == 1));
            assert_eq!(usize::from(permutation[size.area()]), Move::Pass.index(size));
        }
    }
}

#[test]
fn values_move_with_their_points_and_come_back() {
    let nine = size(9);
    for symmetry in Symmetry::ALL {
        for values in [nine.area(), nine.moves()] {
            let from: Vec<usize> = (0..values).collect();
            let (mut to, mut back) = (vec![0; values], vec![0; values]);
            symmetry.apply_values(nine, &from, &mut to);
            for point in Point::all(nine) {
                assert_eq!(to[symmetry.point(nine, point).index()], from[point.index()]);
            }
            symmetry.inverse().apply_values(nine, &to, &mut back);
            assert_eq!(back, from);
        }
    }
}

#[test]
#[should_panic(expected = "80 values are neither one a point nor one a move of a 9x9 board")]
fn values_of_another_length_are_refused() {
    Symmetry::Flip.apply_values(size(9), &[0.0; 80], &mut [0.0; 80]);
}

#[test]
fn pass_stays_a_pass() {
    for symmetry in Symmetry::ALL {
        assert_eq!(symmetry.apply_move(size(9), Move::Pass), Move::Pass);
    }
    assert_eq!(Symmetry::Rot90.apply_move(size(9), vertex(size(9), "A9")), vertex(size(9), "A1"));
}

fn moved(symmetry: Symmetry, game: &Game) -> Position {
    let stones = transformed(symmetry, game.size(), game.position().stones());
    Position::from_stones(game.size(), &stones, game.to_move()).expect("a turned board is as good as the first")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn symmetry_commutes_with_play(seed: u64, side in prop::sample::select(SIDES.to_vec()), index in 0_usize..8) {
        let (mut dice, size, symmetry) = (Dice(seed), size(side), Symmetry::ALL[index]);
        let (mut game, mut turned) = (Game::new(size), Game::new(size));
        for _ in 0..2 * size.area().min(150) {
            let legal: Vec<Point> = game.legal_points().iter().collect();
            let mv = if legal.is_empty() { Move::Pass } else { Move::Play(legal[dice.below(legal.len())]) };
            game.play(mv).expect("a legal move");
            turned.play(symmetry.apply_move(size, mv)).expect("as legal as the first");
            prop_assert_eq!(turned.position(), &moved(symmetry, &game));
            let legal: PointSet = symmetry.apply_set(size, &game.legal_points());
            prop_assert_eq!(turned.legal_points(), legal);
        }
        prop_assert_eq!(turned.score(Scoring::Area), game.score(Scoring::Area));
        prop_assert_eq!(turned.pass_alive(), transformed(symmetry, size, &game.pass_alive()));
    }
}
