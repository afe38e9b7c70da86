//! Evaluations of positions as searches request them: those of games, and those of moves that were not played.

use evalcache::{Key, Sample, View};
use go::{Game, Move, Scoring, Size, Symmetry};
use mcts::choice::draw_from;
use mcts::{Draw, EvaluateError, Evaluator, Request};
use rand::Rng;

/// Games that go on side by side.
const GAMES: usize = 64;
/// Moves drawn from the policy beside the one that is played, whose positions are evaluated, too.
const VARIATIONS: usize = 2;
/// Games that are kept beside the samples, about.
const KEPT_GAMES: usize = 4000;

/// Where the moves come from.
pub(crate) enum Games {
    /// The moves of these games, each game once.
    Recorded(Vec<Game>),
    /// Moves drawn from the policy of the model.
    Drawn(Size),
}

/// Evaluations, and the games of some of them, by their place.
#[derive(Default)]
pub(crate) struct Sampled {
    pub(crate) samples: Vec<Sample>,
    pub(crate) games: Vec<(usize, Game)>,
}

impl Sampled {
    /// Raises the probabilities of a policy to the power `1 / temperature`, so that it is surer below 1; policies have
    /// the temperatures in turn.
    pub(crate) fn sharpen(&mut self, temperatures: &[f32]) {
        for (Sample { policy, .. }, temperature) in self.samples.iter_mut().zip(temperatures.iter().cycle()) {
            // Relative to the largest, so that none of them vanishes that counts.
            let largest = policy.iter().copied().fold(0.0, f32::max);
            policy.iter_mut().for_each(|share| *share = (*share / largest).powf(1.0 / temperature));
            let sum: f32 = policy.iter().sum();
            policy.iter_mut().for_each(|share| *share /= sum);
        }
    }
}

/// A game that is not over.
struct Line {
    game: Game,
    /// The moves to play, the next last; `None` where they are drawn.
    record: Option<Vec<Move>>,
}

impl Games {
    fn next(&mut self) -> Option<Line> {
        match self {
            Games::Drawn(size) => Some(Line { game: Game::new(*size), record: None }),
            Games::Recorded(games) => {
                let played = games.pop()?;
                // A record may begin with stones on the board.
                let mut game = played.clone();
                while game.undo().is_some() {}
                Some(Line { game, record: Some(played.moves().iter().rev().copied().collect()) })
            }
        }
    }
}

/// Evaluations in the canonical orientation, up to `count` of them: games in order, so that the first half shares no
/// game with the second but for those that are in progress between.
///
/// # Errors
/// The model fails.
pub(crate) fn samples(
    evaluator: &mut dyn Evaluator,
    mut games: Games,
    komi: f32,
    count: usize,
    rng: &mut impl Rng,
    on_batch: &mut dyn FnMut(usize) -> bool,
) -> Result<Sampled, EvaluateError> {
    let mut sampled = Sampled::default();
    let every = count.div_ceil(KEPT_GAMES);
    let mut lines: Vec<Line> = Vec::new();
    loop {
        while lines.len() < GAMES {
            let Some(line) = games.next() else { break };
            lines.push(line);
        }
        let done = sampled.samples.len();
        if lines.is_empty() || done >= count || !on_batch(done) {
            return Ok(sampled);
        }
        let positions: Vec<Game> = lines.iter().map(|line| line.game.clone()).collect();
        let policies = evaluate(evaluator, &positions, komi, every, &mut sampled)?;
        let mut variations = Vec::new();
        for (line, policy) in lines.iter_mut().zip(&policies) {
            for _ in 0..VARIATIONS {
                let mut game = line.game.clone();
                if draw(&game, policy, rng).is_some_and(|mv| game.play(mv).is_ok()) {
                    variations.push(game);
                }
            }
            let next = match &mut line.record {
                Some(record) => record.pop(),
                None => draw(&line.game, policy, rng),
            };
            let over = next.is_none_or(|mv| line.game.play(mv).is_err()) || line.game.is_over(Scoring::Area);
            if over || line.game.turn() > 2 * line.game.size().area() {
                line.record = Some(Vec::new());
            }
        }
        evaluate(evaluator, &variations, komi, every, &mut sampled)?;
        lines.retain(|line| line.record.as_ref().is_none_or(|record| !record.is_empty()));
    }
}

/// Evaluates positions in their canonical symmetry; returns policies in the orientation of the games.
fn evaluate(
    evaluator: &mut dyn Evaluator,
    games: &[Game],
    komi: f32,
    every: usize,
    sampled: &mut Sampled,
) -> Result<Vec<Vec<f32>>, EvaluateError> {
    let mut policies = Vec::new();
    for games in games.chunks(evaluator.capacity().min(256)) {
        let symmetries: Vec<Symmetry> = games.iter().map(|game| Key::canonical(game, None).0).collect();
        let asked = games
            .iter()
            .zip(&symmetries)
            .map(|(game, &symmetry)| evaluator.submit(Request { game, komi, draw: Draw::PLAIN.seen_in(symmetry) }));
        let tickets: Vec<_> = asked.collect();
        evaluator.flush()?;
        for ((game, &symmetry), ticket) in games.iter().zip(&symmetries).zip(tickets) {
            let found = evaluator.get(ticket);
            let mut policy = vec![0.0; found.policy.len()];
            symmetry.apply_values(game.size(), found.policy, &mut policy);
            let value = found.value.mover(game.to_move());
            let place = sampled.samples.len();
            if place.is_multiple_of(every) {
                sampled.games.push((place, game.clone()));
            }
            sampled.samples.push(Sample { view: View::new(game, symmetry), policy, value });
            policies.push(found.policy.to_vec());
        }
    }
    Ok(policies)
}

/// A legal move, as likely as the policy says.
fn draw(game: &Game, policy: &[f32], rng: &mut impl Rng) -> Option<Move> {
    let size = game.size();
    let is_legal = |index| Move::from_index(size, index).is_some_and(|mv| game.is_legal(mv));
    let weight = |(index, &share): (usize, &f32)| if share > 0.0 && is_legal(index) { share } else { 0.0 };
    let weights: Vec<f32> = policy.iter().enumerate().map(weight).collect();
    draw_from(&weights, rng).and_then(|index| Move::from_index(size, index))
}
