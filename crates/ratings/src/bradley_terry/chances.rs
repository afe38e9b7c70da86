//! Probabilities of the outcomes of a game, and its information on the players.

use record::statistics::TEN_TO_ONE;

/// Elo in a natural unit of strength.
pub const ELO: f64 = TEN_TO_ONE / std::f64::consts::LN_10;

/// The chances of one game. With strengths θ, advantage γ of the first move and d = θ_black − θ_white + γ,
/// win : draw : loss = e^(d/2) : ν : e^(−d/2) (Davidson and Beaver 1977). Without draws this is the logistic curve.
///
/// A draw counts like half a win, and every quantity is concave in (d, ln ν), so there is one optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    /// Black wins.
    pub black: f64,
    /// White wins.
    pub white: f64,
    /// Neither does.
    pub draw: f64,
}

impl Chances {
    /// The chances at a difference `d` in natural units; `draws` is ln ν, and `None` means ν = 0.
    pub fn of(d: f64, draws: Option<f64>) -> Chances {
        let weights = [d / 2.0, -d / 2.0, draws.unwrap_or(f64::NEG_INFINITY)];
        let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let [black, white, draw] = weights.map(|weight| (weight - top).exp());
        let sum = black + white + draw;
        Chances { black: black / sum, white: white / sum, draw: draw / sum }
    }

    /// Black's expected points.
    pub fn expected(&self) -> f64 {
        self.black + 0.5 * self.draw
    }

    /// Fisher's information of one game on d: the variance of Black's points. Without draws it is p(1 − p).
    pub fn information(&self) -> f64 {
        let lead = self.black - self.white;
        (self.black + self.white - lead * lead) / 4.0
    }

    /// The fourth cumulant of Black's points in one game: how much likelier than a normal number's its extremes are.
    pub(crate) fn fourth_cumulant(&self) -> f64 {
        let mean = self.expected();
        let outcomes = [(self.black, 1.0), (self.white, 0.0), (self.draw, 0.5)];
        let moment = |power| -> f64 {
            outcomes.iter().map(|(chance, points): &(f64, f64)| chance * (points - mean).powi(power)).sum()
        };
        moment(4) - 3.0 * moment(2).powi(2)
    }

    /// The information that d and ln ν share.
    pub(super) fn shared_information(&self) -> f64 {
        -0.5 * (self.black - self.white) * self.draw
    }

    /// The information of one game on ln ν.
    pub(super) fn draw_information(&self) -> f64 {
        self.draw * (1.0 - self.draw)
    }
}

/// ln of the three chances at `d` and ln ν: (Black wins, White wins, draw). Finite where the chances underflow.
pub(super) fn log_chances(d: f64, draws: Option<f64>) -> [f64; 3] {
    let weights = [d / 2.0, -d / 2.0, draws.unwrap_or(f64::NEG_INFINITY)];
    let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = top + weights.iter().map(|weight| (weight - top).exp()).sum::<f64>().ln();
    weights.map(|weight| weight - log_sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_draws_it_is_the_logistic_curve() {
        for d in [-30.0, -1.0, 0.0, 0.3, 700.0_f64] {
            let chances = Chances::of(d, None);
            let p = 1.0 / (1.0 + (-d).exp());
            assert!((chances.black - p).abs() < 1e-15 && chances.draw == 0.0);
            assert!((chances.information() - p * (1.0 - p)).abs() < 1e-15);
            assert!((chances.expected() - p).abs() < 1e-15);
        }
    }

    #[test]
    fn equal_players_draw_as_davidson_says() {
        let chances = Chances::of(0.0, Some(0.5_f64.ln()));
        assert!((chances.draw - 0.2).abs() < 1e-15 && (chances.black - 0.4).abs() < 1e-15);
        assert!((chances.expected() - 0.5).abs() < 1e-15);
    }

    /// p·q·(1 − 6·p·q) without draws. Equal players with win : draw : loss = 2 : 1 : 2 make 1, ½ or 0 points: the
    /// fourth moment about ½ is 4/5·1/16 = 1/20, the variance 1/5, and 1/20 − 3/25 = −7/100.
    #[test]
    fn fourth_cumulant_is_that_of_the_points() {
        for d in [-2.0_f64, 0.0, 0.3] {
            let p = 1.0 / (1.0 + (-d).exp());
            let expected = p * (1.0 - p) * (1.0 - 6.0 * p * (1.0 - p));
            assert!((Chances::of(d, None).fourth_cumulant() - expected).abs() < 1e-15, "{d}");
        }
        assert!((Chances::of(0.0, Some(0.5_f64.ln())).fourth_cumulant() + 0.07).abs() < 1e-15);
    }

    #[test]
    fn logarithms_do_not_underflow() {
        let [black, white, draw] = log_chances(-2000.0, Some(0.0));
        assert_eq!((black, white, draw), (-2000.0, 0.0, -1000.0));
    }

    /// Information is minus the second derivative of every log chance, taken here by differences.
    #[test]
    fn information_is_the_curvature() {
        let (d, draws, h) = (0.7, -0.4, 1e-4);
        let at = |a: f64, b: f64| log_chances(d + a * h, Some(draws + b * h))[0];
        let second = |plus: f64, minus: f64| -(plus + minus - 2.0 * at(0.0, 0.0)) / (h * h);
        let mixed = -(at(1.0, 1.0) - at(1.0, -1.0) - at(-1.0, 1.0) + at(-1.0, -1.0)) / (4.0 * h * h);
        let chances = Chances::of(d, Some(draws));
        assert!((second(at(1.0, 0.0), at(-1.0, 0.0)) - chances.information()).abs() < 1e-6);
        assert!((second(at(0.0, 1.0), at(0.0, -1.0)) - chances.draw_information()).abs() < 1e-6);
        assert!((mixed - chances.shared_information()).abs() < 1e-6);
    }
}
