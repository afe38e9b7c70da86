//! A single game: whether it can have been played so, and ended so.

use config::{Algorithm, ModelId, RunConfig};
use go::{Game, Move};
use mcts::{Search, Settings};
use record::calibration::winner_min_value;
use record::{EndReason, GameId, GameRecord, HUMAN, Outcome, Turn};

/// Whether this player plays games of model 0.
pub(super) fn plays_model_0(player: &str) -> bool {
    player == HUMAN || ModelId::built_in(player).is_some()
}

/// Everything that is wrong with a game by itself.
pub(super) fn check(game: &GameRecord, config: &RunConfig) -> Vec<String> {
    let mut problems = header(game, config);
    match replay(game, config) {
        Err(problem) => problems.push(problem),
        // Human games end by agreement, with agreed scores.
        Ok(_) if game.black == HUMAN => {}
        Ok(board) => {
            problems.extend(ending(game, &board, config));
            problems.extend(resignation(game));
        }
    }
    problems
}

/// Everything that is wrong with a game that is not over.
pub(super) fn check_unfinished(game: &GameRecord, config: &RunConfig) -> Vec<String> {
    let mut problems = header(game, config);
    problems.extend(replay(game, config).err());
    problems
}

fn header(game: &GameRecord, config: &RunConfig) -> Vec<String> {
    let mut problems = Vec::new();
    if game.id != GameId::of(&game.black, &game.white, &game.config_digest, game.seed) {
        problems.push("its id is not that of its players, configuration and seed".to_owned());
    }
    if game.size.side() != config.game.size {
        problems.push(format!("on {0}x{0}, not {1}x{1}", game.size.side(), config.game.size));
    }
    if game.handoffs.iter().any(|handoff| usize::from(handoff.turn) > game.turns.len()) {
        problems.push("a model took it over after its end".to_owned());
    }
    if game.black == HUMAN {
        return problems;
    }
    let komi = config.game.komi;
    if game.komi != komi && config.selfplay.komi_deviation == 0.0 {
        problems.push(format!("komi {}, not {komi}", game.komi));
    }
    if game.seed != play::game_seed(config.seed, &game.black, &game.worker, game.index) {
        problems.push("its seed is not that of its model, worker and index".to_owned());
    }
    if game.scoring != Settings::new(&config.search, &config.game).scoring {
        problems.push("counted by other rules than the run's".to_owned());
    }
    problems
}

/// Replays the game, and checks each search.
fn replay(game: &GameRecord, config: &RunConfig) -> Result<Game, String> {
    let mut board = Game::new(game.size);
    let shares = u64::from(Search::SHARES);
    let most = (u64::from(game.visits_budget) + config.search.leaves as u64).max(shares);
    let exact = (config.search.algorithm == Algorithm::Gumbel && game.black != HUMAN).then_some(shares);
    for (number, turn) in game.turns.iter().enumerate() {
        let fail = |problem: String| format!("turn {number}: {problem}");
        if board.passed_out() {
            return Err(fail("moves follow two passes".to_owned()));
        }
        policy(&board, turn, most, exact).map_err(fail)?;
        board.play(turn.mv).map_err(|why| fail(format!("{}: {why}", turn.mv.to_gtp(game.size))))?;
    }
    Ok(board)
}

/// A policy, where there is one, is of legal moves, and of no more visits than a search has, or of all shares.
fn policy(board: &Game, turn: &Turn, most: u64, exact: Option<u64>) -> Result<(), String> {
    let sum: u64 = turn.visits.iter().map(|&(_, count)| u64::from(count)).sum();
    if sum > most {
        return Err(format!("{sum} visits, and a search has no more than {most}"));
    }
    for &(index, _) in &turn.visits {
        let mv = Move::from_index(board.size(), index.into());
        match mv {
            Some(mv) if board.is_legal(mv) => {}
            Some(mv) => return Err(format!("visits of {}, which is illegal", mv.to_gtp(board.size()))),
            None => return Err(format!("visits of move {index}, which does not exist")),
        }
    }
    match exact {
        Some(shares) if sum != shares && !turn.visits.is_empty() => Err(format!("{sum} shares of {shares}")),
        _ => Ok(()),
    }
}

/// The end in the record agrees with the board.
fn ending(game: &GameRecord, board: &Game, config: &RunConfig) -> Option<String> {
    if game.end == EndReason::Resignation {
        let expected = Outcome::from(board.to_move().opponent());
        let fits = game.score.is_none() && game.outcome == expected && game.resign_threshold.is_some();
        return (!fits).then(|| "its result is not that of a resignation by the player to move".to_owned());
    }
    let margin = board.score(game.scoring) as f32 - game.komi;
    if game.score != Some(margin) || game.outcome != Outcome::from_score(margin) {
        return Some(format!("the board shows {margin:+}, and the record says {:?}, {:?}", game.score, game.outcome));
    }
    let over = match game.end {
        EndReason::Passes => board.passed_out(),
        EndReason::PassAlive => board.is_over(game.scoring),
        _ => board.turn() >= config.game.move_limit,
    };
    (!over).then(|| format!("the board does not show an end by {}", game.end))
}

/// The resignation in the record follows from the values.
fn resignation(game: &GameRecord) -> Vec<String> {
    let mut problems = Vec::new();
    if game.calibration && game.end == EndReason::Resignation {
        problems.push("a calibration game that ended by resignation".to_owned());
    }
    let winner_min = winner_min_value(game.outcome, &game.turns);
    if game.winner_min_value != winner_min {
        problems.push(format!(
            "winner's minimum root value {:?}, and its turns have {winner_min:?}",
            game.winner_min_value
        ));
    }
    problems
}
