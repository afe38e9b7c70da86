//! Numbers as SGF writes them.

/// From here on komi without a decimal point is in hundredths.
const LEAST_HUNDREDTHS: f32 = 200.0;

/// Reads komi in points. Fox writes hundredths: of points, as in `KM[650]`, or of stones, as in `KM[375]`, where the
/// rules count the area of one player. A stone is two points of difference.
pub(super) fn komi(text: &str) -> Option<f32> {
    let written = real(text)?;
    if written.abs() < LEAST_HUNDREDTHS || text.contains('.') {
        return Some(written);
    }
    let units = written / 100.0;
    let are_stones = [0.25, 0.75].contains(&units.fract().abs());
    Some(if are_stones { 2.0 * units } else { units })
}

/// Komi in points as text that is read back: with a decimal point where a whole number would be in hundredths.
pub(super) fn write_komi(komi: f32) -> String {
    let text = komi.to_string();
    if komi.abs() < LEAST_HUNDREDTHS || text.contains('.') { text } else { text + ".0" }
}

/// Reads a real number: a sign perhaps, digits, a point and digits perhaps. No exponent, no infinity.
pub(super) fn real(text: &str) -> Option<f32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.bytes().any(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number: &f32| plain && number.is_finite())
}
