//! What is believed of the players before any game.

use config::{ModelId, RunName};

use crate::tally::Tally;

/// Elo between players of whom nothing is known, one standard deviation. Random play and the first models of a run
/// lie this far apart on 9x9.
const UNKNOWN: f64 = 1000.0;

/// Elo that the first move may be worth, one standard deviation. On small boards it can decide the game.
const FIRST_MOVE: f64 = 200.0;

/// Elo from one model of a run to the next, one standard deviation, before the games are looked at. Between 100 and 150
/// gave the smallest errors on simulated runs.
const STEP: f64 = 125.0;

/// How far the true step may be from [`STEP`], as one standard deviation of its logarithm.
const STEP_DOUBT: f64 = 0.7;

/// A belief that two players differ by a normal amount with mean 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// Place of the player in the tally.
    pub player: usize,
    /// The player it is compared with; `None` is the zero of the scale, which no player need have.
    pub to: Option<usize>,
    /// Standard deviation of the difference, in Elo.
    pub sd: f64,
}

/// What is believed of the players before any game: normal differences between some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior {
    /// The player whose rating is 0.
    pub anchor: Option<usize>,
    /// The beliefs.
    pub ties: Vec<Tie>,
    /// Standard deviation of the first-move advantage, in Elo.
    pub first_move: f64,
}

impl Prior {
    /// Nothing is believed but that every player is within a normal distance of the scale's zero.
    pub fn normal(tally: &Tally, sd: f64) -> Prior {
        let ties = (0..tally.players().len()).map(|player| Tie { player, to: None, sd }).collect();
        Prior { anchor: None, ties, first_move: FIRST_MOVE }
    }

    /// For the models of runs: a random walk from each model to the next of its run, `step` Elo for each number
    /// between them. Built-in models and the first model of a run may be anywhere around the anchor.
    ///
    /// A prior that pulls every player to the middle would bend a long learning curve; this one does not, and half of
    /// the error of a young run goes away with it.
    pub fn walk(tally: &Tally, step: f64) -> Prior {
        let anchor = anchor(tally);
        let others = (0..tally.players().len()).filter(|&player| Some(player) != anchor);
        let ties = others
            .map(|player| match predecessor(tally, player) {
                Some((before, steps)) => Tie { player, to: Some(before), sd: step * f64::from(steps).sqrt() },
                None => Tie { player, to: anchor, sd: UNKNOWN },
            })
            .collect();
        Prior { anchor, ties, first_move: FIRST_MOVE }
    }

    /// Candidates for the step of [`Prior::walk`], in Elo, with the logarithm of their own prior probability.
    pub(crate) fn steps() -> impl Iterator<Item = (f64, f64)> {
        (0..9).map(|half_octave| {
            let step = 50.0 * 2.0_f64.powf(0.5 * f64::from(half_octave));
            (step, -0.5 * ((step / STEP).ln() / STEP_DOUBT).powi(2))
        })
    }
}

/// The player called 0: random play where it takes part, else the oldest player.
fn anchor(tally: &Tally) -> Option<usize> {
    let rank = |&player: &usize| {
        let id = id(tally, player);
        (id != Some(ModelId::Random), id.is_none(), id, player)
    };
    (0..tally.players().len()).min_by_key(rank)
}

/// The nearest older model of the same run in the pool, and how many numbers lie between.
fn predecessor(tally: &Tally, player: usize) -> Option<(usize, u32)> {
    let (run, number) = numbered(tally, player)?;
    let older = (0..tally.players().len()).filter_map(|other| match numbered(tally, other)? {
        (other_run, other_number) if other_run == run && other_number < number => Some((other, number - other_number)),
        _ => None,
    });
    older.min_by_key(|&(_, steps)| steps)
}

fn numbered(tally: &Tally, player: usize) -> Option<(RunName, u32)> {
    match id(tally, player)? {
        ModelId::Trained { run, number } => Some((run, number)),
        ModelId::Uniform | ModelId::Random => None,
    }
}

/// `None` for a player that is no model of ours.
fn id(tally: &Tally, player: usize) -> Option<ModelId> {
    tally.players()[player].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(players: &[&str]) -> Prior {
        Prior::walk(&Tally::new(players.iter().copied()), 100.0)
    }

    fn tie(player: usize, to: usize, sd: f64) -> Tie {
        Tie { player, to: Some(to), sd }
    }

    #[test]
    fn each_model_is_tied_to_the_one_before_it() {
        let prior = walk(&["v1-9", "random", "v1-5", "v2-3", "uniform", "v1-1"]);
        assert_eq!(prior.anchor, Some(1));
        let unknown = [3, 4, 5].map(|player| tie(player, 1, UNKNOWN));
        assert_eq!(prior.ties, [[tie(0, 2, 200.0), tie(2, 5, 200.0)].as_slice(), &unknown].concat());
    }

    #[test]
    fn without_random_the_oldest_model_is_the_anchor() {
        assert_eq!((walk(&["v1-9", "v1-5"]).anchor, walk(&["gnugo", "v1-2"]).anchor), (Some(1), Some(1)));
        assert_eq!(walk(&["v1-9", "v1-5"]).ties, [tie(0, 1, 200.0)]);
        assert_eq!(walk(&["gnugo", "v1-2"]).ties, [tie(0, 1, UNKNOWN)]);
        assert_eq!((walk(&[]).anchor, walk(&[]).ties), (None, vec![]));
    }

    #[test]
    fn steps_cover_what_runs_do() {
        let steps: Vec<(f64, f64)> = Prior::steps().collect();
        let (likely, _) = steps.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are steps");
        assert!((100.0..150.0).contains(&likely));
        assert!(steps[0].0 == 50.0 && steps[8].0 == 800.0);
    }
}
