//! Evaluations that outlive the process cost no allocation: neither a lookup nor a new one.

// All of this is a test, and a panic is how a test fails; clippy only knows functions marked as tests.
#![allow(clippy::unwrap_used)]

use std::ops::Range;

use config::Preset;
use evalcache::{Steps, Symmetries};
use go::{Game, Move, Size};
use mcts::{Draw, Evaluator, Request, Ticket};
use models::{EvaluationCacheOptions, ModelSource, Models, Searcher};
use net::{Device, Shape, Weights};
use store::{ModelMetadata, Store};
use tempfile::TempDir;
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const BATCH: usize = 8;

/// A model of the tiny preset.
fn models() -> Models {
    let config = Preset::Tiny.config();
    let run = Store::in_memory().unwrap().run(&"v1".parse().unwrap());
    run.create(&config).unwrap();
    let weights = Weights::synthetic(Shape::new(&config.game, &config.network), 1).to_bytes();
    run.models().publish(&ModelMetadata::new(run.name(), 1, 0, &config), weights.into()).unwrap();
    Models::new(run.store().clone())
}

/// Positions of two stones, none of which is an image of another.
fn positions() -> Vec<Game> {
    let size = Size::new(5).unwrap();
    let mut positions: Vec<Game> = Vec::new();
    for (first, second) in (0..25).flat_map(|first| (0..25).map(move |second| (first, second))) {
        let mut game = Game::new(size);
        let moves = [first, second].map(|index| Move::from_index(size, index).unwrap());
        if moves.into_iter().all(|mv| game.play(mv).is_ok()) {
            let (_, hash) = game.position().canonical();
            if positions.iter().all(|other| other.position().canonical().1 != hash) {
                positions.push(game);
            }
        }
    }
    positions
}

/// Evaluates positions in batches, and returns how many were there already and how often that allocated.
fn evaluate(evaluator: &mut dyn Evaluator, games: &[Game], tickets: &mut Vec<Ticket>) -> (usize, u64) {
    let before = ALLOCATOR.calls();
    let mut ready = 0;
    for batch in games.chunks(BATCH) {
        tickets.clear();
        for game in batch {
            let ticket = evaluator.submit(Request { game, komi: 7.0, draw: Draw::PLAIN });
            ready += usize::from(evaluator.is_ready(ticket));
            tickets.push(ticket);
        }
        evaluator.flush().unwrap();
        assert!(tickets.iter().all(|&ticket| evaluator.get(ticket).policy.len() == 26));
    }
    (ready, ALLOCATOR.calls() - before)
}

#[test]
fn stored_evaluations_allocate_only_in_the_first_round() {
    let (models, positions) = (models(), positions());
    let (first, other): (Range<usize>, Range<usize>) = (0..40, 40..60);
    for (steps, symmetries) in Steps::ALL.into_iter().flat_map(|steps| Symmetries::ALL.map(|of| (steps, of))) {
        let folder = TempDir::new().unwrap();
        let store = Store::open(folder.path().to_str().unwrap()).unwrap();
        let options = EvaluationCacheOptions { store, steps, symmetries, copies: None };
        let model = ModelSource::Id("v1-1".parse().unwrap());
        let searcher = Searcher::open(&models, &Preset::Tiny.config(), &model, &Device::Cpu.into(), 8 * BATCH).unwrap();
        let searcher = searcher.keeping(Some(&options)).unwrap();
        let (mut evaluator, mut tickets) = (searcher.evaluator(0), Vec::with_capacity(BATCH));
        let mut round = |games: &[Game]| evaluate(&mut *evaluator, games, &mut tickets);
        let of = format!("{steps}, {symmetries}");
        let (ready, allocated) = round(&positions[first.clone()]);
        assert!(ready == 0 && allocated > 0, "{of}");
        searcher.kept().unwrap().publish().unwrap();
        // The first lookups make room for blocks of the segment.
        assert_eq!(round(&positions[first.clone()]).0, first.len(), "{of}");
        assert_eq!(round(&positions[first.clone()]), (first.len(), 0), "in the segment: {of}");
        assert_eq!(round(&positions[other.clone()]), (0, 0), "new: {of}");
        assert_eq!(round(&positions[other.clone()]), (other.len(), 0), "not published yet: {of}");
    }
}
