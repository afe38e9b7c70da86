//! Numbers as SGF writes them.

/// Reads a real number: a sign perhaps, digits, a point and digits perhaps. No exponent, no infinity.
pub(super) fn real(text: &str) -> Option<f32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let plain = digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') && digits.bytes().any(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number: &f32| plain && number.is_finite())
}
