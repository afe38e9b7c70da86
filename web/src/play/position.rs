//! From messages to games, and from games to messages.

use go::{Color, Game, Move, PointSet, Position, Scoring, Size, Stones};

use super::message::{GameMessage, Placed, Player, PositionMessage, Start};

/// A game and its komi.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    /// The game.
    pub(crate) game: Game,
    /// Points added to White's area.
    pub(crate) komi: f32,
}

impl GameMessage {
    /// Plays the game.
    ///
    /// # Errors
    /// Why it is not possible by the rules, as a sentence for the person at the page.
    pub(crate) fn replay(&self) -> Result<Played, String> {
        let size = size(self.size)?;
        let komi = komi(self.komi, size)?;
        let start = Position::from_stones(size, &stones(size, &self.initial_stones)?, self.initial_player.into());
        let start = start.map_err(|error| format!("the first stones make no position: {}", error.on(size)))?;
        let mut game = Game::from_position(start);
        for (number, (player, vertex)) in self.moves.iter().enumerate() {
            let number = number + 1;
            let Some(mv) = Move::from_gtp(size, vertex) else {
                return Err(format!("move {number}: \"{}\" is no point of the board", shortened(vertex)));
            };
            let color = Color::from(*player);
            game.set_to_move(color);
            game.play(mv).map_err(|reason| format!("move {number} ({color} {vertex}): {reason}"))?;
        }
        Ok(Played { game, komi })
    }
}

impl Start {
    /// The game before its first move.
    ///
    /// # Errors
    /// Why there is no such game.
    pub(crate) fn game(&self) -> Result<GameMessage, String> {
        let size = size(self.size)?;
        komi(self.komi, size)?;
        // The first stone of Black is no handicap.
        let most = size.area() / 4;
        if self.handicap == 1 || self.handicap > most {
            let stones = match most {
                0 | 1 => return Err(format!("there is no handicap on {size}x{size}")),
                2 => "2".to_owned(),
                _ => format!("2 to {most}"),
            };
            return Err(format!("a handicap on {size}x{size} has {stones} stones, not {}", self.handicap));
        }
        let points = gtp::server::handicap_points(size, self.handicap);
        let stone = |point| (Player::B, Move::Play(point).to_gtp(size));
        Ok(GameMessage {
            size: self.size,
            komi: self.komi,
            initial_stones: points.into_iter().map(stone).collect(),
            initial_player: if self.handicap > 0 { Player::W } else { Player::B },
            moves: Vec::new(),
        })
    }
}

impl PositionMessage {
    /// The last position of a game.
    pub(super) fn of(game: &Game) -> PositionMessage {
        let size = game.size();
        let forbidden = game.position().empty_points() - game.legal_points();
        PositionMessage {
            board: diagram(size, game.position().stones()),
            to_move: game.to_move().into(),
            captures: Color::BOTH.map(|color| game.captures(color)),
            forbidden: vertices(size, forbidden),
            over: game.is_over(Scoring::PassAlive),
        }
    }
}

/// A character a point.
pub(super) fn diagram(size: Size, stones: &Stones) -> String {
    let letter = |point| match stones.at(point) {
        Some(Color::Black) => 'X',
        Some(Color::White) => 'O',
        None => '.',
    };
    go::Point::all(size).map(letter).collect()
}

/// The names of points.
pub(super) fn vertices(size: Size, points: PointSet) -> Vec<String> {
    points.iter().map(|point| Move::Play(point).to_gtp(size)).collect()
}

fn size(side: usize) -> Result<Size, String> {
    Size::new(side).map_err(|error| error.to_string())
}

/// Komi, if a board has as many points.
fn komi(komi: f32, size: Size) -> Result<f32, String> {
    if size.allows_komi(komi) { Ok(komi) } else { Err("komi must not exceed the area of the board".to_owned()) }
}

fn stones(size: Size, placed: &[Placed]) -> Result<Stones, String> {
    let mut stones = Stones::EMPTY;
    for (player, vertex) in placed {
        match Move::from_gtp(size, vertex).and_then(Move::point) {
            Some(point) if stones.at(point).is_none() => stones.of_mut((*player).into()).insert(point),
            Some(_) => return Err(format!("two first stones are on {vertex}")),
            None => return Err(format!("\"{}\" is no point of the board", shortened(vertex))),
        };
    }
    Ok(stones)
}

/// Text of others in a message.
fn shortened(text: &str) -> String {
    text.chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn message(size: usize, moves: &str) -> GameMessage {
        let placed = |(turn, vertex): (usize, &str)| {
            let player = if turn.is_multiple_of(2) { Player::B } else { Player::W };
            (player, vertex.to_owned())
        };
        GameMessage {
            size,
            komi: 7.0,
            initial_stones: Vec::new(),
            initial_player: Player::B,
            moves: moves.split_whitespace().enumerate().map(placed).collect(),
        }
    }

    fn error(message: &GameMessage) -> String {
        message.replay().expect_err("no game")
    }

    #[test]
    fn positions_have_stones_captures_and_forbidden_points() {
        let game = message(3, "A2 A3 B3").replay().expect("a game").game;
        let position = PositionMessage::of(&game);
        assert_eq!(position.board, ".X.X.....");
        assert_eq!((position.to_move, position.captures, position.over), (Player::W, [1, 0], false));
        assert_eq!(position.forbidden, ["A3"]);
        assert!(PositionMessage::of(&message(3, "pass pass").replay().expect("a game").game).over);
    }

    #[test]
    fn impossible_games_are_refused_with_the_move() {
        assert_eq!(error(&message(9, "E5 E5")), "move 2 (white E5): the point is occupied");
        assert_eq!(error(&message(9, "E5 Z9")), "move 2: \"Z9\" is no point of the board");
        assert!(error(&message(20, "")).contains("from 2 to 19"));
        assert!(error(&GameMessage { komi: f32::NAN, ..message(9, "") }).contains("komi"));
        let twice = vec![(Player::B, "A1".to_owned()), (Player::W, "A1".to_owned())];
        assert!(error(&GameMessage { initial_stones: twice, ..message(9, "") }).contains("two first stones"));
    }

    #[test]
    fn handicap_stones_are_those_of_gtp_and_white_begins() {
        let game = Start { size: 9, komi: 0.5, handicap: 2 }.game().expect("a game");
        assert_eq!(game.initial_stones, [(Player::B, "C3".to_owned()), (Player::B, "G7".to_owned())]);
        assert_eq!(game.initial_player, Player::W);
    }

    #[test]
    fn handicap_of_too_many_stones_or_one_is_refused_with_those_of_the_board() {
        let error = |size, handicap| Start { size, komi: 0.5, handicap }.game().expect_err("no game");
        assert_eq!(error(9, 1), "a handicap on 9x9 has 2 to 20 stones, not 1");
        assert_eq!(error(9, 21), "a handicap on 9x9 has 2 to 20 stones, not 21");
        assert_eq!(error(3, 3), "a handicap on 3x3 has 2 stones, not 3");
        assert_eq!(error(2, 2), "there is no handicap on 2x2");
        assert!(Start { size: 3, komi: 0.5, handicap: 2 }.game().is_ok());
    }
}
