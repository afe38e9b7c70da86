//! A game between two models, played to measure them.

use config::RunConfig;
use go::{Color, Game, Move, Point, PointSet};
use mcts::{Evaluate, Settings};
use rand::RngExt;
use record::{GameRecord, SearchKind, Turn};

use crate::rules::{Ending, Header, finished, searched};
use crate::seed::{Seed, game_seed, generator};
use crate::{Budget, Contest, Thinker};

/// One player of a match: which model, and how it searches.
#[derive(Clone, Debug)]
pub struct Side {
    /// The model's id, for the record.
    pub name: String,
    /// Its place in the list of models given to [`crate::run`].
    pub model: usize,
    /// How it searches.
    pub settings: Settings,
    /// Leaves that may wait for the same batch.
    pub leaves: usize,
}

/// Everything a match game depends on, besides the models' answers.
#[derive(Clone, Debug)]
pub struct MatchSpec {
    header: Header,
    black: Side,
    white: Side,
    visits: u32,
    opening: u64,
    opening_moves: usize,
    move_limit: usize,
}

impl MatchSpec {
    /// The `index`-th game between `first` and `second`. Games 2k and 2k + 1 share an opening and swap the colours.
    pub fn new(config: &RunConfig, first: &Side, second: &Side, index: u64) -> MatchSpec {
        let (black, white) = if index.is_multiple_of(2) { (first, second) } else { (second, first) };
        let series = format!("{} {}", first.name, second.name);
        let visits = config.evaluate.visits;
        let seed = game_seed(config.seed, &series, "match", index);
        MatchSpec {
            header: Header::new(config, [&black.name, &white.name], "match", index, seed, visits),
            black: black.clone(),
            white: white.clone(),
            visits,
            opening: game_seed(config.seed, &series, "opening", index / 2),
            opening_moves: config.evaluate.opening_moves,
            move_limit: config.selfplay.move_limit,
        }
    }

    fn side(&self, color: Color) -> &Side {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }
}

/// Plays `moves` random legal moves, off the edge where there is room.
fn opening(mut game: Game, moves: usize, rng: &mut Seed) -> Game {
    let size = game.size();
    let on_edge = |point: Point| {
        let last = size.side() - 1;
        [point.row(size), point.col(size)].iter().any(|&line| line == 0 || line == last)
    };
    let inner: PointSet = Point::all(size).filter(|&point| !on_edge(point)).collect();
    for _ in 0..moves {
        let legal = game.legal_points();
        let points: Vec<Point> = if (legal & inner).is_empty() { legal } else { legal & inner }.iter().collect();
        let mv = points.get(rng.random_range(0..points.len().max(1))).map_or(Move::Pass, |&point| Move::Play(point));
        game.play(mv).expect("the move is among the legal ones");
    }
    game
}

/// A match game in progress. No noise, no drawing of moves, nobody resigns; variety comes from the opening and from
/// the symmetry that each evaluation draws.
#[derive(Debug)]
pub struct Match {
    spec: MatchSpec,
    rng: Seed,
    black: Thinker,
    white: Thinker,
    turns: Vec<Turn>,
}

impl Match {
    /// Sets up the board and plays the opening.
    pub fn new(spec: MatchSpec) -> Match {
        let game = opening(Game::new(spec.header.size()), spec.opening_moves, &mut generator(spec.opening));
        let thinker = |side: &Side| {
            let budget = Budget { visits: spec.visits, leaves: side.leaves };
            Thinker::new(game.clone(), side.settings, budget, None)
        };
        Match {
            rng: generator(spec.header.seed()),
            turns: game.moves().iter().map(|&mv| Turn::unsearched(SearchKind::Given, mv)).collect(),
            black: thinker(&spec.black),
            white: thinker(&spec.white),
            spec,
        }
    }

    fn mover(&self) -> Color {
        self.black.search().game().to_move()
    }

    fn thinker(&self, color: Color) -> &Thinker {
        match color {
            Color::Black => &self.black,
            Color::White => &self.white,
        }
    }

    fn thinker_mut(&mut self, color: Color) -> &mut Thinker {
        match color {
            Color::Black => &mut self.black,
            Color::White => &mut self.white,
        }
    }

    fn play_best(&mut self) -> Option<Ending> {
        let mover = self.mover();
        let thinker = self.thinker(mover);
        let mv = thinker.search().best_move().map_or(Move::Pass, |root| root.mv);
        self.turns.push(searched(thinker, SearchKind::Full, 1.0, mv));
        for color in [Color::Black, Color::White] {
            self.thinker_mut(color).advance(mv).expect("the search holds legal moves only");
        }
        let settings = &self.spec.side(mover).settings;
        Ending::of_board(self.black.search().game(), settings, self.spec.move_limit)
    }
}

impl Contest for Match {
    fn push(&mut self, models: &mut [&mut dyn Evaluate], pushed: &mut [usize]) {
        let mover = self.mover();
        let model = self.spec.side(mover).model;
        let mut rng = self.rng.clone();
        self.thinker_mut(mover).push(models[model], &mut pushed[model], &mut rng);
        self.rng = rng;
    }

    fn take(&mut self, models: &[&mut dyn Evaluate]) -> Option<GameRecord> {
        let mover = self.mover();
        let model = self.spec.side(mover).model;
        self.thinker_mut(mover).take(models[model]);
        if !self.thinker(mover).is_done() {
            return None;
        }
        let ending = self.play_best()?;
        Some(finished(&self.spec.header, ending, std::mem::take(&mut self.turns), None, None))
    }
}
