//! Requests that are done at once, by a thread that may wait: scores and input planes.

use go::sgf::{Margin, Outcome};
use go::{Color, Game, Move, PointSet, Position, Scoring, Stones, Symmetry};
use gtp::server::{Status, chain_statuses, is_certain, play_on};
use net::Inputs;
use play::generator;

use super::engines::OpenModel;
use super::message::{Content, PlaneMessage, PlanesMessage, Score, ScoreMessage};
use super::position::{Played, diagram, vertices};

/// The score of a game. A model estimates which stones are dead unless the request says it.
pub(super) fn score(model: Option<&OpenModel>, request: &Score, played: &Played) -> Result<Content, String> {
    let Played { game, komi } = played;
    let mut dead = match &request.dead {
        Some(dead) => dead_chains(game, dead)?,
        None => estimate_dead(model, game, *komi)?,
    };
    if let Some(vertex) = &request.toggle {
        let chain = dead_chains(game, std::slice::from_ref(vertex))?;
        dead = if chain.is_subset(&dead) { dead - chain } else { dead | chain };
    }
    Ok(Content::Score(scored(game, *komi, dead)?))
}

/// Whether a model has to estimate dead stones.
pub(super) fn needs_model(request: &Score, played: &Played) -> bool {
    request.dead.is_none() && !is_certain(&played.game)
}

/// The chains of the points that a person marked.
fn dead_chains(game: &Game, dead: &[String]) -> Result<PointSet, String> {
    let mut stones = PointSet::EMPTY;
    for vertex in dead {
        let point = Move::from_gtp(game.size(), vertex).and_then(Move::point);
        let point = point.filter(|point| game.position().stone(*point).is_some());
        stones |= game.position().chain(point.ok_or("a dead stone is not on the board")?);
    }
    Ok(stones)
}

/// Without a model nothing is played on: the position is certain.
fn estimate_dead(model: Option<&OpenModel>, game: &Game, komi: f32) -> Result<PointSet, String> {
    let ends = match model {
        None => Vec::new(),
        Some(model) => {
            let mut evaluator = model.evaluator();
            play_on(game, &mut *evaluator, Scoring::PassAlive, komi, &mut generator(model.seed))
                .map_err(|error| format!("the model failed: {error}"))?
        }
    };
    let dead = chain_statuses(game, &ends).into_iter().filter(|chain| chain.status == Status::Dead);
    Ok(dead.fold(PointSet::EMPTY, |dead, chain| dead | chain.stones))
}

fn scored(game: &Game, komi: f32, dead: PointSet) -> Result<ScoreMessage, String> {
    let size = game.size();
    let stones = game.position().stones();
    let alive = Stones { black: stones.black - dead, white: stones.white - dead };
    let position = Position::from_stones(size, &alive, game.to_move()).map_err(|error| error.to_string())?;
    let area = Game::from_position(position).area(Scoring::PassAlive);
    let points = [area.black.len() as f32, area.white.len() as f32 + komi];
    let margin = points[0] - points[1];
    let outcome = match margin {
        0.0 => Outcome::Draw,
        margin if margin > 0.0 => Outcome::Win(Color::Black, Margin::Points(margin)),
        margin => Outcome::Win(Color::White, Margin::Points(-margin)),
    };
    Ok(ScoreMessage { dead: vertices(size, dead), area: diagram(size, &area), points, result: outcome.to_string() })
}

/// The input planes of a position.
pub(super) fn planes(model: &OpenModel, played: &Played) -> Content {
    let Played { game, komi } = played;
    let inputs = model.inputs;
    let bytes = input_planes(inputs, game, *komi);
    let planes = inputs.names().into_iter().zip(bytes.chunks_exact(game.size().area()));
    let planes = planes.map(|(name, values)| PlaneMessage { name, values: values.to_vec() }).collect();
    Content::Planes(PlanesMessage { inputs: inputs.to_string(), planes })
}

/// The planes of the last position of a game, one after the other.
pub(super) fn input_planes(inputs: Inputs, game: &Game, komi: f32) -> Vec<u8> {
    let mut bytes = vec![0; inputs.len(game.size())];
    inputs.of_game(game, komi, Symmetry::Identity, &mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::message::{GameMessage, Player as Name};

    fn message(diagram: &str) -> GameMessage {
        let size = diagram.lines().count();
        let stones = diagram.split_whitespace().enumerate().filter_map(|(index, letter)| {
            let (row, col) = (index / size, index % size);
            let vertex = format!("{}{}", ["A", "B", "C", "D", "E"][col], size - row);
            match letter {
                "X" => Some((Name::B, vertex)),
                "O" => Some((Name::W, vertex)),
                _ => None,
            }
        });
        GameMessage { size, komi: 0.5, initial_stones: stones.collect(), initial_player: Name::B, moves: Vec::new() }
    }

    const BOARD: &str = ". . X O .
                         . . X O .
                         O . X O X
                         . . X O .
                         . . X O .";

    fn score(dead: &[&str]) -> ScoreMessage {
        let played = message(BOARD).replay().expect("a game");
        let dead: Vec<String> = dead.iter().map(|vertex| (*vertex).to_owned()).collect();
        scored(&played.game, played.komi, dead_chains(&played.game, &dead).expect("stones")).expect("a score")
    }

    #[test]
    fn dead_stones_count_for_the_opponent() {
        let marked = score(&["A3", "E3"]);
        assert_eq!((marked.points, &*marked.result), ([15.0, 10.5], "B+4.5"));
        assert_eq!(marked.area, "XXXOOXXXOOXXXOOXXXOOXXXOO");
        // Both territories are neutral while the stones live.
        assert_eq!(score(&[]).points, [6.0, 6.5]);
    }

    #[test]
    fn dead_stones_are_on_the_board() {
        let game = message(BOARD).replay().expect("a game").game;
        assert!(dead_chains(&game, &["A1".to_owned()]).is_err());
        assert!(dead_chains(&game, &["pass".to_owned()]).is_err());
    }
}
