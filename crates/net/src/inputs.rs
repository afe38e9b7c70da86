//! Input planes of networks: the available sets, for playing and training alike.

use std::fmt;

use go::{Game, Size, Symmetry};
use record::{Example, ExampleError, Replay};

use crate::{features, planes};

/// A set of planes.
///
/// The caller of a network writes bytes, one per point and plane; `Inputs::complete` makes of them what the network
/// calculates with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// The last eight boards and whose turn it is, 17 planes: those of `planes` (AlphaGo Zero, Minigo).
    #[default]
    History,
    /// The same, and another plane that is 1 everywhere when White is to move: 18 planes (Leela Zero). One
    /// plane cannot replace the two: convolutions pad with zeros at the border, so a plane of ones is more than a bias.
    LeelaZero,
    /// The board, liberties, ko, the last moves and komi, 16 planes: those of `features`. Whose turn it is makes no
    /// difference beyond komi.
    Features,
    /// The same and effects of single moves, ladders, and pass-alive regions, 31 planes: those of `features`, too.
    Tactics,
}

impl Inputs {
    /// All sets.
    pub(crate) const ALL: [Inputs; 4] = [Inputs::History, Inputs::LeelaZero, Inputs::Features, Inputs::Tactics];

    /// Boards that a network sees at most, the present one included: keys of evaluations need as many.
    pub const MOST_BOARDS: usize = {
        let (mut most, mut nth) = (0, 0);
        while nth < Inputs::ALL.len() {
            let boards = Inputs::ALL[nth].boards();
            most = if boards > most { boards } else { most };
            nth += 1;
        }
        most
    };

    const fn boards(self) -> usize {
        match self {
            Inputs::History | Inputs::LeelaZero => planes::BOARDS,
            Inputs::Features | Inputs::Tactics => features::BOARDS,
        }
    }

    /// Whether the planes tell where the board is, and komi.
    pub(crate) const fn tell_the_board(self) -> bool {
        matches!(self, Inputs::Features | Inputs::Tactics)
    }

    /// Whether the network sees komi.
    pub const fn tell_komi(self) -> bool {
        self.tell_the_board()
    }

    /// Whether the first planes are all those of the others.
    pub(crate) fn begin_with(self, others: Inputs) -> bool {
        self == others || (self, others) == (Inputs::Tactics, Inputs::Features)
    }

    /// What each plane is for, in words.
    pub fn names(self) -> Vec<String> {
        let all = if self.tell_the_board() { features::names() } else { planes::names() };
        all.into_iter().take(self.count()).collect()
    }

    /// Planes that the network sees.
    pub const fn count(self) -> usize {
        match self {
            Inputs::History => planes::COUNT,
            Inputs::LeelaZero => cpu::LEELA_ZERO_PLANES,
            Inputs::Features => features::COUNT,
            Inputs::Tactics => features::TACTICS_COUNT,
        }
    }

    /// The set of so many planes.
    pub(crate) fn of_count(count: usize) -> Option<Inputs> {
        Inputs::ALL.into_iter().find(|inputs| inputs.count() == count)
    }

    /// Planes that are written for a position.
    pub(crate) const fn written(self) -> usize {
        match self {
            Inputs::History | Inputs::LeelaZero => planes::COUNT,
            Inputs::Features => features::COUNT,
            Inputs::Tactics => features::TACTICS_COUNT,
        }
    }

    /// Bytes of a position on this board.
    pub const fn len(self, size: Size) -> usize {
        self.written() * size.area()
    }

    /// Writes the position that a game with this komi is in, under a symmetry.
    ///
    /// # Panics
    /// When `planes` has not [`Inputs::len`] bytes for the game's board.
    pub fn of_game(self, game: &Game, komi: f32, symmetry: Symmetry, planes: &mut [u8]) {
        match self {
            Inputs::History | Inputs::LeelaZero => planes::of_game(game, symmetry, planes),
            Inputs::Features | Inputs::Tactics => {
                let boards: [_; features::BOARDS] = std::array::from_fn(|k| game.stones_ago(k));
                features::write(game.position(), boards, || game.pass_alive(), komi, symmetry, planes);
            }
        }
    }

    /// Writes the position of an example, under a symmetry; `replay` is room for its boards.
    ///
    /// # Errors
    /// The boards of the example cannot be rebuilt.
    ///
    /// # Panics
    /// When `planes` has not [`Inputs::len`] bytes for the example's board.
    pub fn of_example(
        self,
        example: &Example,
        symmetry: Symmetry,
        replay: &mut Replay,
        planes: &mut [u8],
    ) -> Result<(), ExampleError> {
        replay.rebuild(example)?;
        let (position, mut boards) = (replay.position(), replay.boards());
        match self {
            Inputs::History | Inputs::LeelaZero => {
                planes::write(example.size, boards, example.to_move, symmetry, planes);
            }
            Inputs::Features | Inputs::Tactics => {
                let boards: [_; features::BOARDS] = std::array::from_fn(|_| boards.next());
                features::write(position, boards, || position.pass_alive(), example.komi, symmetry, planes);
            }
        }
        Ok(())
    }
}

impl fmt::Display for Inputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Inputs::History => "history",
            Inputs::LeelaZero => "history as in Leela Zero",
            Inputs::Features => "features",
            Inputs::Tactics => "tactics",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_plane_has_a_name_of_its_own() {
        for inputs in Inputs::ALL {
            let names = inputs.names();
            assert_eq!(names.len(), inputs.count(), "{inputs}");
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        }
        let names = Inputs::Tactics.names();
        assert_eq!(
            [&names[8], &names[features::KOMI], &names[25]],
            ["ko", "komi for the mover", "opponent’s stone would be suicide"]
        );
    }
}
