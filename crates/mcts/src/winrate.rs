//! Values as chances to win, and their lower confidence bounds, as KataGo's protocols show them.

use go::Color;

use crate::Value;

/// The 97.5 % quantile of the normal distribution, to the digits that files of analyses were written with.
const QUANTILE: f32 = 1.96;

impl Value {
    /// Chance of `player` to win, from 0 to 1; a draw counts like half a win.
    pub fn winrate(self, player: Color) -> f32 {
        (1.0 + self.mover(player)) / 2.0
    }

    /// Lower confidence bound (97.5 %), for `player`, of a mean value of this number of visits.
    ///
    /// Outcomes of −1 and 1 differ most from each other, so their spread bounds that of all values with this mean.
    pub fn lcb(self, player: Color, visits: u32) -> Value {
        let value = self.mover(player);
        let half = QUANTILE * ((1.0 - value * value) / visits.max(1) as f32).max(0.0).sqrt();
        Value::for_mover(player, value - half)
    }
}

/// A share or a value to six places, as KataGo writes them.
pub fn six_places(number: f32) -> f64 {
    (f64::from(number) * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn winrate_is_that_of_the_player() {
        let value = Value::for_black(0.5);
        assert_eq!([Color::Black, Color::White].map(|player| value.winrate(player)), [0.75, 0.25]);
    }

    #[test]
    fn lcb_falls_with_fewer_visits() {
        let bound = |winrate: f32, visits| {
            Value::for_black(2.0 * winrate - 1.0).lcb(Color::Black, visits).winrate(Color::Black)
        };
        assert_eq!((bound(0.5, 0), bound(1.0, 1), bound(0.0, 9)), (0.0, 1.0, 0.0));
        assert!((bound(0.5, 100) - 0.402).abs() < 1e-6);
    }

    #[test]
    fn lcb_is_against_the_player() {
        // 0.4 ∓ 1.96·sqrt((1 − 0.16)/9).
        let value = Value::for_black(0.4);
        assert!((value.lcb(Color::Black, 9).black() + 0.198_790).abs() < 1e-6);
        assert!((value.lcb(Color::White, 9).black() - 0.998_790).abs() < 1e-6);
    }

    #[test]
    fn six_places_are_rounded() {
        assert_eq!([0.123_456_7, -1.0 / 3.0].map(six_places), [0.123_457, -0.333_333]);
    }
}
