//! Matches: who played whom, and how that ended.

use std::collections::{BTreeMap, BTreeSet};

use config::{ModelId, RunName, split_settings};
use record::{GameId, GameOutline};

use crate::counts::{Counts, Results};

/// All matches of a run. Two evaluators that were given the same work have played the same games; each counts once.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    /// The games.
    pub counts: Counts,
    /// Results by Black and White.
    pub pairs: BTreeMap<(String, String), Results>,
    known: BTreeSet<GameId>,
}

impl Pool {
    pub(crate) fn add(&mut self, games: &[GameOutline]) {
        for game in games {
            let summary = &game.summary;
            if self.known.insert(summary.id) {
                self.counts.add(game);
                let pair = (summary.black.clone(), summary.white.clone());
                self.pairs.entry(pair).or_default().add(summary.outcome);
            }
        }
    }
}

/// The number of a player's model in a run, whatever its settings; `None` for others.
pub fn players_model(run: &RunName, player: &str) -> Option<u32> {
    own_model(run, split_settings(player).0)
}

/// The number of a model of a run that plays as it was published; `None` for other players.
pub fn own_model(run: &RunName, player: &str) -> Option<u32> {
    match player.parse() {
        Ok(ModelId::Trained { run: of, number }) if of == *run => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_of_the_run_have_a_number() {
        let run = "v15".parse().unwrap();
        for (player, number) in [
            ("v15-330", Some(330)),
            ("v15-7+visits=100", Some(7)),
            ("v16-3", None),
            ("random", None),
            ("GnuGo-10", None),
        ] {
            assert_eq!(players_model(&run, player), number, "{player}");
            assert_eq!(own_model(&run, player), number.filter(|_| !player.contains('+')), "{player}");
        }
    }
}
