//! An analysis in the words of KataGo's analysis protocol
//! (<https://github.com/lightvector/KataGo/blob/master/docs/Analysis_Engine.md>).

use go::Color;
use mcts::{Value, six_places};
use serde::{Deserialize, Serialize};

use crate::{Analysis, Candidate};

/// Whose chances are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Perspective {
    /// Black's.
    Black,
    /// White's.
    White,
    /// Those of the player to move.
    SideToMove,
}

/// Content of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReportStyle {
    /// Whose chances it gives.
    pub perspective: Perspective,
    /// Points of lead for a sure win: search predicts no score, so a lead is the expected outcome in other units.
    pub points: f32,
    /// Moves at most.
    pub moves: usize,
    /// Moves of a variation at most.
    pub variation: usize,
    /// Whether it has the network's policy.
    pub policy: bool,
    /// Whether it has the visits of the moves of variations.
    pub path_visits: bool,
}

impl ReportStyle {
    /// For pages and files, which show reports to players of either colour.
    pub const STANDARD: ReportStyle = ReportStyle {
        perspective: Perspective::Black,
        points: 10.0,
        moves: 20,
        variation: 15,
        policy: true,
        path_visits: false,
    };
}

/// An analysis of a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whether the search has not ended.
    pub is_during_search: bool,
    /// Moves played before the position.
    pub turn_number: usize,
    /// The visited moves, the best first.
    pub move_infos: Vec<MoveInfo>,
    /// The position itself.
    pub root_info: RootInfo,
    /// The network's policy by the index of the move, pass last; −1 for moves that are not considered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Vec<f64>>,
}

/// A visited move.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveInfo {
    /// The move as GTP writes it.
    pub r#move: String,
    /// Its place among the moves, from 0.
    pub order: usize,
    /// Its visits.
    pub visits: u32,
    /// The network's probability of it.
    pub prior: f64,
    /// The expected value after it.
    #[serde(flatten)]
    pub outlook: Outlook,
    /// Lower confidence bound of the utility.
    pub utility_lcb: f64,
    /// The same as `scoreLead`, for older clients.
    pub score_mean: f64,
    /// The line that begins with it.
    pub pv: Vec<String>,
    /// The visits of the moves of that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pv_visits: Option<Vec<u32>>,
}

/// The result of the position itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RootInfo {
    /// The player to move: `B` or `W`.
    pub current_player: String,
    /// Visits, the evaluation of the position itself included.
    pub visits: u32,
    /// The expected value.
    #[serde(flatten)]
    pub outlook: Outlook,
    /// The winrate of the network without search.
    pub raw_winrate: f64,
    /// Hash of the stones and the player to move.
    pub this_hash: String,
    /// The same for all images of the position.
    pub sym_hash: String,
}

/// The expected value of a position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outlook {
    /// Chance to win, from 0 to 1.
    pub winrate: f64,
    /// Lower confidence bound of the chance to win for the player to move.
    pub lcb: f64,
    /// The expected outcome, from −1 to 1.
    pub utility: f64,
    /// The expected outcome in units of [`ReportStyle::points`]. Search predicts no points.
    pub score_lead: f64,
    /// The same as `scoreLead`.
    pub score_selfplay: f64,
    /// 0: it is not known.
    pub score_stdev: f64,
}

impl Report {
    /// An analysis in the form of a style.
    pub fn new(analysis: &Analysis, style: &ReportStyle) -> Report {
        let viewer = match style.perspective {
            Perspective::Black => Color::Black,
            Perspective::White => Color::White,
            Perspective::SideToMove => analysis.to_move,
        };
        let say = |value: Value, visits| Outlook::new(value, visits, analysis.to_move, viewer, style.points);
        let hash = |hash: u64| format!("{hash:016X}{}", letter(analysis.to_move));
        let infos = analysis.moves.iter().take(style.moves).enumerate();
        Report {
            is_during_search: false,
            turn_number: analysis.turn,
            move_infos: infos.map(|(order, one)| move_info(analysis, order, one, style, &say)).collect(),
            root_info: RootInfo {
                current_player: letter(analysis.to_move).to_owned(),
                visits: analysis.visits + 1,
                outlook: say(analysis.value, analysis.visits),
                raw_winrate: six_places(analysis.network.winrate(viewer)),
                this_hash: hash(analysis.hashes[0]),
                sym_hash: hash(analysis.hashes[1]),
            },
            policy: style.policy.then(|| analysis.policy.iter().map(|prior| prior.map_or(-1.0, six_places)).collect()),
        }
    }

    /// The same of a search that has not ended.
    pub fn during_search(analysis: &Analysis, style: &ReportStyle) -> Report {
        Report { is_during_search: true, ..Report::new(analysis, style) }
    }

    /// Black's chance to win, in a report from Black's perspective.
    pub fn winrate(&self) -> f64 {
        self.root_info.outlook.winrate
    }
}

fn move_info(
    analysis: &Analysis,
    order: usize,
    one: &Candidate,
    style: &ReportStyle,
    say: &dyn Fn(Value, u32) -> Outlook,
) -> MoveInfo {
    let variation = || one.variation.iter().take(style.variation);
    let outlook = say(one.value, one.visits);
    MoveInfo {
        r#move: one.mv.to_gtp(analysis.size),
        order,
        visits: one.visits,
        prior: six_places(one.prior),
        utility_lcb: six_places((2.0 * outlook.lcb - 1.0) as f32),
        score_mean: outlook.score_lead,
        pv: variation().map(|(mv, _)| mv.to_gtp(analysis.size)).collect(),
        pv_visits: style.path_visits.then(|| variation().map(|(_, visits)| *visits).collect()),
        outlook,
    }
}

impl Outlook {
    fn new(value: Value, visits: u32, mover: Color, viewer: Color, points: f32) -> Outlook {
        let seen = value.mover(viewer);
        let lead = six_places(points * seen);
        Outlook {
            winrate: six_places(value.winrate(viewer)),
            // For the other player the bound is an upper one.
            lcb: six_places(value.lcb(mover, visits).winrate(viewer)),
            utility: six_places(seen),
            score_lead: lead,
            score_selfplay: lead,
            score_stdev: 0.0,
        }
    }
}

/// How the protocol names a player.
pub(crate) fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use go::{Move, Size};

    use super::*;

    /// White is to move on 2x2 and stands badly.
    pub(crate) fn analysis() -> Analysis {
        let size = Size::new(2).expect("2 is a size");
        let mv = |index| Move::from_index(size, index).expect("the board has five moves");
        Analysis {
            turn: 1,
            size,
            to_move: Color::White,
            visits: 12,
            value: Value::for_black(0.5),
            network: Value::for_black(0.25),
            moves: vec![
                Candidate {
                    mv: mv(3),
                    visits: 9,
                    prior: 0.75,
                    value: Value::for_black(0.4),
                    variation: vec![(mv(3), 9), (mv(4), 5), (mv(0), 1)],
                },
                Candidate {
                    mv: Move::Pass,
                    visits: 3,
                    prior: 0.25,
                    value: Value::for_black(0.8),
                    variation: vec![(Move::Pass, 3)],
                },
            ],
            policy: vec![None, None, None, Some(0.75), Some(0.25)],
            hashes: [0xAB, 0xA],
        }
    }

    #[test]
    fn reports_are_from_the_requested_perspective() {
        let seen = |perspective| {
            let report = Report::new(&analysis(), &ReportStyle { perspective, ..ReportStyle::STANDARD });
            let best = &report.move_infos[0].outlook;
            [report.winrate(), report.root_info.outlook.score_lead, best.winrate, best.utility, best.lcb]
        };
        // White's value of the best move is −0.4 ± 1.96·sqrt((1 − 0.16)/9).
        let bound = 0.999_395;
        assert_eq!(seen(Perspective::Black), [0.75, 5.0, 0.7, 0.4, bound]);
        assert_eq!(seen(Perspective::White), [0.25, -5.0, 0.3, -0.4, 0.000_605]);
        assert_eq!(seen(Perspective::SideToMove), seen(Perspective::White));
    }

    #[test]
    fn reports_have_the_fields_of_the_protocol() {
        let style = ReportStyle { moves: 1, variation: 2, path_visits: true, ..ReportStyle::STANDARD };
        let report = serde_json::to_value(Report::during_search(&analysis(), &style)).expect("plain fields are JSON");
        let expected = serde_json::json!({
            "isDuringSearch": true,
            "turnNumber": 1,
            "moveInfos": [{
                "move": "B1", "order": 0, "visits": 9, "prior": 0.75, "winrate": 0.7, "lcb": 0.999395, "utility": 0.4,
                "utilityLcb": 0.99879, "scoreLead": 4.0, "scoreMean": 4.0, "scoreSelfplay": 4.0, "scoreStdev": 0.0,
                "pv": ["B1", "pass"], "pvVisits": [9, 5],
            }],
            "rootInfo": {
                "currentPlayer": "W", "visits": 13, "winrate": 0.75, "lcb": report["rootInfo"]["lcb"], "utility": 0.5,
                "scoreLead": 5.0, "scoreSelfplay": 5.0, "scoreStdev": 0.0, "rawWinrate": 0.625,
                "thisHash": "00000000000000ABW", "symHash": "000000000000000AW",
            },
            "policy": [-1.0, -1.0, -1.0, 0.75, 0.25],
        });
        assert_eq!(report, expected);
        let read: Report = serde_json::from_value(report).expect("what was written can be read");
        assert_eq!(read, Report::during_search(&analysis(), &style));
    }
}
