//! How long games take, as far as this process has seen.

use std::collections::BTreeMap;
use std::time::Duration;

use config::PlayerId;

/// The time that players spend on a game. Half of what a match took is put down to either player.
#[derive(Clone, Debug, Default)]
pub(super) struct DurationEstimate(BTreeMap<PlayerId, Spent>);

#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    seconds: f64,
    games: u64,
}

impl DurationEstimate {
    /// Two players have played so many games in so much time.
    pub(super) fn note(&mut self, players: [&PlayerId; 2], games: u64, time: Duration) {
        for player in players.into_iter().filter(|_| games > 0) {
            let spent = self.0.entry(player.clone()).or_default();
            spent.seconds += 0.5 * time.as_secs_f64();
            spent.games += games;
        }
    }

    /// Seconds that a player spends on a game: its own, or the mean of the known ones; 1 without any.
    pub(super) fn of(&self, player: Option<&PlayerId>) -> f64 {
        let mean = |spent: Spent| spent.seconds / spent.games as f64;
        let own = player.and_then(|player| self.0.get(player)).copied();
        let all = || {
            self.0.values().fold(Spent::default(), |sum, spent| Spent {
                seconds: sum.seconds + spent.seconds,
                games: sum.games + spent.games,
            })
        };
        own.or_else(|| Some(all()).filter(|all| all.games > 0)).map_or(1.0, mean).max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn player_costs_what_its_games_took_and_a_stranger_what_all_did() {
        let [slow, quick, stranger] = ["GnuGo-10", "random", "uniform"].map(|name| name.parse::<PlayerId>().unwrap());
        let mut estimate = DurationEstimate::default();
        assert_eq!(estimate.of(Some(&slow)), 1.0);
        estimate.note([&slow, &quick], 0, Duration::from_secs(9));
        estimate.note([&slow, &quick], 4, Duration::from_secs(80));
        estimate.note([&quick, &stranger], 16, Duration::from_secs(16));
        assert_eq!(estimate.of(Some(&slow)), 10.0);
        assert_eq!(estimate.of(Some(&quick)), 48.0 / 20.0);
        assert_eq!(estimate.of(Some(&stranger)), 0.5);
        assert_eq!(estimate.of(None), 96.0 / 40.0);
    }
}
