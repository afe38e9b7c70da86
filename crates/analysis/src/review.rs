//! What moves of a game cost.

use go::Size;
use go::sgf::{Branch, Record, Turn};

use crate::report::Report;

/// A move and what it cost the player.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// Moves before it.
    pub turn: usize,
    /// How much smaller the player's chance to win is after the move, from −1 to 1.
    pub loss: f64,
    /// Black's chance to win before the move and after it.
    pub winrates: [f64; 2],
    /// The best move instead; `None` when it is the one played.
    pub best: Option<String>,
}

/// The moves of a game whose positions before and after are analysed, by what they cost, the worst first. Reports are
/// from Black's perspective.
pub fn losses(record: &Record, reports: &[Option<Report>]) -> Vec<Loss> {
    tree_losses(record.size, &record.line(), reports)
}

/// The same for a game with variations. The first report is that of the position before the first move, and the others
/// are those of the moves; the index of a move is its `turn`.
pub(crate) fn tree_losses(size: Size, moves: &[Branch], reports: &[Option<Report>]) -> Vec<Loss> {
    let of = |index: usize| {
        let Branch { parent, turn } = &moves[index];
        let [before, after] = [parent.map_or(0, |parent| parent + 1), index + 1];
        let report = |node: usize| reports.get(node).and_then(Option::as_ref);
        Some(loss(size, index, turn, report(before)?, report(after)?))
    };
    let mut losses: Vec<Loss> = (0..moves.len()).filter_map(of).collect();
    losses.sort_by(|a, b| b.loss.total_cmp(&a.loss).then(a.turn.cmp(&b.turn)));
    losses
}

/// What a move cost between two positions.
fn loss(size: Size, index: usize, played: &Turn, before: &Report, after: &Report) -> Loss {
    let winrates = [before.winrate(), after.winrate()];
    let loss = (winrates[0] - winrates[1]) * f64::from(played.color.sign());
    let best = before.move_infos.first().map(|best| best.r#move.clone());
    Loss { turn: index, loss, winrates, best: best.filter(|best| *best != played.mv.to_gtp(size)) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ReportStyle;
    use crate::report::tests::analysis;

    /// Reports of positions with these chances for Black, in all of which B1 is the best move.
    pub(crate) fn reports(winrates: &[Option<f64>]) -> Vec<Option<Report>> {
        let report = |(turn, winrate): (usize, &Option<f64>)| {
            let mut report = Report::new(&analysis(), &ReportStyle::STANDARD);
            (report.turn_number, report.root_info.outlook.winrate) = (turn, (*winrate)?);
            Some(report)
        };
        winrates.iter().enumerate().map(report).collect()
    }

    #[test]
    fn losses_are_those_of_the_player_and_the_worst_comes_first() {
        let record = Record::parse(b"(;SZ[2];B[aa];W[bb];B[])").expect("the text is a record");
        let found = losses(&record, &reports(&[Some(0.5), Some(0.25), Some(0.75), Some(0.75)]));
        let facts = found.iter().map(|one| (one.turn, one.loss, one.best.as_deref())).collect::<Vec<_>>();
        // White's B1 is the best move, though it turns out badly.
        assert_eq!(facts, [(1, 0.5, None), (0, 0.25, Some("B1")), (2, 0.0, Some("B1"))]);
        let partial = losses(&record, &reports(&[Some(0.5), None, Some(0.75), Some(0.5)]));
        assert_eq!(partial.iter().map(|one| one.turn).collect::<Vec<_>>(), [2]);
    }
}
