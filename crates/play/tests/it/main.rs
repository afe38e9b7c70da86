//! Whole games, played with models that need no weights.

mod external_players;
mod matches;
mod scheduler;
mod selfplay;

use std::ops::ControlFlow;

use config::RunConfig;
use mcts::{EvaluateError, Evaluation, Evaluator, Request, Ticket, Tickets, Value};
use play::{BatchedGame, RandomModel, Selfplay, SelfplaySpec, run};
use record::GameRecord;

fn config(overrides: &[&str]) -> RunConfig {
    config::Preset::Tiny.with(overrides).expect("the overrides are good")
}

fn play<G: BatchedGame>(
    models: &mut [&mut dyn Evaluator],
    slots: usize,
    games: impl Iterator<Item = G>,
) -> Vec<G::Finished> {
    let mut games = games;
    let mut records = Vec::new();
    let finish = &mut |record| records.push(record);
    let watch = &mut |_: &[G]| ControlFlow::Continue(());
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

/// Gives every position the same value, and the same policy: flat, or one move alone.
struct Opinion {
    tickets: Tickets,
    value: Value,
    only: Option<usize>,
    policy: Vec<f32>,
}

impl Opinion {
    fn new(black: f32) -> Opinion {
        Opinion { tickets: Tickets::default(), value: Value::for_black(black), only: None, policy: Vec::new() }
    }
}

impl Evaluator for Opinion {
    fn submit(&mut self, request: Request<'_>) -> Ticket {
        let moves = request.game.size().moves();
        self.policy = (0..moves).map(|mv| if self.only.is_none_or(|only| only == mv) { 1.0 } else { 0.0 }).collect();
        self.tickets.issue()
    }

    fn flush(&mut self) -> Result<(), EvaluateError> {
        self.tickets.flush();
        Ok(())
    }

    fn is_ready(&self, ticket: Ticket) -> bool {
        self.tickets.is_flushed(ticket)
    }

    fn get(&self, _: Ticket) -> Evaluation<'_> {
        Evaluation { policy: &self.policy, value: self.value }
    }

    fn pending(&self) -> usize {
        self.tickets.pending()
    }

    fn capacity(&self) -> usize {
        usize::MAX
    }
}
