//! The arithmetic of the search, a function for each formula.

use config::QInit;

use crate::{Value, math};
use go::Color;

/// Exploration factor C(N) = 2·(ln((1 + N + base)/base) + init) of a node with `visits` N.
///
/// AlphaZero's schedule (Silver et al. 2018, supplement), doubled because values are on [−1, 1] here and on [0, 1]
/// there. With Minigo's constants (19652, 1.25): C(1) = 2.5002, C(800) = 2.5799.
fn c_puct(visits: u32, base: f32, init: f32) -> f32 {
    2.0 * (math::ln((1.0 + visits as f32 + base) / base) + init)
}

/// What all edges of a node share in U_i = C(N)·sqrt(max(1, N − 1))·P_i/(1 + N_i): the part before P_i.
pub(crate) fn exploration(visits: u32, base: f32, init: f32) -> f32 {
    c_puct(visits, base, init) * (visits.saturating_sub(1).max(1) as f32).sqrt()
}

/// Value of an edge before its first visit; it stays in the mean as one virtual visit.
///
/// `network` is the value of the position above the edge, where `mover` is to move.
pub(crate) fn q_init(rule: QInit, network: Value, mover: Color) -> Value {
    match rule {
        QInit::Zero => Value::ZERO,
        QInit::Penalty(penalty) => Value::for_black(network.black() - penalty * mover.sign()),
    }
}

/// Value of an edge that was never followed, under first-play urgency: `init` is where edges start, for the mover,
/// `followed` the sum of the priors of those that were followed. max(−1, init − reduction·sqrt(followed)).
///
/// KataGo's formula. There `init` is the mean value of the node, mixed with the network's as long as little of the
/// prior was followed.
pub(crate) fn first_play(init: f32, reduction: f32, followed: f32) -> f32 {
    (init - reduction * followed.sqrt()).max(-1.0)
}

/// Dirichlet concentration per move: `alpha` is meant for 361 points and grows as the board shrinks.
pub(crate) fn noise_alpha(alpha: f32, area: usize) -> f32 {
    alpha * 361.0 / area as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_puct_follows_minigo() {
        for (visits, expected) in [(1, 2.500_203_5), (2, 2.500_305_3), (100, 2.510_252_5), (800, 2.579_901)] {
            let c = c_puct(visits, 19652.0, 1.25);
            assert!((c - expected).abs() < 2e-6, "C({visits}) = {c}");
        }
    }

    #[test]
    fn q_init_is_against_the_mover() {
        let init = |penalty, mover| q_init(QInit::Penalty(penalty), Value::for_black(0.1), mover).black();
        for (penalty, mover, expected) in [
            (0.0, Color::Black, 0.1),
            (0.25, Color::Black, -0.15),
            (2.0, Color::Black, -1.0),
            (0.25, Color::White, 0.35),
            (2.0, Color::White, 1.0),
        ] {
            let q = init(penalty, mover);
            assert!((q - expected).abs() < 1e-6, "penalty {penalty} for {mover}: {q}");
        }
        assert_eq!(q_init(QInit::Zero, Value::for_black(0.9), Color::Black), Value::ZERO);
    }

    #[test]
    fn urgency_falls_with_the_priors_that_were_followed() {
        for (init, reduction, followed, expected) in
            [(0.1, 0.0, 0.5, 0.1), (0.1, 0.2, 0.0, 0.1), (0.1, 0.2, 0.25, 0.0), (-0.95, 0.2, 1.0, -1.0)]
        {
            assert!((first_play(init, reduction, followed) - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn noise_is_scaled_by_area() {
        for (side, expected) in [(19, 0.03), (13, 0.064_08), (9, 0.133_7)] {
            assert!((noise_alpha(0.03, side * side) - expected).abs() < 1e-4);
        }
    }
}
