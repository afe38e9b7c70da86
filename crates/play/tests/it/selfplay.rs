//! Games of self-play.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use config::RunConfig;
use go::{Color, Game, Move, Size};
use mcts::{Evaluator, Purpose, Request, Settings, Value};
use play::{
    Budget, By, EvaluatorStats, GameRng, Instrumented, Match, MatchSpec, RandomModel, SearchDriver, Selfplay,
    SelfplaySpec, Side, Uniform, run,
};
use rand::SeedableRng;
use record::{EndReason, GameRecord, Outcome, SearchKind, Turn};
use testing::Stub;

use crate::{config, opinion, play, selfplay, sorted};

/// What KataGo has that Minigo has not.
const KATAGO: [&str; 2] = ["search.q_init_stays=false", "search.fpu_reduction=0.2"];

const GUMBEL: [&str; 4] =
    ["search.algorithm=gumbel", "search.gumbel_moves=4", "search.leaves=3", "selfplay.choice_moves=0"];

/// Playout-cap randomisation.
const CAPPED: [&str; 4] = [
    "selfplay.full_search_fraction=0.4",
    "selfplay.fast_visits=5",
    "search.visits=24",
    "search.adjudicate_winning_pass=false",
];

/// Openings from the policy, and komi from game to game.
const VARIED: [&str; 4] = [
    "selfplay.policy_opening_fraction=0.7",
    "selfplay.policy_opening_moves=3.0",
    "selfplay.komi_deviation=2.0",
    "selfplay.random_opening_fraction=0.5",
];

#[test]
fn game_depends_on_nothing_beside_it() {
    for overrides in [&[][..], &KATAGO, &GUMBEL, &CAPPED, &VARIED] {
        let config = config(overrides);
        let together = selfplay(&config, 7, 0..12, None);
        let alone: Vec<GameRecord> = (0..12).flat_map(|index| selfplay(&config, 1, index..index + 1, None)).collect();
        assert_eq!(together, alone);
        assert!(together.windows(2).all(|pair| pair[0].turns != pair[1].turns), "and no two games are the same");
    }
}

/// Noise in flat priors is told by a prior that is not flat.
#[test]
fn noise_is_mixed_into_the_priors_once_per_move_and_also_in_a_reused_tree() {
    let config = config(&["selfplay.noise_weight=0.5", "search.pass_from=0"]);
    let settings = Settings::new(&config.search, &config.game);
    let purpose = Purpose::selfplay(&config.selfplay, 25);
    let game = Game::new(Size::new(5).expect("a size"));
    let mut driver = SearchDriver::new(game, settings, Budget { visits: 30, leaves: 1 }, purpose);
    let (mut model, mut rng) = (Uniform::new(), GameRng::seed_from_u64(1));
    for turn in 0..4 {
        let mut seen: Vec<f32> = Vec::new();
        while !driver.is_done() {
            driver.submit(&mut model, &mut rng);
            model.flush().expect("it cannot fail");
            driver.take(&model);
            let priors: Vec<f32> = driver.search().root_moves().iter().map(|root| root.prior).collect();
            assert_eq!(seen, priors[..seen.len()], "turn {turn}: a later round changes nothing");
            seen = priors;
        }
        let legal = driver.search().game().legal_points().len() as f32 + 1.0;
        assert!((driver.prior_entropy() - mcts::math::ln(legal)).abs() < 1e-4, "the entropy is that before the noise");
        let size = driver.search().game().size();
        let target = driver.search().policy_target();
        let visits: Vec<(u16, u32)> = target.iter().map(|&(mv, count)| (mv.index(size) as u16, count)).collect();
        let target: Vec<f32> = target.iter().map(|&(_, count)| count as f32).collect();
        let total: f32 = target.iter().sum();
        let expected: f32 = target.iter().map(|count| count / total * mcts::math::ln(count / total * legal)).sum();
        let surprise = driver.policy_surprise(&visits).expect("something was searched");
        assert!(
            (surprise - expected).abs() <= expected / 256.0 + 1e-4,
            "{surprise}, {expected}: the priors are those before the noise"
        );
        assert!(seen.iter().all(|prior| *prior >= 0.5 / legal - 1e-6), "half of each prior is left");
        assert!(seen.iter().any(|prior| (prior - 1.0 / legal).abs() > 0.01), "and the other half is noise");
        let best = driver.search().best_move().expect("a move was visited").mv;
        driver.advance(best).expect("a legal move");
        assert!(driver.search().visits() > 0, "the tree is kept");
    }
}

#[test]
fn gumbel_games_store_the_improved_policy_from_two_visits_up() {
    for visits in ["search.visits=2", "search.visits=16"] {
        let config = config(&[&GUMBEL[..], &[visits]].concat());
        for record in selfplay(&config, 4, 0..4, None) {
            let sum = |turn: &Turn| turn.visits.iter().map(|(_, count)| count).sum::<u32>();
            assert!(record.turns.iter().all(|turn| sum(turn) == mcts::Search::SHARES));
            record.examples().expect("every turn is a good example");
        }
    }
}

#[test]
fn every_game_replays_to_its_result() {
    for overrides in [
        &["game.size=5"][..],
        &["game.size=3", "game.scoring=area", "search.prune_pass_alive=false"],
        &["search.leaves=1", "search.reuse=false"],
        &KATAGO,
        &GUMBEL,
        &CAPPED,
        &VARIED,
    ] {
        let config = config(overrides);
        for record in selfplay(&config, 8, 0..20, None) {
            let game = record.replay().expect("stored games are legal");
            let score = game.score(record.scoring) as f32 - record.komi;
            assert_eq!(record.score, Some(score));
            assert_eq!(record.outcome, Outcome::from_score(score));
            let over = game.is_over(record.scoring) || record.end == EndReason::MoveLimit;
            assert!(over && record.turns.len() <= config.game.move_limit, "{:?}", record.end);
            record.examples().expect("every turn is a good example");
        }
    }
}

#[test]
fn budget_is_spent_exactly() {
    let visits = |record: &GameRecord| -> Vec<u32> {
        record.turns.iter().map(|turn| turn.visits.iter().map(|(_, visits)| visits).sum()).collect()
    };
    let fresh = config(&["search.reuse=false", "search.leaves=3", "search.visits=17"]);
    assert!(selfplay(&fresh, 4, 0..4, None).iter().flat_map(visits).all(|visits| visits == 17));
    let reused = config(&["search.reuse=true", "search.leaves=3", "search.visits=17"]);
    let counts: Vec<u32> = selfplay(&reused, 4, 0..4, None).iter().flat_map(visits).collect();
    assert!(counts.iter().all(|&visits| visits >= 17), "inherited visits count towards the budget: {counts:?}");
}

/// Each search ends with its own budget, or with what it inherited where that is more: nothing of the search before
/// is forgotten, and nothing counts twice.
#[test]
fn full_and_fast_searches_spend_their_budgets_exactly() {
    for (reuse, leaves) in [("search.reuse=true", "search.leaves=3"), ("search.reuse=false", "search.leaves=1")] {
        let config = config(&[&CAPPED[..], &[reuse, leaves]].concat());
        let mut kinds = [0; 2];
        for record in selfplay(&config, 4, 0..20, None) {
            let mut inherited = 0;
            for turn in &record.turns {
                let budget = if turn.kind == SearchKind::Full { 24 } else { 5 };
                assert_eq!(turn.visits.iter().map(|(_, visits)| visits).sum::<u32>(), inherited.max(budget));
                let played = turn.mv.index(record.size) as u16;
                let below = turn.visits.iter().find(|(mv, _)| *mv == played).map_or(0, |(_, visits)| visits - 1);
                inherited = if config.search.reuse { below } else { 0 };
                kinds[usize::from(turn.kind == SearchKind::Fast)] += 1;
            }
            let full = record.turns.iter().filter(|turn| turn.kind == SearchKind::Full).count();
            assert_eq!(record.examples().expect("good examples").len(), full, "fast searches yield no examples");
        }
        assert!(kinds.iter().all(|&kind| kind > 50), "{kinds:?}");
    }
}

#[test]
fn fast_searches_have_no_noise_whatever_came_before() {
    let config = config(&["selfplay.noise_weight=0.5"]);
    let settings = Settings::new(&config.search, &config.game);
    let purpose = Purpose::selfplay(&config.selfplay, 25);
    let game = Game::new(Size::new(5).expect("a size"));
    let mut driver = SearchDriver::new(game, settings, Budget { visits: 30, leaves: 2 }, purpose);
    let (mut model, mut rng) = (Uniform::new(), GameRng::seed_from_u64(1));
    for turn in 0..6 {
        let noisy = turn % 2 == 0;
        driver.begin(30, if noisy { purpose } else { Purpose::Win });
        while !driver.is_done() {
            driver.submit(&mut model, &mut rng);
            model.flush().expect("it cannot fail");
            driver.take(&model);
        }
        let priors: Vec<f32> = driver.search().root_moves().iter().map(|root| root.prior).collect();
        assert_eq!(priors.iter().any(|prior| prior != &priors[0]), noisy, "turn {turn}: {priors:?}");
        let best = driver.search().best_move().expect("a move was visited").mv;
        driver.advance(best).expect("a legal move");
    }
}

#[test]
fn side_that_is_lost_resigns_except_in_calibration_games() {
    let config = config(&["resign.calibration_fraction=0.25"]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, Some(-0.8)));
    // Black is lost on its first turn, or White is.
    for (value, turn, winner) in [(-0.9, 0, Outcome::White), (0.9, 1, Outcome::Black)] {
        for record in sorted(play(&mut [&mut opinion(value)], 4, (0..8).map(start))) {
            assert_eq!(record.calibration, record.index % 4 == 0);
            assert_eq!(record.would_resign_turn, Some(turn), "value {value}");
            if record.calibration {
                assert_ne!(record.end, EndReason::Resignation);
            } else {
                assert_eq!((record.end, record.outcome), (EndReason::Resignation, winner));
                assert_eq!(record.turns.len(), usize::from(turn), "nothing is played after that");
            }
        }
    }
}

/// The calibration counts the wins that a threshold loses by the same rule.
#[test]
fn side_whose_value_is_the_threshold_plays_on() {
    let config = config(&["search.visits=1", "search.leaves=1", "game.move_limit=4"]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, Some(-0.75)));
    for record in play(&mut [&mut opinion(-0.75)], 4, (0..4).map(start)) {
        assert_eq!((record.end, record.would_resign_turn), (EndReason::MoveLimit, None));
    }
}

/// Two fifths of the policy on the first point, a fifth on the pass, and the rest on the other points.
fn biased(request: &Request<'_>) -> (Vec<f32>, Value) {
    let area = request.game.size().area();
    let mut policy = vec![0.4 / (area - 1) as f32; area + 1];
    (policy[0], policy[area]) = (0.4, 0.2);
    (policy, Value::for_black(-0.99))
}

#[test]
fn notes_agree_with_the_turns() {
    for overrides in [&["search.reuse=false"][..], &GUMBEL, &CAPPED] {
        let config = config(overrides);
        let gumbel = config.search.algorithm == config::Algorithm::Gumbel;
        for record in selfplay(&config, 4, 0..6, None) {
            let mut depths = Vec::new();
            for turn in &record.turns {
                let note = turn.note.as_ref().expect("every search has a note");
                let most = note.top.first().expect("a move was visited");
                assert!(note.top.windows(2).all(|two| two[0].visits >= two[1].visits) && note.top.len() <= 6);
                let first = note.variation.first().expect("a move was visited");
                // Without drawn moves the best one is played. Of a Gumbel search it need not be the most visited.
                let is_best = if gumbel { first.0 == turn.mv } else { first.1 == most.visits };
                assert!(is_best, "{first:?}, and {most:?} of {:?}", turn.mv);
                assert!(note.variation.windows(2).all(|two| two[0].1 > two[1].1), "visits fall along a path");
                for top in &note.top {
                    let index = top.mv.index(record.size) as u16;
                    assert!(gumbel || turn.visits.contains(&(index, top.visits)));
                    assert!((-1.0..=1.0).contains(&top.value) && (0.0..=1.0).contains(&top.prior));
                }
                assert!(note.mean_depth <= note.max_depth as f32 && (note.max_depth == 0) == (note.mean_depth == 0.0));
                depths.extend((note.max_depth > 0).then_some(note.mean_depth));
            }
            let mean = depths.iter().sum::<f32>() / depths.len() as f32;
            assert!(record.mean_depth.is_some_and(|found| (found - mean).abs() < 1e-5 && found >= 1.0));
            let comments = record.to_sgf();
            assert!(["variation ", " N ", " Q ", " P ", "depth "].iter().all(|word| comments.contains(word)));
        }
    }
}

#[test]
fn surprise_of_a_move_without_a_prior_is_in_the_range_of_records() {
    // With noise alone the one visit is of a move to which the network gives nothing.
    let config = config(&["selfplay.noise_weight=1.0", "search.visits=1", "search.leaves=1", "game.move_limit=4"]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, None));
    let mut model = Stub::new(|request| {
        let mut policy = vec![0.0; request.game.size().moves()];
        policy[0] = 1.0;
        (policy, Value::ZERO)
    });
    let records = play(&mut [&mut model], 4, (0..4).map(start));
    let surprises = records.iter().flat_map(|record| &record.turns).filter_map(|turn| turn.policy_surprise);
    assert!(surprises.fold(0.0, f32::max) > 87.0);
    for record in records {
        record.examples().expect("every turn is a good example");
    }
}

#[test]
fn openings_are_drawn_from_the_policy_without_passes() {
    let config = config(&[
        "selfplay.policy_opening_fraction=1.0",
        "selfplay.policy_opening_moves=5.0",
        "game.move_limit=4",
        "search.visits=1",
        "search.pass_from=0",
        "resign.calibration_fraction=0.0",
    ]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, Some(-0.8)));
    let (mut first, mut drawn) = (0.0, 0.0);
    for record in play(&mut [&mut Stub::new(biased)], 16, (0..4000).map(start)) {
        let opening = record.turns.iter().take_while(|turn| turn.kind == SearchKind::Policy).count();
        assert!(record.turns[..opening].iter().all(|turn| turn.mv != Move::Pass && turn.visits.is_empty()));
        assert!(record.turns[opening..].iter().all(Turn::is_searched));
        assert!(record.examples().expect("good examples").iter().all(|e| usize::from(e.turn) >= opening));
        assert!(
            record.would_resign_turn.is_none_or(|turn| usize::from(turn) >= opening),
            "the opening has no resignation"
        );
        if opening > 0 {
            first += f64::from(u8::from(record.turns[0].mv.index(record.size) == 0));
            drawn += 1.0;
        }
    }
    // Of what is not a pass; three standard deviations of some 3,300 draws are 0.0262.
    assert!(drawn > 3000.0 && (first / drawn - 0.5).abs() < 0.0262, "{first} of {drawn}");
}

#[test]
fn random_openings_precede_policy_openings_and_yield_no_examples() {
    let config = config(&[
        "selfplay.random_opening_fraction=0.8",
        "selfplay.random_opening_moves=3",
        "selfplay.policy_opening_fraction=0.5",
        "selfplay.policy_opening_moves=2.0",
        "search.visits=1",
    ]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, Some(-0.8)));
    let (mut lengths, mut firsts, mut both) = ([0; 4], [0; 25], 0);
    for record in play(&mut [&mut Uniform::new()], 16, (0..400).map(start)) {
        let given = record.turns.iter().take_while(|turn| turn.kind == SearchKind::Given).count();
        let drawn = record.turns[given..].iter().take_while(|turn| turn.kind == SearchKind::Policy).count();
        assert!(record.turns[given + drawn..].iter().all(Turn::is_searched));
        assert!(record.examples().expect("good examples").iter().all(|e| usize::from(e.turn) >= given + drawn));
        lengths[given] += 1;
        both += usize::from(given > 0 && drawn > 0);
        if given > 0 {
            firsts[record.turns[0].mv.index(record.size)] += 1;
        }
    }
    assert!(lengths.iter().all(|&games| games > 50) && both > 50, "{lengths:?} {both}");
    // The nine points that are not on the edge of 5x5.
    assert_eq!(firsts.iter().filter(|&&games| games > 0).count(), 9, "{firsts:?}");
}

#[test]
fn each_game_is_searched_and_counted_with_its_own_komi() {
    let config = config(&["selfplay.komi_deviation=100.0", "search.visits=60", "search.pass_from=0"]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "uniform", "0", index, None));
    let records = sorted(play(&mut [&mut Uniform::new()], 8, (0..40).map(start)));
    assert!(records.iter().all(|record| (record.komi - config.game.komi).fract() == 0.0));
    // The model knows nothing. What the first search finds is that White can answer a pass by ending the game, and who
    // wins an empty board is a matter of komi.
    let first = |record: &GameRecord| record.turns[0].root_value;
    let (white, black): (Vec<_>, Vec<_>) = records.iter().partition(|record| record.komi > 0.0);
    assert!(white.len() > 5 && white.iter().all(|record| first(record) < 0.0));
    assert!(black.len() > 5 && black.iter().all(|record| first(record) >= 0.0));
}

#[test]
fn winner_min_value_is_the_winners_own_worst() {
    for record in selfplay(&config(&[]), 8, 0..20, None) {
        let Some(winner) = record.outcome.winner() else {
            assert_eq!(record.winner_min_value, None);
            continue;
        };
        let own = record.turns.iter().enumerate().filter(|(turn, _)| GameRecord::to_move(*turn) == winner);
        let sign = if winner == Color::Black { 1.0 } else { -1.0 };
        let worst = own.map(|(_, turn)| sign * turn.root_value).fold(f32::INFINITY, f32::min);
        assert_eq!(record.winner_min_value, Some(worst));
    }
}

#[test]
fn drawn_moves_come_first_and_are_never_passes() {
    let config = config(&["selfplay.choice_moves=4"]);
    for record in selfplay(&config, 8, 0..20, None) {
        for (turn, played) in record.turns.iter().enumerate() {
            let index = played.mv.index(record.size) as u16;
            let visits = |mv| played.visits.iter().find(|(other, _)| *other == mv).map_or(0, |(_, visits)| *visits);
            let most = played.visits.iter().map(|(_, visits)| *visits).max();
            if turn >= 4 {
                assert_eq!(Some(visits(index)), most, "after the drawn moves the most visited is played");
            } else if index == 25 {
                assert_eq!(played.visits, [(25, visits(25))], "pass is drawn only where nothing else was visited");
            }
        }
    }
}

#[test]
fn choice_exponent_decides_how_often_the_most_visited_move_is_drawn() {
    let drawn = |exponent: &str| {
        let config = config(&[exponent, "selfplay.choice_moves=8", "game.move_limit=8", "search.visits=64"]);
        let (mut all, mut most) = (0_usize, 0_usize);
        for record in selfplay(&config, 8, 0..20, None) {
            for turn in &record.turns {
                let index = turn.mv.index(record.size) as u16;
                let visits = turn.visits.iter().find(|(mv, _)| *mv == index).map(|(_, visits)| *visits);
                all += 1;
                most += usize::from(visits == turn.visits.iter().map(|(_, visits)| *visits).max());
            }
        }
        (all, most)
    };
    let (all, most) = drawn("selfplay.choice_exponent=1000.0");
    assert_eq!(all, most, "the most visited move alone");
    let (all, most) = drawn("selfplay.choice_exponent=0.01");
    assert!(2 * most < all, "all visited moves about as often: {most} of {all}");
}

#[test]
fn timed_games_differ_from_others_in_their_times_alone() {
    let config = config(&[]);
    let start = |index| Selfplay::new(SelfplaySpec::new(&config.at(0), "random", "0", index, None).timed(true));
    let mut games = sorted(play(&mut [&mut RandomModel::new()], 2, (0..4).map(start)));
    for game in &mut games {
        assert!(game.started_at.take().is_some() && game.ended_at.take().is_some());
    }
    assert_eq!(games, selfplay(&config, 1, 0..4, None));

    let by = By::Model {
        model: 0,
        settings: Settings::new(&config.search, &config.game),
        budget: Budget { visits: 4, leaves: 1 },
    };
    let side = |name: &str| Side { name: name.to_owned(), by };
    let none = &mut |_: &MatchSpec, _| panic!("models are no external players");
    let mut matched = |timed| {
        let spec = MatchSpec::new(&(&config).into(), &side("a"), &side("b"), 0).timed(timed);
        play(&mut [&mut Uniform::new()], 1, [Match::new(spec, none)].into_iter()).remove(0).unwrap().record
    };
    let (timed, untimed) = (matched(true), matched(false));
    assert!(timed.started_at.is_some() && timed.ended_at.is_some());
    assert_eq!(GameRecord { started_at: None, ended_at: None, ..timed }, untimed);
}

/// Breaks once so many rounds are over; `watched` counts the calls, one before each round.
fn break_after(rounds: u64, watched: &Cell<u64>) -> ControlFlow<()> {
    watched.set(watched.get() + 1);
    if watched.get() > rounds { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

#[test]
fn failed_run_keeps_games_in_progress() {
    let config = config(&[]);
    let mut started = 0..100;
    let mut records = Vec::new();
    let mut games = Vec::new();
    let stats = Arc::new(EvaluatorStats::default());
    let rounds = Cell::new(0);
    run(
        &mut [&mut Instrumented::new(RandomModel::new(), Arc::clone(&stats))],
        &mut games,
        4,
        &mut || started.next().map(|index| Selfplay::new(SelfplaySpec::new(&config.at(0), "random", "0", index, None))),
        &mut |record| records.push(record),
        &mut |_| break_after(10, &rounds),
    )
    .expect("the model works");
    let counts = stats.counts();
    assert_eq!(counts.batches, 10);
    assert!(counts.evaluations > 10 && records.is_empty());
    assert_eq!(games.len(), 4);
    let watch = &mut |_: &[Selfplay]| ControlFlow::Continue(());
    let model: &mut dyn Evaluator = &mut RandomModel::new();
    run(&mut [model], &mut games, 4, &mut || None, &mut |record| records.push(record), watch).expect("the model works");
    records.sort_by_key(|record: &GameRecord| record.index);
    assert_eq!(records, selfplay(&config, 1, 0..4, None), "an interruption changes nothing");
}

/// Plays some rounds with `random` and continues with `uniform`.
fn handed_off(config: &RunConfig, rounds: u64) -> Vec<GameRecord> {
    let mut started = 0..6;
    let mut start =
        || started.next().map(|index| Selfplay::new(SelfplaySpec::new(&config.at(0), "random", "0", index, None)));
    let mut games = Vec::new();
    let watched = Cell::new(0);
    let mut stop = |_: &[Selfplay]| break_after(rounds, &watched);
    let nothing = &mut |_| panic!("no game is over so soon");
    run(&mut [&mut RandomModel::new()], &mut games, 6, &mut start, nothing, &mut stop).expect("the model works");
    games.iter_mut().for_each(|game| game.take_over("uniform"));
    let mut records = Vec::new();
    let finish = &mut |record| records.push(record);
    let watch = &mut |_: &[Selfplay]| ControlFlow::Continue(());
    run(&mut [&mut Uniform::new()], &mut games, 6, &mut || None, finish, watch).expect("the model works");
    records.sort_by_key(|record: &GameRecord| record.index);
    records
}

/// However far the search was that the newer model found, the game is the same: it follows from its models and its
/// seed.
#[test]
fn newer_model_continues_a_game_at_the_present_move() {
    for search in ["search.algorithm=puct", "search.algorithm=gumbel"] {
        let config = config(&[search, "search.reuse=false", "selfplay.choice_moves=0", "search.leaves=1"]);
        let records = handed_off(&config, 20);
        // A search of 16 visits takes 17 rounds.
        assert_eq!(records, handed_off(&config, 22), "{search}");
        for (record, alone) in records.iter().zip(selfplay(&config, 1, 0..6, None)) {
            let handoffs = [record::Handoff { turn: 1, model: "uniform".to_owned() }];
            assert_eq!(record.handoffs, handoffs);
            assert_eq!((record.id, &record.black, &record.turns[0]), (alone.id, &alone.black, &alone.turns[0]));
            assert!(record.turns[1..].iter().all(|turn| turn.network_value == 0.0), "uniform says nothing else");
            let models: Vec<String> = record.examples().expect("good turns").into_iter().map(|e| e.model).collect();
            assert_eq!((&models[0][..], &models[1][..]), ("random", "uniform"));
            assert!(record.to_sgf().contains("from move 2 on played by uniform"));
        }
    }
}

/// Another process continues a game as the same process would have continued it.
#[test]
fn handed_off_game_continues_elsewhere_unchanged() {
    for overrides in [
        &["search.algorithm=puct", "selfplay.full_search_fraction=0.5", "selfplay.fast_visits=3"][..],
        &["search.algorithm=gumbel", "selfplay.choice_moves=0", "selfplay.policy_opening_fraction=0.5"],
        &["selfplay.komi_deviation=1.0"],
    ] {
        // The turn of a would-be resignation is kept, too.
        let config = config(&[overrides, &["resign.calibration_fraction=1.0"]].concat());
        let spec = |index| SelfplaySpec::new(&config.at(0), "random", "0", index, Some(0.0));
        let mut started = 0..6;
        let mut games = Vec::new();
        let mut start = || started.next().map(|index| Selfplay::new(spec(index)));
        let watched = Cell::new(0);
        let mut stop = |_: &[Selfplay]| break_after(40, &watched);
        run(&mut [&mut RandomModel::new()], &mut games, 6, &mut start, &mut |_| (), &mut stop)
            .expect("the model works");
        let left: Vec<GameRecord> = games.iter().map(Selfplay::record).collect();
        let turns: Vec<usize> = left.iter().map(|game| game.turns.len()).collect();
        assert!(turns.len() > 2 && turns.iter().all(|&turns| turns > 1), "{turns:?}");
        assert!(left.iter().any(|game| game.would_resign_turn.is_some()), "{overrides:?}");
        let elsewhere = |game: &GameRecord| Selfplay::resume(&(&config).into(), game.clone(), "uniform");
        let mut elsewhere: Vec<Selfplay> =
            left.iter().map(|game| elsewhere(game).expect("a game of the run")).collect();
        games.iter_mut().for_each(|game| game.take_over("uniform"));
        let finish = |games: &mut Vec<Selfplay>| {
            let mut records = Vec::new();
            let (finish, watch) = (&mut |record| records.push(record), &mut |_: &[Selfplay]| ControlFlow::Continue(()));
            run(&mut [&mut Uniform::new()], games, 6, &mut || None, finish, watch).expect("the model works");
            records.sort_by_key(|record: &GameRecord| record.index);
            records
        };
        let here = finish(&mut games);
        assert_eq!(finish(&mut elsewhere), here, "{overrides:?}");
        for (game, left) in here.iter().zip(&left) {
            assert_eq!(game.handoffs.last().map(|handoff| usize::from(handoff.turn)), Some(left.turns.len()));
            assert_eq!(game.turns[..left.turns.len()], left.turns);
        }
    }
}

#[test]
fn games_of_other_runs_and_finished_games_are_not_resumed() {
    let config_of = |seed: &str| config(&[seed]);
    let own = config_of("seed=1");
    let over = selfplay(&own, 1, 0..1, None).remove(0);
    let refused = |config: &RunConfig, game: GameRecord| Selfplay::resume(&config.into(), game, "random").unwrap_err();
    assert!(refused(&own, over.clone()).contains("is over"));
    let begun = GameRecord { turns: over.turns[..2].to_vec(), ..over };
    assert!(refused(&config_of("seed=2"), begun.clone()).contains("was not begun in this run"));
    let twice = GameRecord { turns: vec![begun.turns[0].clone(), begun.turns[0].clone()], ..begun };
    assert!(refused(&own, twice).contains("turn 1"));
}
