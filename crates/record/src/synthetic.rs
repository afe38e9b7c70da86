//! Synthetic games: random legal moves with invented searches, for tests and benchmarks.
//!
//! They have the shape of self-play games (lengths, captures, passes, how visits are spread, shares of calibration and
//! resignation) and no sense.

use go::{Game, Move, Scoring, Size};

use crate::calibration::winner_min_value;
use crate::{EndReason, GameId, GameRecord, Outcome, SearchKind, Turn};

/// Komi of every made-up game.
const KOMI: f32 = 7.5;
/// Threshold of every made-up game in which one may resign.
const THRESHOLD: f32 = -0.9;

/// The game number `index` of a worker that plays `model` against itself on a board of `size`, each search having
/// `visits` visits. The same arguments make the same game.
///
/// One game in ten is a calibration game; of the others, four in ten end by resignation. The first turn of one game
/// in five is not searched. None is in the validation set.
pub fn game(model: &str, worker: &str, index: u64, size: Size, visits: u32) -> GameRecord {
    let id = GameId::of(model, model, worker, index);
    let mut random = Random((id.share() * (1_u64 << 52) as f64) as u64);
    let calibration = random.below(10) == 0;
    let resigned = !calibration && random.below(10) < 4;
    let opening = usize::from(random.below(5) == 0);
    let mut game = Game::new(size);
    let mut turns = Vec::new();
    let moves = size.area() / 2 + random.below(size.area() as u64 / 2) as usize;
    for turn in 0..moves {
        let choices = choices(&game);
        let mv = choices[random.below(choices.len() as u64) as usize];
        turns.push(if turn < opening {
            Turn::unsearched(SearchKind::Given, mv)
        } else {
            searched(&mut random, size, mv, &choices, visits)
        });
        game.play(mv).expect("the move was taken from the legal ones");
    }
    let (outcome, score, end) = if resigned {
        (Outcome::from(game.to_move().opponent()), None, EndReason::Resignation)
    } else {
        for _ in 0..2 {
            let choices = choices(&game);
            turns.push(searched(&mut random, size, Move::Pass, &choices, visits));
            game.play(Move::Pass).expect("a pass is legal");
        }
        let score = game.score(Scoring::PassAlive) as f32 - KOMI;
        (Outcome::from_score(score), Some(score), EndReason::Passes)
    };
    GameRecord {
        id,
        black: model.to_owned(),
        white: model.to_owned(),
        config_digest: worker.to_owned(),
        seed: index,
        index,
        worker: worker.to_owned(),
        started_at: None,
        ended_at: None,
        size,
        komi: KOMI,
        scoring: Scoring::PassAlive,
        visits_budget: visits,
        calibration,
        holdout: false,
        resign_threshold: (!calibration).then_some(THRESHOLD),
        would_resign_turn: would_resign(&turns),
        mean_depth: (!calibration).then_some(2.5),
        winner_min_value: winner_min_value(outcome, &turns),
        outcome,
        score,
        end,
        handoffs: Vec::new(),
        turns,
    }
}

/// The legal moves, the pass last.
fn choices(game: &Game) -> Vec<Move> {
    game.legal_points().iter().map(Move::Play).chain([Move::Pass]).collect()
}

/// A search that gave `mv` half of its visits, and spread the rest over some 20 moves: to each an eighth or so of what
/// was left.
fn searched(random: &mut Random, size: Size, mv: Move, choices: &[Move], visits: u32) -> Turn {
    let mut counts = vec![0; size.moves()];
    let mut left = visits / 2;
    counts[mv.index(size)] = visits - left;
    while left > 0 {
        let share = left.div_ceil(4 + random.below(8) as u32);
        let place = choices[random.below(choices.len() as u64) as usize];
        counts[place.index(size)] += share;
        left -= share;
    }
    let visited = counts.into_iter().enumerate().filter(|&(_, count)| count > 0);
    Turn {
        mv,
        kind: SearchKind::Full,
        weight: 1.0,
        visits: visited.map(|(i, count)| (i as u16, count)).collect(),
        root_value: random.value(),
        best_child_value: random.value(),
        network_value: random.value(),
        prior_entropy: random.value().abs() * (choices.len() as f32).ln(),
        policy_surprise: Some(random.value().abs()),
        note: None,
    }
}

/// The first searched turn whose root value for its mover is below the threshold.
fn would_resign(turns: &[Turn]) -> Option<u16> {
    let mut searched = turns.iter().enumerate().filter(|(_, turn)| turn.is_searched());
    searched.find(|(i, turn)| turn.root_value * GameRecord::to_move(*i).sign() < THRESHOLD).map(|(i, _)| i as u16)
}

/// SplitMix64: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators" (2014). Good enough to make up
/// games, and it keeps generators out of what this crate depends on.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is small: the bias of taking the remainder does not matter.
    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A value between -1 and 1.
    fn value(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    }
}
