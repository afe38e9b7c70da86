//! What the games cannot say, however good the arithmetic.

use std::fmt;

use crate::tally::Tally;

/// A reason to read some ratings with care. The prior fills the gap, so the numbers look like any others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Players who have not played.
    Idle(Vec<String>),
    /// Groups that never met: their ratings are on separate scales.
    Apart(Vec<Vec<String>>),
    /// Groups, strongest first, of which no weaker one ever took half a point from a stronger one: how far apart they
    /// are cannot be known, only that it is far.
    OneWay(Vec<Vec<String>>),
}

/// Everything in a tally that the prior alone decides.
///
/// Without a prior the ratings are finite exactly if every player can be reached from every other along games in which
/// points were won (Ford, American Mathematical Monthly 64, 1957).
pub fn doubts(tally: &Tally) -> Vec<Doubt> {
    let (idle, active): (Vec<usize>, Vec<usize>) =
        (0..tally.players().len()).partition(|&player| tally.record(player).0 == 0);
    let beats = Beats::new(tally);
    let groups = beats.groups(&active);
    let mut doubts = Vec::new();
    if !idle.is_empty() {
        doubts.push(Doubt::Idle(names(tally, &idle)));
    }
    if groups.len() > 1 {
        doubts.push(Doubt::Apart(groups.iter().map(|group| names(tally, group)).collect()));
    }
    for group in &groups {
        let classes = beats.classes(group);
        if classes.len() > 1 {
            doubts.push(Doubt::OneWay(classes.iter().map(|class| names(tally, class)).collect()));
        }
    }
    doubts
}

fn names(tally: &Tally, players: &[usize]) -> Vec<String> {
    players.iter().map(|&player| tally.players()[player].clone()).collect()
}

/// Who took at least half a point from whom.
struct Beats {
    /// By player: those it took points from.
    over: Vec<Vec<usize>>,
    /// By player: those who took points from it.
    under: Vec<Vec<usize>>,
}

impl Beats {
    fn new(tally: &Tally) -> Beats {
        let nobody = vec![Vec::new(); tally.players().len()];
        let mut beats = Beats { over: nobody.clone(), under: nobody };
        for (black, white, score) in tally.scores() {
            if score.black + score.draws > 0 {
                beats.over[black].push(white);
                beats.under[white].push(black);
            }
            if score.white + score.draws > 0 {
                beats.over[white].push(black);
                beats.under[black].push(white);
            }
        }
        beats
    }

    /// The players split into groups that are connected by games, each in ascending order.
    fn groups(&self, players: &[usize]) -> Vec<Vec<usize>> {
        let met = |player: usize| self.over[player].iter().chain(&self.under[player]).copied();
        split(players, |player| reach(player, met))
    }

    /// The players of a group split into classes that all took points from each other, round about; strongest first.
    fn classes(&self, group: &[usize]) -> Vec<Vec<usize>> {
        let below = |player| reach(player, |player| self.over[player].iter().copied());
        let above = |player| reach(player, |player| self.under[player].iter().copied());
        let mut classes = split(group, |player| {
            let above = above(player);
            below(player).into_iter().filter(|other| above.contains(other)).collect()
        });
        // Who can be reached downwards from more players stands lower.
        classes.sort_by_key(|class| above(class[0]).len());
        classes
    }
}

/// All players reachable from one along `next`, itself included, in ascending order.
fn reach<I: IntoIterator<Item = usize>>(from: usize, next: impl Fn(usize) -> I) -> Vec<usize> {
    let (mut reached, mut open) = (std::collections::BTreeSet::from([from]), vec![from]);
    while let Some(player) = open.pop() {
        open.extend(next(player).into_iter().filter(|&other| reached.insert(other)));
    }
    reached.into_iter().collect()
}

/// Splits players into the classes that `class_of` gives, in order of first appearance.
fn split(players: &[usize], class_of: impl Fn(usize) -> Vec<usize>) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for &player in players {
        if !classes.iter().any(|class| class.contains(&player)) {
            classes.push(class_of(player));
        }
    }
    classes
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join =
            |groups: &[Vec<String>], with: &str| groups.iter().map(|group| list(group)).collect::<Vec<_>>().join(with);
        match self {
            Doubt::Idle(players) => write!(f, "no games yet: {}", list(players)),
            Doubt::Apart(groups) => {
                write!(f, "never met, so not comparable by games: {}", join(groups, " | "))
            }
            Doubt::OneWay(classes) => {
                write!(f, "the left won every game against the right, so the gap is a guess: {}", join(classes, " > "))
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
        let mut tally = Tally::default();
        for game in games.split_whitespace() {
            if let Some((winner, loser)) = game.split_once('>') {
                tally.add(winner, loser, Black);
            } else if let Some((one, other)) = game.split_once('=') {
                tally.add(one, other, Draw);
            } else {
                tally.enter(game);
            }
        }
        doubts(&tally).iter().map(Doubt::to_string).collect()
    }

    #[test]
    fn a_round_of_wins_leaves_no_doubt() {
        assert!(told("a>b b>c c>a").is_empty());
        assert!(told("a=b").is_empty());
        assert!(told("").is_empty());
    }

    #[test]
    fn names_what_only_the_prior_decides() {
        let one_way = "the left won every game against the right, so the gap is a guess: ";
        assert_eq!(told("a>b"), [format!("{one_way}a > b")]);
        assert_eq!(told("c>b b>c b>a a=d"), [format!("{one_way}c, b > a, d")]);
        assert_eq!(told("b>c a>b"), [format!("{one_way}a > b > c")]);
        assert_eq!(told("a=b c=d e"), ["no games yet: e", "never met, so not comparable by games: a, b | c, d"]);
        assert_eq!(told("a=b c>d").len(), 2);
        assert_eq!(told("a b c d e f"), ["no games yet: a, b, c, d and 2 more"]);
    }
}
