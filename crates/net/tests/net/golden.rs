//! Whole trees of a search with a network, which may not change by accident: planes, layers and search together.
//!
//! The network is committed (`data/5x5.safetensors`, one block of 4 filters with made-up weights), and computes in f32
//! on the CPU, where outputs have the same bits on every x86-64 processor.
//!
//! After a change that is meant to change the trees: `UPDATE_EXPECT=1 cargo test -p net golden`, and look at the
//! difference. The network came from `Weights::synthetic` with seed 1.

use config::QInit;
use expect_test::expect_file;
use go::{Game, Scoring, Size};
use mcts::{Algorithm, Draw, Evaluator, FirstPlay, Gumbel, Noise, Purpose, Request, Search, Selected, Settings};
use net::{Device, Network, Precision};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const VISITS: u32 = 200;
const LEAVES: usize = 4;

const PUCT: Settings = Settings {
    algorithm: Algorithm::Puct,
    q_init: QInit::PARENT,
    first_play: FirstPlay::VirtualVisit,
    c_puct_base: 19652.0,
    c_puct_init: 1.25,
    reuse: true,
    pass_from: 10,
    prune_pass_alive: true,
    adjudicate_winning_pass: true,
    scoring: Scoring::PassAlive,
    komi: 0.5,
};

const WEIGHTS: &[u8] = include_bytes!("../data/5x5.safetensors");

fn search(network: &mut Network, search: &mut Search, visits: u32) {
    while search.visits() < visits || !search.is_expanded() {
        let mut waiting = Vec::new();
        while waiting.len() < LEAVES && search.visits() + (waiting.len() as u32) < visits.max(1) {
            let mut ticket = None;
            let select = search.select(&mut |game| {
                ticket = Some(network.submit(Request { game, komi: 7.0, draw: Draw::PLAIN }));
            });
            match select {
                Selected::Leaf(leaf) => waiting.push((leaf, ticket.unwrap())),
                Selected::Ended => {}
                Selected::Pending | Selected::Wait => break,
            }
        }
        network.flush().unwrap();
        for (leaf, ticket) in waiting {
            search.expand(leaf, network.get(ticket));
        }
    }
}

/// One line for each of the first moves of the root, the principal variation, and the policy target.
fn describe(name: &str, search: &Search) -> String {
    let size = search.game().size();
    let depth = search.depth();
    let mut text = format!("{name}: {} visits, value {:+.4}, ", search.visits(), search.root_value().black());
    text += &format!("depth {:.2}, at most {}\n", depth.mean(), depth.max());
    for root in search.root_moves().iter().take(12) {
        let mv = root.mv.to_gtp(size);
        text += &format!("  {mv:<4} N {:>3}  P {:.4}  Q {:+.4}\n", root.visits, root.prior, root.value.black());
    }
    let list = |moves: Vec<(go::Move, u32)>| {
        moves.iter().take(12).map(|(mv, n)| format!(" {}:{n}", mv.to_gtp(size))).collect::<String>()
    };
    text + &format!("  line{}\n  target{}\n", list(search.principal_variation()), list(search.policy_target()))
}

fn trees() -> String {
    let mut network = Network::open(WEIGHTS, Device::Cpu, Precision::F32, LEAVES).unwrap();
    let explored = Purpose::Explore(Some(Noise { weight: 0.25, alpha: 0.4 }));
    let gumbel = Algorithm::Gumbel(Gumbel { moves: 8, c_visit: 50.0, c_scale: 0.2 });
    let urgency = FirstPlay::Urgency { reduction: 0.2 };
    let cases = [
        ("parent", PUCT, Purpose::Win),
        ("loss", Settings { q_init: QInit::LOSS, ..PUCT }, Purpose::Win),
        ("zero", Settings { q_init: QInit::Zero, ..PUCT }, Purpose::Win),
        ("urgency", Settings { first_play: urgency, ..PUCT }, Purpose::Win),
        ("explored", PUCT, explored),
        ("gumbel", Settings { algorithm: gumbel, ..PUCT }, explored),
    ];
    let mut text = String::new();
    for (name, settings, purpose) in cases {
        let mut search = Search::new(Game::new(Size::new(5).unwrap()), settings);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for turn in 0..=8 {
            self::search(&mut network, &mut search, 0);
            search.begin_move(VISITS, purpose, &mut rng);
            self::search(&mut network, &mut search, VISITS);
            if turn % 4 == 0 {
                text += &describe(&format!("{name}, move {turn}"), &search);
            }
            let best = search.best_move().unwrap().mv;
            search.advance(best).unwrap();
        }
    }
    text
}

#[test]
fn golden_trees_of_a_network_have_not_changed() {
    expect_file!["../data/trees.txt"].assert_eq(&trees());
}
