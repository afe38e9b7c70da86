//! What moves do to liberties, against moves that are played; ladders by example, and against a reading on real boards.

use go::Color::{Black, White};
use go::sgf::{Record, parse};
use go::{Color, Game, Move, Point, PointSet, Position, Prospects, Symmetry, Tactics};
use testing::{Dice, transformed};

use crate::boards::{position, size};
use crate::slow_tactics;

/// Boards of random games, one in every so many moves.
fn boards(side: usize, games: usize, every: usize) -> Vec<Position> {
    let mut dice = Dice(side as u64 + 40);
    let mut found = Vec::new();
    for _ in 0..games {
        let mut game = Game::new(size(side));
        for turn in 1..2 * size(side).area() {
            let points: Vec<Point> = game.legal_points().iter().collect();
            if points.is_empty() {
                break;
            }
            game.play(Move::Play(points[dice.below(points.len())])).expect("a legal move");
            if turn % every == 0 {
                found.push(game.position().clone());
            }
        }
    }
    found
}

/// Boards of human games, one in every so many moves.
fn human_boards(every: usize) -> Vec<Position> {
    let mut found = Vec::new();
    for tree in parse(include_bytes!("../data/human-9d-sample.sgf")).expect("the sample is SGF") {
        let played = Record::from_tree(&tree).expect("a game of Go").replay().expect("the sample is legal");
        let boards = (0..=played.turn()).step_by(every).filter_map(|ago| played.stones_ago(ago));
        found.extend(
            boards.map(|stones| Position::from_stones(played.size(), stones, Black).expect("a board of a game")),
        );
    }
    found
}

/// Ladders against sets of points. Returns how many stones are caught and moves catch.
fn check_against_slow(board: &Position) -> [usize; 2] {
    let (tactics, slow) = (Tactics::new(board), slow_tactics::Tactics::new(board));
    let mut seen = [0; 2];
    for color in Color::BOTH {
        let (caught, moves) = tactics.ladders(color);
        assert_eq!((caught, moves), slow.ladders(color), "{color} on\n{board}");
        seen = [seen[0] + caught.len(), seen[1] + moves.len()];
    }
    seen
}

#[test]
fn ladders_of_games_are_those_of_a_slow_implementation() {
    for (side, games, every) in [
        (2, 20, 1),
        (3, 60, 1),
        (4, 60, 1),
        (5, 40, 1),
        (7, 12, 2),
        (8, 12, 2),
        (9, 12, 2),
        (11, 4, 3),
        (13, 3, 5),
        (19, 3, 7),
    ] {
        let seen = boards(side, games, every).iter().map(check_against_slow).fold([0; 2], sum);
        assert!(side == 2 || seen.iter().all(|&count| count > 100), "{side}: {seen:?}");
    }
    let seen = human_boards(9).iter().map(check_against_slow).fold([0; 2], sum);
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// White's stone has two liberties, and Black's moves drive it into the opposite corner, from near and far.
#[test]
fn ladders_of_any_length_are_those_of_a_slow_implementation() {
    let mut caught = Vec::new();
    for at in 1..18 {
        let empty = ".".repeat(at);
        let rows = [format!("{empty}XX"), format!("{}XO", &empty[1..])];
        let diagram = [vec!["."; at - 1], rows.iter().map(String::as_str).collect()].concat().join("/");
        let board = position(19, &diagram, Black);
        check_against_slow(&board);
        caught.push(!Tactics::new(&board).ladders(White).0.is_empty());
    }
    assert!(caught.is_sorted() && !caught[0] && caught[16], "{caught:?}");
}

#[test]
fn tactics_set_again_are_those_of_new_ones() {
    let mut tactics = Tactics::empty(size(19));
    for side in [3, 19, 9, 5] {
        for board in boards(side, 1, 3) {
            tactics.set(&board);
            let new = Tactics::new(&board);
            for color in Color::BOTH {
                assert_eq!(tactics.prospects(color), new.prospects(color), "{color} on\n{board}");
                assert_eq!(tactics.ladders(color), new.ladders(color), "{color} on\n{board}");
            }
        }
    }
}

fn sum(a: [usize; 2], b: [usize; 2]) -> [usize; 2] {
    [a[0] + b[0], a[1] + b[1]]
}

fn with_turn(position: &Position, color: Color) -> Position {
    let mut position = position.clone();
    position.set_to_move(color);
    position
}

#[test]
fn every_prospect_is_what_happens_when_the_stone_is_played() {
    let mut seen = [0; 5];
    let random =
        [(2, 5, 1), (3, 20, 1), (4, 10, 1), (5, 10, 2), (7, 5, 4), (8, 5, 4), (9, 10, 5), (13, 1, 10), (19, 1, 30)];
    let random = random.into_iter().flat_map(|(side, games, every)| boards(side, games, every));
    for board in random.chain(human_boards(40)) {
        let tactics = Tactics::new(&board);
        for color in Color::BOTH {
            let mut expected = Prospects::default();
            for point in board.empty_points() {
                let mut after = with_turn(&board, color);
                match after.play(Move::Play(point)) {
                    Err(_) => expected.suicides.insert(point),
                    Ok(captured) => {
                        if captured > 0 {
                            expected.captures.insert(point);
                        }
                        if let Some(few) = expected.liberties.get_mut(after.liberties(point) - 1) {
                            few.insert(point);
                        }
                    }
                }
            }
            assert_eq!(tactics.prospects(color), expected, "{color} on\n{board}");
            let sets = expected.liberties.into_iter().chain([expected.captures, expected.suicides]);
            seen.iter_mut().zip(sets).for_each(|(count, set)| *count += set.len());
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn liberties_are_counted_as_the_board_counts_them() {
    let random = [(2, 5, 1), (3, 10, 1), (5, 10, 2), (9, 3, 4), (19, 1, 30)];
    let random = random.into_iter().flat_map(|(side, games, every)| boards(side, games, every));
    for board in random.chain(human_boards(40)) {
        let tactics = Tactics::new(&board);
        for color in Color::BOTH {
            for count in 1..=3 {
                let stones = board.stones().of(color).iter().filter(|&stone| board.liberties(stone) == count);
                assert_eq!(tactics.with_liberties(color, count), stones.collect(), "{count} of {color} on\n{board}");
            }
        }
    }
}

/// The names of points, as GTP has them.
fn names(side: usize, points: PointSet) -> Vec<String> {
    points.iter().map(|point| Move::Play(point).to_gtp(size(side))).collect()
}

/// The chains of White that are caught on this board, and the moves that begin it.
fn ladders(diagram: &str) -> [Vec<String>; 2] {
    let (caught, moves) = Tactics::new(&position(9, diagram, Black)).ladders(White);
    [names(9, caught), names(9, moves)]
}

#[test]
fn ladder_runs_to_the_edge() {
    let open = "......... / ..XX..... / .XO...... / ......... / .........";
    assert_eq!(ladders(open), [vec!["C7"], vec!["C6"]]);
    let in_atari = "......... / ..XX..... / .XO...... / ..X...... / .........";
    assert_eq!(ladders(in_atari), [vec!["C7"], vec![]]);
}

#[test]
fn stone_in_its_way_breaks_a_ladder() {
    let broken = "......... / ..XX..... / .XO...... / ......... / ......... / ......... / ......O..";
    assert_eq!(ladders(broken), [Vec::<String>::new(), vec![]]);
    let in_atari = "......... / ..XX..... / .XO...... / ..X...... / ......... / ......... / ......O..";
    assert_eq!(ladders(in_atari), [Vec::<String>::new(), vec![]]);
}

#[test]
fn chain_gets_away_by_taking_a_hunter() {
    let taken = "....O.... / ..XXXO... / .XO.O.... / ..X...... / .........";
    assert_eq!(ladders(taken)[0], Vec::<String>::new());
}

#[test]
fn on_the_edge_both_ataris_may_work() {
    assert_eq!(ladders("..XO.X... / ...XX....")[0], ["D9"]);
}

/// The same reading on whole positions; `None` where it takes too many stones.
struct Slow(usize);

impl Slow {
    fn caught(&mut self, position: &Position, prey: Point) -> Option<bool> {
        let (own, all) = (position.stone(prey)?, position.size());
        let chain = position.chain(prey);
        let mut ways: Vec<Point> = (chain.neighbours(all) & position.empty_points()).iter().collect();
        for hunter in chain.neighbours(all) & *position.stones().of(own.opponent()) {
            if position.liberties(hunter) == 1 {
                ways.extend(position.chain(hunter).neighbours(all) & position.empty_points());
            }
        }
        for way in ways {
            self.0 = self.0.checked_sub(1)?;
            let mut next = with_turn(position, own);
            if next.play(Move::Play(way)).is_ok() {
                match next.liberties(prey) {
                    1 => {}
                    2 if !self.working(&next, prey)?.is_empty() => {}
                    _ => return Some(false),
                }
            }
        }
        Some(true)
    }

    fn working(&mut self, position: &Position, prey: Point) -> Option<PointSet> {
        let own = position.stone(prey)?;
        let mut found = PointSet::EMPTY;
        for atari in position.chain(prey).neighbours(position.size()) & position.empty_points() {
            self.0 = self.0.checked_sub(1)?;
            let mut next = with_turn(position, own.opponent());
            if next.play(Move::Play(atari)).is_ok() && self.caught(&next, prey)? {
                found.insert(atari);
            }
        }
        Some(found)
    }
}

#[test]
fn ladders_are_those_of_a_reading_on_whole_boards() {
    let mut seen = [0; 4];
    for (side, games, every) in [(3, 20, 1), (5, 30, 2), (9, 12, 3), (19, 1, 20)] {
        for board in boards(side, games, every) {
            let tactics = Tactics::new(&board);
            for color in Color::BOTH {
                let (caught, moves) = tactics.ladders(color);
                let mut expected_moves = PointSet::EMPTY;
                let mut all_read = true;
                for stone in *board.stones().of(color) {
                    let liberties = board.liberties(stone);
                    let mut slow = Slow(30);
                    let expected = match liberties {
                        1 => slow.caught(&board, stone),
                        2 => slow.working(&board, stone).map(|working| {
                            expected_moves |= working;
                            !working.is_empty()
                        }),
                        _ => Some(false),
                    };
                    let Some(expected) = expected else {
                        all_read = false;
                        continue;
                    };
                    assert_eq!(caught.contains(stone), expected, "{stone:?} on\n{board}");
                    if liberties < 3 {
                        seen[2 * (liberties - 1) + usize::from(expected)] += 1;
                    }
                }
                if all_read {
                    assert_eq!(moves, expected_moves, "{color} on\n{board}");
                }
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn board_turned_round_has_the_same_prospects() {
    for board in boards(9, 4, 6) {
        let tactics = Tactics::new(&board);
        for symmetry in Symmetry::ALL {
            let turn = |points: &PointSet| symmetry.apply_set(board.size(), points);
            let stones = transformed(symmetry, board.size(), board.stones());
            let turned = Tactics::new(&Position::from_stones(board.size(), &stones, Black).unwrap());
            for color in Color::BOTH {
                let (found, was) = (turned.prospects(color), tactics.prospects(color));
                assert_eq!(found.liberties, was.liberties.map(|points| turn(&points)), "{symmetry:?} of\n{board}");
                assert_eq!([found.captures, found.suicides], [was.captures, was.suicides].map(|points| turn(&points)));
            }
        }
    }
}
