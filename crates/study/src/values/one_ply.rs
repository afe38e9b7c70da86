//! A one-ply search with the network's values, beside the network's policy: where the two choose other moves, a deep
//! search tells whether the values help or hurt.

use std::cmp::Ordering;
use std::fmt;

use config::RunConfig;
use go::{Game, Move};
use mcts::{Draw, Evaluator, Purpose, Request, Settings, Value};
use play::{Budget, GameRng, game_seed, generator};
use rand::RngExt;
use record::DeepPosition;
use runtime::Stop;
use serde::Serialize;

use super::outputs;
use crate::batched_search::BatchedSearch;
use crate::statistics::Share;

/// Moves that are compared by their values, at most: those with the highest priors. Each value has an error, so that
/// with more moves the best one is more often best by chance.
const MOVES: usize = 16;

/// How often a one-ply search chooses another move than the policy, and the visits of both in the deep search.
#[derive(Serialize)]
pub(super) struct OnePly {
    /// Of all positions: the move with the best value is not that with the highest prior.
    differs: Share,
    /// Of those: the deep search visits the move with the best value more often, less often, and as often.
    better: Share,
    worse: Share,
    same: Share,
}

impl OnePly {
    /// Evaluates the positions and those after their moves; none when the program is to stop.
    ///
    /// # Errors
    /// The model fails.
    pub(super) fn measure(
        config: &RunConfig,
        references: &[DeepPosition],
        model: &mut dyn Evaluator,
        stop: &Stop,
    ) -> anyhow::Result<Option<OnePly>> {
        let settings = Settings::new(&config.search, &config.game);
        let budget = Budget { visits: 0, leaves: 1 };
        let games: Vec<Game> = references.iter().map(|reference| reference.game.clone()).collect();
        let mut likely: Vec<Vec<Move>> = vec![Vec::new(); games.len()];
        BatchedSearch { model: &mut *model, settings, budget, purpose: Purpose::Win, seed: config.seed, stop }.on(
            &games,
            &mut |index, driver| {
                likely[index] = outputs::priors(driver.search()).iter().take(MOVES).map(|&(mv, _)| mv).collect();
            },
        )?;
        let mut compared = Vec::with_capacity(references.len());
        for (index, (reference, moves)) in references.iter().zip(&likely).enumerate() {
            // Some positions may have no moves then.
            if stop.requested() {
                return Ok(None);
            }
            let mut rng = generator(game_seed(config.seed, "", "one-ply", index as u64));
            let best = best(&settings, &reference.game, moves, model, &mut rng)?;
            compared.push(compare(reference, best, moves[0]));
        }
        Ok(Some(OnePly::of(&compared)))
    }

    fn of(compared: &[Option<Ordering>]) -> OnePly {
        let differing: Vec<Ordering> = compared.iter().flatten().copied().collect();
        let share =
            |wanted: Ordering| Share::new(differing.iter().filter(|&&found| found == wanted).count(), differing.len());
        OnePly {
            differs: Share::new(differing.len(), compared.len()),
            better: share(Ordering::Greater),
            worse: share(Ordering::Less),
            same: share(Ordering::Equal),
        }
    }
}

/// The move, of one at least, after which the network's value is best for the mover, or the outcome where the move ends
/// the game; of equals the first. As in a search, the network sees each position in a random symmetry.
fn best(
    settings: &Settings,
    game: &Game,
    moves: &[Move],
    model: &mut dyn Evaluator,
    rng: &mut GameRng,
) -> anyhow::Result<Move> {
    let after = |&mv: &Move| {
        let mut game = game.clone();
        game.play(mv).expect("a considered move is legal");
        game
    };
    let games: Vec<Game> = moves.iter().map(after).collect();
    let komi = settings.komi;
    let requests: Vec<Request<'_>> =
        games.iter().map(|game| Request { game, komi, draw: Draw::new(rng.random()) }).collect();
    let values = outputs::values(model, &requests)?;
    let for_mover = |game_after: &Game, network: Value| {
        let value = match game_after.is_over(settings.scoring) {
            true => Value::of_margin(game_after.score(settings.scoring) as f32 - komi),
            false => network,
        };
        value.mover(game.to_move())
    };
    let valued = moves.iter().zip(&games).zip(values).map(|((&mv, after), network)| (mv, for_mover(after, network)));
    let best = valued.reduce(|best, next| if next.1 > best.1 { next } else { best });
    Ok(best.expect("one move at least").0)
}

/// The visits of a move in the deep search beside those of the move with the highest prior; `None` where it is the same
/// move. Moves that the file does not list have none.
fn compare(reference: &DeepPosition, mv: Move, highest_prior: Move) -> Option<Ordering> {
    let visits = |mv: Move| reference.visits.iter().find(|(of, _)| *of == mv).map_or(0, |(_, visits)| *visits);
    (mv != highest_prior).then(|| visits(mv).cmp(&visits(highest_prior)))
}

impl fmt::Display for OnePly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one-ply search          positions         share in %")?;
        let shares = [
            ("not the highest prior", &self.differs),
            ("  more deep visits", &self.better),
            ("  fewer deep visits", &self.worse),
            ("  as many", &self.same),
        ];
        shares
            .iter()
            .try_for_each(|(name, share)| write!(f, "\n{name:<23} {:>9} {:>18}", share.positions, share.percent()))
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use go::Size;

    use super::*;
    use crate::values::made_up::{made_up, references};

    /// The policy is for A9, the values are for D9, where it is empty.
    #[test]
    fn one_ply_move_is_compared_with_the_highest_prior_by_deep_visits() {
        let references = references(
            r#"{"moves": [], "value": 0, "visits": [["d9", 300], ["a9", 100]]}
            {"moves": ["e5"], "value": 0, "visits": [["a9", 300], ["d9", 100]]}
            {"moves": ["e5", "c3"], "value": 0, "visits": [["g7", 400]]}
            {"moves": ["d9"], "value": 0, "visits": [["b9", 400]]}"#,
        );
        let mut model = made_up(|request| {
            let (game, d9) = (request.game, 3);
            let good = game.moves().last().is_some_and(|mv| mv.index(game.size()) == d9);
            Value::for_mover(game.to_move(), if good { -0.5 } else { 0.0 })
        });
        let (config, never) = (Preset::NineByNine.config(), Stop::never());
        let found = OnePly::measure(&config, &references, &mut model, &never);
        let found = found.expect("it cannot fail").expect("no stop is requested");
        assert_eq!((found.differs.positions, found.differs.share), (3, 0.75));
        assert_eq!([found.better, found.worse, found.same].map(|share| share.positions), [1, 1, 1]);
    }

    #[test]
    fn move_that_ends_the_game_has_the_value_of_the_outcome() {
        let size = Size::new(3).expect("a size");
        let mv = |text: &str| Move::from_gtp(size, text).expect("a vertex");
        let mut game = Game::new(size);
        for text in ["b2", "pass"] {
            game.play(mv(text)).expect("a legal move");
        }
        let config = Preset::NineByNine.config();
        // Black has all nine points.
        for (komi, expected) in [(7.0, "pass"), (10.0, "a3")] {
            let settings = Settings { komi, ..Settings::new(&config.search, &config.game) };
            let mut model = made_up(|_| Value::ZERO);
            let found = best(&settings, &game, &[mv("a3"), mv("pass")], &mut model, &mut generator(1));
            assert_eq!(found.expect("it cannot fail"), mv(expected), "komi {komi}");
        }
    }

    #[test]
    fn no_differing_move_leaves_the_shares_unknown() {
        let found = OnePly::of(&[None, None]);
        assert_eq!((found.differs.share, found.better.low, found.better.high), (0.0, 0.0, 1.0));
        assert!(!found.to_string().contains("NaN"), "{found}");
    }
}
