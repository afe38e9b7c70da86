use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use go::Size;
use mcts::{Gumbel, Request, RootMove, Value};
use play::{RandomModel, Uniform};
use testing::{FlushedBy, Known, Stub};

use super::*;
use crate::server::session::enough;
use crate::server::tests::{First, check_with, setup, talk_with};

/// The model `uniform` with the settings of the 9x9 run, but for the algorithm.
pub(in crate::server) fn engine_player(algorithm: &str, visits: u32) -> EnginePlayer {
    engine_player_with(Box::new(Uniform::new()), algorithm, visits)
}

/// The same with another model.
pub(in crate::server) fn engine_player_with(model: Box<dyn Evaluator>, algorithm: &str, visits: u32) -> EnginePlayer {
    let config =
        config::Preset::NineByNine.with(&[format!("search.algorithm={algorithm}")]).expect("the configuration is good");
    let settings = Settings::new(&config.search, &config.game);
    let options = EngineOptions { settings, leaves: 2, visits, visits_are_maximum: false, resign: None };
    EnginePlayer::new(model, options, generator(1))
}

/// Wants no end.
fn patient(_: &Search) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn game(moves: &[&str]) -> Game {
    let mut game = Game::new(Size::new(5).expect("a size"));
    for vertex in moves {
        game.play(Move::from_gtp(game.size(), vertex).expect("a vertex")).expect("a legal move");
    }
    game
}

fn visits(player: &EnginePlayer) -> u32 {
    player.open.as_ref().map_or(0, |open| open.driver.search().visits())
}

#[test]
fn tree_is_kept_while_the_game_continues() {
    for algorithm in ["puct", "gumbel"] {
        let mut player = engine_player(algorithm, 50);
        let until = |n: u32| {
            move |search: &Search| {
                if search.visits() >= n { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        };
        player.think(&game(&["C3"]), 7.5, &[], &mut until(400)).expect("it thinks");
        assert!(visits(&player) >= 400);
        let best = player.open.as_ref().and_then(|open| open.driver.search().best_move()).expect("a best move");
        let reply = best.mv.to_gtp(Size::new(5).expect("a size"));
        let mut kept = None;
        let mut first = |search: &Search| {
            kept.get_or_insert(search.visits());
            ControlFlow::Break(())
        };
        player.think(&game(&["C3", &reply]), 7.5, &[], &mut first).expect("it thinks");
        assert_eq!(kept, Some(best.visits - 1), "{algorithm}: all that was known below the move, but its own visit");
        player.think(&game(&["C3", &reply]), 6.5, &[], &mut until(1)).expect("it thinks");
        assert!(visits(&player) < 5, "another komi is another game");
        player.new_game();
        assert_eq!(visits(&player), 0);
    }
}

/// The visits of a search when it begins. It continues to 400.
fn begun_with(player: &mut EnginePlayer, game: &Game, avoid: &[Avoid]) -> u32 {
    let mut first = None;
    let mut watch = |search: &Search| {
        first.get_or_insert(search.visits());
        if search.visits() >= 400 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    player.think(game, 7.5, avoid, &mut watch).expect("it thinks");
    first.expect("the watcher is called")
}

/// A restricted search continues only the same one in the same position, and no other search continues it.
#[test]
fn tree_without_some_moves_is_kept_for_the_same_search_alone() {
    let size = Size::new(5).expect("a size");
    for algorithm in ["puct", "gumbel"] {
        let mut player = engine_player(algorithm, 50);
        let (here, no_pass) = (game(&["C3"]), Avoid::listed(go::Color::White, &[Move::Pass], 3));
        let no_corner = Avoid::listed(go::Color::White, &[Move::from_gtp(size, "A1").expect("a vertex")], 3);
        for (avoid, begins_anew) in [
            (vec![], true),
            (vec![no_pass], true),
            (vec![no_pass], false),
            (vec![no_pass, no_corner], true),
            (vec![], true),
            (vec![no_corner], true),
        ] {
            let visits = begun_with(&mut player, &here, &avoid);
            assert_eq!(visits == 0, begins_anew, "{algorithm}, {avoid:?}: {visits}");
        }
        let best = player.open.as_ref().and_then(|open| open.driver.search().best_move()).expect("a best move");
        let next = game(&["C3", &best.mv.to_gtp(size)]);
        assert_eq!(begun_with(&mut player, &next, &[no_corner]), 0, "{algorithm}: depths are others");
        begun_with(&mut player, &here, &[no_corner]);
        assert_eq!(begun_with(&mut player, &next, &[]), 0, "{algorithm}: moves are missing");
    }
}

/// The run has no pass before `search.pass_from`, and games of others may be over before.
#[test]
fn pass_is_considered_at_any_turn() {
    let mut player = engine_player("gumbel", 4);
    assert!(player.options.settings.pass_from > 0);
    player.think(&game(&[]), 7.5, &[], &mut |search| enough(search.is_expanded())).expect("it thinks");
    let priors = player.open.as_ref().map(|open| open.driver.search().priors()).unwrap_or_default();
    assert!(priors.iter().any(|(mv, _)| *mv == Move::Pass), "{priors:?}");
}

#[test]
fn move_has_its_visits_and_a_timed_one_as_many_as_there_is_time_for() {
    for algorithm in ["puct", "gumbel"] {
        let mut player = engine_player(algorithm, 30);
        let start = game(&[]);
        let task = Task { game: &start, komi: 7.5, timed: false, avoid: &[] };
        let quick = player.genmove(&task, &mut patient).expect("a move");
        assert!(matches!(quick, Decision::Move(_)) && (30..32).contains(&visits(&player)), "{}", visits(&player));
        let mut rounds = 0;
        let mut hundred = |_: &Search| {
            rounds += 1;
            if rounds > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        player.genmove(&Task { timed: true, ..task }, &mut hundred).expect("a move");
        assert!(visits(&player) > 100, "{algorithm}: {}", visits(&player));
        player.new_game();
        let mut at_once = |_: &Search| ControlFlow::Break(());
        let hurried = player.genmove(&Task { timed: true, ..task }, &mut at_once).expect("a move");
        assert!(matches!(hurried, Decision::Move(Move::Play(_))), "{algorithm}: hurry is no reason to pass");
    }
}

/// The moves that a search of 2000 visits followed, and how often its watcher was asked. The watcher breaks when it was
/// asked so often.
fn watched(player: &mut EnginePlayer, game: &Game, most: usize) -> (Vec<RootMove>, usize) {
    let mut asked = 0;
    let mut watch = |_: &Search| {
        asked += 1;
        if asked >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    player.genmove(&Task { game, komi: 7.5, timed: true, avoid: &[] }, &mut watch).expect("a move");
    let moves = player.open.as_ref().map(|open| open.driver.search().root_moves());
    (moves.unwrap_or_default(), asked)
}

/// With a number of visits, whatever the clock.
fn fixed(model: Box<dyn Evaluator>, algorithm: &str) -> EnginePlayer {
    let EnginePlayer { model, mut options, rng, .. } = engine_player_with(model, algorithm, 2000);
    options.visits_are_maximum = true;
    EnginePlayer::new(model, options, rng)
}

#[test]
fn watcher_is_asked_while_all_evaluations_are_ready() {
    for algorithm in ["puct", "gumbel"] {
        let start = game(&[]);
        let mut player = fixed(Box::new(Known::default()), algorithm);
        let (moves, asked) = watched(&mut player, &start, usize::MAX);
        assert!(asked >= 15, "{algorithm}: once in 128 visits, not {asked} times");
        let (batched, _) = watched(&mut fixed(Box::new(Uniform::new()), algorithm), &start, usize::MAX);
        assert_eq!(moves, batched, "{algorithm}: to be asked changes nothing");
        player.new_game();
        watched(&mut player, &start, 4);
        assert!((1..1000).contains(&visits(&player)), "{algorithm}: {}", visits(&player));
    }
}

/// Caches keep what they returned until a flush.
#[test]
fn search_that_finds_all_evaluations_is_flushed_on_its_way() {
    for algorithm in ["puct", "gumbel"] {
        let known = Known::default();
        let most = Rc::clone(&known.most);
        let mut player = fixed(Box::new(known), algorithm);
        watched(&mut player, &game(&[]), usize::MAX);
        let shown = most.get();
        assert!((bounded::MOST..bounded::MOST + 2).contains(&shown), "{algorithm}: {shown} positions without a flush");
        assert!(visits(&player) >= 2000, "{algorithm}: {}", visits(&player));
    }
}

/// White can only pass, and Black passes, too.
#[test]
fn watcher_is_asked_while_all_selections_end_the_game() {
    for algorithm in ["puct", "gumbel"] {
        let mut player = fixed(Box::new(Uniform::new()), algorithm);
        player.options.settings.scoring = Scoring::Area;
        let board = ". X . X .
                     X X X X X
                     X X X X X
                     X X X X X
                     X X X X X";
        let size = Size::new(5).expect("a size");
        let settled = Game::from_position(testing::position(size, board, go::Color::White));
        let (_, asked) = watched(&mut player, &settled, usize::MAX);
        assert!(asked >= 15, "{algorithm}: once in 128 visits, not {asked} times");
        player.new_game();
        watched(&mut player, &settled, 4);
        assert!((1..1000).contains(&visits(&player)), "{algorithm}: {}", visits(&player));
    }
}

/// The move that [`prefers_a1`] hides.
const BEST: &str = "C3";

const PRIORS: [(&str, f32); 6] = [("A1", 0.75), ("B1", 0.06), ("D1", 0.05), ("E1", 0.04), ("A2", 0.03), (BEST, 0.02)];

/// Prefers A1 for Black, which loses, to four other moves, to C3, which wins. What follows the first move changes
/// nothing.
fn prefers_a1(request: &Request<'_>) -> (Vec<f32>, Value) {
    let game = request.game;
    let size = game.size();
    let mut policy = vec![0.05 / size.moves() as f32; size.moves()];
    if game.turn() == 0 {
        for (vertex, prior) in PRIORS {
            policy[Move::from_gtp(size, vertex).expect("a vertex").index(size)] += prior;
        }
    }
    let black = match game.moves().first().map(|first| first.to_gtp(size)).as_deref() {
        Some(BEST) => 0.6,
        Some("A1") => -0.4,
        _ => -0.2,
    };
    (policy, Value::for_black(black))
}

fn misled(leaves: usize) -> EnginePlayer {
    let EnginePlayer { options, .. } = engine_player("gumbel", 4);
    let algorithm = Algorithm::Gumbel(Gumbel { moves: 4, c_visit: 50.0, c_scale: 1.0 });
    let settings = Settings { algorithm, ..options.settings };
    EnginePlayer::new(Box::new(Stub::new(prefers_a1)), EngineOptions { settings, leaves, ..options }, generator(1))
}

/// However many leaves are evaluated together, and whichever moves sequential halving would have considered.
#[test]
fn timed_gumbel_search_finds_a_move_that_the_prior_hides() {
    for leaves in [1, 2, 4] {
        let mut player = misled(leaves);
        let start = game(&[]);
        let mut moves = Vec::new();
        let task = Task { game: &start, komi: 7.5, timed: true, avoid: &[] };
        let decision = player.genmove(&task, &mut |search| {
            if search.is_expanded() {
                moves = search.root_moves();
            }
            if search.visits() >= 400 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let best = Move::from_gtp(start.size(), BEST).expect("a vertex");
        assert_eq!(decision.expect("a move"), Decision::Move(best), "{leaves} leaves: {moves:?}");
        assert!(moves.len() > 5, "{leaves} leaves: {moves:?}");
    }
}

/// With four visits it considers two moves, which lose, and it is not changed by what was thought without an end
/// before.
#[test]
fn gumbel_search_of_fixed_visits_considers_its_moves() {
    let visited = |player: &mut EnginePlayer| {
        let start = game(&[]);
        let mut moves = Vec::new();
        let task = Task { game: &start, komi: 7.5, timed: false, avoid: &[] };
        player
            .genmove(&task, &mut |search| {
                if search.is_expanded() {
                    moves = search.root_moves();
                }
                ControlFlow::Continue(())
            })
            .expect("a move");
        moves
    };
    let fresh = visited(&mut misled(1));
    assert_eq!(fresh.len(), 2, "{fresh:?}");
    let mut player = misled(1);
    player
        .think(&game(&[]), 7.5, &[], &mut |search| {
            if search.visits() >= 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("it thinks");
    assert_eq!(visited(&mut player), fresh);
}

/// Another player may be to move, as controllers may say, and stones may be taken back.
#[test]
fn other_positions_begin_anew() {
    let mut player = engine_player("puct", 20);
    let mut other = game(&["C3"]);
    for (from, to) in [(game(&["C3", "D3"]), game(&["C3"])), (game(&["C3"]), game(&["B2"]))] {
        let task = |game| Task { game, komi: 7.5, timed: false, avoid: &[] };
        player.genmove(&task(&from), &mut patient).expect("a move");
        let found = player.genmove(&task(&to), &mut patient).expect("a move");
        let Decision::Move(mv) = found else { panic!("no resignation") };
        assert!(to.is_legal(mv));
    }
    other.set_to_move(go::Color::Black);
    player
        .think(&other, 7.5, &[], &mut |search| {
            assert_eq!(search.game().to_move(), go::Color::Black);
            if search.visits() > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("it thinks");
}

/// A server of the model `uniform`. Where it is away, batches wait for ever, unless they are not to.
fn serving(is_away: Rc<Cell<bool>>) -> impl Evaluator {
    FlushedBy::new(Uniform::new(), move |model, stop| {
        // The wait is over once nothing evaluates the batch in time.
        let _stopped = is_away.get() && (0..1000).any(|_| stop());
        model.flush()?;
        if is_away.get() { Err("no server responds".into()) } else { Ok(()) }
    })
}

#[test]
fn move_that_is_known_is_played_in_time_while_no_server_responds() {
    for algorithm in ["puct", "gumbel"] {
        let is_away = Rc::new(Cell::new(false));
        let mut player = engine_player_with(Box::new(serving(Rc::clone(&is_away))), algorithm, 50);
        let start = game(&["C3"]);
        let until = |visits: u32, most: usize| {
            let mut asked = 0;
            move |search: &Search| {
                asked += 1;
                let enough = search.visits() >= visits || asked >= most;
                if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            }
        };
        let task = Task { game: &start, komi: 7.5, timed: true, avoid: &[] };
        player.genmove(&task, &mut until(100, usize::MAX)).expect("a move");
        let known = visits(&player);
        is_away.set(true);
        let decision = player.genmove(&task, &mut until(u32::MAX, 10)).expect("a move");
        assert!(matches!(decision, Decision::Move(Move::Play(_))), "{algorithm}: {decision:?}");
        player.think(&start, 7.5, &[], &mut until(u32::MAX, 10)).expect("it ends when it is to");
        let error = player.genmove(&task, &mut until(u32::MAX, usize::MAX)).unwrap_err().to_string();
        assert_eq!(error, "no server responds", "{algorithm}");
        // Ends of games need no server.
        let kept = visits(&player);
        assert!((known..known + 20).contains(&kept), "{algorithm}: {kept} of {known}");
        is_away.set(false);
        player.genmove(&task, &mut until(kept + 100, usize::MAX)).expect("a move");
        assert!(visits(&player) >= kept + 100, "{algorithm}: leaves are evaluated that were not before");
    }
}

/// The model gives another evaluation for each number that is drawn.
#[test]
fn same_seed_gives_the_same_moves() {
    let moves = |before: &str, seed: &str| -> Vec<String> {
        let mut player = engine_player_with(Box::new(RandomModel::new()), "gumbel", 20);
        let input = format!("{before}set_random_seed {seed}\n{}", "genmove b\ngenmove w\n".repeat(3));
        let said = talk_with(&mut player, setup(5), input.as_bytes());
        let skipped = before.lines().count();
        let responses = said.split("\n\n").filter(|response| !response.is_empty()).skip(skipped);
        responses.map(str::to_owned).collect()
    };
    let fresh = moves("", "7");
    assert_eq!((fresh.len(), fresh[0].as_str()), (7, "="));
    // Neither what was drawn before nor what was thought about the same position counts.
    for before in ["reg_genmove b\n", "set_random_seed 8\nreg_genmove b\nreg_genmove w\n"] {
        assert_eq!(moves(before, "7"), fresh, "{before}");
    }
    assert!(["8", "-7", "0"].map(|seed| moves("", seed)).iter().all(|other| *other != fresh));
}

#[test]
fn seed_is_one_integer() {
    check_with(
        &mut First::default(),
        setup(5),
        "> known_command set_random_seed
         = true
         > 1 set_random_seed 2147483647
         =1
         > set_random_seed -1
         =
         > set_random_seed
         ? syntax error
         > set_random_seed 1 2
         ? syntax error
         > set_random_seed 1.5
         ? syntax error
         > set_random_seed seed
         ? syntax error
         > set_random_seed 9223372036854775808
         ? syntax error",
    );
}
