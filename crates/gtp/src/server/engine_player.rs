//! A model that thinks, and remembers what it thought as long as the game continues from there.

use std::thread;
use std::time::Duration;

use go::{Game, Move, Scoring};
use mcts::{Algorithm, Avoid, EvaluateError, Evaluator, LARGEST_TREE, Purpose, Search, Settings};
use play::{Budget, GameRng, SearchDriver, generator};

use super::player::{Decision, Player, PlayerError, Task, Watch};
use super::playouts;

mod bounded;

use bounded::Bounded;

/// Poll interval of the analysis output.
const PAUSE: Duration = Duration::from_millis(10);

/// How a model plays.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// How it searches; komi is the controller's, and a pass is considered at any turn.
    pub settings: Settings,
    /// Leaves that are evaluated together.
    pub leaves: usize,
    /// Visits for each move when there is no clock.
    pub visits: u32,
    /// Whether a clock is not a reason for more visits.
    pub visits_are_maximum: bool,
    /// It resigns when its expected outcome is below this.
    pub resign: Option<f32>,
}

/// A player made of a model and a search.
pub struct EnginePlayer {
    model: Box<dyn Evaluator>,
    options: EngineOptions,
    rng: GameRng,
    open: Option<Open>,
    book: Option<Box<OpeningBook>>,
}

/// The move of an opening book in a position with this komi, if it has one.
pub type OpeningBook = dyn Fn(&Game, f32) -> Option<Move>;

/// A search that is wanted.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    game: &'a Game,
    komi: f32,
    /// `None` for a search without an end.
    visits: Option<u32>,
    avoid: &'a [Avoid],
}

/// A position that was thought about.
struct Open {
    driver: SearchDriver,
    komi: f32,
    /// Visits that its search was begun for; `None` for one without an end. In a Gumbel search they decide how moves
    /// are tried out.
    visits: Option<u32>,
    /// Moves that its search leaves out, at depths that count from its root.
    avoid: Vec<Avoid>,
}

impl EnginePlayer {
    /// A model that plays with these options; `rng` draws the symmetries of its evaluations. The model takes as many
    /// positions at a time as `options` has leaves, and at least [`WIDTH`](super::WIDTH).
    pub fn new(model: Box<dyn Evaluator>, options: EngineOptions, rng: GameRng) -> EnginePlayer {
        EnginePlayer { model, options, rng, open: None, book: None }
    }

    /// The same, but that it plays the moves of a book where it has any.
    pub fn with_book(self, book: Box<OpeningBook>) -> EnginePlayer {
        EnginePlayer { book: Some(book), ..self }
    }

    /// Searches until there are as many visits as wanted, or `watch` says that it is enough and there are at least
    /// `least`. What is known is kept where an evaluation fails.
    fn search(&mut self, wanted: Wanted<'_>, least: u32, watch: &mut Watch<'_>) -> Result<&Search, PlayerError> {
        let mut open = match self.open.take().and_then(|open| open.follow(wanted)) {
            Some(open) => open,
            None => Open::new(wanted, &self.options),
        };
        let searched = self.search_in(&mut open, least, watch);
        let search = self.open.insert(open).driver.search();
        searched.map(|()| search)
    }

    fn search_in(&mut self, open: &mut Open, least: u32, watch: &mut Watch<'_>) -> Result<(), EvaluateError> {
        let visits = open.visits;
        let mut is_stopped = |search: &Search| {
            let known = if search.is_expanded() { search.visits() } else { 0 };
            watch(search).is_break() && known >= least
        };
        loop {
            let search = open.driver.search();
            let enough = search.is_expanded() && search.visits() >= visits.unwrap_or(u32::MAX);
            if is_stopped(search) || enough {
                return Ok(());
            }
            // An analysis that has filled its tree continues to show what it knows.
            match (search.is_full(LARGEST_TREE), visits) {
                (false, _) => {
                    if self.round(open, &mut is_stopped)? {
                        return Ok(());
                    }
                }
                (true, Some(_)) => return Ok(()),
                (true, None) => thread::sleep(PAUSE),
            }
        }
    }

    /// One batch, or less when `stop` says so or the tree is full; whether `stop` has ended the wait for a server.
    /// Leaves that are not evaluated are taken back.
    fn round(&mut self, open: &mut Open, stop: &mut dyn FnMut(&Search) -> bool) -> Result<bool, EvaluateError> {
        if open.visits.is_none() {
            // Round by round, so that one whose evaluations are all known stops, too.
            open.driver.extend(open.driver.search().visits().saturating_add(self.options.leaves as u32));
        }
        let mut model = Bounded::new(&mut *self.model);
        let mut is_due = |search: &Search| stop(search) || search.is_full(LARGEST_TREE);
        open.driver.submit_until(&mut model, &mut self.rng, &mut is_due);
        let mut stopped = false;
        let flushed = model.flush_until(&mut || {
            stopped = stop(open.driver.search());
            stopped
        });
        if flushed.is_ok() {
            open.driver.take(&model);
            return Ok(false);
        }
        open.driver.take_back();
        if stopped { Ok(true) } else { flushed.map(|()| false) }
    }
}

impl Player for EnginePlayer {
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        if is_settled(task.game, self.options.settings.scoring) {
            return Ok(Decision::Move(Move::Pass));
        }
        let is_avoided = |mv| task.avoid.iter().any(|avoid| avoid.player == task.game.to_move() && avoid.contains(mv));
        let known = self.book.as_ref().and_then(|book| book(task.game, task.komi));
        if let Some(mv) = known.filter(|&mv| task.game.is_legal(mv) && !is_avoided(mv)) {
            return Ok(Decision::Move(mv));
        }
        let visits = (!task.timed || self.options.visits_are_maximum).then_some(self.options.visits);
        let resign = self.options.resign;
        let wanted = Wanted { game: task.game, komi: task.komi, visits, avoid: task.avoid };
        let search = self.search(wanted, 1, watch)?;
        let value = search.policy_value().mover(task.game.to_move());
        if resign.is_some_and(|bound| value < bound) {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move(search.best_move().map_or(Move::Pass, |best| best.mv)))
    }

    fn think(&mut self, game: &Game, komi: f32, avoid: &[Avoid], watch: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.search(Wanted { game, komi, visits: None, avoid }, 0, watch).map(drop)
    }

    fn seen(&self, see: &mut dyn FnMut(&Search)) {
        if let Some(open) = &self.open {
            see(open.driver.search());
        }
    }

    fn play_on(&mut self, game: &Game, komi: f32) -> Result<Vec<Game>, PlayerError> {
        playouts::play_on(game, &mut *self.model, self.options.settings.scoring, komi, &mut self.rng)
    }

    fn new_game(&mut self) {
        self.open = None;
    }

    fn reseed(&mut self, seed: u64) {
        self.new_game();
        self.rng = generator(seed);
    }
}

impl Open {
    fn new(wanted: Wanted<'_>, options: &EngineOptions) -> Open {
        let Wanted { game, komi, visits, avoid } = wanted;
        let settings = Settings { komi, pass_from: 0, ..options.settings };
        let budget = Budget { visits: visits.unwrap_or(0), leaves: options.leaves };
        let mut driver = SearchDriver::new(game.clone(), settings, budget, Purpose::Win).avoiding(avoid.to_vec());
        driver.set_endless(visits.is_none());
        Open { driver, komi, visits, avoid: avoid.to_vec() }
    }

    /// The same search in a position that follows from the one it was in; `None` when it does not. A search that leaves
    /// moves out follows in its own position alone: in others, moves at other depths are missing in its tree.
    fn follow(mut self, wanted: Wanted<'_>) -> Option<Open> {
        let Wanted { game, komi, visits, avoid } = wanted;
        let here = self.driver.search().game();
        let first = |game: &Game| game.stones_ago(game.turn()).copied();
        let rest = game.moves().strip_prefix(here.moves())?;
        let follows = game.size() == here.size()
            && first(game) == first(here)
            && game.colors().starts_with(here.colors())
            && self.komi.to_bits() == komi.to_bits()
            && self.avoid == avoid
            && (avoid.is_empty() || rest.is_empty());
        if !follows {
            return None;
        }
        for (&mv, &color) in rest.iter().zip(&game.colors()[here.turn()..]) {
            if self.driver.search().game().to_move() != color {
                return None;
            }
            self.driver.advance(mv).ok()?;
        }
        let search = self.driver.search();
        // Sequential halving begins with a move and for a number of visits, and cannot be joined later.
        let begun_otherwise = matches!(search.settings().algorithm, Algorithm::Gumbel(_)) && self.visits != visits;
        if search.game().to_move() != game.to_move() || (rest.is_empty() && begun_otherwise) {
            return None;
        }
        match rest.is_empty() {
            true => self.driver.extend(visits.unwrap_or(0)),
            false => {
                self.driver.begin(visits.unwrap_or(0), Purpose::Win);
                self.driver.set_endless(visits.is_none());
            }
        }
        Some(Open { visits, ..self })
    }
}

/// Whether no move can change the result any more.
fn is_settled(game: &Game, scoring: Scoring) -> bool {
    scoring == Scoring::PassAlive && game.all_pass_alive()
}

#[cfg(test)]
pub(super) mod tests;
