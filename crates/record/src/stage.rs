//! Stages of a game, by which errors of values are averaged.

/// A stage of a game of 9x9.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// After 0 to 14 moves.
    Early,
    /// After 15 to 26 moves.
    Middle,
    /// After 27 moves and more.
    Late,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Stage; 3] = [Stage::Early, Stage::Middle, Stage::Late];

    /// The stage of a position after so many moves.
    pub fn of(turn: usize) -> Stage {
        match turn {
            0..15 => Stage::Early,
            15..27 => Stage::Middle,
            27.. => Stage::Late,
        }
    }

    /// Its moves, as tables name them.
    pub fn moves(self) -> &'static str {
        match self {
            Stage::Early => "before 15",
            Stage::Middle => "15 to 26",
            Stage::Late => "from 27",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_begin_at_the_moves_of_their_names() {
        let of = |turn| Stage::of(turn).moves();
        assert_eq!([of(0), of(14)], ["before 15"; 2]);
        assert_eq!([of(15), of(26)], ["15 to 26"; 2]);
        assert_eq!([of(27), of(500)], ["from 27"; 2]);
        assert_eq!([0, 15, 27].map(Stage::of), Stage::ALL);
    }
}
