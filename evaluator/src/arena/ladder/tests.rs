use config::RunConfig;
use go::Size;
use rand::RngExt;
use record::{GameId, GameRecord, Outcome, synthetic};
use store::Store;

use super::*;
use crate::arena::tests::{arena, name, publish_models, store_of};

#[test]
fn ancestors_are_at_fibonacci_distances() {
    assert_eq!(ancestors(1, 1).collect::<Vec<_>>(), [0]);
    assert_eq!(ancestors(9, 1).collect::<Vec<_>>(), [8, 7, 6, 4, 1]);
}

#[test]
fn ancestors_are_models_that_are_measured() {
    assert_eq!(ancestors(4, 4).collect::<Vec<_>>(), [0]);
    assert_eq!(ancestors(36, 4).collect::<Vec<_>>(), [32, 28, 24, 16, 4]);
    // The last of a run is measured, whatever its number.
    assert_eq!(ancestors(37, 4).collect::<Vec<_>>(), [36, 32, 28, 20, 8]);
    assert_eq!(ancestors(2, 4).collect::<Vec<_>>(), [0]);
}

/// A run whose models are as strong as those of `docs/ladder-9x9.csv`, and whose games are made up. A game is a function of its
/// players and its number, as real ones are.
struct Simulation {
    store: Store,
    config: RunConfig,
    seed: u64,
    /// Games after which the process is killed.
    killed_after: Option<usize>,
}

/// The process was killed, or the store failed.
#[derive(Debug)]
enum Ended {
    Killed,
    Failed,
}

impl From<EvaluatorError> for Ended {
    fn from(_: EvaluatorError) -> Ended {
        Ended::Failed
    }
}

/// The schedule of `configs/9x9.toml`, changed.
fn config(changes: &[&str]) -> RunConfig {
    config::Preset::NineByNine.with(changes).expect("the overrides are good")
}

/// Every model against the one before, and 40 games of the last against `random` and against model 40.
const NEIGHBOURS: [&str; 6] = [
    "evaluate.pairing=\"fibonacci\"",
    "evaluate.every=2",
    "evaluate.games_per_pair=4",
    "evaluate.pairs_per_model=1",
    "loop.final_games=40",
    "loop.final_pairs=0",
];

impl Simulation {
    fn new(changes: &[&str], seed: u64) -> Simulation {
        let config = config(changes);
        let store = store_of(&config);
        publish_models(&arena(&store, 1), config.cycle.models);
        Simulation { store, config, seed, killed_after: None }
    }

    /// All that `tengen run` plays, model by model; what was played before is not played again.
    fn run(&self) -> Result<(), Ended> {
        let (mut arena, stop, mut left) = (arena(&self.store, 1), Stop::never(), self.killed_after);
        let mut play = |arena: &mut Arena, pair: [&PlayerId; 2], games: u64| self.play(arena, pair, games, &mut left);
        for newest in (1..=self.config.cycle.models).filter(|number| number % self.config.evaluate.every == 0) {
            arena.measure(newest, &stop, &mut play)?;
        }
        arena.measure_last(self.config.cycle.models, &stop, &mut play)
    }

    fn play(
        &self,
        arena: &mut Arena,
        [one, other]: [&PlayerId; 2],
        games: u64,
        left: &mut Option<usize>,
    ) -> Result<(), Ended> {
        for number in arena.missing([one, other], games)? {
            if *left == Some(0) {
                return Err(Ended::Killed);
            }
            let game = self.game([one.min(other), one.max(other)], number);
            arena.run.matches().publish("test", &[game]).map_err(EvaluatorError::from)?;
            *left = left.map(|left| left - 1);
        }
        Ok(())
    }

    fn game(&self, [first, second]: [&PlayerId; 2], number: u64) -> GameRecord {
        let (first, second) = (first.to_string(), second.to_string());
        let mut random = Seed::seed_from_u64(game_seed(self.seed, &first, &second, number));
        let id = GameId::of(&first, &second, "", number);
        let [black, white] = if number.is_multiple_of(2) { [first, second] } else { [second, first] };
        let lead = strength(&black) - strength(&white);
        let wins = random.random_bool(1.0 / (1.0 + 10_f64.powf(-lead / 400.0)));
        let outcome = if wins { Outcome::Black } else { Outcome::White };
        let made_up = synthetic::game("made", "up", number, Size::new(5).expect("a size"), 1);
        GameRecord { id, black, white, outcome, ..made_up }
    }

    /// The games that were played, and the margin that the table prints at most.
    fn found(&self) -> (usize, f64) {
        let arena = arena(&self.store, 1);
        let games = arena.pool().expect("memory can be read").games();
        (games, arena.ladder(self.config.cycle.models).expect("the pool can be rated").margin())
    }

    fn ids(&self) -> Vec<(String, String, u64)> {
        let results = arena(&self.store, 1).run.matches().all().expect("memory can be read");
        let mut ids: Vec<_> = results.into_iter().map(|game| (game.black, game.white, game.index)).collect();
        ids.sort();
        ids
    }
}

/// Elo of a player: `random`, or a model on a curve that flattens.
fn strength(player: &str) -> f64 {
    crate::pool::age(&name("tiny"), player).map_or(-1400.0, |age| 200.0 - 900.0 * (-f64::from(age) / 20.0).exp())
}

#[test]
fn a_finished_run_has_a_table_within_100_elo() {
    for seed in 1..=3 {
        let run = Simulation::new(&[], seed);
        run.run().expect("nothing fails");
        let (games, margin) = run.found();
        println!("seed {seed}: {games} games, ± {margin:.0}");
        assert!(margin <= 100.0 && games <= 1000, "seed {seed}: {games} games, ± {margin}");
    }
}

#[test]
fn matches_of_neighbours_leave_the_ends_of_a_run_unknown() {
    let run = Simulation::new(&NEIGHBOURS, 1);
    run.run().expect("nothing fails");
    let (games, margin) = run.found();
    assert!(games == 240 && margin > 400.0, "{games} games, ± {margin}");
}

#[test]
fn a_killed_schedule_plays_the_same_games() {
    let whole = Simulation::new(&["loop.models=40"], 1);
    whole.run().expect("nothing fails");
    let mut broken = Simulation::new(&["loop.models=40"], 1);
    broken.killed_after = Some(57);
    let mut rounds = 0;
    while broken.run().is_err() {
        rounds += 1;
        assert!(rounds < 100, "every round plays 57 games");
    }
    assert!(rounds > 2, "it was killed {rounds} times");
    assert_eq!(broken.ids(), whole.ids());
    // A finished run plays nothing more.
    broken.run().expect("nothing fails");
    assert_eq!(broken.ids(), whole.ids());
}

#[test]
fn games_of_others_do_not_change_the_schedule_that_was_begun() {
    let run = Simulation::new(&["loop.models=24"], 1);
    run.run().expect("nothing fails");
    let before = run.found().0;
    // An evaluator plays eight games of its own.
    let mut arena = arena(&run.store, 1);
    let ids = [1, 2].map(|number| PlayerId::from(name("tiny").model(number)));
    run.play(&mut arena, [&ids[0], &ids[1]], 8, &mut None).expect("memory can be written");
    run.run().expect("nothing fails");
    assert!(run.found().0 >= before + 8);
    let pairings: Vec<_> =
        (0..).map_while(|turn| arena.run.pairings().get(24, turn).expect("memory can be read")).collect();
    assert!(!pairings.is_empty());
}

#[test]
fn retired_models_take_no_part() {
    let run = Simulation::new(&["loop.models=40"], 1);
    let arena = arena(&run.store, 1);
    arena.retire_model(&name("tiny").model(16)).expect("it is not the newest");
    run.run().expect("nothing fails");
    let outcast = name("tiny").model(16).to_string();
    for (model, turn) in (1..=40).flat_map(|model| (0..40).map(move |turn| (model, turn))) {
        if let Some(pair) = arena.run.pairings().get(model, turn).expect("memory can be read") {
            assert!(pair.first.to_string() != outcast && pair.second.to_string() != outcast, "{pair:?}");
        }
    }
    assert_eq!(
        arena.ladder(40).expect("the pool can be rated").models(),
        5 - 1 + 1,
        "8, 24, 32, 40, and 20 at the end"
    );
}
