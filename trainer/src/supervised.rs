//! Human games, for training.

use std::collections::HashSet;

use config::RunConfig;
use go::{Stones, sgf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use record::{Converter, Example, GameRecord, RecordError, unpacked_sgf};
use store::{Source, SourceKind};

use crate::TrainerError;

/// A human game.
#[derive(Debug)]
pub(crate) struct HumanGame {
    pub(crate) record: GameRecord,
    /// The points of each player at its end, where they give the score.
    area: Option<Stones>,
}

/// Games for training, and games that are not.
#[derive(Debug, Default)]
pub struct HumanGames {
    training: Vec<HumanGame>,
    holdout: Vec<HumanGame>,
    /// Game and turn of every position of the games for training.
    positions: Vec<(u32, u16)>,
    /// Records of no use, with the reasons.
    pub left_out: Vec<String>,
    /// The collections.
    pub(crate) sources: Vec<Source>,
}

/// The positions of [`HumanGames`], epoch after epoch, each in its own random order.
pub(crate) struct Order<'a> {
    human_games: &'a HumanGames,
    seed: u64,
    /// Which round `order` is for.
    round: u64,
    order: Vec<u32>,
}

impl HumanGame {
    fn new(record: GameRecord) -> Result<HumanGame, RecordError> {
        Ok(HumanGame { area: record.final_area()?, record })
    }

    /// The example of one turn, from 0.
    fn example(&self, turn: usize) -> Result<Example, RecordError> {
        Ok(Example { area: self.area, ..self.record.example(turn)? })
    }
}

impl HumanGames {
    /// Reads collections of SGF, plain or gzipped, each with its name. Which games are held out is decided by the games
    /// and by `selfplay.holdout_fraction`, so that runs with one fraction hold out the same.
    ///
    /// # Errors
    /// A collection that cannot be unpacked, or no game that is of use; a record that is of none is omitted.
    pub fn read(config: &RunConfig, collections: &[(String, Vec<u8>)]) -> Result<HumanGames, TrainerError> {
        let mut human_games = HumanGames::default();
        let mut seen = HashSet::new();
        for (name, file) in collections {
            for (found, index) in games(config, name, file)?.into_iter().zip(1..) {
                match found {
                    Ok(game) if !seen.insert(game.record.id) => {}
                    Ok(game) if game.record.holdout => human_games.holdout.push(game),
                    Ok(game) => human_games.training.push(game),
                    Err(why) => human_games.left_out.push(format!("{name}, game {index}: skipped: {why}")),
                }
            }
            human_games.sources.push(Source::new(SourceKind::Games, name, file));
        }
        let games = human_games.training.iter().zip(0..);
        human_games.positions = games
            .flat_map(|(game, index)| (0..game.record.turns.len() as u16).map(move |turn| (index, turn)))
            .collect();
        if human_games.positions.is_empty() {
            return Err(TrainerError::NoGames {
                left_out: human_games.left_out.len(),
                holdout: human_games.holdout.len(),
            });
        }
        Ok(human_games)
    }

    /// Games for training.
    pub fn games(&self) -> usize {
        self.training.len()
    }

    /// Positions of these.
    pub fn positions(&self) -> usize {
        self.positions.len()
    }

    /// Games that are not trained on.
    pub fn holdout_games(&self) -> usize {
        self.holdout.len()
    }

    /// Positions of games that are not trained on, spread evenly over all of them, `most` at most.
    pub(crate) fn holdout(&self, most: usize) -> Result<Vec<Example>, RecordError> {
        spread(&self.holdout, most)
    }

    /// The best value for Black without the board: the mean outcome of the positions for training.
    pub(crate) fn mean_outcome(&self) -> f32 {
        let records = self.training.iter().map(|game| &game.record);
        let sum: f64 = records.map(|game| f64::from(game.outcome.as_i8()) * game.turns.len() as f64).sum();
        (sum / self.positions.len() as f64) as f32
    }
}

/// Every record of a collection, as a game of the run or with its problem.
pub(crate) fn games(
    config: &RunConfig,
    name: &str,
    file: &[u8],
) -> Result<Vec<Result<HumanGame, String>>, TrainerError> {
    let fail = |problem: String| TrainerError::Collection { name: name.to_owned(), problem };
    let text = unpacked_sgf(file).map_err(fail)?;
    let converter = converter(config, name);
    let game = |record: GameRecord| HumanGame::new(record).map_err(|e| e.to_string());
    let records = sgf::collection(&text).zip(0..);
    Ok(records.map(|(found, index)| found.and_then(|tree| converter.convert(index, &tree)).and_then(game)).collect())
}

/// Positions of some games, spread evenly over all of them, `most` at most.
pub(crate) fn spread(games: &[HumanGame], most: usize) -> Result<Vec<Example>, RecordError> {
    let all = games.iter().flat_map(|game| (0..game.record.turns.len()).map(move |turn| (game, turn)));
    let positions = games.iter().map(|game| game.record.turns.len()).sum();
    all.step_by(distance(positions, most)).map(|(game, turn)| game.example(turn)).collect()
}

/// The distance of positions that are spread evenly over all, `most` at most. An odd one lets either side be to move.
pub(crate) fn distance(positions: usize, most: usize) -> usize {
    positions.div_ceil(most).max(1) | 1
}

/// The mean of (value − outcome)², the value being Black's and the same for all.
pub(crate) fn squared_error(value: f32, examples: &[Example]) -> f32 {
    let squares = examples.iter().map(|example| (value - f32::from(example.outcome.as_i8())).powi(2));
    squares.sum::<f32>() / examples.len().max(1) as f32
}

impl<'a> Order<'a> {
    pub(crate) fn new(human_games: &'a HumanGames, seed: u64) -> Order<'a> {
        Order { human_games, seed, round: 0, order: order(human_games.positions.len(), seed, 0) }
    }

    /// The batch that is trained on in this step, from 0: so many positions, which follow those of the step before.
    pub(crate) fn batch(&mut self, step: u64, size: usize) -> Result<Vec<Example>, RecordError> {
        self.examples(step * size as u64, size)
    }

    /// So many positions of the last steps before this one, those of an earlier epoch excepted. Where the epoch in
    /// progress has had fewer, they are its first ones; where all of it is fewer, the next epochs follow.
    pub(crate) fn recent(&mut self, step: u64, batch: usize, count: usize) -> Result<Vec<Example>, RecordError> {
        let end = step * batch as u64;
        let positions = self.order.len() as u64;
        // The order of an earlier epoch would be drawn anew, and then that of this one again. So are those of the next
        // ones where a collection has fewer positions than are counted here, which costs little.
        let epoch = end.saturating_sub(1) / positions * positions;
        self.examples(epoch.max(end.saturating_sub(count as u64)), count)
    }

    fn examples(&mut self, first: u64, count: usize) -> Result<Vec<Example>, RecordError> {
        (first..first + count as u64).map(|place| self.example(place)).collect()
    }

    fn example(&mut self, place: u64) -> Result<Example, RecordError> {
        let count = self.order.len() as u64;
        if place / count != self.round {
            self.round = place / count;
            self.order = order(self.order.len(), self.seed, self.round);
        }
        let (game, turn) = self.human_games.positions[self.order[(place % count) as usize] as usize];
        self.human_games.training[game as usize].example(turn.into())
    }
}

/// The numbers below `count` in the order of random numbers that they are given.
fn order(count: usize, seed: u64, round: u64) -> Vec<u32> {
    // Weyl's sequence with the golden ratio, as for the symmetries of a step.
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut keyed: Vec<(u64, u32)> = (0..count as u32).map(|n| (rng.next_u64(), n)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, n)| n).collect()
}

/// Converts human games for a run of this configuration; `worker` is the worker of their records.
///
/// # Panics
/// As [`config::Game::board`].
pub fn converter(config: &RunConfig, worker: &str) -> Converter {
    Converter {
        size: config.game.board(),
        scoring: config.game.scoring,
        config_digest: config.digest(),
        holdout: f64::from(config.selfplay.holdout_fraction),
        worker: worker.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    #[test]
    fn recent_positions_are_those_of_the_last_steps_of_the_epoch() {
        let config = Preset::Tiny.with(&["selfplay.holdout_fraction=0.0"]).unwrap();
        let game = |komi: usize| format!("(;SZ[5]KM[{komi}.5]RE[B+R];B[aa];W[bb];B[cc])\n");
        let collection: String = (0..20).map(game).collect();
        let human_games = HumanGames::read(&config, &[("games.sgf".to_owned(), collection.into_bytes())]).unwrap();
        assert_eq!(human_games.positions(), 60);
        let mut order = Order::new(&human_games, 1);
        let batches: Vec<Vec<Example>> = (0..3).map(|step| order.batch(step, 16).unwrap()).collect();
        assert_eq!(order.recent(3, 16, 32).unwrap(), batches[1..].concat());
        assert_eq!(order.recent(0, 16, 32).unwrap(), batches[..2].concat());
        assert_eq!(order.recent(1, 16, 32).unwrap(), batches[..2].concat());
        // Four positions of step 3 are of the second epoch, which begins with position 60.
        order.batch(3, 16).unwrap();
        let second = order.examples(60, 32).unwrap();
        assert_eq!(order.recent(4, 16, 32).unwrap(), second);
        assert_eq!(order.round, 1);
        // All of the second epoch, and four positions of the third.
        let both = order.examples(60, 64).unwrap();
        assert_eq!(order.recent(4, 16, 64).unwrap(), both);
    }
}
