//! The search of one position: an analysis, or a move of a model.

use std::sync::Arc;
use std::time::Duration;

use analysis::{Analysis, Event, Report, ReportStyle, Task};
use go::{Game, Move, Scoring};
use mcts::choice;
use play::{game_seed, generator};

use super::desk::{AWAITED, Ticket};
use super::engines::OpenModel;
use super::message::{AnalysisMessage, Content, GameMessage, Genmove, MoveMessage, Player, PositionMessage};
use super::position::Played;
use super::reports::ReportKey;
use super::state::FULL;
use super::visitor::{RequestId, SessionEvent, Visitor};

/// When the first partial report is due, and the others after each other.
const PROGRESS: [Duration; 2] = [Duration::from_millis(30), Duration::from_millis(100)];
/// A move is drawn among those with at least this share of the visits of the best.
const DRAWN: f32 = 0.25;
/// The longest search of a move, in seconds.
const LONGEST: f32 = 60.0;

/// The search of a position.
pub(super) struct Searching {
    ticket: Ticket,
    purpose: Purpose,
}

enum Purpose {
    /// The report is the result, and is kept.
    Analyze(ReportKey),
    /// The best move is.
    Genmove(Box<Played>, Genmove, u64),
}

/// Begins an analysis, unless its report is known.
pub(super) fn analyze(
    visitor: &mut Visitor,
    id: RequestId,
    model: &Arc<OpenModel>,
    played: Played,
    visits: u32,
) -> Result<Option<Searching>, String> {
    let Played { game, komi } = played;
    let key = ReportKey::new(&model.name, model.version.as_deref(), &game, game.turn(), komi, visits);
    if let Some(report) = visitor.play.reports.get(&key) {
        visitor.reply(id, Content::Analysis(AnalysisMessage { known: true, report }));
        return Ok(None);
    }
    let turn = game.turn();
    let task = Task { progress: Some(PROGRESS), priority: AWAITED, ..Task::new(Arc::new(game), turn, komi, visits) };
    begin(visitor, id, model, task, Purpose::Analyze(key)).map(Some)
}

/// Begins the search of a move, unless the game is decided.
pub(super) fn genmove(
    visitor: &mut Visitor,
    id: RequestId,
    model: &Arc<OpenModel>,
    played: Played,
    genmove: Genmove,
) -> Result<Option<Searching>, String> {
    if model.scoring == Scoring::PassAlive && played.game.all_pass_alive() {
        let mut game = played.game;
        let content = decided(&mut game, Move::Pass, None)?;
        visitor.reply(id, content);
        return Ok(None);
    }
    let turn = played.game.turn();
    let seconds = genmove.seconds.map(|seconds| if seconds.is_finite() { seconds.clamp(0.0, LONGEST) } else { 0.0 });
    let task = Task {
        progress: Some(PROGRESS),
        priority: if genmove.awaited { AWAITED } else { 0 },
        time: seconds.map(Duration::from_secs_f32),
        ..Task::new(Arc::new(played.game.clone()), turn, played.komi, genmove.visits)
    };
    let purpose = Purpose::Genmove(Box::new(played), genmove, model.seed);
    begin(visitor, id, model, task, purpose).map(Some)
}

fn begin(
    visitor: &mut Visitor,
    id: RequestId,
    model: &Arc<OpenModel>,
    task: Task,
    purpose: Purpose,
) -> Result<Searching, String> {
    let (events, turn) = (visitor.events.clone(), task.turn);
    let listener = move |event| {
        // The page is gone.
        let _ = events.send(SessionEvent::Searched(id, turn, event));
    };
    let ticket = visitor.play.desk.put(visitor.id, model, task, listener);
    let ticket = ticket.map_err(|_| FULL.to_owned())?;
    Ok(Searching { ticket, purpose })
}

impl Searching {
    /// How many searches begin before this one; `None` once it has begun.
    pub(super) fn place(&self) -> Option<usize> {
        self.ticket.place()
    }

    /// Takes an event of the search. Returns itself unless it is over.
    pub(super) fn event(self, visitor: &mut Visitor, id: RequestId, event: Event) -> Option<Searching> {
        match event {
            Event::Progress(analysis) => {
                let report = Arc::new(Report::during_search(&analysis, &ReportStyle::STANDARD));
                visitor.reply(id, Content::Analysis(AnalysisMessage { known: false, report }));
                return Some(self);
            }
            Event::Done(analysis) => self.done(visitor, id, &analysis),
            // It gave way to searches of others.
            Event::Nothing => visitor.reply(id, Content::Error(FULL.to_owned())),
            Event::Failed(error) => visitor.reply(id, Content::Error(format!("the model failed: {error}"))),
        }
        None
    }

    fn done(self, visitor: &mut Visitor, id: RequestId, analysis: &Analysis) {
        let report = Arc::new(Report::new(analysis, &ReportStyle::STANDARD));
        let content = match self.purpose {
            Purpose::Analyze(key) => {
                visitor.play.reports.add(key, &report);
                Content::Analysis(AnalysisMessage { known: false, report })
            }
            Purpose::Genmove(played, genmove, seed) => {
                chosen(&played.game, &genmove, seed, analysis, &report).unwrap_or_else(Content::Error)
            }
        };
        visitor.reply(id, content);
    }
}

/// The move of a search, or the resignation.
fn chosen(game: &Game, genmove: &Genmove, seed: u64, analysis: &Analysis, report: &Report) -> Result<Content, String> {
    let winrate = Some(report.winrate());
    let value = analysis.value.mover(analysis.to_move);
    if genmove.resign.is_some_and(|bound| value < bound)
        && may_resign(genmove, game.to_move().into(), game.size().area())
    {
        let position = PositionMessage::of(game);
        return Ok(Content::Move(MoveMessage { vertex: "resign".to_owned(), winrate, position }));
    }
    let best = analysis.moves.first().map_or(Move::Pass, |best| best.mv);
    let sampled =
        genmove.draw.filter(|_| game.turn() < sampled_turns(game)).and_then(|draw| sample_move(analysis, seed, draw));
    decided(&mut game.clone(), sampled.unwrap_or(best), winrate)
}

/// Whether enough was played for a resignation: a fifth of the points, or 60 % of them where the opponent has a
/// handicap, against which a player begins behind and has to catch up. KataGo has these shares; its bound falls from
/// one to the other by the score, which not every model here predicts.
fn may_resign(genmove: &Genmove, mover: Player, area: usize) -> bool {
    let GameMessage { initial_stones, moves, .. } = &genmove.game;
    let own = initial_stones.iter().filter(|(player, _)| *player == mover).count();
    let has_to_catch_up = initial_stones.len() > 2 * own;
    moves.len() >= if has_to_catch_up { 3 * area / 5 } else { area / 5 }
}

/// Turns with drawn moves: Minigo's number in self-play, whatever `selfplay.choice_moves` of the run is.
fn sampled_turns(game: &Game) -> usize {
    game.size().area() / 12 / 2 * 2
}

/// A move in proportion to visits, among those that are not much worse than the best.
fn sample_move(analysis: &Analysis, seed: u64, draw: u32) -> Option<Move> {
    let most = analysis.moves.iter().map(|candidate| candidate.visits).max()?;
    let enough = |visits: u32| if visits as f32 >= DRAWN * most as f32 { visits } else { 0 };
    let visits: Vec<u32> = analysis.moves.iter().map(|candidate| enough(candidate.visits)).collect();
    let mut rng = generator(game_seed(seed, "web", "draw", u64::from(draw) << 16 | analysis.turn as u64));
    choice::draw(&visits, 1.0, &mut rng).map(|place| analysis.moves[place].mv)
}

fn decided(game: &mut Game, mv: Move, winrate: Option<f64>) -> Result<Content, String> {
    game.play(mv).map_err(|error| format!("the model's move is illegal: {error}"))?;
    let position = PositionMessage::of(game);
    Ok(Content::Move(MoveMessage { vertex: mv.to_gtp(game.size()), winrate, position }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whether a player may resign on 9x9 after so many moves, with these first stones of Black.
    fn resigns(handicap: &[&str], moves: usize, mover: Player) -> bool {
        let stones: Vec<_> = handicap.iter().map(|vertex| ("B", vertex)).collect();
        let moves = vec![("B", "pass"); moves];
        let genmove = json!({ "game": { "size": 9, "komi": 7, "initialStones": stones, "moves": moves }, "model": "m", "visits": 1 });
        may_resign(&serde_json::from_value(genmove).expect("a request"), mover, 81)
    }

    #[test]
    fn resignation_waits_for_the_opening_and_longer_against_a_handicap() {
        let even: Vec<bool> = [15, 16].map(|moves| resigns(&[], moves, Player::W)).into();
        assert_eq!(even, [false, true]);
        let white: Vec<bool> = [16, 47, 48].map(|moves| resigns(&["C3", "G7"], moves, Player::W)).into();
        assert_eq!(white, [false, false, true]);
        assert!(resigns(&["C3", "G7"], 16, Player::B), "the handicap is Black's own");
    }
}
