//! Numbers as people read them.

/// A whole number with thin spaces between thousands: "1 234 567".
pub fn whole(number: f64) -> String {
    let rounded = number.round();
    let digits = format!("{:.0}", rounded.abs());
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    if rounded < 0.0 { format!("−{text}") } else { text }
}

/// A number of things: "1 game", "2 games".
pub fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", whole(number as f64), if number == 1 { one } else { many })
}

/// A whole number with its sign.
pub fn signed(number: f64) -> String {
    if number.round() > 0.0 { format!("+{}", whole(number)) } else { whole(number) }
}

/// A share of one in percent.
pub fn percent(share: f64, digits: usize) -> String {
    format!("{:.digits$}\u{202f}%", 100.0 * share)
}

/// Few digits, and a letter for thousands and millions: "12k", "0.035".
pub fn short(number: f64) -> String {
    let size = number.abs();
    let (scaled, unit) = match size {
        _ if size >= 999_500_000.0 => (number / 1e9, "G"),
        _ if size >= 999_500.0 => (number / 1e6, "M"),
        _ if size >= 9_999.5 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let text = digits(scaled, 3);
    format!("{}{unit}", text.replace('-', "−"))
}

/// A number with so many significant digits at most, without trailing zeros.
fn digits(number: f64, significant: usize) -> String {
    if number == 0.0 || !number.is_finite() {
        return if number == 0.0 { "0".to_owned() } else { number.to_string() };
    }
    let magnitude = number.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{number:.*e}", significant - 1);
    }
    let decimals = (significant as f64 - 1.0 - magnitude).max(0.0) as usize;
    let text = format!("{number:.decimals$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How long ago something was, in seconds: "35 s", "12 min", "3.5 h", "4 days".
pub fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    match seconds {
        _ if seconds < 90.0 => format!("{seconds:.0}\u{202f}s"),
        _ if seconds < 5400.0 => format!("{:.0}\u{202f}min", seconds / 60.0),
        _ if seconds < 129_600.0 => format!("{}\u{202f}h", digits(seconds / 3600.0, 2)),
        _ => format!("{:.0}\u{202f}days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_grouped() {
        for (number, wanted) in [(0.0, "0"), (999.0, "999"), (1000.0, "1 000"), (-1_234_567.4, "−1 234 567")] {
            assert_eq!(whole(number).replace('\u{202f}', " "), wanted);
        }
        for (number, wanted) in [
            (0.0, "0"),
            (0.034_56, "0.0346"),
            (-2.5, "−2.5"),
            (1234.0, "1234"),
            (9999.0, "9999"),
            (12_345.0, "12.3k"),
            (999_600.0, "1M"),
            (1e-9, "1.00e−9"),
        ] {
            assert_eq!(short(number), wanted, "{number}");
        }
        assert_eq!((signed(3.4), signed(-3.4), signed(0.2)), ("+3".to_owned(), "−3".to_owned(), "0".to_owned()));
        assert_eq!(percent(0.1234, 1).replace('\u{202f}', " "), "12.3 %");
    }

    #[test]
    fn one_thing_is_singular() {
        let texts = [0, 1, 2, 21].map(|number| counted(number, "game", "games"));
        assert_eq!(texts, ["0 games", "1 game", "2 games", "21 games"]);
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        for (seconds, wanted) in [(4.6, "5 s"), (120.0, "2 min"), (5400.0, "1.5 h"), (400_000.0, "5 days")] {
            assert_eq!(duration(seconds).replace('\u{202f}', " "), wanted);
        }
    }
}
