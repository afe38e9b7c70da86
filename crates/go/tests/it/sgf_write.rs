//! Writing SGF, and reading it again.

use go::Color::{Black, White};
use go::sgf::{Application, Margin, Outcome, Player, Record, Turn, parse};
use go::{Color, Move, Point, Size, Stones};
use proptest::prelude::*;

use crate::boards::{size, stones, vertex};

fn turn(size: Size, color: Color, text: &str, comment: &str) -> Turn {
    Turn { color, mv: vertex(size, text), comment: comment.to_owned() }
}

#[test]
fn record_is_written_in_the_usual_order() {
    let nine = size(9);
    let record = Record {
        komi: Some(7.5),
        rules: "Chinese".into(),
        black: Player { name: "v15-330".into(), rank: String::new() },
        white: Player { name: "a]b\\c:d".into(), rank: "9d".into() },
        date: "2026-01-31".into(),
        application: Some(Application { name: "tengen".into(), version: "0.1:2".into() }),
        outcome: Some(Outcome::Win(White, Margin::Resignation)),
        comment: "seed 7\n[x]".into(),
        turns: vec![turn(nine, Black, "E5", "0.03"), turn(nine, White, "pass", ""), turn(nine, Black, "A9", "")],
        ..Record::new(nine)
    };
    let expected = "(;GM[1]FF[4]CA[UTF-8]AP[tengen:0.1\\:2]SZ[9]KM[7.5]RU[Chinese]PB[v15-330]PW[a\\]b\\\\c:d]WR[9d]\
                    DT[2026-01-31]RE[W+R]C[seed 7\n[x\\]]\n;B[ee]C[0.03];W[];B[aa])\n";
    assert_eq!(record.to_sgf(), expected);
    assert_eq!(Record::parse(expected.as_bytes()), Ok(record));
}

#[test]
fn setup_stones_and_the_first_player_are_written() {
    let record = Record {
        komi: Some(-0.5),
        handicap: 2,
        setup: stones(5, "X.../.O../...X"),
        first: White,
        ..Record::new(size(5))
    };
    assert_eq!(record.to_sgf(), "(;GM[1]FF[4]CA[UTF-8]SZ[5]KM[-0.5]HA[2]AB[aa][dc]AW[bb])\n");
    let black_first = Record { first: Black, ..record };
    assert_eq!(black_first.to_sgf(), "(;GM[1]FF[4]CA[UTF-8]SZ[5]KM[-0.5]HA[2]AB[aa][dc]AW[bb]PL[B])\n");
    assert_eq!(Record::parse(black_first.to_sgf().as_bytes()), Ok(black_first));
    let alone = Record { setup: stones(5, "X.../..../...X"), first: White, ..Record::new(size(5)) };
    assert_eq!(alone.to_sgf(), "(;GM[1]FF[4]CA[UTF-8]SZ[5]AB[aa][dc]PL[W])\n", "without HA");
    let empty = Record { first: White, ..Record::new(size(5)) };
    assert_eq!(empty.to_sgf(), "(;GM[1]FF[4]CA[UTF-8]SZ[5]PL[W])\n");
}

/// From 200 on a whole number would be in hundredths.
#[test]
fn komi_of_hundreds_of_points_is_read_back() {
    for (komi, written) in [(199.0, "199"), (225.0, "225.0"), (250.5, "250.5"), (-361.0, "-361.0")] {
        let record = Record { komi: Some(komi), ..Record::new(Size::MAX) };
        assert_eq!(record.to_sgf(), format!("(;GM[1]FF[4]CA[UTF-8]SZ[19]KM[{written}])\n"));
        assert_eq!(Record::parse(record.to_sgf().as_bytes()), Ok(record));
    }
}

/// Lines stay short, and break only between nodes.
#[test]
fn moves_are_wrapped() {
    let turns = Point::all(size(5)).map(|point| Turn { color: Black, mv: Move::Play(point), comment: String::new() });
    let text = Record { turns: turns.collect(), ..Record::new(size(5)) }.to_sgf();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1..].iter().all(|line| line.starts_with(";B[")));
}

fn line() -> impl Strategy<Value = String> {
    "[a-z0-9 :;()\\[\\]\\\\é界]{0,12}"
}

fn lines() -> impl Strategy<Value = String> {
    "[a-z0-9 :;()\\[\\]\\\\é界\n]{0,20}"
}

fn color() -> impl Strategy<Value = Color> {
    prop::sample::select(Color::BOTH.to_vec())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let margin = prop_oneof![
        (0_u16..800).prop_map(|half| Margin::Points(f32::from(half) / 2.0)),
        Just(Margin::Resignation),
        Just(Margin::Time),
        Just(Margin::Forfeit),
        Just(Margin::Unknown),
    ];
    prop_oneof![
        (color(), margin).prop_map(|(color, margin)| Outcome::Win(color, margin)),
        Just(Outcome::Draw),
        Just(Outcome::Void),
        Just(Outcome::Unknown),
    ]
}

fn player() -> impl Strategy<Value = Player> {
    (line(), line()).prop_map(|(name, rank)| Player { name, rank })
}

fn turns(size: Size) -> impl Strategy<Value = Vec<Turn>> {
    let turn = (color(), 0..size.moves(), lines()).prop_map(move |(color, index, comment)| Turn {
        color,
        mv: Move::from_index(size, index).expect("every index is a move"),
        comment,
    });
    prop::collection::vec(turn, 0..30)
}

fn setup(size: Size) -> impl Strategy<Value = Stones> {
    prop::collection::vec((0..size.area(), color()), 0..10).prop_map(move |list| {
        let mut stones = Stones::EMPTY;
        for (index, color) in list {
            let point = Point::from_index(size, index).expect("the index is below the area");
            stones.of_mut(color.opponent()).remove(point);
            stones.of_mut(color).insert(point);
        }
        stones
    })
}

fn record() -> impl Strategy<Value = Record> {
    (2_usize..=19).prop_map(size).prop_flat_map(|size| {
        let facts = (prop::option::of((-399_i16..400).prop_map(|half| f32::from(half) / 2.0)), 0_usize..10, color());
        let texts = (line(), line(), lines(), prop::option::of((line(), line())));
        let players = (player(), player());
        (facts, texts, players, setup(size), turns(size), prop::option::of(outcome())).prop_map(
            move |((komi, handicap, first), (rules, date, comment, app), (black, white), setup, turns, outcome)| {
                let application = app.map(|(name, version)| Application { name, version });
                Record {
                    size,
                    komi,
                    handicap,
                    setup,
                    first,
                    turns,
                    outcome,
                    black,
                    white,
                    rules,
                    date,
                    application,
                    comment,
                }
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn written_games_are_read_back(record in record()) {
        prop_assert_eq!(Record::parse(record.to_sgf().as_bytes()), Ok(record));
    }

    #[test]
    fn collections_of_written_games_are_read(records in prop::collection::vec(record(), 1..4)) {
        let text: String = records.iter().map(Record::to_sgf).collect();
        let read: Result<_, _> = parse(text.as_bytes()).unwrap().iter().map(Record::from_tree).collect();
        prop_assert_eq!(read, Ok(records));
    }
}
