use std::collections::BTreeSet;

use config::RunConfig;
use rand::RngExt;
use ratings::Estimate;
use record::statistics::expected_score;
use record::{GameRecord, Outcome};
use runtime::{Silent, Stop, drive};
use store::Store;

use super::*;
use crate::tests::fixture::{arena, match_game, name, publish_models, store_of};
use crate::{Event, Matches, RatedModel, match_runner};

/// A run whose models are as strong as those of `experiments/0064-rating-curve-9x9/ratings.csv`, and whose games are
/// made up. A game is a function of its players and its number, as real ones are.
struct Simulation {
    store: Store,
    config: RunConfig,
    seed: u64,
    /// Games after which the process is killed.
    killed_after: Option<usize>,
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
        let run = Simulation::without_models(changes, seed);
        publish_models(&arena(&run.store, 1), run.config.run_loop.models);
        run
    }

    fn without_models(changes: &[&str], seed: u64) -> Simulation {
        let config = config(changes);
        Simulation { store: store_of(&config), config, seed, killed_after: None }
    }

    /// All that `tengen run` plays, model by model; games of earlier calls are not played again. Returns whether
    /// it came to the end.
    fn run(&self) -> bool {
        let (rated, mut left) = (self.rated(), self.killed_after);
        let models = self.config.run_loop.models;
        let measured = (1..=models).filter(|number| number % self.config.evaluate.every == 0);
        let plans = measured.map(|newest| MatchPlan::of_model(&rated, newest).expect("the results can be rated"));
        let mut plans = plans.chain(std::iter::once_with(|| MatchPlan::last(&rated, models)));
        plans.all(|plan| self.play_plan(&rated, plan, &mut left))
    }

    /// Plays the rest of a plan; returns whether the process survives that.
    fn play_plan(&self, rated: &RatedRun, mut plan: MatchPlan, left: &mut Option<usize>) -> bool {
        while let Some((pair, games)) = plan.next(rated).expect("the results can be rated") {
            if !self.play(rated, pair.each_ref(), games, left) {
                return false;
            }
        }
        true
    }

    /// Plays the rest of a match; returns whether the process survives that.
    fn play(&self, rated: &RatedRun, [one, other]: [&PlayerId; 2], games: u64, left: &mut Option<usize>) -> bool {
        let pair = [one.min(other), one.max(other)];
        let played = rated.pool().expect("memory can be read").played(pair[0], pair[1]);
        let missing = match_runner::missing(&played, games);
        let finished = left.map_or(missing.len(), |left| left.min(missing.len()));
        // In one file: it takes longer than a game that is made up.
        let games: Vec<GameRecord> = missing[..finished].iter().map(|&number| self.game(pair, number)).collect();
        if !games.is_empty() {
            rated.run.matches().publish("test", &games).expect("memory can be written");
        }
        *left = left.map(|left| left - finished);
        finished == missing.len()
    }

    fn rated(&self) -> RatedRun {
        arena(&self.store, 1).rated
    }

    fn game(&self, [first, second]: [&PlayerId; 2], number: u64) -> GameRecord {
        let (first, second) = (first.to_string(), second.to_string());
        let mut random = GameRng::seed_from_u64(game_seed(self.seed, &first, &second, number));
        let [black, white] = if number.is_multiple_of(2) { [first, second] } else { [second, first] };
        let lead = strength(&black) - strength(&white);
        let wins = random.random_bool(expected_score(lead));
        let outcome = if wins { Outcome::Black } else { Outcome::White };
        GameRecord { outcome, ..match_game(&black, &white, number) }
    }

    /// The games that were played, and the margin that the table prints at most.
    fn found(&self) -> (usize, f64) {
        let rated = self.rated();
        let games = rated.pool().expect("memory can be read").games();
        (games, rated.ladder(self.config.run_loop.models).expect("the pool can be rated").margin())
    }

    fn ids(&self) -> Vec<(String, String, u64)> {
        let results = self.rated().run.matches().all().expect("memory can be read");
        let mut ids: Vec<_> = results.into_iter().map(|game| (game.black, game.white, game.index)).collect();
        ids.sort();
        ids
    }
}

/// Elo of a player above `random`. Models are on a curve through the ratings of a run of `configs/9x9.toml`: 1040 for
/// model 8, 1863 for 16, 2373 for 32 and 2667 for 80 (`experiments/0060-bridges-in-final-pairs`).
fn strength(player: &str) -> f64 {
    facts::own_model(&name("tiny"), player).map_or(0.0, |age| 2700.0 * (1.0 - (-f64::from(age) / 14.0).exp()))
}

#[test]
fn finished_run_has_a_table_within_100_elo() {
    let found = [1, 2, 3].map(|seed| {
        let run = Simulation::new(&[], seed);
        assert!(run.run());
        run.found()
    });
    println!("games and margins by seed: {found:.0?}");
    assert!(found.iter().all(|&(games, margin)| margin <= 100.0 && games <= 3200), "{found:?}");
}

/// Models 8 and 16 have 100 games, of which the newer one wins nearly all.
#[test]
fn model_between_two_that_are_far_apart_joins_whatever_the_margin() {
    for margin in ["loop.final_margin=0", "loop.final_margin=100", "loop.final_margin=5000"] {
        let run = Simulation::new(&["loop.models=16", "loop.final_games=100", "loop.final_pairs=1", margin], 1);
        assert!(run.run());
        let between = name("tiny").model(12).to_string();
        assert!(run.ids().iter().any(|(black, white, _)| *black == between || *white == between), "{margin}");
    }
}

#[test]
fn matches_of_neighbours_do_not_connect_first_and_last_model() {
    let run = Simulation::new(&NEIGHBOURS, 1);
    assert!(run.run());
    let (games, margin) = run.found();
    assert!(games == 240 && margin > 400.0, "{games} games, ± {margin}");
}

#[test]
fn killed_schedule_plays_the_same_games() {
    let whole = Simulation::new(&["loop.models=40"], 1);
    assert!(whole.run());
    let mut broken = Simulation::new(&["loop.models=40"], 1);
    broken.killed_after = Some(57);
    let mut rounds = 0;
    while !broken.run() {
        rounds += 1;
        assert!(rounds < 100, "every round plays 57 games");
    }
    assert!(rounds > 2, "it was killed {rounds} times");
    assert_eq!(broken.ids(), whole.ids());
    // A finished run plays nothing more.
    assert!(broken.run());
    assert_eq!(broken.ids(), whole.ids());
}

#[test]
fn rating_of_the_newest_model_is_reported_after_its_matches_and_the_final_ones() {
    let run = Simulation::new(&["loop.models=24"], 1);
    assert!(run.run());
    let (stop, mut events) = (Stop::never(), Vec::new());
    let report = |event: Event| events.push(event);
    let mut driver = Matches::new(arena(&run.store, 1), RunSchedule::new(WhenIdle::End), report, &stop);
    drive(&mut driver, &stop).expect("all games are there");
    drop(driver);
    let stored = run.rated().run.ratings().newest().expect("memory can be read").expect("ratings were published");
    let row = stored.iter().find(|row| row.player == "tiny-24").expect("it has played");
    let rated = Event::Rated(RatedModel { number: 24, rating: Estimate { elo: row.elo, error: row.above_pool_error } });
    assert_eq!(events, [rated.clone(), rated]);
}

#[test]
fn models_that_the_newest_has_overtaken_are_measured() {
    let run = Simulation::without_models(&["evaluate.every=2"], 1);
    let (mut arena, rated, stop) = (arena(&run.store, 1), run.rated(), Stop::never());
    let (mut schedule, mut measured) = (RunSchedule::new(WhenIdle::End), Vec::new());
    for newest in [3, 7] {
        publish_models(&arena, newest);
        for model in (2..newest).step_by(2) {
            let plan = MatchPlan::of_model(&rated, model).expect("the results can be rated");
            assert!(run.play_plan(&rated, plan, &mut None));
        }
        let mut session = Session { arena: &mut arena, stop: &stop, report: &mut |_| {} };
        while schedule.step(&mut session).expect("all games are there") == Step::Worked {
            measured.extend(schedule.plan.as_ref().map(|plan| plan.newest));
        }
    }
    assert_eq!(measured, [2, 4, 6]);
}

#[test]
fn games_of_others_do_not_change_the_schedule_that_was_begun() {
    let run = Simulation::new(&["loop.models=24"], 1);
    assert!(run.run());
    let rated = run.rated();
    let stored = rated.run.pairings();
    let of_model = |model| (0..).map_while(move |turn| stored.get(model, turn).expect("memory can be read"));
    let pairings = || -> Vec<Planned> { [8, 16, 24].into_iter().flat_map(of_model).collect() };
    let (begun, before) = (pairings(), BTreeSet::from_iter(run.ids()));
    assert!(!begun.is_empty());
    // An evaluator plays eight games of its own.
    let ids = [1, 2].map(|number| PlayerId::from(name("tiny").model(number)));
    assert!(run.play(&rated, ids.each_ref(), 8, &mut None));
    assert!(run.run());
    let after = pairings();
    assert!(begun.iter().all(|pair| after.contains(pair)), "{begun:?} {after:?}");
    // What else is played since is of pairs that were chosen since.
    let chosen = after.iter().filter(|pair| !begun.contains(pair)).map(|pair| [&pair.first, &pair.second]);
    let new: Vec<_> = chosen.chain([ids.each_ref()]).map(|pair| pair.map(PlayerId::to_string)).collect();
    for (black, white, index) in run.ids().into_iter().filter(|game| !before.contains(game)) {
        assert!(new.iter().any(|pair| pair.contains(&black) && pair.contains(&white)), "{black} {white} {index}");
    }
}

/// The model half its age is `random`, too.
#[test]
fn only_model_of_a_run_has_one_line_of_its_final_match() {
    let run = Simulation::new(&[&NEIGHBOURS[..], &["loop.models=1"]].concat(), 1);
    assert!(run.run());
    let stop = Stop::never();
    let mut driver = Matches::new(arena(&run.store, 1), RunSchedule::new(WhenIdle::End), Silent, &stop);
    drive(&mut driver, &stop).expect("all games are there");
    let text = driver.conclusion().expect("the results can be rated").expect("the run is finished");
    assert_eq!(text.matches("tiny-1 won ").count(), 1, "{text}");
}

#[test]
fn margin_is_that_of_the_table_where_a_model_is_retired() {
    let run = Simulation::new(&["loop.models=24"], 1);
    assert!(run.run());
    let rated = run.rated();
    rated.retire_model(&name("tiny").model(8)).expect("it is not the newest");
    let table = rated.rate().expect("the results can be rated");
    let shown = table.shown();
    let models = shown.iter().filter(|row| facts::own_model(&name("tiny"), &row.player).is_some());
    let widest = models.map(record::RatingRow::margin).fold(0.0, f64::max);
    let found = rated.ladder(24).expect("the pool can be rated").margin_of_places();
    // The players of the two are in different orders.
    assert!((found - widest).abs() < 0.1, "{found} is not {widest}");
}

#[test]
fn retired_models_take_no_part() {
    let run = Simulation::new(&["loop.models=40"], 1);
    let rated = run.rated();
    // The last model would meet 20, which is half its age.
    for retired in [16, 20] {
        rated.retire_model(&name("tiny").model(retired)).expect("it is not the newest");
    }
    assert!(run.run());
    for outcast in [16, 20].map(|number| name("tiny").model(number).to_string()) {
        assert!(run.ids().iter().all(|(black, white, _)| *black != outcast && *white != outcast), "{outcast}");
    }
    let outcast = name("tiny").model(16).to_string();
    for (model, turn) in (1..=40).flat_map(|model| (0..40).map(move |turn| (model, turn))) {
        if let Some(pair) = rated.run.pairings().get(model, turn).expect("memory can be read") {
            assert!(pair.first.to_string() != outcast && pair.second.to_string() != outcast, "{pair:?}");
        }
    }
    let ladder = rated.ladder(40).expect("the pool can be rated");
    assert!(ladder.models() >= 4, "8, 24, 32 and 40");
    let stop = Stop::never();
    let mut driver = Matches::new(arena(&run.store, 1), RunSchedule::new(WhenIdle::End), Silent, &stop);
    drive(&mut driver, &stop).expect("all games are there");
    let text = driver.conclusion().expect("the results can be rated").expect("the run is finished");
    assert!(text.contains(" games against random") && !text.contains("tiny-20"), "{text}");
}
