//! Whether games determine the first-move advantage.

use crate::bradley_terry::Anchor;
use crate::results::PairResults;

/// Whether the games bound the first-move advantage from both sides, given that they bound the strengths.
///
/// They do not where it can grow without bound, strengths follow it, and no result becomes less likely (Albert and
/// Anderson, Biometrika 71, 1984). That is so where for g = 1 or g = −1 there are shifts δ of the strengths. For each
/// game that Black won they have δ_black − δ_white + g ≥ 0, for each that White won ≤ 0, and for a draw both. Such
/// constraints on differences have a solution exactly if their graph has no cycle of negative length.
pub(super) fn tell_the_first_move(results: &PairResults, anchors: &[Anchor]) -> bool {
    // Anchors cannot be shifted: they are one node.
    let first = anchors.first().map(|anchor| anchor.player);
    let node = |player: usize| match anchors.iter().any(|anchor| anchor.player == player) {
        true => first.unwrap_or(player),
        false => player,
    };
    let mut white_won = Vec::new();
    let mut black_won = Vec::new();
    for (black, white, score) in results.scores() {
        let (black, white) = (node(black), node(white));
        if score.white + score.draws > 0 {
            white_won.push((white, black));
        }
        if score.black + score.draws > 0 {
            black_won.push((black, white));
        }
    }
    let players = results.players().len();
    bounded(players, &black_won, &white_won) && bounded(players, &white_won, &black_won)
}

/// Whether there is a cycle of negative length where edges of `up` are 1 long and those of `down` −1.
fn bounded(nodes: usize, up: &[(usize, usize)], down: &[(usize, usize)]) -> bool {
    // The usual case at once: both players of a pair have won with the same colour, or drawn.
    let there: std::collections::BTreeSet<_> = down.iter().collect();
    if down.iter().any(|&(from, to)| there.contains(&(to, from))) {
        return true;
    }
    // Bellman and Ford. No simple path is shorter than minus the number of nodes.
    let mut distance = vec![0_i64; nodes];
    loop {
        let mut changed = false;
        for (edges, length) in [(up, 1), (down, -1)] {
            for &(from, to) in edges {
                if distance[from] + length < distance[to] {
                    distance[to] = distance[from] + length;
                    changed = true;
                }
            }
        }
        if !changed {
            return false;
        }
        if distance.iter().any(|&distance| distance < -(nodes as i64)) {
            return true;
        }
    }
}
