//! Small searches with made-up evaluations.

use config::QInit;
use go::{Game, Scoring, Size};
use mcts::{Algorithm, Evaluation, FirstPlay, Gumbel, Leaf, Noise, Purpose, Search, Selected, Settings, Value};
use testing::Dice;

pub(crate) const PARENT: Settings = Settings {
    algorithm: Algorithm::Puct,
    q_init: QInit::PARENT,
    first_play: FirstPlay::VirtualVisit,
    c_puct_base: 19652.0,
    c_puct_init: 1.25,
    reuse: true,
    pass_from: 0,
    prune_pass_alive: false,
    adjudicate_winning_pass: false,
    scoring: Scoring::PassAlive,
    komi: 7.5,
};

/// Self-play without noise.
pub(crate) const CALM: Purpose = Purpose::Explore(None);

pub(crate) fn noisy(alpha: f32) -> Purpose {
    Purpose::Explore(Some(Noise { weight: 0.25, alpha }))
}

pub(crate) fn gumbel(moves: usize) -> Settings {
    Settings { algorithm: Algorithm::Gumbel(Gumbel { moves, c_visit: 50.0, c_scale: 1.0 }), ..PARENT }
}

pub(crate) fn empty(side: usize, settings: Settings) -> Search {
    Search::new(Game::new(Size::new(side).expect("a size from 2 to 19")), settings)
}

/// Flat prior and the given value for Black.
pub(crate) fn flat(search: &mut Search, leaf: Leaf, black: f32) {
    let policy = vec![1.0 / search.game().size().moves() as f32; search.game().size().moves()];
    search.expand(leaf, Evaluation { policy: &policy, value: Value::for_black(black) });
}

/// Selects one leaf, which must be there, and says which moves led to it.
pub(crate) fn leaf(search: &mut Search) -> (Leaf, Vec<usize>) {
    let mut path = Vec::new();
    let turn = search.game().turn();
    let selected = search.select(&mut |game| {
        path = game.moves()[turn..].iter().map(|mv| mv.index(game.size())).collect();
    });
    let Selected::Leaf(leaf) = selected else { panic!("expected a leaf, not {selected:?}") };
    (leaf, path)
}

/// A policy and a value that depend on the position only: the hash of its stones, spread out.
pub(crate) fn hashed(game: &Game) -> (Vec<f32>, f32) {
    let mut dice = Dice(game.position().hash() ^ game.turn() as u64);
    let fourth = |x: f32| (x * x) * (x * x);
    let mut next = || (dice.bits() >> 40) as f32 / (1u64 << 24) as f32;
    let policy: Vec<f32> = (0..game.size().moves()).map(|_| fourth(next())).collect();
    let sum: f32 = policy.iter().sum();
    (policy.iter().map(|p| p / sum).collect(), next() * 2.0 - 1.0)
}

/// Evaluates the root, and nothing else.
pub(crate) fn expand_root(search: &mut Search, policy: &[f32], black: f32) {
    let (root, _) = leaf(search);
    search.expand(root, Evaluation { policy, value: Value::for_black(black) });
}

/// Searches until the root has exactly `visits`, at most `width` leaves at a time, with evaluations by `judge`.
pub(crate) fn spend(search: &mut Search, visits: u32, width: usize, judge: &dyn Fn(&Game) -> (Vec<f32>, f32)) {
    while search.visits() < visits {
        let mut waiting = Vec::new();
        while waiting.len() < width && search.visits() + (waiting.len() as u32) < visits {
            let mut answer = None;
            match search.select(&mut |game| answer = Some(judge(game))) {
                Selected::Leaf(leaf) => waiting.push((leaf, answer.expect("a leaf is shown"))),
                Selected::Ended => {}
                Selected::Pending | Selected::Wait => break,
            }
        }
        for (leaf, (policy, value)) in waiting {
            search.expand(leaf, Evaluation { policy: &policy, value: Value::for_black(value) });
        }
    }
}

/// Searches until the root has `visits`, `width` leaves at a time, with evaluations by position.
pub(crate) fn run(search: &mut Search, visits: u32, width: usize) {
    while search.visits() < visits || !search.is_expanded() {
        let mut waiting = Vec::new();
        for _ in 0..width {
            let mut answer = None;
            if let Selected::Leaf(leaf) = search.select(&mut |game| answer = Some(hashed(game))) {
                waiting.push((leaf, answer.expect("a leaf is shown")));
            }
        }
        for (leaf, (policy, value)) in waiting {
            search.expand(leaf, Evaluation { policy: &policy, value: Value::for_black(value) });
        }
    }
}
