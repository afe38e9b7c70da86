//! A visit allocates nothing.

use config::QInit;
use go::{Game, Move, Scoring, Size};
use mcts::{Algorithm, Evaluation, FirstPlay, Gumbel, Purpose, Search, Selected, Settings, Value};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const SETTINGS: Settings = Settings {
    algorithm: Algorithm::Puct,
    q_init: QInit::LOSS,
    first_play: FirstPlay::VirtualVisit,
    c_puct_base: 19652.0,
    c_puct_init: 1.25,
    reuse: false,
    pass_from: 0,
    prune_pass_alive: false,
    adjudicate_winning_pass: true,
    scoring: Scoring::PassAlive,
    komi: 7.5,
};
const GUMBEL: Settings =
    Settings { algorithm: Algorithm::Gumbel(Gumbel { moves: 16, c_visit: 50.0, c_scale: 1.0 }), ..SETTINGS };
const VISITS: u32 = 400;

fn searched(search: &mut Search, policy: &[f32]) {
    while !search.is_expanded() || search.visits() < VISITS {
        if let Selected::Leaf(leaf) = search.select(&mut |_| {}) {
            search.expand(leaf, Evaluation { policy, value: Value::for_black(0.1) });
        }
        if search.visits() == 0 {
            search.begin_move(VISITS, Purpose::Win, &mut Xoshiro256PlusPlus::seed_from_u64(1));
        }
    }
}

/// An empty board with room for the moves of long paths.
fn with_room(size: Size) -> Game {
    let mut game = Game::new(size);
    let start = game.mark();
    for _ in 0..150 {
        let next = game.legal_points().first().map_or(Move::Pass, Move::Play);
        game.play(next).expect("a legal move");
    }
    game.rewind(&start);
    game
}

/// Once the room for a tree and its paths is there, visits allocate nothing.
#[test]
fn visit_allocates_nothing() {
    for (settings, side) in [SETTINGS, GUMBEL].into_iter().flat_map(|settings| [(settings, 9), (settings, 19)]) {
        let size = Size::new(side).unwrap();
        let policy = vec![1.0 / size.moves() as f32; size.moves()];
        let mut search = Search::new(with_room(size), settings);
        searched(&mut search, &policy);
        // A position with fewer moves: its tree fits into the room of the one before.
        let best = search.best_move().unwrap().mv;
        search.advance(best).unwrap();
        let before = ALLOCATOR.calls();
        searched(&mut search, &policy);
        assert_eq!(ALLOCATOR.calls() - before, 0, "{side}x{side}: {settings:?}");
    }
}
