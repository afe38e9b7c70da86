//! Targets of a position: where the search went, and how the game ends.

use config::{PolicyTarget, RunConfig};
use go::Symmetry;
use mcts::choice;
use record::{Example, ExampleError};

/// How raw facts become targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// Turns at the start of a game whose moves were sampled from the visits and not picked.
    pub choice_moves: usize,
    /// The policy target from visits.
    pub policy: PolicyTarget,
    /// Exponent of visits that are squashed.
    pub policy_exponent: f32,
    /// Whether there is an ownership target.
    pub ownership: bool,
    /// Whether there is a target for the opponent's next move.
    pub opponent_policy: bool,
}

impl Targets {
    /// The targets of a configuration; those of heads only for a network that has them.
    pub fn new(config: &RunConfig) -> Targets {
        let RunConfig { network, selfplay, train, .. } = config;
        Targets {
            choice_moves: selfplay.choice_moves,
            policy: train.policy_target,
            policy_exponent: train.policy_exponent,
            ownership: network.ownership && train.ownership_weight > 0.0,
            opponent_policy: network.opponent_policy && train.opponent_policy_weight > 0.0,
        }
    }

    /// Writes the policy: visits^exponent scaled to sum 1 (see [`PolicyTarget`]), every move at the index that the
    /// symmetry gives it.
    ///
    /// # Errors
    /// No visits at all, or visits of a move that the board does not have.
    ///
    /// # Panics
    /// When `policy` has not one number for each move of the example's board.
    pub fn policy(&self, example: &Example, symmetry: Symmetry, policy: &mut [f32]) -> Result<(), ExampleError> {
        assert_eq!(policy.len(), example.size.moves(), "one probability a move");
        policy.fill(0.0);
        let places = symmetry.permutation(example.size);
        let exponent = self.exponent(example.turn);
        let visits: Vec<u32> = example.visits.iter().map(|&(_, count)| count).collect();
        if visits.iter().all(|&count| count == 0) {
            return Err(example.error("no visits"));
        }
        for (&(mv, _), weight) in example.visits.iter().zip(choice::weights(&visits, exponent)) {
            let place = *places.get(usize::from(mv)).ok_or_else(|| example.error(format!("no move {mv}")))?;
            policy[usize::from(place)] = weight;
        }
        Ok(())
    }

    /// Exponent on the visits of a turn.
    fn exponent(&self, turn: u16) -> f32 {
        match self.policy {
            PolicyTarget::Visits => 1.0,
            PolicyTarget::SquashedSampled if usize::from(turn) < self.choice_moves => self.policy_exponent,
            PolicyTarget::SquashedSampled => 1.0,
        }
    }

    /// What the value target is mixed of, for the side to move: the outcome, and the search's root value.
    ///
    /// # Errors
    /// A root value that is no number.
    pub fn value_sources(&self, example: &Example) -> Result<[f32; 2], ExampleError> {
        let root = example.root_value;
        if !root.is_finite() {
            return Err(example.error(format!("root value {root}")));
        }
        let sign = example.to_move.sign();
        Ok([sign * f32::from(example.outcome.as_i8()), sign * root])
    }

    /// Writes for each point, where the symmetry puts it, whose it is in the end: 1 the mover's, 0 the opponent's, ½
    /// neutral; returns whether that is known.
    ///
    /// # Panics
    /// When `ownership` has not one number for each point of the example's board.
    pub fn ownership(&self, example: &Example, symmetry: Symmetry, ownership: &mut [f32]) -> bool {
        assert_eq!(ownership.len(), example.size.area(), "one number a point");
        ownership.fill(0.5);
        let Some(area) = &example.area else { return false };
        let places = symmetry.permutation(example.size);
        for (color, value) in [(example.to_move, 1.0), (example.to_move.opponent(), 0.0)] {
            for point in area.of(color).iter() {
                ownership[usize::from(places[point.index()])] = value;
            }
        }
        true
    }

    /// Writes 1 for the opponent's next move, where the symmetry puts it, if that is known, and 0 for all others.
    ///
    /// # Errors
    /// A move that the board does not have.
    ///
    /// # Panics
    /// When `moves` has not one number for each move of the example's board.
    pub fn opponent_move(&self, example: &Example, symmetry: Symmetry, moves: &mut [f32]) -> Result<(), ExampleError> {
        assert_eq!(moves.len(), example.size.moves(), "one number a move");
        moves.fill(0.0);
        let Some(index) = example.opponent_move else { return Ok(()) };
        let place = symmetry.permutation(example.size).get(usize::from(index));
        let place = place.ok_or_else(|| example.error(format!("no move {index}")))?;
        moves[usize::from(*place)] = 1.0;
        Ok(())
    }

    /// The mover's margin in points after komi, divided by the side of the board, if the game was counted.
    pub fn score(&self, example: &Example) -> Option<f32> {
        example
            .score
            .filter(|score| score.is_finite())
            .map(|score| example.to_move.sign() * score / example.size.side() as f32)
    }

    /// How much the example counts.
    ///
    /// # Errors
    /// A weight that is no number above 0.
    pub fn weight(&self, example: &Example) -> Result<f32, ExampleError> {
        let weight = example.weight;
        let good = weight > 0.0 && weight.is_finite();
        if good { Ok(weight) } else { Err(example.error(format!("weight {weight}"))) }
    }
}

#[cfg(test)]
mod tests {
    use go::{Color, Point, PointSet, Size, Stones};
    use record::{GameId, Outcome, SearchKind};

    use super::*;

    const TARGETS: Targets = Targets {
        choice_moves: 2,
        policy: PolicyTarget::SquashedSampled,
        policy_exponent: 0.5,
        ownership: false,
        opponent_policy: false,
    };

    fn example(turn: u16, to_move: Color, visits: &[(u16, u32)]) -> Example {
        Example {
            game: GameId::of("a-1", "a-1", "digest", 7),
            turn,
            size: Size::new(2).unwrap(),
            komi: 0.5,
            base: Stones::EMPTY,
            recent: Vec::new(),
            to_move,
            visits: visits.to_vec(),
            opponent_move: None,
            kind: SearchKind::Full,
            root_value: -0.2,
            best_child_value: -0.1,
            network_value: 0.0,
            prior_entropy: 1.0,
            policy_surprise: None,
            outcome: Outcome::Black,
            score: None,
            area: None,
            weight: 1.0,
            calibration: false,
            model: "a-1".to_owned(),
        }
    }

    fn points(size: Size, indices: &[usize]) -> PointSet {
        indices.iter().map(|&index| Point::from_index(size, index).unwrap()).collect()
    }

    fn policy(example: &Example, symmetry: Symmetry) -> [f32; 5] {
        let mut policy = [9.0; 5];
        TARGETS.policy(example, symmetry, &mut policy).unwrap();
        policy
    }

    #[test]
    fn sampled_moves_are_squashed_and_picked_ones_are_not() {
        let visits = [(0, 9), (3, 4), (4, 1)];
        // √9 : √4 : √1 = 3 : 2 : 1.
        let sampled = policy(&example(1, Color::White, &visits), Symmetry::Identity);
        let picked = policy(&example(2, Color::Black, &visits), Symmetry::Identity);
        for (policy, expected) in [
            (sampled, [3.0 / 6.0, 0.0, 0.0, 2.0 / 6.0, 1.0 / 6.0]),
            (picked, [9.0 / 14.0, 0.0, 0.0, 4.0 / 14.0, 1.0 / 14.0]),
        ] {
            assert!(policy.iter().zip(expected).all(|(p, e)| (p - e).abs() < 1e-6), "{policy:?}");
        }
    }

    #[test]
    fn every_target_has_its_exponent() {
        let visits = [(0, 9), (1, 9), (3, 4)];
        let squashed = |exponent: f64| {
            let [nine, four] = [9.0, 4.0].map(|count: f64| count.powf(exponent));
            [nine, nine, 0.0, four, 0.0].map(|power| power / (2.0 * nine + four))
        };
        for (target, exponent, sampled, picked) in [
            (PolicyTarget::Visits, 0.95, squashed(1.0), squashed(1.0)),
            (PolicyTarget::SquashedSampled, 0.98, squashed(0.98), squashed(1.0)),
            (PolicyTarget::SquashedSampled, 8.0, squashed(8.0), squashed(1.0)),
        ] {
            let targets = Targets { policy: target, policy_exponent: exponent, ..TARGETS };
            for (turn, expected) in [(1, sampled), (2, picked)] {
                let mut policy = [9.0; 5];
                targets.policy(&example(turn, Color::Black, &visits), Symmetry::Identity, &mut policy).unwrap();
                let close = policy.iter().zip(expected).all(|(p, e)| (f64::from(*p) - e).abs() < 1e-6);
                assert!(close, "{target:?} {exponent}, turn {turn}: {policy:?}");
            }
        }
    }

    #[test]
    fn pass_stays_when_the_board_turns() {
        let turned = policy(&example(9, Color::Black, &[(1, 3), (4, 1)]), Symmetry::Rot90);
        // A quarter turn anticlockwise takes the top-right corner to the top-left one.
        assert_eq!(turned, [0.75, 0.0, 0.0, 0.0, 0.25]);
    }

    #[test]
    fn opponent_policy_turns_with_the_board() {
        let targets = |opponent_move| {
            let mut moves = [9.0; 5];
            let example = Example { opponent_move, ..example(0, Color::Black, &[(0, 1)]) };
            TARGETS.opponent_move(&example, Symmetry::Rot90, &mut moves).map(|()| moves)
        };
        assert_eq!(targets(Some(1)).unwrap(), [1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(targets(Some(4)).unwrap(), [0.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(targets(None).unwrap(), [0.0; 5]);
        assert!(targets(Some(5)).unwrap_err().to_string().ends_with("no move 5"));
    }

    #[test]
    fn value_is_for_the_side_to_move() {
        let values = |to_move| TARGETS.value_sources(&example(0, to_move, &[(0, 1)])).unwrap();
        assert_eq!([values(Color::Black), values(Color::White)], [[1.0, -0.2], [-1.0, 0.2]]);
    }

    /// The top-left corner is neutral, Black has the top-right one, and White the bottom.
    #[test]
    fn ownership_is_the_movers_and_turns_with_the_board() {
        let size = Size::new(2).unwrap();
        let area = Some(Stones { black: points(size, &[1]), white: points(size, &[2, 3]) });
        let ownership = |to_move, symmetry, area| {
            let mut owners = [9.0; 4];
            let example = Example { area, ..example(0, to_move, &[(0, 1)]) };
            let known = TARGETS.ownership(&example, symmetry, &mut owners);
            (known, owners)
        };
        assert_eq!(ownership(Color::Black, Symmetry::Identity, area), (true, [0.5, 1.0, 0.0, 0.0]));
        assert_eq!(ownership(Color::White, Symmetry::Identity, area), (true, [0.5, 0.0, 1.0, 1.0]));
        // A quarter turn anticlockwise takes 0 to 2, 1 to 0, 2 to 3, and 3 to 1.
        assert_eq!(ownership(Color::Black, Symmetry::Rot90, area), (true, [1.0, 0.0, 0.5, 0.0]));
        assert_eq!(ownership(Color::Black, Symmetry::Rot90, None), (false, [0.5; 4]));
    }

    #[test]
    fn score_is_the_movers_margin_by_the_side_of_the_board() {
        let target = |to_move, score| TARGETS.score(&Example { score, ..example(0, to_move, &[(0, 1)]) });
        // 3 points on a board of side 2.
        assert_eq!([Color::Black, Color::White].map(|mover| target(mover, Some(3.0))), [Some(1.5), Some(-1.5)]);
        assert_eq!([None, Some(f32::NAN), Some(f32::INFINITY)].map(|score| target(Color::Black, score)), [None; 3]);
    }

    #[test]
    fn examples_without_a_target_are_refused() {
        let mut policy = [0.0; 5];
        for (visits, expected) in [(&[][..], "no visits"), (&[(0, 0)], "no visits"), (&[(5, 1)], "no move 5")] {
            let error = TARGETS.policy(&example(3, Color::White, visits), Symmetry::Flip, &mut policy).unwrap_err();
            assert!(error.to_string().ends_with(&format!("turn 3: {expected}")), "{error}");
        }
        let nan = Example { root_value: f32::NAN, ..example(0, Color::Black, &[(0, 1)]) };
        assert!(TARGETS.value_sources(&nan).is_err());
        for weight in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let weightless = Example { weight, ..example(0, Color::Black, &[(0, 1)]) };
            assert!(TARGETS.weight(&weightless).unwrap_err().to_string().ends_with(&format!("weight {weight}")));
        }
    }
}
