//! 150 evaluators at once, in time that is made up: how many games they waste on what others are playing.
//!
//! What they read and write is a real store, and their choices and claims are the real ones; only the games are made
//! up, with the strengths that the models are given and the time that they take. `TENGEN_TEST_EVALUATOR_PAIRS=3000`
//! lets that go on for longer.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use play::GameRng;
use rand::{RngExt, SeedableRng};
use record::statistics::expected_score;
use record::{GameId, GameRecord, Outcome};
use store::Claim;

use super::*;
use crate::tests::fixture::{BEST, arena, match_game, name, publish_models, store};

const EVALUATORS: usize = 150;
const MODELS: u32 = 40;

/// Between looking at the store and claiming games, in milliseconds: reading, and fitting ratings.
const THINKING: std::ops::Range<u64> = 300..3000;
/// What a game takes, in milliseconds: some pairs play much faster than others.
const GAME: std::ops::Range<u64> = 1000..30_000;

/// What an evaluator does next.
enum Step {
    Choose,
    Begin(Proposal),
    End(Claim),
}

/// What came of it.
#[derive(Debug, Default)]
struct Found {
    pairs: usize,
    games: usize,
    /// Games that had been played before.
    twice: usize,
    /// Games of a pair that another evaluator was playing at their start.
    alongside: usize,
    /// Choices repeated because another evaluator was faster.
    again: usize,
}

impl Found {
    fn wasted(&self) -> f64 {
        (self.twice + self.alongside) as f64 / self.games as f64
    }
}

/// The evaluators, and the steps that are to come by when and by whom.
struct Simulation {
    arenas: Vec<Arena>,
    steps: BTreeMap<(u64, usize), Step>,
    playing: Vec<Claim>,
    played: BTreeSet<GameId>,
    random: GameRng,
    found: Found,
}

impl Simulation {
    fn new(seed: u64) -> Simulation {
        let store = store();
        let first = arena(&store, 1);
        publish_models(&first, MODELS);
        let run = first.rated.run;
        let arenas = (0..EVALUATORS).map(|worker| {
            let mut arena = arena(&store, 1);
            // One memory of what was read serves all: what is stored does not change.
            arena.rated.run = run.clone();
            arena.resources.worker = worker.to_string();
            arena
        });
        let mut random = GameRng::seed_from_u64(seed);
        // All are started at once, within ten seconds.
        let steps = (0..EVALUATORS).map(|worker| ((random.random_range(0..10_000), worker), Step::Choose)).collect();
        let arenas = arenas.collect();
        let (playing, played, found) = (Vec::new(), BTreeSet::new(), Found::default());
        Simulation { arenas, steps, playing, played, random, found }
    }

    fn run(mut self, pairs: usize) -> Found {
        while self.found.pairs < pairs {
            let ((now, worker), step) = self.steps.pop_first().expect("every evaluator always has a next step");
            let (later, next) = match step {
                Step::Choose => {
                    let proposal = self.arenas[worker].propose(BEST, &mut |_| {}).expect("the pool can be rated");
                    let thinking = self.random.random_range(THINKING);
                    (thinking, Step::Begin(proposal.expect("there are models to pair")))
                }
                Step::Begin(proposal) => match self.arenas[worker].claim(&proposal).expect("memory can be written") {
                    Some(claim) => {
                        let game = self.random.random_range(GAME);
                        self.begin(&claim);
                        (game * claim.numbers.len() as u64, Step::End(claim))
                    }
                    None => {
                        self.found.again += 1;
                        (0, Step::Choose)
                    }
                },
                Step::End(claim) => {
                    self.end(worker, &claim);
                    (0, Step::Choose)
                }
            };
            self.steps.insert((now + later, worker), next);
        }
        self.found
    }

    fn begin(&mut self, claim: &Claim) {
        if self.playing.iter().any(|other| other.is_of(&claim.first, &claim.second)) {
            self.found.alongside += claim.numbers.len();
        }
        self.playing.push(claim.clone());
    }

    fn end(&mut self, worker: usize, claim: &Claim) {
        let games: Vec<GameRecord> = claim.numbers.iter().map(|&number| self.game(claim, number)).collect();
        self.found.twice += games.iter().filter(|game| !self.played.insert(game.id)).count();
        let arena = &mut self.arenas[worker];
        arena.rated.run.matches().publish(&worker.to_string(), &games).expect("memory can be written");
        arena.rated.run.claims().release(claim).expect("memory can be written");
        let ids = [&claim.first, &claim.second].map(|player| player.parse::<PlayerId>().expect("the name of a player"));
        arena.duration_estimate.note(
            [&ids[0], &ids[1]],
            games.len() as u64,
            Duration::from_secs(10) * games.len() as u32,
        );
        self.playing.retain(|other| other != claim);
        self.found.pairs += 1;
        self.found.games += games.len();
    }

    /// A game of this number in the series of two players, won by chance as their strengths have it.
    fn game(&mut self, claim: &Claim, number: u64) -> GameRecord {
        let (one, other) = (claim.first.clone(), claim.second.clone());
        let [black, white] = if number.is_multiple_of(2) { [one, other] } else { [other, one] };
        let lead = strength(&black) - strength(&white);
        let wins = self.random.random_bool(expected_score(lead));
        let outcome = if wins { Outcome::Black } else { Outcome::White };
        GameRecord { outcome, ..match_game(&black, &white, number) }
    }
}

/// Elo of a model: quickly better at first, and hardly in the end.
fn strength(player: &str) -> f64 {
    let age = facts::own_model(&name("tiny"), player).map_or(0.0, f64::from);
    1000.0 * (1.0 - (-age / 12.0).exp())
}

#[test]
fn many_evaluators_rarely_play_what_others_are_playing() {
    let pairs = std::env::var("TENGEN_TEST_EVALUATOR_PAIRS").map_or(300, |text| text.parse().expect("a number"));
    let found = Simulation::new(1).run(pairs);
    println!("{EVALUATORS} evaluators, {MODELS} models: {found:?}, {:.2} % wasted", 100.0 * found.wasted());
    assert_eq!(found.twice, 0, "{found:?}");
    assert!(found.wasted() < 0.05, "{found:?}");
}
