//! A model that thinks, and remembers what it thought as long as the game goes on from there.

use std::thread;
use std::time::Duration;

use go::{Game, Move, Scoring};
use mcts::{Algorithm, EvaluateError, Evaluator, Search, Settings};
use play::{Budget, SearchDriver, Seed};

use super::player::{Decision, Player, PlayerError, Task, Watch};
use super::playouts;
pub use super::playouts::WIDTH;

/// Bytes that a tree may take; when an analysis has filled them it goes on to show what it knows.
const LARGEST_TREE: usize = 1 << 30;

/// Poll interval of the analysis output.
const PAUSE: Duration = Duration::from_millis(10);

/// How a model plays.
#[derive(Clone, Copy, Debug)]
pub struct EngineOptions {
    /// How it searches; komi is the controller's.
    pub settings: Settings,
    /// Leaves that are evaluated together.
    pub leaves: usize,
    /// Visits for each move when there is no clock.
    pub visits: u32,
    /// Whether a clock is not a reason for more visits.
    pub no_more: bool,
    /// It gives up when its expected outcome is below this.
    pub resign: Option<f32>,
}

/// A player made of a model and a search.
pub struct EnginePlayer {
    model: Box<dyn Evaluator>,
    manner: EngineOptions,
    rng: Seed,
    open: Option<Open>,
}

/// A position that was thought about.
struct Open {
    thinker: SearchDriver,
    komi: f32,
    /// Visits that its search was begun for; `None` for one without an end. In a Gumbel search they decide how moves
    /// are tried out.
    visits: Option<u32>,
}

impl EnginePlayer {
    /// A model that plays in this manner; `rng` draws the symmetries of its evaluations. The model takes as many
    /// positions at a time as `manner` has leaves, and at least [`WIDTH`].
    pub fn new(model: Box<dyn Evaluator>, manner: EngineOptions, rng: Seed) -> EnginePlayer {
        EnginePlayer { model, manner, rng, open: None }
    }

    /// Searches until there are so many visits (`None`: without end), or `watch` says that it is enough and there are
    /// at least `least`.
    fn search(
        &mut self,
        game: &Game,
        komi: f32,
        visits: Option<u32>,
        least: u32,
        watch: &mut Watch<'_>,
    ) -> Result<&Search, PlayerError> {
        let mut open = match self.open.take().and_then(|open| open.follow(game, komi, visits)) {
            Some(open) => open,
            None => Open::new(game, Settings { komi, ..self.manner.settings }, self.manner.leaves, visits),
        };
        loop {
            let search = open.thinker.search();
            let enough = search.is_expanded() && search.visits() >= visits.unwrap_or(u32::MAX);
            let known = if search.is_expanded() { search.visits() } else { 0 };
            let stopped = watch(search).is_break() && known >= least;
            if enough || stopped {
                break;
            }
            match (search.size().1 >= LARGEST_TREE, visits) {
                (false, _) => self.round(&mut open)?,
                (true, Some(_)) => break,
                (true, None) => thread::sleep(PAUSE),
            }
        }
        Ok(self.open.insert(open).thinker.search())
    }

    /// One batch. What is open is lost when it fails.
    fn round(&mut self, open: &mut Open) -> Result<(), EvaluateError> {
        if open.visits.is_none() {
            // Round by round, so that one whose answers are all known ends, too.
            open.thinker.extend(open.thinker.search().visits().saturating_add(self.manner.leaves as u32));
        }
        open.thinker.submit(&mut *self.model, &mut self.rng);
        self.model.flush()?;
        open.thinker.take(&*self.model);
        Ok(())
    }
}

impl Player for EnginePlayer {
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        if is_settled(task.game, self.manner.settings.scoring) {
            return Ok(Decision::Move(Move::Pass));
        }
        let visits = (!task.timed || self.manner.no_more).then_some(self.manner.visits);
        let resign = self.manner.resign;
        let search = self.search(task.game, task.komi, visits, 1, watch)?;
        let value = search.root_value().mover(task.game.to_move());
        if resign.is_some_and(|bound| value < bound) {
            return Ok(Decision::Resign);
        }
        Ok(Decision::Move(search.best_move().map_or(Move::Pass, |best| best.mv)))
    }

    fn think(&mut self, game: &Game, komi: f32, watch: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.search(game, komi, None, 0, watch).map(drop)
    }

    fn play_on(&mut self, game: &Game, komi: f32) -> Result<Vec<Game>, PlayerError> {
        playouts::play_on(game, &mut *self.model, self.manner.settings.scoring, komi, &mut self.rng)
    }

    fn new_game(&mut self) {
        self.open = None;
    }
}

impl Open {
    fn new(game: &Game, settings: Settings, leaves: usize, visits: Option<u32>) -> Open {
        let budget = Budget { visits: visits.unwrap_or(0), leaves };
        let mut thinker = SearchDriver::new(game.clone(), settings, budget, None);
        thinker.set_endless(visits.is_none());
        Open { thinker, komi: settings.komi, visits }
    }

    /// The same search in a position that follows from the one it was in; `None` when it does not.
    fn follow(mut self, game: &Game, komi: f32, visits: Option<u32>) -> Option<Open> {
        let here = self.thinker.search().game();
        let first = |game: &Game| game.stones_ago(game.turn()).copied();
        let rest = game.moves().strip_prefix(here.moves())?;
        let follows = game.size() == here.size()
            && first(game) == first(here)
            && game.colors().starts_with(here.colors())
            && self.komi.to_bits() == komi.to_bits();
        if !follows {
            return None;
        }
        for (&mv, &color) in rest.iter().zip(&game.colors()[here.turn()..]) {
            if self.thinker.search().game().to_move() != color {
                return None;
            }
            self.thinker.advance(mv).ok()?;
        }
        let search = self.thinker.search();
        // Sequential halving begins with a move and for a number of visits, and cannot be joined later.
        let begun_otherwise = matches!(search.settings().algorithm, Algorithm::Gumbel(_)) && self.visits != visits;
        if search.game().to_move() != game.to_move() || (rest.is_empty() && begun_otherwise) {
            return None;
        }
        match rest.is_empty() {
            true => self.thinker.extend(visits.unwrap_or(0)),
            false => {
                self.thinker.begin(visits.unwrap_or(0), None);
                self.thinker.set_endless(visits.is_none());
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
pub(super) mod tests {
    use std::ops::ControlFlow;

    use go::Size;
    use mcts::{Evaluation, Gumbel, Request, Ticket, Tickets, Value};
    use play::{Uniform, generator};

    use super::*;

    /// The model `uniform` with the settings of the 9x9 run, but for the algorithm and that everybody may pass.
    pub(in crate::server) fn voice(algorithm: &str, visits: u32) -> EnginePlayer {
        let changes = [format!("search.algorithm={algorithm}"), "search.pass_from=0".to_owned()];
        let config = config::Preset::NineByNine.with(&changes).expect("the configuration is good");
        let settings = Settings::new(&config.search, &config.game);
        let manner = EngineOptions { settings, leaves: 2, visits, no_more: false, resign: None };
        EnginePlayer::new(Box::new(Uniform::new()), manner, generator(1))
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

    fn visits(voice: &EnginePlayer) -> u32 {
        voice.open.as_ref().map_or(0, |open| open.thinker.search().visits())
    }

    #[test]
    fn what_was_thought_is_kept_as_long_as_the_game_goes_on() {
        for algorithm in ["puct", "gumbel"] {
            let mut voice = voice(algorithm, 50);
            let until = |n: u32| {
                move |search: &Search| {
                    if search.visits() >= n { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                }
            };
            voice.think(&game(&["C3"]), 7.5, &mut until(400)).expect("it thinks");
            assert!(visits(&voice) >= 400);
            let best = voice.open.as_ref().and_then(|open| open.thinker.search().best_move()).expect("a best move");
            let reply = best.mv.to_gtp(Size::new(5).expect("a size"));
            let mut kept = None;
            let mut first = |search: &Search| {
                kept.get_or_insert(search.visits());
                ControlFlow::Break(())
            };
            voice.think(&game(&["C3", &reply]), 7.5, &mut first).expect("it thinks");
            assert_eq!(
                kept,
                Some(best.visits - 1),
                "{algorithm}: all that was known below the move, but its own visit"
            );
            voice.think(&game(&["C3", &reply]), 6.5, &mut until(1)).expect("it thinks");
            assert!(visits(&voice) < 5, "another komi is another game");
            voice.new_game();
            assert_eq!(visits(&voice), 0);
        }
    }

    #[test]
    fn a_move_has_its_visits_and_a_timed_one_as_many_as_there_is_time_for() {
        for algorithm in ["puct", "gumbel"] {
            let mut voice = voice(algorithm, 30);
            let start = game(&[]);
            let task = Task { game: &start, komi: 7.5, timed: false };
            let quick = voice.genmove(&task, &mut patient).expect("a move");
            assert!(matches!(quick, Decision::Move(_)) && (30..32).contains(&visits(&voice)), "{}", visits(&voice));
            let mut rounds = 0;
            let mut hundred = |_: &Search| {
                rounds += 1;
                if rounds > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            voice.genmove(&Task { timed: true, ..task }, &mut hundred).expect("a move");
            assert!(visits(&voice) > 100, "{algorithm}: {}", visits(&voice));
            voice.new_game();
            let mut at_once = |_: &Search| ControlFlow::Break(());
            let hurried = voice.genmove(&Task { timed: true, ..task }, &mut at_once).expect("a move");
            assert!(matches!(hurried, Decision::Move(Move::Play(_))), "{algorithm}: hurry is no reason to pass");
        }
    }

    /// Prefers A1 for Black, which loses, to four other moves, to C3, which wins. What follows the first move changes nothing.
    #[derive(Default)]
    struct Misled {
        tickets: Tickets,
        submitted: Vec<(Vec<f32>, f32)>,
        ready: Vec<(Vec<f32>, f32)>,
    }

    impl Misled {
        const BEST: &str = "C3";

        fn priors() -> [(&'static str, f32); 6] {
            [("A1", 0.75), ("B1", 0.06), ("D1", 0.05), ("E1", 0.04), ("A2", 0.03), (Self::BEST, 0.02)]
        }
    }

    impl Evaluator for Misled {
        fn submit(&mut self, request: Request<'_>) -> Ticket {
            let game = request.game;
            let size = game.size();
            let mut policy = vec![0.05 / size.moves() as f32; size.moves()];
            if game.turn() == 0 {
                for (vertex, prior) in Misled::priors() {
                    policy[Move::from_gtp(size, vertex).expect("a vertex").index(size)] += prior;
                }
            }
            let black = match game.moves().first().map(|first| first.to_gtp(size)).as_deref() {
                Some(Misled::BEST) => 0.6,
                Some("A1") => -0.4,
                _ => -0.2,
            };
            self.submitted.push((policy, black));
            self.tickets.issue()
        }

        fn flush(&mut self) -> Result<(), EvaluateError> {
            self.ready = std::mem::take(&mut self.submitted);
            self.tickets.flush();
            Ok(())
        }

        fn is_ready(&self, ticket: Ticket) -> bool {
            self.tickets.is_flushed(ticket)
        }

        fn get(&self, ticket: Ticket) -> Evaluation<'_> {
            let (policy, black) = &self.ready[self.tickets.index(ticket)];
            Evaluation { policy, value: Value::for_black(*black) }
        }

        fn pending(&self) -> usize {
            self.tickets.pending()
        }

        fn capacity(&self) -> usize {
            usize::MAX
        }
    }

    fn misled(leaves: usize) -> EnginePlayer {
        let EnginePlayer { manner, .. } = voice("gumbel", 4);
        let algorithm = Algorithm::Gumbel(Gumbel { moves: 4, c_visit: 50.0, c_scale: 1.0 });
        let settings = Settings { algorithm, ..manner.settings };
        EnginePlayer::new(Box::new(Misled::default()), EngineOptions { settings, leaves, ..manner }, generator(1))
    }

    /// However many leaves are evaluated together, and whichever moves sequential halving would have considered.
    #[test]
    fn timed_gumbel_search_finds_a_move_that_the_prior_hides() {
        for leaves in [1, 2, 4] {
            let mut voice = misled(leaves);
            let start = game(&[]);
            let mut moves = Vec::new();
            let decision = voice.genmove(&Task { game: &start, komi: 7.5, timed: true }, &mut |search| {
                if search.is_expanded() {
                    moves = search.root_moves();
                }
                if search.visits() >= 400 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            let best = Move::from_gtp(start.size(), Misled::BEST).expect("a vertex");
            assert_eq!(decision.expect("a move"), Decision::Move(best), "{leaves} leaves: {moves:?}");
            assert!(moves.len() > 5, "{leaves} leaves: {moves:?}");
        }
    }

    /// The four moves that it considers lose, and it is not changed by what was thought without an end before.
    #[test]
    fn gumbel_search_of_fixed_visits_considers_its_moves() {
        let visited = |voice: &mut EnginePlayer| {
            let start = game(&[]);
            let mut moves = Vec::new();
            let task = Task { game: &start, komi: 7.5, timed: false };
            voice
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
        assert_eq!(fresh.len(), 4, "{fresh:?}");
        let mut voice = misled(1);
        voice
            .think(&game(&[]), 7.5, &mut |search| {
                if search.visits() >= 50 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .expect("it thinks");
        assert_eq!(visited(&mut voice), fresh);
    }

    /// Another player may be to move, as controllers may say, and stones may be taken back.
    #[test]
    fn other_positions_begin_anew() {
        let mut voice = voice("puct", 20);
        let mut other = game(&["C3"]);
        for (from, to) in [(game(&["C3", "D3"]), game(&["C3"])), (game(&["C3"]), game(&["B2"]))] {
            let task = |game| Task { game, komi: 7.5, timed: false };
            voice.genmove(&task(&from), &mut patient).expect("a move");
            let found = voice.genmove(&task(&to), &mut patient).expect("a move");
            let Decision::Move(mv) = found else { panic!("no resignation") };
            assert!(to.is_legal(mv));
        }
        other.set_to_move(go::Color::Black);
        voice
            .think(&other, 7.5, &mut |search| {
                assert_eq!(search.game().to_move(), go::Color::Black);
                if search.visits() > 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .expect("it thinks");
    }
}
