//! Reading SGF: what is understood, and what is said of what is not.

use go::Color::{Black, White};
use go::sgf::{Application, Fault, Margin, Notice, Outcome, Record, ReplayError, parse, unread_encoding};
use go::{Color, Illegal, Move, Point, PositionError};

use crate::boards::{size, stones, vertex};

fn read(text: &str) -> Record {
    Record::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn moves(record: &Record) -> Vec<String> {
    let letter = |color| if color == Black { "B" } else { "W" };
    record.turns.iter().map(|turn| format!("{} {}", letter(turn.color), turn.mv.to_gtp(record.size))).collect()
}

#[test]
fn root_describes_the_game() {
    let record = read(
        "(;GM[1]FF[4]CA[UTF-8]AP[Some\\:thing:1.2]SZ[9]KM[7.5]HA[2]RU[Chinese]PB[Black \\] player]BR[9d]PW[白]WR[1k]\
         DT[2026-01-31]RE[W+3.5]C[first\\\nline\nsecond])",
    );
    assert_eq!(record.size, size(9));
    assert_eq!((record.komi, record.handicap), (Some(7.5), 2));
    assert_eq!((record.black.name.as_str(), record.black.rank.as_str()), ("Black ] player", "9d"));
    assert_eq!((record.white.name.as_str(), record.white.rank.as_str()), ("白", "1k"));
    assert_eq!((record.rules.as_str(), record.date.as_str()), ("Chinese", "2026-01-31"));
    assert_eq!(record.application, Some(Application { name: "Some:thing".into(), version: "1.2".into() }));
    assert_eq!(record.outcome, Some(Outcome::Win(White, Margin::Points(3.5))));
    assert_eq!(record.comment, "firstline\nsecond");
    assert_eq!(record.first, White, "Black has been given two stones");
}

#[test]
fn file_without_properties_is_19x19_and_black_begins() {
    let record = read("(;)");
    assert_eq!(record, Record::new(size(19)));
    assert_eq!(read("(;KM[ ]HA[])"), record, "empty numbers are as good as none");
}

#[test]
fn moves_count_from_the_top_left_and_passes_are_empty_or_tt() {
    let record = read("(;SZ[9];B[aa];W[ia];B[];W[tt]C[both passed];B[ai])");
    assert_eq!(moves(&record), ["B A9", "W J9", "B pass", "W pass", "B A1"]);
    assert_eq!(record.turns[3].comment, "both passed");
    assert_eq!(read("(;SZ[19];B[tt];W[ss])").turns[0].mv, Move::Pass);
}

#[test]
fn move_may_stand_in_the_root_and_comments_may_stand_alone() {
    let record = read("(;SZ[5]C[game]B[cc]C[move];C[more];W[bb])");
    assert_eq!(moves(&record), ["B C3", "W B4"]);
    assert_eq!(record.turns[0].comment, "game\nmove\nmore");
}

#[test]
fn main_line_takes_the_first_of_every_branch() {
    let text = "(;SZ[9];B[aa](;W[bb](;B[cc])(;B[dd];W[ee]))(;W[ff]))";
    assert_eq!(moves(&read(text)), ["B A9", "W B8", "B C7"]);
    let trees = parse(text.as_bytes()).unwrap();
    let fork = trees[0].main_line().nth(1).unwrap();
    let second: Vec<String> = trees[0].children(fork).map(|node| node.value("W").unwrap().text()).collect();
    assert_eq!(second, ["bb", "ff"]);
    assert_eq!(trees[0].nodes().len(), 7);
}

#[test]
fn setup_stones_may_be_lists_and_rectangles_and_be_taken_off() {
    let record = read("(;SZ[5]AB[aa:cc][ee]AE[bb]AW[ec:ed];PL[W]AW[ea];B[da])");
    assert_eq!(record.setup, stones(5, "XXX.O/X.X../XXX.O/....O/....X"));
    assert_eq!(record.first, White);
    assert_eq!(record.replay().unwrap().turn(), 1);
    assert_eq!(read("(;PL[B];W[aa])").first, Black);
    assert_eq!(read("(;AB[dd][pp]HA[2];W[aa])").first, White);
    assert_eq!(read("(;;W[aa];B[bb])").first, White);
    assert_eq!(read("(;SZ[9]AB[cc][gg])").first, White, "a handicap without HA");
    assert_eq!(read("(;SZ[9]AB[cc][gg];B[ee])").first, Black);
    assert_eq!(read("(;SZ[9]AB[cc][gg]AW[ee])").first, Black, "a position");
    assert_eq!(read("(;SZ[9]AB[cc])").first, Black);
}

#[test]
fn collections_have_any_number_of_games_and_mail_before_them() {
    let trees = parse(b"From: me (you; know)\n\n( ;SZ[9];B[aa])\n\t(;SZ[13])\x1a\0").unwrap();
    let sizes: Vec<_> = trees.iter().map(|tree| Record::from_tree(tree).unwrap().size.side()).collect();
    assert_eq!(sizes, [9, 13]);
}

#[test]
fn text_after_the_last_game_is_skipped() {
    let moves_of = |text: &str| read(text).turns.len();
    assert_eq!(moves_of("(;SZ[9];B[ee])\n-- \nsent from (my) phone"), 1);
    assert_eq!(moves_of("(;SZ[9];B[ee])\nRegards"), 1);
    for text in ["-- \nsent from (my) phone", "Regards", "*** end", "[end]"] {
        assert_eq!(parse(format!("(;SZ[9];B[ee])\n{text}").as_bytes()).map(|trees| trees.len()), Ok(1), "{text}");
    }
    let fault = parse(b"(;SZ[9])\nand\n(;SZ[9])").unwrap_err().fault;
    assert_eq!(fault, Fault::Unexpected('a'), "another game follows");
}

#[test]
fn first_game_is_read_whatever_follows_it() {
    for rest in ["(;SZ[9];B[bb", "Game 2:\n(;SZ[9])", "(;SZ[9]&&)", ")", "*** end", "(c) 2026"] {
        assert_eq!(moves(&read(&format!("(;SZ[9];B[aa])\n{rest}"))), ["B A9"], "{rest}");
    }
}

#[test]
fn text_that_is_not_utf8_is_latin1() {
    assert_eq!(Record::parse(b"(;PB[J\xf6rg])").unwrap().black.name, "Jörg");
    assert_eq!(Record::parse("\u{feff}(;PB[Jörg])".as_bytes()).unwrap().black.name, "Jörg");
}

#[test]
fn moves_are_read_in_encodings_with_the_bytes_of_sgf() {
    // Each comment, such as 可能 in Shift_JIS, has a character whose second byte is that of a backslash or bracket.
    let check = |encoding: &str, comment: &[u8], characters: usize| {
        let text = [format!("(;SZ[9]CA[{encoding}]C[").as_bytes(), comment, b"];B[ee];W[cc])"].concat();
        let record = Record::parse(&text).unwrap_or_else(|error| panic!("{encoding}: {error}"));
        assert_eq!(moves(&record), ["B E5", "W C7"], "{encoding}");
        assert_eq!(record.comment, "\u{fffd}".repeat(characters), "{encoding}");
        assert_eq!(unread_encoding(&text), Some(encoding.to_lowercase()));
    };
    check("Shift_JIS", b"\x89\xc2\x94\x5c", 2);
    check("Shift_JIS", b"\x83\x5d\x83\x8d\x96\xda", 3);
    check("SJIS", b"\xc0\xc0\xb1", 3);
    check("Big5", b"\xa5\x5c", 1);
    check("GBK", b"\x81\x5d\x81\x5c", 2);
}

#[test]
fn unread_encodings_are_those_that_are_neither_utf8_nor_latin1() {
    assert_eq!(unread_encoding(b"(;CA[EUC-JP]PB[\xb9\xf5])"), Some("euc-jp".to_owned()));
    assert_eq!(unread_encoding("(;CA[EUC-JP]PB[黒])".as_bytes()), None, "it is UTF-8");
    assert_eq!(unread_encoding(b"(;CA[ISO-8859-1]PB[J\xf6rg])"), None);
    assert_eq!(unread_encoding(b"(;PB[J\xf6rg])"), None);
}

#[test]
fn komi_in_hundredths_is_converted_to_points() {
    let check = |written, komi| assert_eq!(read(&format!("(;KM[{written}])")).komi, Some(komi), "{written}");
    check("375", 7.5);
    check("325", 6.5);
    check("650", 6.5);
    check("750", 7.5);
    check("-375", -7.5);
    check("199.5", 199.5);
    check("250.0", 250.0);
    check("3.75", 3.75);
}

#[test]
fn komi_is_usable_up_to_the_area_of_the_board() {
    let found = |komi: &str| {
        let record = read(&format!("(;SZ[5]{komi};B[cc])"));
        (record.usable_komi(), record.notices())
    };
    assert_eq!(found("KM[25]"), (Some(25.0), Vec::new()));
    assert_eq!(found("KM[-25.5]"), (None, vec![Notice::Komi(-25.5)]));
    assert_eq!(found(""), (None, Vec::new()));
}

#[test]
fn handicap_without_stones_is_lacking() {
    let lacks = |text: &str| match read(text).notices()[..] {
        [] => false,
        [Notice::Handicap(stones)] => stones > 1,
        ref others => panic!("{text}: {others:?}"),
    };
    assert!(lacks("(;HA[4];W[dd])") && lacks("(;HA[2])"));
    assert!(!lacks("(;HA[2]AB[dd][pp];W[aa])"));
    assert!(!lacks("(;HA[2];B[dd];B[pp];W[aa])"), "Black plays them");
    assert!(!lacks("(;HA[1];W[dd])") && !lacks("(;HA[0];W[dd])"));
}

#[test]
fn old_files_spell_properties_in_small_letters_too() {
    assert_eq!(read("(;SiZe[9]PlayerBlack[x])").size, size(9));
}

#[test]
fn names_of_properties_may_have_digits() {
    let text = "(;SZ[9]LZOP2[a 50 1];B[ee]LZ[b]LZ2[a 50 1])";
    assert_eq!(moves(&read(text)), ["B E5"]);
    let trees = parse(text.as_bytes()).unwrap();
    let node = trees[0].main_line().nth(1).unwrap();
    assert_eq!(["LZ", "LZ2"].map(|name| node.value(name).unwrap().text()), ["b", "a 50 1"]);
}

#[test]
fn line_breaks_of_every_kind_are_one() {
    assert_eq!(read("(;C[a\r\nb\n\rc\rd\ne\\\r\nf\tg\\\\h])").comment, "a\nb\nc\nd\nef g\\h");
    assert_eq!(read("(;PB[a\nb])").black.name, "a b");
}

#[test]
fn results_are_read_as_written_by_everyone() {
    let check = |text, expected| assert_eq!(read(&format!("(;RE[{text}])")).outcome, Some(expected), "{text}");
    let win = |color: Color, margin| Outcome::Win(color, margin);
    check("B+0.5", win(Black, Margin::Points(0.5)));
    check("W+12", win(White, Margin::Points(12.0)));
    check("W+R", win(White, Margin::Resignation));
    check("B+Resign", win(Black, Margin::Resignation));
    check("B+T", win(Black, Margin::Time));
    check("W+Forfeit", win(White, Margin::Forfeit));
    check("W+", win(White, Margin::Unknown));
    check("0", Outcome::Draw);
    check("Draw", Outcome::Draw);
    check("Void", Outcome::Void);
    check("?", Outcome::Unknown);
    check("Black wins", Outcome::Unknown);
    check("B+NaN", Outcome::Unknown);
    check("B+1e9", Outcome::Unknown);
    for outcome in ["B+0.5", "W+12", "W+R", "B+T", "B+F", "W+", "0", "Void", "?"] {
        assert_eq!(Outcome::parse(outcome).to_string(), outcome);
    }
}

fn check_error(text: &str, line: usize, column: usize, fault: Fault) {
    let error = Record::parse(text.as_bytes()).expect_err(text);
    assert_eq!((error.line, error.column, error.fault), (line, column, fault), "{text}");
}

#[test]
fn faults_of_the_text_say_where() {
    check_error("", 1, 1, Fault::NoGame);
    check_error("no game\nhere (at all)", 2, 14, Fault::NoGame);
    check_error("(;B[aa]\n;W[bb]", 1, 1, Fault::UnclosedGame);
    check_error("(;B[aa]\r\n;C[never closed\\]", 2, 3, Fault::UnclosedValue);
    check_error("(;B[aa];W)", 1, 9, Fault::NoValue("W".into()));
    check_error("(;B[aa]x)", 1, 8, Fault::NoValue(String::new()));
    check_error("(;B[aa]\n  ])", 2, 3, Fault::Unexpected(']'));
    check_error("(;B[aa]())", 1, 9, Fault::Unexpected(')'));
    check_error("(;(;B[aa]);W[bb])", 1, 11, Fault::Unexpected(';'));
    let error = parse(b"(;B[aa])) (;W[bb])").unwrap_err();
    assert_eq!((error.line, error.column, error.fault), (1, 9, Fault::Unexpected(')')));
    check_error("(;((;B[aa])))", 1, 4, Fault::Unexpected('('));
    check_error("(;C[日本\r\n語];1)", 2, 4, Fault::Unexpected('1'));
}

/// The time of a hundred thousand would be that of their pairs.
#[test]
fn node_with_more_properties_than_programs_write_is_refused() {
    let letter = |digit: u32| char::from(b'A' + (digit % 26) as u8);
    let property = |n: u32| format!("{}{}{}[]", letter(n / 676), letter(n / 26), letter(n));
    let node = |count: u32| format!("(;{})", (0..count).map(property).collect::<String>());
    assert!(parse(node(1000).as_bytes()).is_ok());
    assert!(parse(node(1000).replace(')', "AAA[])").as_bytes()).is_ok(), "one of them twice");
    assert_eq!(parse(node(1001).as_bytes()).unwrap_err().fault, Fault::ManyProperties(1000));
}

#[test]
fn faults_of_the_game_say_where() {
    let bad = |property, value: &str, wanted| Fault::BadValue(property, value.into(), wanted);
    check_error("(;GM[2])", 1, 5, Fault::OtherGame("2".into()));
    check_error("(;SZ[9:7])", 1, 5, bad("SZ", "9:7", "the size of a square board"));
    check_error("(;SZ[x])", 1, 5, bad("SZ", "x", "the size of a square board"));
    check_error("(;SZ[20])", 1, 5, Fault::Size(go::SizeError { side: 20 }));
    check_error("(;SZ[1:1])", 1, 5, Fault::Size(go::SizeError { side: 1 }));
    check_error("(;KM[6,5])", 1, 5, bad("KM", "6,5", "a number"));
    check_error("(;KM[inf])", 1, 5, bad("KM", "inf", "a number"));
    check_error("(;HA[-2])", 1, 5, bad("HA", "-2", "a whole number"));
    check_error("(;PL[Q])", 1, 5, bad("PL", "Q", "a player"));
    check_error("(;SZ[9]\n;B[jj])", 2, 3, bad("B", "jj", "a point of the board"));
    check_error("(;SZ[9];B[AA])", 1, 10, bad("B", "AA", "a point of the board"));
    check_error("(;SZ[9]AB[aa][cc:bb])", 1, 14, bad("AB", "cc:bb", "a point or rectangle of the board"));
    check_error("(;SZ[9]AW[aj])", 1, 10, bad("AW", "aj", "a point or rectangle of the board"));
    check_error("(;B[aa]W[bb])", 1, 9, Fault::TwoMoves);
    check_error("(;B[aa]B[bb])", 1, 9, Fault::TwoMoves);
    check_error("(;B[aa];AW[bb])", 1, 11, Fault::LateSetup);
}

#[test]
fn errors_read_well() {
    let error = Record::parse(b"(;SZ[9]\n;B[jj])").unwrap_err();
    assert_eq!(error.to_string(), "line 2 column 3: B[jj] is not a point of the board");
    let error = Record::parse(b"(;SZ[25])").unwrap_err();
    assert_eq!(error.to_string(), "line 1 column 5: board size must be a whole number from 2 to 19, not 25");
}

#[test]
fn replaying_names_the_illegal_move() {
    let record = read("(;SZ[5]AB[ba][ab]AW[ca][bb];W[dd];B[ee];W[];B[aa];W[aa])");
    let expected =
        ReplayError::Move { number: 5, color: White, vertex: "A5".into(), reason: Illegal::Occupied(point("A5")) };
    assert_eq!(record.replay().unwrap_err(), expected);
    assert_eq!(expected.to_string(), "move 5 (white A5): the point is occupied");
}

#[test]
fn replaying_keeps_superko() {
    let record = read("(;SZ[5]AB[ba][ab][bc]AW[ca][bb][db][cc];B[cb];W[bb])");
    let reason = Illegal::Superko(point("B4"));
    assert_eq!(
        record.replay().unwrap_err(),
        ReplayError::Move { number: 2, color: White, vertex: "B4".into(), reason }
    );
    assert_eq!(record.replay_past().unwrap().turn(), 2);
    assert!(read("(;SZ[5]AB[ba][ab][bc]AW[ca][bb][db][cc];B[cb];W[ee];B[ed];W[bb])").replay().is_ok());
}

#[test]
fn replaying_names_setup_without_liberties() {
    let record = read("(;SZ[5]AB[aa]AW[ab][ba])");
    let (described, reason) = ("the chain at A5 has no liberty".into(), PositionError::NoLiberties(point("A5")));
    let expected = ReplayError::Setup { described, reason };
    assert_eq!(record.replay().unwrap_err(), expected);
    assert_eq!(expected.to_string(), "set-up: the chain at A5 has no liberty");
}

#[test]
fn one_colour_may_move_twice() {
    let game = read("(;SZ[9];B[aa];B[bb];W[cc])").replay().unwrap();
    assert_eq!(game.colors(), [Black, Black, White]);
    assert_eq!(game.to_move(), Black);
}

fn point(name: &str) -> Point {
    vertex(size(5), name).point().expect("a point, not a pass")
}
