//! Functions whose results have the same bits on every x86-64 machine.
//!
//! `exp`, `ln` and `pow` of `std` are those of the system's C library, which differ between systems, and with glibc
//! between processors: it has variants with fused multiply-adds and chooses at run time. A game has to be a function of
//! its seed, so `clippy.toml` forbids them here and in crate `play`. Crate `libm` is plain Rust. `sqrt`, `floor` and
//! `round` are exact everywhere.

/// eˣ.
#[inline]
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// The natural logarithm.
#[inline]
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// The same in f64.
pub mod double {
    /// eˣ.
    #[inline]
    pub fn exp(x: f64) -> f64 {
        libm::exp(x)
    }

    /// The natural logarithm.
    #[inline]
    pub fn ln(x: f64) -> f64 {
        libm::log(x)
    }

    /// The natural logarithm of 1 + x.
    #[inline]
    pub fn ln_1p(x: f64) -> f64 {
        libm::log1p(x)
    }

    /// xʸ.
    #[inline]
    pub fn pow(x: f64, y: f64) -> f64 {
        libm::pow(x, y)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "std is what the functions are compared with")]
mod tests {
    use super::*;

    /// FNV-1a of the bits.
    fn hash(numbers: impl IntoIterator<Item = u64>) -> u64 {
        testing::fnv(numbers.into_iter().flat_map(u64::to_le_bytes))
    }

    fn grid() -> impl Iterator<Item = f32> + Clone {
        (1..5000).map(|step| step as f32 * 0.0173)
    }

    #[test]
    fn functions_are_those_of_std_within_its_rounding() {
        let close = |found: f64, expected: f64, places: f64| (found - expected).abs() <= places * expected.abs();
        for x in grid() {
            let wide = f64::from(x);
            assert!(close(exp(-x).into(), (-wide).exp(), 1.2e-7), "{x}");
            assert!((f64::from(ln(x)) - wide.ln()).abs() <= 1.2e-7 * wide.ln().abs().max(0.1), "{x}");
            assert!(close(double::exp(-wide), (-wide).exp(), 4e-16), "{x}");
            assert!((double::ln(wide) - wide.ln()).abs() <= 4e-16 * wide.ln().abs().max(0.1), "{x}");
            assert!(close(double::ln_1p(wide), wide.ln_1p(), 4e-16), "{x}");
            assert!(close(double::pow(wide, 0.98), wide.powf(0.98), 4e-16), "{x}");
        }
        assert_eq!((ln(0.0), exp(f32::NEG_INFINITY), double::pow(0.0, 2.0)), (f32::NEG_INFINITY, 0.0, 0.0));
    }

    /// Another release of `libm` may round otherwise: games of one seed change then, as `CHANGELOG.md` has to say.
    #[test]
    fn golden_bits_are_the_same_on_every_machine() {
        let narrow = |f: fn(f32) -> f32| hash(grid().map(|x| u64::from(f(x).to_bits())));
        let wide = |f: fn(f64) -> f64| hash(grid().map(|x| f(x.into()).to_bits()));
        let found = [
            narrow(|x| exp(-x)),
            narrow(ln),
            wide(|x| double::exp(-x)),
            wide(double::ln),
            wide(double::ln_1p),
            wide(|x| double::pow(x, 0.98)),
        ];
        let golden = [
            4_974_203_827_706_326_100,
            8_408_704_088_080_215_408,
            5_146_675_369_118_701_005,
            18_134_360_923_410_301_426,
            17_959_514_316_299_528_016,
            16_201_902_968_089_240_953,
        ];
        assert_eq!(found, golden);
    }
}
