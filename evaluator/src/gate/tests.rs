//! Promotion tests, and the sequential tests that they are made of.

use runtime::Stop;

use super::*;
use crate::retirement::tests::run_with_weak_models;
use crate::tests::fixture::{PAIR, RUN, arena, ids, name, publish_models, store, won_game};

/// Plays a schedule to its end, and returns its conclusion.
fn conclusion(arena: &mut Arena, mut schedule: impl Schedule) -> String {
    let stop = Stop::never();
    while schedule.step(&mut Session { arena, stop: &stop, report: &mut |_| {} }).expect("it can play")
        != Step::Finished
    {}
    schedule.conclusion(arena).expect("memory can be read").expect("tests have one")
}

#[test]
fn gate_stops_at_a_verdict_or_its_maximum_of_games() {
    let store = store();
    let mut arena = arena(&store, 2);
    let test = |sprt: &Sprt, most| SequentialTest::new(PAIR.map(PlayerId::clone), *sprt, most);
    // Whatever the two are, they are not 2000 Elo apart.
    let wide = Sprt::new(-1000.0, 1000.0, 0.05, 0.05).expect("a good test");
    let text = conclusion(&mut arena, test(&wide, 400));
    let found = test(&wide, 400).compare(&arena.rated).expect("memory can be read");
    assert!(found.verdict != Verdict::Open && found.to_string() == text, "{found}");
    let games = ids(&arena).len();
    assert_eq!(games, 2 * found.outcomes.count() as usize);
    let points = arena.rated.score(PAIR).expect("memory can be read").points;
    assert!((found.outcomes.mean() * games as f64 - points).abs() < 1e-9);
    // Asked again it is known, and seen from the other side it is the opposite.
    assert_eq!((conclusion(&mut arena, test(&wide, 400)), ids(&arena).len()), (text, games));
    let turned = arena.rated.pool().expect("memory can be read").pairs_of_games(PAIR[1], PAIR[0]);
    assert_eq!(turned.0.iter().rev().copied().collect::<Vec<_>>(), found.outcomes.0);
    let narrow = Sprt::new(-0.1, 0.1, 0.05, 0.05).expect("a good test");
    let open = conclusion(&mut arena, test(&narrow, games as u64 + 4));
    assert!(open.contains("no verdict yet") && ids(&arena).len() == games + 4, "{open}");
}

#[test]
fn batch_that_was_interrupted_is_completed_before_a_verdict() {
    let store = store();
    let mut arena = arena(&store, 1);
    // Enough for a verdict, but two games of the last batch of four are missing.
    let games: Vec<_> = (0..198).map(|index| won_game("random", "uniform", index)).collect();
    arena.rated.run.matches().publish("test", &games).expect("memory can be written");
    let test = Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test");
    let text = conclusion(&mut arena, SequentialTest::new(PAIR.map(PlayerId::clone), test, 400));
    assert!(text.contains("elo1 rather than elo0") && text.contains("after 100 pairs"), "{text}");
}

#[test]
fn interrupted_batch_has_no_verdict() {
    let store = store();
    let mut arena = arena(&store, 1);
    // Enough for a verdict, but the last batch of four is interrupted again.
    let games: Vec<_> = (0..198).map(|index| won_game("random", "uniform", index)).collect();
    arena.rated.run.matches().publish("test", &games).expect("memory can be written");
    let sprt = Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test");
    let mut test = SequentialTest::new(PAIR.map(PlayerId::clone), sprt, 400);
    let stop = Stop::never();
    let step = test.step(&mut Session { arena: &mut arena, stop: &stop, report: &mut |_| stop.request() });
    assert_eq!(step.expect("it can play"), Step::Worked);
    assert_eq!(test.compare(&arena.rated).expect("memory can be read").verdict, Verdict::Upper);
    let text = test.conclusion(&arena).expect("memory can be read").expect("tests have one");
    assert!(text.contains("interrupted") && !text.contains("rather than"), "{text}");
}

#[test]
fn retired_model_is_not_promoted() {
    let store = store();
    let rated = run_with_weak_models(&store).rated;
    rated.retire(200.0).expect("the results can be rated");
    let (one, test) = (name(RUN).model(1), Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test"));
    let error = Gate::new(&rated, &one, test, 0).map(drop).expect_err("retired");
    assert!(
        error.to_string().starts_with("tiny-1 is retired; bring it back with `evaluator unretire tiny-1`"),
        "{error}"
    );
    let mut arena = arena(&store, 1);
    arena.rated = rated.including_retired();
    let gate = Gate::new(&arena.rated, &one, test, 0).expect("it may be tested");
    assert!(conclusion(&mut arena, gate).ends_with("random stays the champion"));
}

#[test]
fn only_a_newer_and_stronger_model_becomes_the_champion() {
    let store = store();
    let mut arena = arena(&store, 1);
    publish_models(&arena, 3);
    let model = |number| name(RUN).model(number);
    let test = Sprt::new(0.0, 100.0, 0.05, 0.05).expect("a test");
    // Enough games for a verdict are there already: model 2 beats `random`, and model 3 shares the points with model 2.
    let mut games = Vec::new();
    for index in 0..200 {
        for (winner, loser) in [(2, 0), if index % 4 < 2 { (3, 2) } else { (2, 3) }] {
            let player = |number: u32| if number == 0 { "random".to_owned() } else { model(number).to_string() };
            games.push(won_game(&player(winner), &player(loser), index));
        }
    }
    arena.rated.run.matches().publish("test", &games).expect("memory can be written");
    assert_eq!(arena.rated.champion().expect("memory can be read"), ModelId::Random);
    let mut promote = |number: u32| {
        let gate = Gate::new(&arena.rated, &model(number), test, 0).expect("it may be tested");
        (conclusion(&mut arena, gate), arena.rated.champion().expect("memory can be read"))
    };
    let (passed, champion) = promote(2);
    assert!(passed.ends_with("tiny-2 is the champion now") && champion == model(2), "{passed}");
    let (failed, champion) = promote(3);
    assert!(failed.ends_with("tiny-2 stays the champion") && champion == model(2), "{failed}");
    for wrong in [model(1), model(2), ModelId::Uniform] {
        let error = Gate::new(&arena.rated, &wrong, test, 0).map(drop).expect_err("it cannot follow");
        assert!(matches!(error, EvaluatorError::NoCandidate { .. }), "{wrong}");
    }
}
