//! What examples tell of the searches that they come from, for the alarms.

use std::collections::HashSet;

use record::{Example, GameId};

/// Games of the examples, at least. Where there are fewer, one or two of them decide the means.
const LEAST_GAMES: usize = 16;

/// What searches added to the output of the network that they were made with: means over examples of self-play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SearchGain {
    /// Divergence of the policy target from the priors, in nats.
    pub(crate) surprise: f32,
    /// Entropy of the priors, in nats.
    pub(crate) prior_entropy: f32,
}

impl SearchGain {
    /// That of the examples that know their priors; `None` of few games.
    pub(crate) fn of(examples: &[Example]) -> Option<SearchGain> {
        let searched = examples.iter().filter_map(|example| Some((example, example.policy_surprise?)));
        let searched: Vec<(&Example, f32)> = searched.collect();
        let games: HashSet<GameId> = searched.iter().map(|(example, _)| example.game).collect();
        (games.len() >= LEAST_GAMES).then(|| SearchGain {
            surprise: mean(searched.iter().map(|&(_, surprise)| surprise)),
            prior_entropy: mean(searched.iter().map(|(example, _)| example.prior_entropy)),
        })
    }
}

fn mean(numbers: impl ExactSizeIterator<Item = f32>) -> f32 {
    let count = numbers.len();
    (numbers.map(f64::from).sum::<f64>() / count as f64) as f32
}

#[cfg(test)]
mod tests {
    use record::synthetic;

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
        }
        examples[0].prior_entropy = 99.0;
        examples[0].policy_surprise = None;
        let gain = SearchGain { surprise: 0.5, prior_entropy: 2.0 };
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
}
