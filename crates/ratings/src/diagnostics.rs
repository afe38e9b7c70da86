//! Diagnostics: ratings that the games do not determine.

use std::fmt;

use crate::results::{PairResults, PlayerScore};
use crate::win_graph::WinGraph;

/// A reason to read some ratings with care. The prior fills the gap, so the numbers themselves do not show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnostic {
    /// Players who have not played.
    Idle(Vec<String>),
    /// Groups that never met: their ratings are on separate scales.
    Apart(Vec<Vec<String>>),
    /// Players who won every game: how strong they are cannot be known, only how strong they are at least.
    Unbeaten(Vec<String>),
    /// Players who lost every game.
    Pointless(Vec<String>),
    /// Groups, strongest first, of which no weaker one ever took half a point from a stronger one: how far apart they
    /// are cannot be known, only that it is far.
    OneWay(Vec<Class>),
}

/// Players of whom each took points from each other, directly or through others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The players.
    pub players: Vec<String>,
    /// Whether one of them played one of the class before, and so lost; `false` for the first. Two classes that both
    /// lost to a third or beat it are in some order without a game.
    pub met_before: bool,
}

/// Everything in the results that the prior alone decides.
///
/// Without a prior the ratings are finite exactly if every player can be reached from every other along games in which
/// points were won (Ford, American Mathematical Monthly 64, 1957).
pub fn diagnostics(results: &PairResults) -> Vec<Diagnostic> {
    let scores = results.player_scores();
    let (idle, active): (Vec<usize>, Vec<usize>) = (0..scores.len()).partition(|&player| scores[player].games == 0);
    let graph = WinGraph::new(results);
    let groups = graph.groups(&active);
    let mut diagnostics = Vec::new();
    if !idle.is_empty() {
        diagnostics.push(Diagnostic::Idle(names(results, &idle)));
    }
    if groups.len() > 1 {
        diagnostics.push(Diagnostic::Apart(groups.iter().map(|group| names(results, group)).collect()));
    }
    let of_one_kind = |kind: fn(&PlayerScore) -> bool| -> Vec<usize> {
        active.iter().copied().filter(|&player| kind(&scores[player])).collect()
    };
    let unbeaten = of_one_kind(|score| score.points == f64::from(score.games));
    if !unbeaten.is_empty() {
        diagnostics.push(Diagnostic::Unbeaten(names(results, &unbeaten)));
    }
    let pointless = of_one_kind(|score| score.points == 0.0);
    if !pointless.is_empty() {
        diagnostics.push(Diagnostic::Pointless(names(results, &pointless)));
    }
    for group in &groups {
        let classes = graph.classes(group);
        if classes.len() > 1 {
            diagnostics.push(Diagnostic::OneWay(one_way(results, &classes)));
        }
    }
    diagnostics
}

fn one_way(results: &PairResults, classes: &[Vec<usize>]) -> Vec<Class> {
    let played = |one: usize, other: usize| results.between(one, other).games > 0;
    let class = |(place, members): (usize, &Vec<usize>)| {
        let before: &[usize] = match place {
            0 => &[],
            place => &classes[place - 1],
        };
        let met_before = before.iter().any(|&one| members.iter().any(|&other| played(one, other)));
        Class { players: names(results, members), met_before }
    };
    classes.iter().enumerate().map(class).collect()
}

fn names(results: &PairResults, players: &[usize]) -> Vec<String> {
    players.iter().map(|&player| results.players()[player].clone()).collect()
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join =
            |groups: &[Vec<String>], with: &str| groups.iter().map(|group| list(group)).collect::<Vec<_>>().join(with);
        match self {
            Diagnostic::Idle(players) => write!(f, "no games yet: {}", list(players)),
            Diagnostic::Apart(groups) => {
                write!(f, "never met, so not comparable by games: {}", join(groups, " | "))
            }
            Diagnostic::Unbeaten(players) => write!(f, "won every game, so there is no upper bound: {}", list(players)),
            Diagnostic::Pointless(players) => {
                write!(f, "lost every game, so there is no lower bound: {}", list(players))
            }
            Diagnostic::OneWay(classes) => {
                f.write_str(if classes.iter().skip(1).all(|class| class.met_before) {
                    "each group won every game against the next, so only the prior bounds the gap: "
                } else {
                    "no group took half a point from one before it, so only the prior bounds the gaps (| for two that \
                     never met): "
                })?;
                classes.iter().enumerate().try_for_each(|(place, class)| {
                    let sign = match (place, class.met_before) {
                        (0, _) => "",
                        (_, true) => " > ",
                        (_, false) => " | ",
                    };
                    write!(f, "{sign}{}", list(&class.players))
                })
            }
        }
    }
}

/// Names of a group, the first few of many.
fn list(players: &[String]) -> String {
    const SHOWN: usize = 4;
    match players.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => format!("{} and {more} more", players[..SHOWN].join(", ")),
        _ => players.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use record::Outcome::{Black, Draw};

    use super::*;

    /// `a>b` a win of a, `a=b` a draw; other words join without a game.
    fn told(games: &str) -> Vec<String> {
        let mut results = PairResults::default();
        for game in games.split_whitespace() {
            if let Some((winner, loser)) = game.split_once('>') {
                results.add(winner, loser, Black);
            } else if let Some((one, other)) = game.split_once('=') {
                results.add(one, other, Draw);
            } else {
                results.enter(game);
            }
        }
        diagnostics(&results).iter().map(Diagnostic::to_string).collect()
    }

    #[test]
    fn doubts_of_a_cycle_of_wins_are_none() {
        assert!(told("a>b b>c c>a").is_empty());
        assert!(told("a=b").is_empty());
        assert!(told("").is_empty());
    }

    #[test]
    fn names_what_only_the_prior_decides() {
        let one_way = "each group won every game against the next, so only the prior bounds the gap: ";
        let won = |names: &str| format!("won every game, so there is no upper bound: {names}");
        let lost = |names: &str| format!("lost every game, so there is no lower bound: {names}");
        assert_eq!(told("a>b"), [won("a"), lost("b"), format!("{one_way}a > b")]);
        assert_eq!(told("c>b b>c b>a a=d"), [format!("{one_way}c, b > a, d")]);
        assert_eq!(told("b>c a>b"), [won("a"), lost("c"), format!("{one_way}a > b > c")]);
        let apart = "no group took half a point from one before it, so only the prior bounds the gaps (| for two that \
                     never met): ";
        assert_eq!(told("a>c b>c"), [won("a, b"), lost("c"), format!("{apart}b | a > c")]);
        assert_eq!(told("a>b a>c"), [won("a"), lost("b, c"), format!("{apart}a > c | b")]);
        assert_eq!(told("a=b c=d e"), ["no games yet: e", "never met, so not comparable by games: a, b | c, d"]);
        assert_eq!(told("a=b c>d").len(), 4);
        assert_eq!(told("a b c d e f"), ["no games yet: a, b, c, d and 2 more"]);
    }
}
