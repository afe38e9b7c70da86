//! One sign convention, kept by a type.

use go::Color;

/// An expected outcome on [−1, 1], kept for Black: +1 is a sure win for Black, −1 one for White.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Value(f32);

impl Value {
    /// A drawn or unknown position.
    pub const ZERO: Value = Value(0.0);

    /// A value as Black sees it; clamped to [−1, 1].
    pub fn for_black(value: f32) -> Value {
        Value(value.clamp(-1.0, 1.0))
    }

    /// A value as `mover` sees it; clamped to [−1, 1].
    pub fn for_mover(mover: Color, value: f32) -> Value {
        Value::for_black(mover.sign() * value)
    }

    /// The outcome of a counted game: `margin` is Black's area minus White's, after komi.
    pub fn of_margin(margin: f32) -> Value {
        Value(if margin > 0.0 {
            1.0
        } else if margin < 0.0 {
            -1.0
        } else {
            0.0
        })
    }

    /// The value as Black sees it.
    pub fn black(self) -> f32 {
        self.0
    }

    /// The value as `mover` sees it.
    pub fn mover(self, mover: Color) -> f32 {
        mover.sign() * self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_see_opposite_values() {
        let value = Value::for_mover(Color::White, 0.25);
        assert_eq!(value.black(), -0.25);
        assert_eq!(value.mover(Color::White), 0.25);
        assert_eq!(value.mover(Color::Black), -0.25);
    }

    #[test]
    fn margin_of_zero_is_a_draw() {
        assert_eq!([2.5, -0.5, 0.0].map(|margin| Value::of_margin(margin).black()), [1.0, -1.0, 0.0]);
    }
}
