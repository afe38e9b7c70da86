//! What a network predicts besides policy and value: the owner of each point and the score. Search uses neither.

use cpu::Prediction;
use go::Color;

use super::engines::OpenModel;
use super::message::{Content, PredictionMessage};
use super::position::Played;
use super::results::input_planes;

/// Ownership and score of the last position of a game, from a model with its auxiliary heads read.
pub(super) fn predict(model: &OpenModel, played: &Played) -> Content {
    let Played { game, komi } = played;
    let predicted = model.predictor().map(|predictor| predictor.predict(&input_planes(model.inputs, game, *komi)));
    let none = Prediction { ownership: None, margin: None };
    Content::Prediction(for_black(predicted.unwrap_or(none), game.to_move()))
}

fn for_black(Prediction { ownership, margin }: Prediction, to_move: Color) -> PredictionMessage {
    let sign = to_move.sign();
    PredictionMessage {
        ownership: ownership
            .map(|owners| owners.into_iter().map(|share| rounded(sign * (2.0 * share - 1.0), 100.0)).collect()),
        score_lead: margin.map(|margin| rounded(sign * margin, 10.0)),
    }
}

/// To a fraction, and without a negative zero.
fn rounded(number: f32, fractions: f32) -> f32 {
    (number * fractions).round() / fractions + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predictions_are_from_blacks_perspective() {
        let predicted = Prediction { ownership: Some(vec![1.0, 0.5, 0.256]), margin: Some(2.54) };
        let black = PredictionMessage { ownership: Some(vec![1.0, 0.0, -0.49]), score_lead: Some(2.5) };
        assert_eq!(for_black(predicted.clone(), Color::Black), black);
        let white = PredictionMessage { ownership: Some(vec![-1.0, 0.0, 0.49]), score_lead: Some(-2.5) };
        assert_eq!(for_black(predicted, Color::White), white);
    }
}
