//! A model for tests.

use go::Size;
use mcts::{Evaluator, Request, Value};
use record::DeepPosition;
use testing::Stub;

/// Its values follow from the request; its policy has the most for the first point, then for the second, and so on.
pub(super) fn made_up(value: fn(&Request<'_>) -> Value) -> impl Evaluator {
    Stub::new(move |request| {
        let policy = (1..=request.game.size().moves()).map(|nth| 1.0 / nth as f32).collect();
        (policy, value(request))
    })
}

/// Positions on 9x9 with komi 7.
pub(super) fn references(lines: &str) -> Vec<DeepPosition> {
    DeepPosition::read_all(lines, Size::new(9).expect("a size"), 7.0).expect("good lines")
}
