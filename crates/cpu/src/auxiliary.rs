//! Auxiliary heads: the owner of each point and the margin at the end of the game, for people. Search uses neither.

use crate::board::Board;
use crate::description::Dense;
use crate::heads::output;
use crate::math::sigmoid;
use crate::model::Model;

/// The auxiliary heads of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Auxiliary {
    /// From the tower to the logit of a point's owner being the side to move.
    pub ownership: Option<Dense>,
    /// From the hidden layer of the value head to the margin, divided by the side of the board.
    pub score: Option<Dense>,
}

/// What the auxiliary heads of a network say of a position.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The probability of each point to be the side to move's at the end.
    pub ownership: Option<Vec<f32>>,
    /// Points by which the side to move wins, after komi.
    pub margin: Option<f32>,
}

impl Auxiliary {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ownership.is_none() && self.score.is_none()
    }

    /// The prediction of a position, from the last activations of the tower and of the hidden layer.
    pub(crate) fn predict(&self, model: &Model, trunk: &[f32], hidden: impl Iterator<Item = f32>) -> Prediction {
        let fits = |head: &Option<Dense>, width| head.as_ref().is_none_or(|head| head.weight.len() == width);
        assert!(fits(&self.ownership, model.filters), "the ownership head is that of another network");
        assert!(fits(&self.score, model.heads.hidden_width), "the score head is that of another network");
        let (Board { side, .. }, channels) = (model.board, model.stem.outputs);
        let owner = |head: &Dense, point: usize| {
            let from = model.board.index(0, point / side, point % side, channels);
            sigmoid(output(head, 0, trunk[from..].iter().copied()))
        };
        let owners = |head: &Dense| (0..side * side).map(|point| owner(head, point)).collect();
        let margin = |head: &Dense| output(head, 0, hidden) * side as f32;
        Prediction { ownership: self.ownership.as_ref().map(owners), margin: self.score.as_ref().map(margin) }
    }
}
