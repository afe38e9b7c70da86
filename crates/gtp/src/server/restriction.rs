//! Moves that an analysis leaves out, as Leela Zero and KataGo read them: `avoid PLAYER VERTEX,VERTEX,… DEPTH`, and
//! `allow` for the only moves that it may follow.

use go::{Color, Move, Size};
use mcts::Avoid;

use super::Failure;
use super::parse::{color, vertex};

/// The lists of moves of a command: for each player several of moves to avoid, or one of moves that are allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Restriction {
    avoid: Vec<Avoid>,
    /// The players of whose moves `avoid` has all but those that are allowed.
    allowed: Vec<Color>,
}

impl Restriction {
    /// Adds what follows the key `avoid` or `allow` on a board of this size. LizzieYzy restricts both players to an
    /// area by two lists of allowed moves.
    pub(super) fn add<'a>(
        &mut self,
        key: &str,
        size: Size,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<(), Failure> {
        let listed = list(size, words).map_err(|problem| Failure::Argument(format!("{key}: {problem}")))?;
        let (player, allows) = (listed.player, key == "allow");
        let is_listed = self.avoid.iter().any(|other| other.player == player);
        let is_allowed = self.allowed.contains(&player);
        if allows && is_allowed {
            return Err(Failure::Argument(format!("allow can be given only once for {player}")));
        }
        if is_listed && allows != is_allowed {
            return Err(Failure::Argument(format!("avoid and allow cannot be given together for {player}")));
        }
        self.avoid.push(if allows { listed.all_others(size) } else { listed });
        self.allowed.extend(allows.then_some(player));
        Ok(())
    }

    /// What the search leaves out.
    pub(super) fn avoid(&self) -> &[Avoid] {
        &self.avoid
    }
}

/// Reads `PLAYER VERTEX,VERTEX,… DEPTH`; an error is the problem.
fn list<'a>(size: Size, words: &mut impl Iterator<Item = &'a str>) -> Result<Avoid, String> {
    let (Some(player), Some(vertices), Some(depth)) = (words.next(), words.next(), words.next()) else {
        return Err("wants a player, vertices separated by commas, and a depth".to_owned());
    };
    let player = color(player).map_err(|_| format!("{player:?} is not a player"))?;
    // Clients that build the list in a loop put a comma behind the last one, too.
    let vertices = vertices.split(',').filter(|word| !word.is_empty());
    let on_board = |word: &str| vertex(size, word).map_err(|_| format!("{word:?} is not a vertex of this board"));
    let moves = vertices.map(on_board).collect::<Result<Vec<Move>, String>>()?;
    if moves.is_empty() {
        return Err("lists no vertex".to_owned());
    }
    let until = depth.parse::<usize>().ok().filter(|&depth| depth > 0);
    let until = until.ok_or_else(|| format!("the depth {depth:?} is not an integer from 1"))?;
    Ok(Avoid::listed(player, &moves, until))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::engine_player::tests::engine_player;
    use crate::server::tests::{First, check_with, setup, talk_with};

    fn size() -> Size {
        Size::new(5).expect("a size")
    }

    fn mv(vertex: &str) -> Move {
        Move::from_gtp(size(), vertex).expect("a vertex")
    }

    /// What the lists of a command mean.
    fn read(text: &str) -> Result<Vec<Avoid>, Failure> {
        let (mut found, mut words) = (Restriction::default(), text.split_whitespace());
        while let Some(key) = words.next() {
            found.add(key, size(), &mut words)?;
        }
        Ok(found.avoid().to_vec())
    }

    #[test]
    fn lists_are_read_as_clients_write_them() {
        let (a1, b2) = (mv("A1"), mv("B2"));
        let black = Avoid::listed(Color::Black, &[a1, b2, Move::Pass], 20);
        let white = Avoid::listed(Color::White, &[b2], 1);
        for (text, expected) in [
            ("", vec![]),
            ("avoid B A1,B2,pass 20", vec![black]),
            ("avoid black a1,PASS,b2, 20 avoid w B2 1", vec![black, white]),
            ("allow W B2 1", vec![white.all_others(size())]),
            ("allow b a1,b2,pass 20 allow w b2 1", vec![black.all_others(size()), white.all_others(size())]),
            ("avoid w B2 1 allow b A1,B2,pass 20", vec![white, black.all_others(size())]),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        check_with(
            &mut First::default(),
            setup(5),
            "> 4 lz-analyze b 10 avoid
             ?4 avoid: wants a player, vertices separated by commas, and a depth
             > kata-analyze allow b A1
             ? allow: wants a player, vertices separated by commas, and a depth
             > analyze avoid A1 b 1
             ? avoid: \"A1\" is not a player
             > kata-analyze avoid b A1,T19 1
             ? avoid: \"T19\" is not a vertex of this board
             > kata-analyze avoid b A1;B1 1
             ? avoid: \"A1;B1\" is not a vertex of this board
             > kata-analyze avoid b , 1
             ? avoid: lists no vertex
             > lz-genmove_analyze b allow b A1 0
             ? allow: the depth \"0\" is not an integer from 1
             > kata-genmove_analyze b allow b A1 1.5
             ? allow: the depth \"1.5\" is not an integer from 1
             > kata-analyze avoid b A1 1 allow black A1 1
             ? avoid and allow cannot be given together for black
             > kata-analyze allow w A1 1 interval 5 avoid w A1 1
             ? avoid and allow cannot be given together for white
             > cgos-genmove_analyze b allow w A1 1 allow b A1 1 allow w B1 1
             ? allow can be given only once for white
             > move_history
             =",
        );
    }

    /// The moves that the last line of analysis shows, and the move that is played.
    fn thought(said: &str) -> (Vec<&str>, &str) {
        let (analysis, played) = said.trim_end().rsplit_once("\nplay ").expect("a move");
        let line = analysis.lines().last().expect("a line");
        (line.split("info move ").skip(1).filter_map(|info| info.split(' ').next()).collect(), played)
    }

    #[test]
    fn move_is_chosen_from_those_that_are_allowed() {
        for algorithm in ["puct", "gumbel"] {
            // The search before this one, which knows other moves, is not continued.
            let input = b"reg_genmove b\nkata-genmove_analyze b 360000 allow b A1,C3 1\n";
            let said = talk_with(&mut engine_player(algorithm, 60), setup(5), input);
            let (mut shown, played) = thought(&said);
            assert_eq!(shown[0], played, "{said}");
            shown.sort_unstable();
            assert_eq!(shown, ["A1", "C3"], "{algorithm}");
        }
    }

    /// A move of a book that is avoided is not played.
    #[test]
    fn book_and_the_next_search_heed_what_is_avoided() {
        let book = |_: &go::Game, _: f32| Some(mv("C3"));
        let mut player = engine_player("puct", 200).with_book(Box::new(book));
        let said = talk_with(&mut player, setup(5), b"lz-genmove_analyze b 360000 avoid b C3,A1 2\nreg_genmove w\n");
        let (own, rest) = said.split_once("\n\n").expect("two responses");
        let (shown, played) = thought(own);
        assert!(shown.len() > 10 && !shown.contains(&"C3") && !shown.contains(&"A1"), "{shown:?}");
        assert!(shown.contains(&played), "{said}");
        assert_eq!(rest, "= C3\n\n", "without a list the book counts");
    }
}
