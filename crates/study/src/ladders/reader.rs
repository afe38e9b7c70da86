//! Reads ladders to the end: a chain is hunted by moves that leave it one liberty, and runs or captures its way out.

use go::{Game, Move, Point, PointSet};

/// Positions of a reading, at most. A ladder across 19x19 takes a few hundred.
const PATIENCE: usize = 20_000;

/// Reads one chain, which is named by a point of it.
pub(crate) struct Reader {
    game: Game,
    target: Point,
    looked_at: usize,
}

/// The outcome of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is captured in so many moves, both sides' counted, if the hunter hurries and the hunted drags it out.
    Captured(usize),
    /// It gets away.
    Escapes,
}

/// The reading took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unread;

impl Reader {
    pub(crate) fn new(game: Game, target: Point) -> Reader {
        Reader { game, target, looked_at: 0 }
    }

    /// What the player to move can do about the chain, each with its outcome: the hunter can take one of its one
    /// or two liberties; the hunted, in atari, can extend or capture a hunting chain in atari.
    pub(crate) fn moves(&mut self) -> Result<Vec<(Move, Fate)>, Unread> {
        let hunts = self.is_hunters_turn();
        let candidates = if hunts { self.hunting_moves() } else { self.saving_moves() };
        let mut read = Vec::new();
        for mv in candidates.iter().map(Move::Play) {
            if self.game.is_legal(mv) {
                read.push((mv, self.after(mv)?));
            }
        }
        Ok(read)
    }

    fn is_hunters_turn(&self) -> bool {
        self.game.position().stone(self.target) != Some(self.game.to_move())
    }

    fn after(&mut self, mv: Move) -> Result<Fate, Unread> {
        let mark = self.game.mark();
        self.game.play(mv).expect("`moves` tries legal moves only");
        let fate = self.fate();
        self.game.rewind(&mark);
        fate
    }

    /// The outcome of the chain with best play.
    pub(crate) fn fate(&mut self) -> Result<Fate, Unread> {
        self.looked_at += 1;
        if self.looked_at > PATIENCE {
            return Err(Unread);
        }
        if self.game.position().stone(self.target).is_none() {
            return Ok(Fate::Captured(0));
        }
        let fates = |moves: Vec<(Move, Fate)>| moves.into_iter().map(|(_, fate)| fate.later());
        if self.is_hunters_turn() {
            Ok(fates(self.moves()?).min_by_key(|fate| fate.rank()).unwrap_or(Fate::Escapes))
        } else if self.liberties().len() > 1 {
            Ok(Fate::Escapes)
        } else {
            // With nothing to be done about it the chain waits to be taken off.
            Ok(fates(self.moves()?).max_by_key(|fate| fate.rank()).unwrap_or(Fate::Captured(2)))
        }
    }

    fn liberties(&self) -> PointSet {
        let position = self.game.position();
        position.chain(self.target).neighbours(position.size()) & position.empty_points()
    }

    fn hunting_moves(&self) -> PointSet {
        let liberties = self.liberties();
        if liberties.len() <= 2 { liberties } else { PointSet::EMPTY }
    }

    fn saving_moves(&self) -> PointSet {
        let position = self.game.position();
        let mut moves = self.liberties();
        let beside = position.chain(self.target).neighbours(position.size()) - position.empty_points();
        for hunter in beside.iter().filter(|&stone| position.liberties(stone) == 1) {
            moves |= position.chain(hunter).neighbours(position.size()) & position.empty_points();
        }
        moves
    }
}

impl Fate {
    fn later(self) -> Fate {
        match self {
            Fate::Captured(moves) => Fate::Captured(moves + 1),
            Fate::Escapes => Fate::Escapes,
        }
    }

    /// The hunter wants less of it.
    fn rank(self) -> usize {
        match self {
            Fate::Captured(moves) => moves,
            Fate::Escapes => usize::MAX,
        }
    }

    pub(crate) fn is_capture(self) -> bool {
        self != Fate::Escapes
    }
}

#[cfg(test)]
mod tests {
    use go::{Color, Size};

    use super::*;

    /// The fate of the white chain at `target`.
    fn read(diagram: &str, to_move: Color, target: &str) -> Fate {
        let size = Size::new(9).unwrap();
        let position = testing::position(size, diagram, to_move);
        let target = Move::from_gtp(size, target).unwrap().point().unwrap();
        Reader::new(Game::from_position(position), target).fate().unwrap()
    }

    const START: &str = "
        . . . . . . . . .
        . . X . . . . . .
        . X O . . . . . .
        . X . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .
        . . . . . . . . .";

    /// `START` with one more stone.
    fn with(stone: char, row: usize, column: usize) -> String {
        let mut rows: Vec<Vec<char>> =
            START.trim().lines().map(|line| line.chars().filter(|c| *c != ' ').collect()).collect();
        rows[row][column] = stone;
        rows.into_iter().map(|row| row.into_iter().collect::<String>()).collect::<Vec<_>>().join("\n")
    }

    /// Black to move: D7, C6, …, to the lower right corner.
    #[test]
    fn ladder_on_an_empty_board_works() {
        let Fate::Captured(moves) = read(START, Color::Black, "C7") else { panic!("it is captured") };
        assert!(moves > 15, "across the board: {moves}");
    }

    #[test]
    fn stone_in_the_way_breaks_it_and_one_beside_does_not() {
        // The ladder runs down the diagonal from (2, 2), two points wide.
        for (row, column) in [(5, 5), (6, 6), (4, 5), (7, 7)] {
            assert_eq!(read(&with('O', row, column), Color::Black, "C7"), Fate::Escapes, "{row} {column}");
        }
        for (row, column) in [(0, 8), (8, 0), (7, 2), (2, 7)] {
            assert!(read(&with('O', row, column), Color::Black, "C7").is_capture(), "{row} {column}");
        }
    }

    #[test]
    fn hunters_stone_in_the_way_makes_it_shorter() {
        let (Fate::Captured(empty), Fate::Captured(helped)) =
            (read(START, Color::Black, "C7"), read(&with('X', 5, 5), Color::Black, "C7"))
        else {
            panic!("both work")
        };
        assert!(helped < empty, "{helped} {empty}");
    }

    #[test]
    fn ladder_with_other_atari_escapes() {
        let size = Size::new(9).unwrap();
        let game = Game::from_position(testing::position(size, START, Color::Black));
        let target = Move::from_gtp(size, "C7").unwrap().point().unwrap();
        let moves = Reader::new(game, target).moves().unwrap();
        let names: Vec<_> = moves.iter().map(|(mv, fate)| (mv.to_gtp(size), fate.is_capture())).collect();
        assert_eq!(names, [("D7".to_owned(), true), ("C6".to_owned(), false)]);
    }

    /// With White at E7, the stone at D7 is in atari as soon as White comes to D6.
    #[test]
    fn hunting_stone_is_captured_on_the_way() {
        assert_eq!(read(&with('O', 2, 4), Color::Black, "C7"), Fate::Escapes);
    }

    #[test]
    fn two_liberties_are_no_atari() {
        assert_eq!(read(START, Color::White, "C7"), Fate::Escapes);
    }

    #[test]
    fn chain_with_three_liberties_is_free_and_one_in_atari_is_taken() {
        assert_eq!(read("...../..O../.....", Color::Black, "C8"), Fate::Escapes);
        assert_eq!(read(".XO./.XX.", Color::Black, "C9"), Fate::Captured(1));
    }

    /// White's only way out is to capture A8 from the corner; superko keeps Black from taking back.
    #[test]
    fn hunter_in_atari_is_captured() {
        assert_eq!(read(".XX./XO.X/OXX./O.../.O..", Color::White, "B8"), Fate::Escapes);
        assert!(read(".XX./XO.X/.XX./O.../.O..", Color::White, "B8").is_capture(), "A8 has two liberties");
    }
}
