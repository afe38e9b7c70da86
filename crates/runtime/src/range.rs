//! Numbers on the command line.

use std::fmt::Debug;
use std::ops::RangeBounds;
use std::str::FromStr;

/// A parser of an argument that is a number in `range`. clap puts the value and the flag before the message.
///
/// No range of floats holds NaN, so none lets it through.
pub fn within<T, R>(range: R) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd,
    R: RangeBounds<T> + Debug + Clone + Send + Sync + 'static,
{
    move |text| match text.parse::<T>() {
        Ok(number) if range.contains(&number) => Ok(number),
        // A whole number that is none of `T` is negative or too large.
        Err(_) if text.parse::<i128>().is_err() => Err(match text.parse::<f64>() {
            Ok(_) => format!("{text} is not a whole number in {range:?}"),
            Err(_) => format!("{text} is not a number in {range:?}"),
        }),
        _ => Err(format!("{text} is not in {range:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_names_the_value_and_the_range() {
        let whole = within::<usize, _>(1..);
        assert_eq!(whole("1"), Ok(1));
        for (text, message) in [
            ("0", "0 is not in 1.."),
            ("-1", "-1 is not in 1.."),
            ("99999999999999999999", "99999999999999999999 is not in 1.."),
            ("1.5", "1.5 is not a whole number in 1.."),
            ("1e99", "1e99 is not a whole number in 1.."),
            ("", " is not a number in 1.."),
            ("many", "many is not a number in 1.."),
        ] {
            assert_eq!(whole(text), Err(message.to_owned()));
        }
        let float = within::<f32, _>(-1.0..=0.0);
        assert_eq!([float("-1"), float("-0.5"), float("0")], [Ok(-1.0), Ok(-0.5), Ok(0.0)]);
        for text in ["5", "NaN", "-inf", "1e99", "-1.001"] {
            assert_eq!(float(text), Err(format!("{text} is not in -1.0..=0.0")));
        }
    }
}
