//! Searches with libtorch and with crate `cpu`, both in f32: the same decisions, or ones that tolerated errors change,
//! too.

use go::{Game, Move, Scoring};
use mcts::{Algorithm, Draw, Evaluator, FirstPlay, Gumbel, Purpose, Request, Search, Selected, Settings};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tch::Kind;

use super::parity_tests::{TOLERANCE, spread};
use super::*;
use crate::{Network, Shape};

const DEMO: &[u8] = include_bytes!("../../../../demo/9x9-demo.safetensors");
const SMALL: &[u8] = include_bytes!("../../tests/data/5x5.safetensors");

/// Leaves of a batch.
const LEAVES: usize = 4;
/// Searches with errors that explain a decision which is not the same.
const TRIALS: u64 = 50;

/// PUCT that searches each position anew.
const PUCT: Settings = Settings {
    algorithm: Algorithm::Puct,
    q_init: config::QInit::PARENT,
    first_play: FirstPlay::VirtualVisit,
    c_puct_base: 19652.0,
    c_puct_init: 1.25,
    reuse: false,
    pass_from: 10,
    prune_pass_alive: true,
    adjudicate_winning_pass: true,
    scoring: Scoring::PassAlive,
    komi: 7.0,
};

/// Gumbel search that keeps the tree below a move that is played.
const GUMBEL: Settings =
    Settings { algorithm: Algorithm::Gumbel(Gumbel { moves: 8, c_visit: 50.0, c_scale: 1.0 }), reuse: true, ..PUCT };

/// Adds errors up to a multiple of the tolerance to another evaluator's outputs.
struct Noisy {
    session: Session,
    shape: Shape,
    multiple: f32,
    rng: Xoshiro256PlusPlus,
}

impl PlaneEvaluator for Noisy {
    fn rows(&self, positions: usize) -> usize {
        self.session.rows(positions)
    }

    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        self.session.evaluate(planes, policies, values)?;
        for (policy, value) in policies.chunks_exact_mut(self.shape.size.moves()).zip(values) {
            let most = self.multiple * TOLERANCE * (1.0 + spread(policy));
            let mut error = || most * (2.0 * self.rng.random::<f32>() - 1.0);
            policy.iter_mut().for_each(|chance| *chance = (*chance + error()).max(f32::MIN_POSITIVE));
            *value = (*value + error()).clamp(-1.0, 1.0);
        }
        Ok(())
    }
}

/// The move to play, and the visits of all.
type Decision = (Move, Vec<(Move, u32)>);

/// Searches the present position until it has so many visits, those of a tree that was kept included.
fn decide<E: PlaneEvaluator>(search: &mut Search, network: &mut Network<E>, visits: u32) -> Decision {
    if !search.is_expanded() {
        expand_leaves(search, network, 1, 1);
    }
    search.begin_move(visits, Purpose::Win, &mut Xoshiro256PlusPlus::seed_from_u64(0));
    while search.visits() < visits {
        expand_leaves(search, network, LEAVES, visits);
    }
    let size = search.game().size();
    let mut all: Vec<(Move, u32)> = search.root_moves().iter().map(|root| (root.mv, root.visits)).collect();
    all.sort_by_key(|&(mv, _)| mv.index(size));
    (search.best_move().unwrap().mv, all)
}

/// Expands a batch of leaves, or fewer: as many as are missing to these visits, or as the search does not wait for.
fn expand_leaves<E: PlaneEvaluator>(search: &mut Search, network: &mut Network<E>, leaves: usize, visits: u32) {
    let komi = search.settings().komi;
    let mut waiting = Vec::new();
    while waiting.len() < leaves && search.visits() + (waiting.len() as u32) < visits {
        let mut ticket = None;
        match search.select(&mut |game| {
            ticket = Some(network.submit(Request { game, komi, draw: Draw::PLAIN }));
        }) {
            Selected::Leaf(leaf) => waiting.push((leaf, ticket.unwrap())),
            Selected::Ended => {}
            Selected::Pending | Selected::Wait => break,
        }
    }
    network.flush().unwrap();
    waiting.into_iter().for_each(|(leaf, ticket)| search.expand(leaf, network.get(ticket)));
}

/// A network with libtorch, one with crate `cpu`, and any number with errors.
struct Both {
    torch: Engine,
    cpu: Engine,
    shape: Shape,
}

impl Both {
    fn new(file: &[u8]) -> Both {
        let weights = Weights::from_bytes(file).unwrap();
        let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
        Both {
            torch: Engine::Torch(Mutex::new(Box::new(Layers::new(&weights, options, LEAVES).unwrap()))),
            cpu: Engine::on_cpu(&weights, Precision::F32, InstructionSet::best()).unwrap(),
            shape: weights.shape(),
        }
    }

    fn network<E: PlaneEvaluator>(&self, evaluator: E) -> Network<E> {
        Network::new(self.shape, LEAVES, evaluator)
    }

    fn noisy(&self, multiple: f32, seed: u64) -> Network<Noisy> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.network(Noisy { session: self.torch.session(), shape: self.shape, multiple, rng })
    }

    /// Compares the decisions in a game that begins with random moves; how many there are, and how many are not the
    /// same.
    ///
    /// With reuse a decision that is not the same is the last of its game: later ones inherit its tree.
    fn compare(&self, settings: Settings, seed: u64, turns: usize, visits: u32) -> [usize; 2] {
        let (mut torch, mut cpu) = (self.network(self.torch.session()), self.network(self.cpu.session()));
        let game = opening(self.shape, seed);
        let (mut of_torch, mut of_cpu) = (Search::new(game.clone(), settings), Search::new(game.clone(), settings));
        let (mut counts, mut moves) = ([0; 2], Vec::<Move>::new());
        while moves.len() < turns && !of_torch.game().is_over(settings.scoring) {
            let expected = decide(&mut of_torch, &mut torch, visits);
            let found = decide(&mut of_cpu, &mut cpu, visits);
            counts[0] += 1;
            if found != expected {
                counts[1] += 1;
                let again = |seed| self.decide_with_errors(settings, &game, &moves, visits, seed);
                explain(&(0..TRIALS).map(again).collect::<Vec<_>>(), &expected, &found);
                if settings.reuse {
                    break;
                }
            }
            of_torch.advance(expected.0).unwrap();
            of_cpu.advance(expected.0).unwrap();
            moves.push(expected.0);
        }
        counts
    }

    /// The decision after some moves of a game with errors within the tolerance; with reuse all before it have errors,
    /// too.
    fn decide_with_errors(&self, settings: Settings, game: &Game, moves: &[Move], visits: u32, seed: u64) -> Decision {
        let (mut search, mut network) = (Search::new(game.clone(), settings), self.noisy(1.0, seed));
        for &mv in moves {
            if settings.reuse {
                decide(&mut search, &mut network, visits);
            }
            search.advance(mv).unwrap();
        }
        decide(&mut search, &mut network, visits)
    }
}

/// Checks that errors within the tolerance change a decision as well, and the move if that is another one.
fn explain(tried: &[Decision], expected: &Decision, found: &Decision) {
    assert!(tried.iter().any(|tried| tried.1 != expected.1), "visits {:?}, libtorch {:?}", found.1, expected.1);
    if found.0 != expected.0 {
        assert!(tried.iter().any(|tried| tried.0 != expected.0), "{:?}, libtorch {:?}", found.0, expected.0);
    }
}

fn opening(shape: Shape, seed: u64) -> Game {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut game = Game::new(shape.size);
    for _ in 0..seed % 8 {
        let mv = Move::from_index(shape.size, rng.random_range(0..shape.size.area())).unwrap();
        if game.is_legal(mv) {
            game.play(mv).unwrap();
        }
    }
    game
}

#[test]
fn decisions_of_libtorch_and_cpu_f32_are_the_same_or_within_the_tolerance() {
    let (small, demo) = (Both::new(SMALL), Both::new(DEMO));
    for settings in [PUCT, GUMBEL] {
        let of_small = (0..24).map(|seed| small.compare(settings, seed, 20, 100));
        let counts = of_small.chain((0..4).map(|seed| demo.compare(settings, seed, 4, 32)));
        let [all, others] = counts.fold([0; 2], |sum, counts| [sum[0] + counts[0], sum[1] + counts[1]]);
        println!("{others} of {all} decisions are not the same: {:?}", settings.algorithm);
        // Games with reuse are shorter.
        let least = if settings.reuse { 200 } else { 300 };
        assert!(all > least && 20 * others < all, "{others} of {all}: {:?}", settings.algorithm);
    }
}

/// Errors are noticed: with a thousand times the tolerance hardly a decision stays.
#[test]
fn large_errors_change_decisions() {
    let small = Both::new(SMALL);
    let mut torch = small.network(small.torch.session());
    let changed = (0..20).filter(|&seed| {
        let game = opening(small.shape, seed);
        let search = || Search::new(game.clone(), PUCT);
        decide(&mut search(), &mut torch, 100) != decide(&mut search(), &mut small.noisy(1000.0, seed), 100)
    });
    assert!(changed.count() > 10);
}
