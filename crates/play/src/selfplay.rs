//! A game of a model against itself, played for training.

use config::{ModelId, PlayConfig};
use go::{Color, Game, Move};
use mcts::{Evaluator, RootMove, Settings, choice};
use record::{GameRecord, Handoff, SearchKind, Turn};

use crate::calibration_games::CalibrationGames;
use crate::game_randomization::GameRandomization;
use crate::opening::opening;
use crate::search_plan::{SearchPlan, SearchPlanner};
use crate::seed::{GameRng, finish, game_seed, generator, seed_from};
use crate::termination::{Ending, GameHeader, finished, searched};
use crate::{BatchedGame, Budget, SearchDriver};

/// Everything a self-play game depends on, besides the model's outputs.
#[derive(Clone, Debug)]
pub struct SelfplaySpec {
    /// Fields of the record.
    header: GameHeader,
    settings: Settings,
    planner: SearchPlanner,
    /// Random moves at the start.
    random: usize,
    leaves: usize,
    choice_moves: usize,
    choice_exponent: f32,
    move_limit: usize,
    /// The mover resigns when its root value is below this; `None`: no resignation.
    threshold: Option<f32>,
}

impl SelfplaySpec {
    /// The `index`-th game that `worker` plays with `model`, for which `config` is in force.
    ///
    /// `threshold` is the resign threshold in force. Calibration games are played on, but their record says when
    /// the mover would have resigned.
    pub fn new(config: &PlayConfig, model: &str, worker: &str, index: u64, threshold: Option<f32>) -> SelfplaySpec {
        let seed = game_seed(config.seed, model, worker, index);
        let selfplay = &config.selfplay;
        let randomization = GameRandomization::draw(&config.game, selfplay, seed);
        let mut header = GameHeader::new(
            &config.game,
            config.digest.clone(),
            [model, model],
            (worker, index),
            seed,
            config.search.visits,
        );
        header.record.calibration = CalibrationGames::of(config, model, worker).contains(index);
        // By the hash of its id, so that a game is always in the same set.
        header.record.holdout = header.record.id.share() < f64::from(selfplay.holdout_fraction);
        header.record.komi = randomization.komi;
        SelfplaySpec {
            header,
            settings: Settings { komi: randomization.komi, ..Settings::new(&config.search, &config.game) },
            // Moves drawn from the policy follow the random ones.
            planner: SearchPlanner::new(
                config,
                if randomization.opening > 0 { randomization.random + randomization.opening } else { 0 },
            ),
            random: randomization.random,
            leaves: config.search.leaves,
            choice_moves: selfplay.choice_moves,
            choice_exponent: selfplay.choice_exponent,
            move_limit: config.game.move_limit,
            threshold,
        }
    }

    /// Whether the record says when the game began and ended, which no two games agree in.
    pub fn timed(mut self, timed: bool) -> SelfplaySpec {
        self.header.timed = timed;
        self
    }
}

/// A self-play game in progress.
#[derive(Debug)]
pub struct Selfplay {
    spec: SelfplaySpec,
    rng: GameRng,
    driver: SearchDriver,
    /// How the present move is being found.
    plan: SearchPlan,
    turns: Vec<Turn>,
    handoffs: Vec<Handoff>,
    would_resign: Option<u16>,
}

impl Selfplay {
    /// Sets up the board.
    pub fn new(mut spec: SelfplaySpec) -> Selfplay {
        spec.header.begin();
        let rng = generator(spec.header.record.seed);
        let mut chance = generator(finish(finish(spec.header.record.seed)));
        let board = opening(Game::new(spec.header.record.size), spec.random, &mut chance);
        let turns = board.moves().iter().map(|&mv| Turn::unsearched(SearchKind::Given, mv)).collect();
        Selfplay::set_up(spec, board, turns, rng)
    }

    /// A game after these turns, whose present move was not searched yet.
    fn set_up(spec: SelfplaySpec, board: Game, turns: Vec<Turn>, mut rng: GameRng) -> Selfplay {
        let plan = spec.planner.next(turns.len(), &mut rng);
        let budget = Budget { visits: plan.visits, leaves: spec.leaves };
        let driver = SearchDriver::new(board, spec.settings, budget, plan.purpose).seeing_images_alike();
        Selfplay { rng, driver, plan, turns, handoffs: Vec::new(), would_resign: None, spec }
    }

    /// Lets another model continue the game, or the same one in another process. It searches the present move from the
    /// beginning, as a new game, with random numbers that the seed of the game and the turn give: each move is
    /// one model's, and the game still follows from its models and its seed.
    pub fn take_over(&mut self, model: &str) {
        let turn = self.turns.len() as u16;
        self.rng = generator(seed_from(self.spec.header.record.seed, turn));
        self.plan = self.spec.planner.next(self.turns.len(), &mut self.rng);
        self.driver.reset();
        self.driver.begin(self.plan.visits, self.plan.purpose);
        self.handoffs.retain(|handoff| handoff.turn < turn);
        self.handoffs.push(Handoff { turn, model: model.to_owned() });
    }

    /// The game as it stands, for another process to [resume](Selfplay::resume): its end means nothing.
    pub fn record(&self) -> GameRecord {
        GameRecord {
            turns: self.turns.clone(),
            handoffs: self.handoffs.clone(),
            resign_threshold: self.spec.threshold,
            would_resign_turn: self.would_resign,
            ..self.spec.header.record.clone()
        }
    }

    /// Resumes a game of the run `config` where another process [left](Selfplay::record) it, with `model`. Komi,
    /// searches, the game's threshold and whether it is a calibration game stay what they were.
    ///
    /// # Errors
    /// Moves that are not legal, or a game that no worker of this run can have begun.
    pub fn resume(config: &PlayConfig, left: GameRecord, model: &str) -> Result<Selfplay, String> {
        let begun_by: ModelId = left.black.parse().map_err(|e| format!("game {}: {e}", left.id))?;
        let mut spec = SelfplaySpec::new(&config.at(begun_by.number()), &left.black, &left.worker, left.index, None);
        if !spec.header.is_of(&left) {
            return Err(format!("game {} was not begun in this run", left.id));
        }
        let board = left.replay().map_err(|e| e.to_string())?;
        let Settings { scoring, komi, .. } = spec.settings;
        if Ending::of_board(&board, scoring, komi, spec.move_limit).is_some() {
            return Err(format!("game {} is over", left.id));
        }
        spec.threshold = left.resign_threshold;
        spec.header.record.started_at = left.started_at;
        spec.header.record.calibration = left.calibration;
        let rng = generator(spec.header.record.seed);
        let mut game = Selfplay::set_up(spec, board, left.turns, rng);
        (game.handoffs, game.would_resign) = (left.handoffs, left.would_resign_turn);
        game.take_over(model);
        Ok(game)
    }

    /// Whether its record says when it ended, as [`SelfplaySpec::timed`] says of a new game.
    pub fn timed(mut self, timed: bool) -> Selfplay {
        self.spec.header.timed = timed;
        self
    }

    /// Its number among those that its worker plays with the model that began it.
    pub fn index(&self) -> u64 {
        self.spec.header.record.index
    }

    /// The seed of its random numbers, which no other game of a run has.
    pub fn seed(&self) -> u64 {
        self.spec.header.record.seed
    }

    /// Whether this model began it, in this series of games of a worker.
    pub fn is_of(&self, model: &str, series: &str) -> bool {
        let record = &self.spec.header.record;
        record.black == model && record.worker == series
    }

    /// Moves made so far.
    pub fn turns(&self) -> usize {
        self.turns.len()
    }

    /// Ends the search of this move: resigns, or plays.
    fn decide(&mut self) -> Option<Ending> {
        let turn = if self.plan.kind == SearchKind::Policy {
            Turn::unsearched(self.plan.kind, self.draw_from_policy())
        } else if let Some(by) = self.resigns() {
            return Some(Ending::Resignation { by });
        } else {
            let mv = self.choose();
            searched(&self.driver, self.plan.kind, self.plan.weight, mv)
        };
        self.driver.advance(turn.mv).expect("the search holds legal moves only");
        self.turns.push(turn);
        self.plan = self.spec.planner.next(self.turns.len(), &mut self.rng);
        self.driver.begin(self.plan.visits, self.plan.purpose);
        let Settings { scoring, komi, .. } = self.spec.settings;
        Ending::of_board(self.driver.search().game(), scoring, komi, self.spec.move_limit)
    }

    /// The mover, if it resigns. In calibration games resignation is disabled; the turn of a would-be resignation is
    /// recorded.
    fn resigns(&mut self) -> Option<Color> {
        let search = self.driver.search();
        let mover = search.game().to_move();
        let root = search.root_value();
        if !self.spec.threshold.is_some_and(|threshold| root.mover(mover) < threshold) {
            return None;
        }
        self.would_resign.get_or_insert(self.turns.len() as u16);
        (!self.spec.header.record.calibration).then_some(mover)
    }

    /// A board point drawn from the network's own policy; a pass when it gives no point anything.
    fn draw_from_policy(&mut self) -> Move {
        let priors = self.driver.search().priors();
        let points: Vec<(Move, f32)> = priors.into_iter().filter(|(mv, _)| *mv != Move::Pass).collect();
        let weights: Vec<f32> = points.iter().map(|(_, prior)| *prior).collect();
        choice::draw_from(&weights, &mut self.rng).map_or(Move::Pass, |index| points[index].0)
    }

    /// Early moves are drawn from the visits of board points, later ones are the best.
    fn choose(&mut self) -> Move {
        let search = self.driver.search();
        let spec = &self.spec;
        if self.turns.len() < spec.choice_moves {
            let moves: Vec<RootMove> = search.root_moves().into_iter().filter(|root| root.mv != Move::Pass).collect();
            let visits: Vec<u32> = moves.iter().map(|root| root.visits).collect();
            let drawn = choice::draw(&visits, spec.choice_exponent, &mut self.rng);
            return drawn.map_or(Move::Pass, |index| moves[index].mv);
        }
        search.best_move().map_or(Move::Pass, |root| root.mv)
    }
}

impl BatchedGame for Selfplay {
    type Finished = GameRecord;

    fn model(&self) -> Option<usize> {
        Some(0)
    }

    fn submit(&mut self, models: &mut [&mut dyn Evaluator]) {
        self.driver.submit(models[0], &mut self.rng);
    }

    fn take(&mut self, models: &[&mut dyn Evaluator]) -> Option<GameRecord> {
        self.driver.take(models[0]);
        if !self.driver.is_done() {
            return None;
        }
        let ending = self.decide()?;
        let turns = std::mem::take(&mut self.turns);
        let handoffs = std::mem::take(&mut self.handoffs);
        let record = finished(&self.spec.header, ending, turns, self.spec.threshold, self.would_resign);
        Some(GameRecord { handoffs, ..record })
    }
}
