//! Whole games, played with models that need no weights.

mod guests;
mod matches;
mod selfplay;

use std::ops::ControlFlow;

use config::RunConfig;
use go::Game;
use mcts::{Draw, Evaluate, EvaluateError, Evaluation, Pushed, Value};
use play::{Contest, RandomModel, Selfplay, SelfplaySpec, run};
use record::GameRecord;

fn config(overrides: &[&str]) -> RunConfig {
    config::Preset::Tiny.with(overrides).expect("the overrides are good")
}

fn play<G: Contest>(
    models: &mut [&mut dyn Evaluate],
    slots: usize,
    games: impl Iterator<Item = G>,
) -> Vec<G::Finished> {
    let mut games = games;
    let mut records = Vec::new();
    let finish = &mut |record| records.push(record);
    let watch = &mut |_| ControlFlow::Continue(());
    run(models, &mut Vec::new(), slots, &mut || games.next(), finish, watch).expect("these models work");
    records
}

fn sorted(mut records: Vec<GameRecord>) -> Vec<GameRecord> {
    records.sort_by_key(|record| record.index);
    records
}

fn selfplay(config: &RunConfig, slots: usize, games: std::ops::Range<u64>, threshold: Option<f32>) -> Vec<GameRecord> {
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "random", "0", index, threshold));
    sorted(play(&mut [&mut RandomModel::new()], slots, games.map(start)))
}

/// Says the same of every position.
struct Opinion(Value, Vec<f32>);

impl Opinion {
    fn new(black: f32) -> Opinion {
        Opinion(Value::for_black(black), Vec::new())
    }
}

impl Evaluate for Opinion {
    fn push(&mut self, game: &Game, _: f32, _: Draw) -> Pushed {
        self.1 = vec![1.0; game.size().moves()];
        Pushed::Waits
    }

    fn evaluate(&mut self) -> Result<(), EvaluateError> {
        Ok(())
    }

    fn answer(&self, _: usize) -> Evaluation<'_> {
        Evaluation { policy: &self.1, value: self.0 }
    }
}
