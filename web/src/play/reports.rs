//! Reports of positions that were analysed, in memory, so that a game that is opened again is there at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use analysis::Report;
use go::{Color, Game};
use lru::LruCache;
use sha2::{Digest, Sha256};

/// What a report is a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReportKey([u8; 32]);

impl ReportKey {
    /// The key of the position of a game after so many moves, searched by a model, of which there may be several
    /// versions, with so many visits.
    pub(super) fn new(
        model: &str,
        version: Option<&str>,
        game: &Game,
        turn: usize,
        komi: f32,
        visits: u32,
    ) -> ReportKey {
        let mut hash = Sha256::new();
        hash.update([game.size().side() as u8]);
        hash.update(komi.to_le_bytes());
        hash.update(visits.to_le_bytes());
        let first = game.stones_ago(game.turn());
        for color in Color::BOTH {
            let points = first.map(|stones| *stones.of(color)).unwrap_or_default();
            hash.update((points.len() as u32).to_le_bytes());
            points.iter().for_each(|point| hash.update((point.index() as u16).to_le_bytes()));
        }
        for (mv, color) in game.moves().iter().zip(game.colors()).take(turn) {
            hash.update((mv.index(game.size()) as u16).to_le_bytes());
            hash.update([u8::from(*color == Color::White)]);
        }
        let to_move = game.colors().get(turn).copied().unwrap_or(game.to_move());
        hash.update([u8::from(to_move == Color::White)]);
        hash.update(model);
        hash.update([0]);
        hash.update(version.unwrap_or_default());
        ReportKey(hash.finalize().into())
    }
}

/// Reports by their keys, of so many bytes together; the least recently used are dropped for new ones.
pub(super) struct Reports {
    most: usize,
    state: Mutex<State>,
}

struct State {
    bytes: usize,
    reports: LruCache<ReportKey, Arc<Report>>,
}

impl Reports {
    /// Reports of at most so many bytes.
    pub(super) fn new(most: usize) -> Reports {
        Reports { most, state: Mutex::new(State { bytes: 0, reports: LruCache::unbounded() }) }
    }

    /// A report that is known.
    pub(super) fn get(&self, key: &ReportKey) -> Option<Arc<Report>> {
        self.lock().reports.get(key).cloned()
    }

    /// Adds a report.
    pub(super) fn add(&self, key: ReportKey, report: &Arc<Report>) {
        let mut state = self.lock();
        state.bytes += bytes(report);
        if let Some(earlier) = state.reports.put(key, Arc::clone(report)) {
            state.bytes -= bytes(&earlier);
        }
        while state.bytes > self.most
            && let Some((_, oldest)) = state.reports.pop_lru()
        {
            state.bytes -= bytes(&oldest);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that a report takes in memory, about: those of its numbers, and 32 for each vertex of a variation.
fn bytes(report: &Report) -> usize {
    let moves: usize = report.move_infos.iter().map(|info| size_of_val(info) + 32 * (info.pv.len() + 1)).sum();
    size_of::<Report>() + moves + report.policy.as_ref().map_or(0, |policy| 8 * policy.len())
}

#[cfg(test)]
mod tests {
    use go::{Move, Size};

    use super::*;

    fn report(turn: usize) -> Arc<Report> {
        let report = serde_json::json!({
            "isDuringSearch": false, "turnNumber": turn, "moveInfos": [],
            "rootInfo": {
                "currentPlayer": "B", "visits": 1, "winrate": 0.5, "lcb": 0.0, "utility": 0.0, "scoreLead": 0.0,
                "scoreSelfplay": 0.0, "scoreStdev": 0.0, "rawWinrate": 0.5, "thisHash": "", "symHash": "",
            },
        });
        Arc::new(serde_json::from_value(report).expect("a report"))
    }

    fn game(moves: &[&str]) -> Game {
        let mut game = Game::new(Size::new(5).expect("a size"));
        for vertex in moves {
            game.play(Move::from_gtp(game.size(), vertex).expect("a vertex")).expect("it is legal");
        }
        game
    }

    #[test]
    fn keys_are_those_of_position_and_settings() {
        let key = |moves: &[&str], turn| ReportKey::new("v1-2", None, &game(moves), turn, 7.0, 10);
        // Later moves do not matter, and earlier ones do.
        assert_eq!(key(&["A1", "B2", "C3"], 2), key(&["A1", "B2"], 2));
        assert_ne!(key(&["A1", "B2"], 2), key(&["B2", "A1"], 2));
        assert_ne!(key(&["A1", "B2"], 2), key(&["A1", "B2"], 1));
        let base = key(&["A1"], 1);
        let replaced = ReportKey::new("v1-2", Some("other weights"), &game(&["A1"]), 1, 7.0, 10);
        assert_ne!(base, replaced, "a run that is begun again has the same names");
        assert_ne!(base, ReportKey::new("v1-3", None, &game(&["A1"]), 1, 7.0, 10));
        assert_ne!(base, ReportKey::new("v1-2", None, &game(&["A1"]), 1, 6.0, 10));
        assert_ne!(base, ReportKey::new("v1-2", None, &game(&["A1"]), 1, 7.0, 11));
        let mut passed = game(&["A1"]);
        passed.set_to_move(Color::Black);
        assert_ne!(base, ReportKey::new("v1-2", None, &passed, 1, 7.0, 10));
    }

    #[test]
    fn least_recently_used_reports_make_room() {
        let keys: Vec<ReportKey> =
            (0..4).map(|visits| ReportKey::new("v1-2", None, &game(&[]), 0, 7.0, visits)).collect();
        let one = report(0);
        let reports = Reports::new(3 * bytes(&one));
        keys[..3].iter().for_each(|key| reports.add(*key, &one));
        assert!(reports.get(&keys[0]).is_some());
        reports.add(keys[3], &one);
        let known: Vec<bool> = keys.iter().map(|key| reports.get(key).is_some()).collect();
        assert_eq!(known, [true, false, true, true]);
        reports.add(keys[0], &report(1));
        assert_eq!(reports.get(&keys[0]).map(|report| report.turn_number), Some(1));
    }
}
