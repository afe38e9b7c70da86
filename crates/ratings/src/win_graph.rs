//! Who took points from whom, as a graph.

use crate::results::PairResults;

/// Who took at least half a point from whom.
pub(crate) struct WinGraph {
    /// By player: those it took points from.
    over: Vec<Vec<usize>>,
    /// By player: those who took points from it.
    under: Vec<Vec<usize>>,
}

impl WinGraph {
    pub(crate) fn new(results: &PairResults) -> WinGraph {
        let none = vec![Vec::new(); results.players().len()];
        let mut graph = WinGraph { over: none.clone(), under: none };
        for (black, white, score) in results.scores() {
            if score.black + score.draws > 0 {
                graph.add(black, white);
            }
            if score.white + score.draws > 0 {
                graph.add(white, black);
            }
        }
        graph
    }

    /// Lets players be compared with each other as if each had beaten the other.
    pub(crate) fn join(&mut self, players: &[usize]) {
        for pair in players.windows(2) {
            self.add(pair[0], pair[1]);
            self.add(pair[1], pair[0]);
        }
    }

    fn add(&mut self, winner: usize, loser: usize) {
        self.over[winner].push(loser);
        self.under[loser].push(winner);
    }

    /// The players split into groups that are connected by games, each in ascending order.
    pub(crate) fn groups(&self, players: &[usize]) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.over.len()];
        let mut groups = Vec::new();
        for &player in players {
            let mut group = Vec::new();
            walk(player, &mut seen, |player| [&self.over[player], &self.under[player]], |player| group.push(player));
            group.sort_unstable();
            groups.push(group);
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The players of a group split into classes that all took points from each other, round about; strongest first,
    /// each in ascending order. By the two searches of Kosaraju and Sharir.
    pub(crate) fn classes(&self, group: &[usize]) -> Vec<Vec<usize>> {
        let mut seen = vec![false; self.over.len()];
        let mut left = Vec::new();
        for &player in group {
            walk(player, &mut seen, |player| [&self.over[player], &[]], |player| left.push(player));
        }
        let mut seen = vec![false; self.over.len()];
        let mut classes = Vec::new();
        // The last player that the first search left is unbeaten by those below.
        for &player in left.iter().rev() {
            let mut class = Vec::new();
            walk(player, &mut seen, |player| [&self.under[player], &[]], |player| class.push(player));
            class.sort_unstable();
            classes.push(class);
        }
        classes.retain(|class| !class.is_empty());
        classes
    }
}

/// Searches in depth, from a player who was not seen, along `next`; `leave` is called for each player after all that
/// follow.
fn walk<'a>(from: usize, seen: &mut [bool], next: impl Fn(usize) -> [&'a [usize]; 2], mut leave: impl FnMut(usize)) {
    let follow = |player: usize| next(player).into_iter().flatten();
    let mut open = Vec::new();
    if !std::mem::replace(&mut seen[from], true) {
        open.push((from, follow(from)));
    }
    while let Some((player, others)) = open.last_mut() {
        match others.find(|&&other| !seen[other]) {
            Some(&other) => {
                seen[other] = true;
                open.push((other, follow(other)));
            }
            None => {
                leave(*player);
                open.pop();
            }
        }
    }
}
