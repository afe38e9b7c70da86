//! What examples tell of the searches and the games that they come from, for the alarms, and of values in each stage of
//! a game.

use std::collections::HashSet;

use record::{Example, GameId, Stage};

/// Games of the examples, at least. Where there are fewer, one or two of them decide the means.
const LEAST_GAMES: usize = 16;
/// Examples of which a share is known, at least: a trainer that resumes near the end of a model sees few.
const LEAST_EXAMPLES: usize = 1_000;

/// What searches added to the output of the network that they were made with: means over examples of self-play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchGain {
    /// Divergence of the policy target from the priors, in nats.
    pub(crate) surprise: f32,
    /// Entropy of the priors, in nats.
    pub(crate) prior_entropy: f32,
    /// Squared error of the root value against the outcome.
    pub(crate) root_error: f32,
    /// The same of the network's own value.
    pub(crate) network_error: f32,
}

impl SearchGain {
    /// That of the examples that know their priors; `None` of few games.
    pub(crate) fn of(examples: &[Example]) -> Option<SearchGain> {
        let searched = examples.iter().filter_map(|example| Some((example, example.policy_surprise?)));
        let searched: Vec<(&Example, f32)> = searched.collect();
        let games: HashSet<GameId> = searched.iter().map(|(example, _)| example.game).collect();
        let error = |example: &Example, value: f32| (value - f32::from(example.outcome.as_i8())).powi(2);
        (games.len() >= LEAST_GAMES).then(|| SearchGain {
            surprise: mean(searched.iter().map(|&(_, surprise)| surprise)),
            prior_entropy: mean(searched.iter().map(|(example, _)| example.prior_entropy)),
            root_error: mean(searched.iter().map(|(example, _)| error(example, example.root_value))),
            network_error: mean(searched.iter().map(|(example, _)| error(example, example.network_value))),
        })
    }
}

/// How many examples have a target for ownership or score, which those of resigned games lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scored {
    examples: usize,
    scored: usize,
}

impl Scored {
    /// Counts examples.
    pub(crate) fn add(&mut self, examples: &[Example]) {
        self.examples += examples.len();
        self.scored += examples.iter().filter(|example| example.area.is_some() || example.score.is_some()).count();
    }

    /// The share of those with a target; `None` of few examples.
    pub(crate) fn share(self) -> Option<f32> {
        (self.examples >= LEAST_EXAMPLES).then(|| self.scored as f32 / self.examples as f32)
    }
}

/// Squared error of values for the side to move against the root values of the examples, by stage of the game; `None`
/// of a stage without examples.
pub(crate) fn errors_by_stage(examples: &[Example], values: &[f32]) -> [Option<f32>; Stage::ALL.len()] {
    Stage::ALL.map(|stage| {
        let of_stage = examples.iter().zip(values).filter(|(example, _)| Stage::of(example.turn.into()) == stage);
        let squared =
            |(example, value): (&Example, &f32)| (example.to_move.sign() * value - example.root_value).powi(2);
        let errors: Vec<f32> = of_stage.map(squared).collect();
        (!errors.is_empty()).then(|| mean(errors.into_iter()))
    })
}

fn mean(numbers: impl ExactSizeIterator<Item = f32>) -> f32 {
    let count = numbers.len();
    (numbers.map(f64::from).sum::<f64>() / count as f64) as f32
}

#[cfg(test)]
mod tests {
    use go::Color;
    use record::{Outcome, synthetic};

    use super::*;

    /// The first example of each of so many games.
    fn examples(games: u64) -> Vec<Example> {
        let game = |index| synthetic::game("a-1", "w", index, go::Size::MIN, 4).examples().unwrap().swap_remove(0);
        (0..games).map(game).collect()
    }

    #[test]
    fn gain_of_searches_is_a_mean_over_the_examples_that_know_their_priors() {
        let mut examples = examples(LEAST_GAMES as u64 + 1);
        for (example, surprise) in examples.iter_mut().zip((0..).map(|number| (number % 2) as f32)) {
            (example.policy_surprise, example.prior_entropy) = (Some(surprise), 2.0);
            (example.outcome, example.root_value, example.network_value) = (Outcome::White, -0.5, 0.5);
        }
        examples[0].prior_entropy = 99.0;
        examples[0].policy_surprise = None;
        let gain = SearchGain { surprise: 0.5, prior_entropy: 2.0, root_error: 0.25, network_error: 2.25 };
        assert_eq!(SearchGain::of(&examples), Some(gain));
        examples[1].policy_surprise = None;
        assert_eq!(SearchGain::of(&examples), None, "a game fewer");
    }

    #[test]
    fn many_examples_of_few_games_are_few() {
        let game = synthetic::game("a-1", "w", 0, go::Size::MIN, 4).examples().unwrap();
        assert_eq!(SearchGain::of(&vec![game; 100].concat()), None);
        assert_eq!(SearchGain::of(&[]), None);
    }

    #[test]
    fn errors_are_means_by_stage_for_either_side_to_move() {
        let example = examples(1).swap_remove(0);
        let after = |turn, to_move, root_value| Example { turn, to_move, root_value, ..example.clone() };
        let examples = [
            after(0, Color::Black, 0.5),
            after(26, Color::White, 0.5),
            after(14, Color::White, -0.25),
            after(15, Color::Black, -0.5),
        ];
        let values = [0.0, -0.5, -0.5, 0.5];
        assert_eq!(errors_by_stage(&examples, &values), [Some(0.40625), Some(0.5), None]);
    }

    #[test]
    fn share_of_scored_examples_is_known_of_many_examples() {
        let mut example = examples(1).swap_remove(0);
        (example.score, example.area) = (None, None);
        let resigned = example.clone();
        let counted = Example { score: Some(2.5), ..example };
        let mut scored = Scored::default();
        scored.add(&vec![counted; 100]);
        scored.add(&vec![resigned.clone(); LEAST_EXAMPLES - 101]);
        assert_eq!(scored.share(), None);
        scored.add(&[resigned]);
        assert_eq!(scored.share(), Some(0.1));
    }
}
