//! A position with its past: what superko, features and the end of the game need.

use crate::color::Color;
use crate::illegal::Illegal;
use crate::point::{Move, Point};
use crate::point_set::PointSet;
use crate::position::Position;
use crate::size::Size;
use crate::stones::Stones;
use crate::superko::PositionSet;

/// A game in progress.
///
/// It does not refuse moves after two passes, since a GTP program has to play on when the controller requests it;
/// [`Game::is_over`] says when the players should stop.
#[derive(Clone, Debug)]
pub struct Game {
    position: Position,
    moves: Vec<Move>,
    colors: Vec<Color>,
    /// The boards before each move, and the present one last.
    boards: Vec<Stones>,
    /// The hashes of all boards, one for each that differs from the one before it.
    seen: PositionSet,
    /// The points from which stones of each colour have been captured. Only a stone put back on such a point can
    /// make a board that was there before.
    vacated: Stones,
    /// Stones captured by each colour.
    captures: [usize; 2],
    /// The pass-alive points, once computed.
    pass_alive: Option<Stones>,
}

/// A point in a game to which [`Game::rewind`] can go back.
#[derive(Clone, Debug)]
pub struct Mark {
    position: Position,
    turn: usize,
    seen: usize,
    vacated: Stones,
    captures: [usize; 2],
}

impl Mark {
    /// The number of moves played at this point.
    pub const fn turn(&self) -> usize {
        self.turn
    }
}

impl Game {
    /// A game from the empty board, Black to move.
    pub fn new(size: Size) -> Game {
        Game::from_position(Position::empty(size))
    }

    /// A game whose first position is this one.
    pub fn from_position(position: Position) -> Game {
        let mut seen = PositionSet::new();
        seen.push(position.hash());
        Game {
            boards: vec![*position.stones()],
            position,
            moves: Vec::new(),
            colors: Vec::new(),
            seen,
            vacated: Stones::EMPTY,
            captures: [0; 2],
            pass_alive: None,
        }
    }

    /// The present position.
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The size of the board.
    pub const fn size(&self) -> Size {
        self.position.size()
    }

    /// The player whose turn it is.
    pub const fn to_move(&self) -> Color {
        self.position.to_move()
    }

    /// Gives the turn to a player, as GTP and SGF may.
    pub const fn set_to_move(&mut self, color: Color) {
        self.position.set_to_move(color);
    }

    /// The moves played, passes included.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Who played each move.
    pub fn colors(&self) -> &[Color] {
        &self.colors
    }

    /// The number of moves played.
    pub const fn turn(&self) -> usize {
        self.moves.len()
    }

    /// The stones a player has captured.
    pub const fn captures(&self, by: Color) -> usize {
        self.captures[by.index()]
    }

    /// The board `k` moves ago; 0 is now. `None` before the first position.
    pub fn stones_ago(&self, k: usize) -> Option<&Stones> {
        self.boards.get(self.turn().checked_sub(k)?)
    }

    /// Plays a move for the player to move.
    ///
    /// # Errors
    /// When the move is illegal, positional superko included; the game is then unchanged.
    pub fn play(&mut self, mv: Move) -> Result<(), Illegal> {
        self.check(mv)?;
        self.play_checked(mv);
        Ok(())
    }

    /// The same for a move that was played elsewhere, perhaps under another ko rule: it may repeat a board, as in
    /// KataGo.
    ///
    /// # Errors
    /// When the point is occupied or the move is suicide; the game is then unchanged.
    pub fn play_past(&mut self, mv: Move) -> Result<(), Illegal> {
        if let Move::Play(point) = mv {
            self.position.check(point)?;
        }
        self.play_checked(mv);
        Ok(())
    }

    /// Plays a move that is legal but for superko.
    fn play_checked(&mut self, mv: Move) {
        let color = self.to_move();
        let captured = self.position.play_checked(mv);
        let stones = *self.position.stones();
        if captured > 0 {
            let other = color.opponent();
            let before = self.boards[self.turn()];
            *self.vacated.of_mut(other) |= *before.of(other) - *stones.of(other);
            self.captures[color.index()] += captured;
        }
        if mv != Move::Pass {
            self.seen.push(self.position.hash());
        }
        self.moves.push(mv);
        self.colors.push(color);
        self.boards.push(stones);
        self.pass_alive = None;
    }

    /// Whether the player to move may play a move; a pass is always legal.
    pub fn is_legal(&self, mv: Move) -> bool {
        self.check(mv).is_ok()
    }

    /// The points where the player to move may put a stone, superko included.
    pub fn legal_points(&self) -> PointSet {
        let mut legal = self.position.legal_points();
        for point in legal & *self.vacated.of(self.to_move()) {
            if self.repeats(point) {
                legal.remove(point);
            }
        }
        legal
    }

    /// Whether the last two moves were passes.
    pub fn passed_out(&self) -> bool {
        self.moves.ends_with(&[Move::Pass, Move::Pass])
    }

    /// Takes the last move back and gives the turn to who played it. Returns the move; `None` at the first position.
    ///
    /// It builds the position anew; a search goes back with [`Game::rewind`].
    pub fn undo(&mut self) -> Option<Move> {
        let mv = self.moves.pop()?;
        let color = self.colors.pop()?;
        let after = self.boards.pop()?;
        let before = self.boards[self.turn()];
        self.position = Position::from_stones(self.size(), &before, color).expect("a board of this game is legal");
        if mv != Move::Pass {
            self.seen.truncate(self.seen.len() - 1);
        }
        self.pass_alive = None;
        let other = color.opponent();
        self.captures[color.index()] -= (*before.of(other) - *after.of(other)).len();
        Some(mv)
    }

    /// The present point of the game, to come back to with [`Game::rewind`].
    pub fn mark(&self) -> Mark {
        Mark {
            position: self.position.clone(),
            turn: self.turn(),
            seen: self.seen.len(),
            vacated: self.vacated,
            captures: self.captures,
        }
    }

    /// Rewinds to an earlier point of this same game.
    ///
    /// # Panics
    /// When the mark is of a later point.
    pub fn rewind(&mut self, mark: &Mark) {
        assert!(mark.turn <= self.turn(), "a game can only be rewound to an earlier point");
        self.position.copy_from(&mark.position);
        self.moves.truncate(mark.turn);
        self.colors.truncate(mark.turn);
        self.boards.truncate(mark.turn + 1);
        self.seen.truncate(mark.seen);
        self.vacated = mark.vacated;
        self.captures = mark.captures;
        self.pass_alive = None;
    }

    /// The pass-alive points of each colour; see [`Position::pass_alive`].
    pub fn pass_alive(&self) -> Stones {
        self.pass_alive.unwrap_or_else(|| self.position.pass_alive())
    }

    /// The same, and remembers it until the board changes.
    pub fn find_pass_alive(&mut self) -> Stones {
        let found = self.pass_alive();
        self.pass_alive = Some(found);
        found
    }

    /// Whether every point is pass-alive for one colour, so that the game is decided.
    pub fn all_pass_alive(&self) -> bool {
        match self.pass_alive {
            Some(alive) => alive.both() == PointSet::full(self.size()),
            None => self.position.all_pass_alive(),
        }
    }

    fn check(&self, mv: Move) -> Result<(), Illegal> {
        let Move::Play(point) = mv else { return Ok(()) };
        self.position.check(point)?;
        if self.vacated.of(self.to_move()).contains(point) && self.repeats(point) {
            return Err(Illegal::Superko(point));
        }
        Ok(())
    }

    /// Whether a stone of the player to move on an empty point makes a board that was there before.
    fn repeats(&self, point: Point) -> bool {
        self.seen.contains(self.position.hash_after(point))
    }
}
