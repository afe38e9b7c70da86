//! Games and their variations as SGF files, with the reports that are known.

use analysis::{Annotation, Report, annotated, annotated_tree};
use go::sgf::{Application, Branch, Outcome, Player, Record, Turn};
use go::{Game, Mark, Move, Size, Stones};

use super::message::{Content, GameMessage, Save, SavedMove, SgfMessage};
use super::position::Played;
use super::reports::ReportKey;
use super::state::Play;

/// Characters of a name in a file, such as that of a player.
const LONGEST_NAME: usize = 100;
/// Nodes with analysis, each of which takes some kilobytes.
const MOST_REPORTS: usize = 2_001;

/// A game as SGF: its line, or its whole tree, with the reports that are still in memory.
pub(super) fn save(play: &Play, request: &Save) -> Result<Content, String> {
    let Played { game, komi } = request.game.replay()?;
    let record = described(request)?;
    let version = request.model.as_deref().and_then(|model| play.engines.version(model));
    let known = |game: &Game, turn| {
        let key = ReportKey::new(request.model.as_ref()?, version.as_deref(), game, turn, komi, request.visits);
        play.reports.get(&key).as_deref().cloned()
    };
    let model = request.model.as_deref().unwrap_or_default();
    let (text, reports) = match &request.tree {
        None => {
            let reports: Vec<Option<Report>> = (0..=game.turn()).map(|turn| known(&game, turn)).collect();
            (annotated(&record, &Annotation { model, reports: &reports }), reports)
        }
        Some(tree) => {
            let moves = branches(game.size(), tree)?;
            let mut reports = vec![None; moves.len() + 1];
            reports[0] = known(&game, game.turn());
            walk(game, &moves, |index, game| {
                if index + 1 < MOST_REPORTS {
                    reports[index + 1] = known(game, game.turn());
                }
            })?;
            (annotated_tree(&record, &moves, &Annotation { model, reports: &reports }), reports)
        }
    };
    Ok(Content::Sgf(SgfMessage { text, analysed: reports.iter().flatten().count() }))
}

/// The record of the game with what the request says of it.
fn described(request: &Save) -> Result<Record, String> {
    let short = |text: &str| text.chars().take(LONGEST_NAME).collect::<String>();
    let mut record = record(&request.game)?;
    record.black = Player { name: short(&request.black), rank: short(&request.ranks[0]) };
    record.white = Player { name: short(&request.white), rank: short(&request.ranks[1]) };
    record.date = short(&request.date);
    if let Some(rules) = &request.rules {
        record.rules = short(rules);
    }
    record.outcome = Some(Outcome::parse(&request.result)).filter(|outcome| *outcome != Outcome::Unknown);
    record.comment.clone_from(&request.comment);
    Ok(record)
}

/// Reads a request as far as that needs no reports.
///
/// # Errors
/// A game or a variation that is not possible by the rules.
#[cfg(any(test, feature = "testing"))]
pub(super) fn check(request: &Save) -> Result<(), String> {
    let Played { game, .. } = request.game.replay()?;
    match &request.tree {
        Some(tree) => walk(game.clone(), &branches(game.size(), tree)?, |_, _| {}),
        None => Ok(()),
    }
}

/// The moves of a message.
fn branches(size: Size, tree: &[SavedMove]) -> Result<Vec<Branch>, String> {
    let branch = |(index, SavedMove { parent, played: (player, vertex), comment }): (usize, &SavedMove)| {
        let mv = Move::from_gtp(size, vertex).ok_or_else(|| format!("node {index} is no point of the board"))?;
        if parent.is_some_and(|parent| parent >= index) {
            return Err(format!("node {index} comes before its parent"));
        }
        let turn = Turn { color: (*player).into(), mv, comment: comment.clone() };
        Ok(Branch { parent: *parent, turn })
    };
    tree.iter().enumerate().map(branch).collect()
}

/// Plays all lines that follow a position, and shows the game after each move.
fn walk(mut game: Game, moves: &[Branch], mut visit: impl FnMut(usize, &Game)) -> Result<(), String> {
    let mut followers = vec![Vec::new(); moves.len()];
    let mut first = Vec::new();
    for (index, branch) in moves.iter().enumerate() {
        branch.parent.map_or(&mut first, |parent| &mut followers[parent]).push(index);
    }
    // All that follows a move comes before its siblings, so that the game only goes back.
    let start = game.mark();
    let mut open: Vec<(usize, Mark)> = first.into_iter().map(|index| (index, start.clone())).collect();
    while let Some((index, mark)) = open.pop() {
        game.rewind(&mark);
        let Turn { color, mv, .. } = moves[index].turn;
        game.set_to_move(color);
        game.play(mv).map_err(|reason| format!("node {index} ({color} {}): {reason}", mv.to_gtp(game.size())))?;
        visit(index, &game);
        let here = game.mark();
        open.extend(followers[index].iter().map(|follower| (*follower, here.clone())));
    }
    Ok(())
}

/// The record of a game.
pub(super) fn record(message: &GameMessage) -> Result<Record, String> {
    let Played { game, komi } = message.replay()?;
    let turns = game.moves().iter().zip(game.colors());
    let mut record = Record::new(game.size());
    record.komi = Some(komi);
    record.setup = *game.stones_ago(game.turn()).unwrap_or(&Stones::EMPTY);
    // A single stone is no handicap: HA is 2 or more (FF[4]).
    record.handicap = match record.setup.black.len() {
        stones if stones > 1 && record.setup.white.is_empty() => stones,
        _ => 0,
    };
    record.first = message.initial_player.into();
    record.turns = turns.map(|(&mv, &color)| Turn { color, mv, comment: String::new() }).collect();
    record.rules = "area scoring, positional superko, no suicide".to_owned();
    record.application = Some(Application { name: "Tengen".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() });
    Ok(record)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::play::message::Player as Name;
    use crate::play::tree;

    const B2: &str = "B2";

    fn game(initial_stones: &[&str], moves: &[(Name, &str)]) -> GameMessage {
        GameMessage {
            size: 3,
            komi: 0.5,
            initial_stones: initial_stones.iter().map(|vertex| (Name::B, (*vertex).to_owned())).collect(),
            initial_player: Name::B,
            moves: moves.iter().map(|(player, vertex)| (*player, (*vertex).to_owned())).collect(),
        }
    }

    fn saved(parent: Option<usize>, player: Name, vertex: &str, comment: &str) -> SavedMove {
        SavedMove { parent, played: (player, vertex.to_owned()), comment: comment.to_owned() }
    }

    #[test]
    fn records_have_first_stones_and_moves() {
        let sgf = record(&game(&[B2], &[(Name::W, "A1")])).expect("a record").to_sgf();
        assert!(sgf.contains("KM[0.5]") && sgf.contains("AB[bb]") && sgf.ends_with(";W[ac])\n"), "{sgf}");
    }

    #[test]
    fn handicap_of_a_record_is_two_black_stones_or_more() {
        let of = |game: &GameMessage| record(game).expect("a record").handicap;
        let stones = [B2, "A1", "C3"];
        assert_eq!([0, 1, 2, 3].map(|count| of(&game(&stones[..count], &[]))), [0, 0, 2, 3]);
        let mut both = game(&[B2, "A1"], &[]);
        both.initial_stones.push((Name::W, "C3".to_owned()));
        assert_eq!(of(&both), 0);
        assert!(!record(&game(&[B2], &[])).expect("a record").to_sgf().contains("HA["));
    }

    #[test]
    fn trees_are_opened_as_they_were_saved() {
        let file = "(;SZ[3]KM[0.5]C[start];B[bb](;W[aa]C[one];B[ab])(;W[cc](;B[])(;B[bc]C[a \\] b])))";
        let opened = tree::read(file).expect("a game");
        let moves = opened.nodes.iter().map(|node| saved(node.parent, node.played.0, &node.played.1, &node.comment));
        let branches = branches(Size::new(3).expect("a size"), &moves.collect::<Vec<_>>()).expect("moves");
        let mut record = record(&opened.game).expect("a record");
        record.comment.clone_from(&opened.comment);
        let again = tree::read(&record.tree_to_sgf(&branches, |_| go::sgf::Extra::default())).expect("a game");
        assert_eq!((again.nodes, again.comment, again.notices), (opened.nodes, opened.comment, Vec::new()));
    }

    #[test]
    fn files_have_what_was_said_of_the_game() {
        let said = |more: serde_json::Value| {
            let mut save = json!({ "game": game(&[], &[]), "black": "Kuro", "white": "Shiro" });
            save.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            described(&serde_json::from_value(save).expect("a request")).expect("a record").to_sgf()
        };
        let all = json!({ "ranks": ["5d", ""], "date": "2026-01-31", "rules": "Japanese", "result": "B+2.5" });
        assert!(said(all).contains("RU[Japanese]PB[Kuro]BR[5d]PW[Shiro]DT[2026-01-31]RE[B+2.5]"));
        assert!(said(json!({ "rules": "" })).contains("KM[0.5]PB[Kuro]"), "the file said none");
        assert!(said(json!({})).contains("RU[area scoring, positional superko, no suicide]PB[Kuro]PW[Shiro]"));
    }

    #[test]
    fn lines_are_played_in_any_order_of_branches() {
        // The last move continues the first line, after the second was added.
        let moves = [
            saved(None, Name::B, B2, ""),
            saved(Some(0), Name::W, "A3", ""),
            saved(Some(0), Name::W, "C1", ""),
            saved(Some(1), Name::B, "A2", ""),
        ];
        let game = game(&[], &[]).replay().expect("a game").game;
        let mut seen = Vec::new();
        let branches = branches(game.size(), &moves).expect("moves");
        walk(game, &branches, |index, game| seen.push((index, game.turn()))).expect("it is legal");
        seen.sort_unstable();
        assert_eq!(seen, [(0, 1), (1, 2), (2, 2), (3, 3)]);
    }

    #[test]
    fn impossible_trees_are_refused_with_their_node() {
        let error = |moves: &[SavedMove]| {
            let save = json!({ "game": game(&[], &[]), "tree": [] });
            let save: Save = serde_json::from_value(save).expect("a request");
            check(&Save { tree: Some(moves.to_vec()), ..save }).expect_err("no tree")
        };
        let first = saved(None, Name::B, B2, "");
        assert_eq!(
            error(&[first.clone(), saved(Some(0), Name::W, B2, "")]),
            "node 1 (white B2): the point is occupied"
        );
        assert_eq!(error(&[saved(Some(0), Name::B, B2, "")]), "node 0 comes before its parent");
        assert_eq!(error(&[first, saved(None, Name::B, "D4", "")]), "node 1 is no point of the board");
    }
}
