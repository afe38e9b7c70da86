//! Formats numbers, sizes and durations for messages.

use std::time::Duration;

/// A time in its two largest units: `3m 12s`, `4.2s`, `2h 05m`, `3d 04h`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0 if time.as_millis() == 0 => "0s".to_owned(),
        0 => format!("{}ms", time.as_millis()),
        1..10 => format!("{}.{}s", seconds, time.subsec_millis() / 100),
        10..60 => format!("{seconds}s"),
        60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d {:02}h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// Things a second: `0.31/s`, `12.3/s`, `4.56k/s`; an hour where there are fewer: `18.0/h`. Without any time, `-/s`.
pub fn rate(number: u64, time: Duration) -> String {
    if time.is_zero() {
        return "-/s".to_owned();
    }
    per_second(number as f64 / time.as_secs_f64())
}

/// A size in its largest binary unit: `512 B`, `1.5 KiB`, `64.0 MiB`, `7.5 GiB`, `2.0 TiB`.
pub fn bytes(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut size, mut units) = (bytes as f64 / 1024.0, ["KiB", "MiB", "GiB", "TiB"].into_iter());
    let mut unit = units.next().unwrap_or_default();
    // What would be rounded up to 1024 belongs to the next unit.
    while size >= 1023.95 {
        let Some(next) = units.next() else { break };
        (size, unit) = (size / 1024.0, next);
    }
    format!("{size:.1} {unit}")
}

/// A known rate, an hour where that of a second has one figure or none.
pub(crate) fn per_second(rate: f64) -> String {
    if 0.0 < rate && rate < 0.1 {
        return format!("{}/h", three_figures(3600.0 * rate));
    }
    format!("{}/s", three_figures(rate))
}

/// `value` ≥ 0 with three figures and a decimal prefix.
fn three_figures(value: f64) -> String {
    let (mut value, mut prefixes) = (value, ["", "k", "M", "G"].into_iter());
    let mut prefix = prefixes.next().unwrap_or_default();
    // What would be rounded up to 1000 belongs to the next prefix.
    while value >= 999.5 {
        let Some(next) = prefixes.next() else { break };
        (value, prefix) = (value / 1000.0, next);
    }
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{prefix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_rounded_down_to_two_units() {
        let text = |ms| duration(Duration::from_millis(ms));
        let cases = [
            (0, "0s"),
            (999, "999ms"),
            (4_260, "4.2s"),
            (59_999, "59s"),
            (192_000, "3m 12s"),
            (7_500_000, "2h 05m"),
            (273_600_000, "3d 04h"),
        ];
        for (ms, expected) in cases {
            assert_eq!(text(ms), expected);
        }
    }

    #[test]
    fn sizes_have_a_binary_unit_and_one_decimal() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (3 << 19, "1.5 MiB"),
            (5 << 30, "5.0 GiB"),
            (1 << 40, "1.0 TiB"),
            (1 << 60, "1048576.0 TiB"),
        ];
        for (size, expected) in cases {
            assert_eq!(bytes(size), expected);
        }
    }

    #[test]
    fn rates_have_three_digits_and_a_unit() {
        let cases = [
            (999.0, "999/s"),
            (1000.0, "1.00k/s"),
            (12_345.0, "12.3k/s"),
            (999_600.0, "1.00M/s"),
            (4_560_000.0, "4.56M/s"),
            (5e12, "5000G/s"),
        ];
        for (number, expected) in cases {
            assert_eq!(per_second(number), expected);
        }
    }

    #[test]
    fn rates_are_per_second_and_none_without_time() {
        assert_eq!(rate(31, Duration::from_secs(100)), "0.31/s");
        assert_eq!(rate(1, Duration::from_secs(200)), "18.0/h");
        assert_eq!(rate(9, Duration::from_secs(100)), "324/h");
        assert_eq!(rate(0, Duration::from_secs(100)), "0.00/s");
        assert_eq!(rate(45_600, Duration::from_secs(10)), "4.56k/s");
        assert_eq!(rate(3, Duration::ZERO), "-/s");
    }
}
