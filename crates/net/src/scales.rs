//! The scales that int16 inference rounds with (`cpu::Scales`).
//!
//! The trainer finds them on its examples when it publishes a model, and they are stored in the model's file. A file
//! without them is calibrated when it is opened, on games that the network plays against itself in f32, which has the
//! same bits on every x86-64 CPU. So the scales are a function of the file alone.

use std::sync::Arc;
use std::thread;

use cpu::{Description, InstructionSet, Scales, Session};
use go::{Game, Move, Scoring, Symmetry};
use mcts::{Draw, Evaluator, Request, Ticket, choice};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use record::{Example, Replay};

use crate::{NetError, Network, Shape, Weights, of_inference};

/// Games that a network without scales plays against itself. The first begins with the empty board, each other one
/// after more random moves, so that all phases of the game are there.
const GAMES: usize = 16;
/// Moves that it plays in each.
const MOVES: usize = 24;
/// Komi of these games.
const KOMI: f32 = 7.0;
const SEED: u64 = 1;
/// Examples that are evaluated together.
const BATCH: usize = 16;

impl Weights {
    /// These weights with scales that suit some examples, each under a symmetry, or, without examples, the network's
    /// own games. At most so many threads share the examples, and their number does not change the scales; own games
    /// take one.
    ///
    /// # Errors
    /// An example of another board or whose boards cannot be rebuilt, or activations that are too large for f32.
    pub fn calibrated(self, examples: &[Example], threads: usize) -> Result<Weights, NetError> {
        let set = of_inference();
        let scales =
            if examples.is_empty() { self.of_own_games(set)? } else { self.of_examples(examples, threads, set)? };
        Ok(self.with_scales(scales))
    }

    /// The network as crate `cpu` knows it.
    pub(crate) fn description(&self) -> Result<Description, NetError> {
        Ok(Description::from_safetensors(&self.to_bytes())?)
    }

    /// The scales of the file, or those of the network's own games.
    pub(crate) fn scales(&self, set: InstructionSet) -> Result<Scales, NetError> {
        self.stored_scales().map_or_else(|| self.of_own_games(set), |stored| Ok(stored.clone()))
    }

    /// The network in f32, as it is calibrated.
    fn exact(&self, set: InstructionSet) -> Result<Arc<cpu::Model>, NetError> {
        Ok(cpu::Model::new(&self.description()?, cpu::Precision::F32, set)?)
    }

    /// On threads, each of which sees some of the examples. The largest magnitudes are those of all. The threads share
    /// the packed weights: a copy for each would be gigabytes for a large network on many cores.
    fn of_examples(&self, examples: &[Example], threads: usize, set: InstructionSet) -> Result<Scales, NetError> {
        let (shape, model) = (self.shape(), &self.exact(set)?);
        // Whole rounds of the symmetries, so that each example is seen in the same one on every machine.
        let share = examples.len().div_ceil(threads.max(1)).next_multiple_of(BATCH);
        let observed: Result<Vec<Scales>, NetError> = thread::scope(|scope| {
            let shares = examples.chunks(share).map(|examples| scope.spawn(move || of_share(shape, model, examples)));
            let threads: Vec<_> = shares.collect();
            threads.into_iter().map(|thread| thread.join().expect("an observing thread does not panic")).collect()
        });
        Ok(observed?.into_iter().reduce(largest).unwrap_or(Scales(Vec::new())))
    }

    fn of_own_games(&self, set: InstructionSet) -> Result<Scales, NetError> {
        let shape = self.shape();
        let mut network = Network::new(shape, GAMES, self.exact(set)?.session().observing());
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut games = vec![Game::new(shape.size); GAMES];
        for (nth, game) in games.iter_mut().enumerate() {
            for _ in 0..nth * shape.size.area() / GAMES {
                play(game, &vec![1.0; shape.size.moves()], &mut rng);
            }
        }
        for turn in 0..MOVES {
            let submit = |(nth, game): (usize, &Game)| {
                let draw = Draw::PLAIN.seen_in(Symmetry::ALL[(nth + turn) % Symmetry::ALL.len()]);
                network.submit(Request { game, komi: KOMI, draw })
            };
            let tickets: Vec<Ticket> = games.iter().enumerate().map(submit).collect();
            network.evaluate_pending(&mut || false)?;
            for (game, ticket) in games.iter_mut().zip(tickets) {
                play(game, network.get(ticket).policy, &mut rng);
            }
        }
        found(network.into_evaluator())
    }
}

/// The scales that some examples ask for.
fn of_share(shape: Shape, model: &Arc<cpu::Model>, examples: &[Example]) -> Result<Scales, NetError> {
    let Shape { size, inputs, .. } = shape;
    let mut session = model.session().observing();
    let mut planes = vec![0; BATCH * inputs.len(size)];
    let (mut policies, mut values) = (vec![0.0; BATCH * size.moves()], vec![0.0; BATCH]);
    let mut replay = Replay::new(size);
    for examples in examples.chunks(BATCH) {
        let rows = planes.chunks_exact_mut(inputs.len(size));
        for ((example, planes), &symmetry) in examples.iter().zip(rows).zip(Symmetry::ALL.iter().cycle()) {
            if example.size != size {
                return Err(NetError::OtherBoard { expected: size, found: example.size });
            }
            inputs.of_example(example, symmetry, &mut replay, planes)?;
        }
        let count = examples.len();
        let (policies, values) = (&mut policies[..count * size.moves()], &mut values[..count]);
        session.evaluate(&planes[..count * inputs.len(size)], policies, values);
    }
    found(session)
}

/// The larger of the magnitudes in each place.
fn largest(mut scales: Scales, others: Scales) -> Scales {
    for (scale, other) in scales.0.iter_mut().flatten().zip(others.0.into_iter().flatten()) {
        *scale = scale.max(other);
    }
    scales
}

/// The scales that a session has observed.
fn found(session: Session) -> Result<Scales, NetError> {
    let scales = session.into_scales();
    scales.check(scales.0.len())?;
    Ok(scales)
}

/// Plays a legal move, drawn with these weights; begins again when the game is over.
fn play(game: &mut Game, policy: &[f32], rng: &mut Xoshiro256PlusPlus) {
    let size = game.size();
    let legal = |index| Move::from_index(size, index).is_some_and(|mv| game.is_legal(mv));
    let weights: Vec<f32> = policy.iter().enumerate().map(|(index, &p)| if legal(index) { p } else { 0.0 }).collect();
    let drawn = choice::draw_from(&weights, rng).and_then(|index| Move::from_index(size, index));
    game.play(drawn.unwrap_or(Move::Pass)).expect("legal moves were drawn from, and a pass is legal");
    if game.is_over(Scoring::PassAlive) {
        *game = Game::new(size);
    }
}
