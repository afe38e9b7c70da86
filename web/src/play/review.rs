//! The analysis of all positions of a game.

use std::collections::BTreeMap;
use std::sync::Arc;

use analysis::{Event, Report, ReportStyle, Task, losses};
use go::Game;

use super::desk::Ticket;
use super::engines::OpenModel;
use super::message::{AnalysisMessage, Content, GameMessage, LossMessage};
use super::position::Played;
use super::reports::ReportKey;
use super::state::FULL;
use super::visitor::{RequestId, SessionEvent, Visitor};

/// Positions of a game that wait or are searched at a time.
const AHEAD: usize = 8;

/// A game whose positions are searched.
pub(super) struct Review {
    model: Arc<OpenModel>,
    message: GameMessage,
    game: Arc<Game>,
    komi: f32,
    visits: u32,
    reports: Vec<Option<Arc<Report>>>,
    /// Turns without a report that do not wait yet, the next one last.
    left: Vec<usize>,
    tickets: BTreeMap<usize, Ticket>,
}

impl Review {
    /// Begins a review: known reports are replied at once. `None` when all are known.
    pub(super) fn begin(
        visitor: &mut Visitor,
        id: RequestId,
        model: Arc<OpenModel>,
        played: Played,
        message: GameMessage,
        visits: u32,
    ) -> Result<Option<Review>, String> {
        let Played { game, komi } = played;
        let positions = game.turn() + 1;
        let game = Arc::new(game);
        let mut review = Review {
            model,
            message,
            game,
            komi,
            visits,
            reports: vec![None; positions],
            left: Vec::new(),
            tickets: BTreeMap::new(),
        };
        for turn in spread(positions) {
            match visitor.play.reports.get(&review.key(turn)) {
                Some(report) => {
                    review.reports[turn] = Some(Arc::clone(&report));
                    visitor.reply(id, Content::Analysis(AnalysisMessage { known: true, report }));
                }
                None => review.left.push(turn),
            }
        }
        review.left.reverse();
        Ok(review.go_on(visitor, id))
    }

    fn key(&self, turn: usize) -> ReportKey {
        let OpenModel { name, version, .. } = &*self.model;
        ReportKey::new(name, version.as_deref(), &self.game, turn, self.komi, self.visits)
    }

    /// Puts positions on the desk. Returns itself unless all have reports.
    fn go_on(mut self, visitor: &mut Visitor, id: RequestId) -> Option<Review> {
        while self.tickets.len() < AHEAD
            && let Some(turn) = self.left.pop()
        {
            let task = Task::new(Arc::clone(&self.game), turn, self.komi, self.visits);
            let events = visitor.events.clone();
            let listener = move |event| {
                // The page is gone.
                let _ = events.send(SessionEvent::Searched(id, turn, event));
            };
            match visitor.play.desk.put(visitor.id, &self.model, task, listener) {
                Ok(ticket) => _ = self.tickets.insert(turn, ticket),
                Err(_) if self.tickets.is_empty() => {
                    visitor.reply(id, Content::Error(FULL.to_owned()));
                    return None;
                }
                Err(_) => {
                    self.left.push(turn);
                    break;
                }
            }
        }
        if !self.tickets.is_empty() {
            return Some(self);
        }
        visitor.reply(id, Content::Losses(self.losses()));
        None
    }

    /// How many searches begin before the first of its own; `None` while one of them runs.
    pub(super) fn place(&self) -> Option<usize> {
        let places: Option<Vec<usize>> = self.tickets.values().map(Ticket::place).collect();
        places?.into_iter().min()
    }

    fn losses(&self) -> Vec<LossMessage> {
        let Ok(record) = super::save::record(&self.message) else { return Vec::new() };
        let reports: Vec<Option<Report>> = self.reports.iter().map(|report| report.as_deref().cloned()).collect();
        let found = losses(&record, &reports).into_iter();
        found.map(|loss| LossMessage { turn: loss.turn, loss: loss.loss, best: loss.best }).collect()
    }

    /// Takes an event of a search. Returns itself unless the review is over.
    pub(super) fn event(mut self, visitor: &mut Visitor, id: RequestId, turn: usize, event: Event) -> Option<Review> {
        match event {
            Event::Progress(_) => return Some(self),
            Event::Done(analysis) => {
                self.tickets.remove(&turn);
                let report = Arc::new(Report::new(&analysis, &ReportStyle::STANDARD));
                visitor.play.reports.add(self.key(turn), &report);
                self.reports[turn] = Some(Arc::clone(&report));
                visitor.reply(id, Content::Analysis(AnalysisMessage { known: false, report }));
            }
            // It gave way to searches of others.
            Event::Nothing => {
                self.tickets.remove(&turn);
                self.left.push(turn);
            }
            Event::Failed(error) => {
                visitor.reply(id, Content::Error(format!("the model failed: {error}")));
                return None;
            }
        }
        self.go_on(visitor, id)
    }
}

/// The positions of a game, first a few far apart, so that a graph has its shape early.
fn spread(positions: usize) -> Vec<usize> {
    let mut order = Vec::with_capacity(positions);
    let mut step = 16;
    while step > 0 {
        order.extend((0..positions).step_by(step).filter(|turn| step == 16 || turn % (2 * step) != 0));
        step /= 2;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_positions_are_all_positions_once() {
        assert_eq!(spread(0), Vec::<usize>::new());
        assert_eq!(spread(3), [0, 2, 1]);
        for positions in [1, 2, 16, 17, 100] {
            let mut order = spread(positions);
            assert_eq!(order[0], 0);
            order.sort_unstable();
            assert_eq!(order, (0..positions).collect::<Vec<_>>());
        }
    }
}
