//! Numbers on the command line.

use std::fmt::{Debug, Display};
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A parser of an argument that is a number in `range`. clap puts the value and the flag before the message.
///
/// No range of floats holds NaN, so none lets it through.
pub fn within<T, R>(range: R) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display,
    R: RangeBounds<T> + Debug + Clone + Send + Sync + 'static,
{
    move |text| match text.parse::<T>() {
        Ok(number) if range.contains(&number) => Ok(number),
        parsed => {
            let number = if "0.5".parse::<T>().is_ok() { "number" } else { "whole number" };
            // What the type does not hold, although the range has no end.
            let is_too_large = parsed.is_err() && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            Err(match (range.start_bound(), range.end_bound()) {
                (Bound::Included(least), Bound::Included(most)) => format!("write a {number} from {least} to {most}"),
                (Bound::Included(least), Bound::Unbounded) if is_too_large => {
                    format!("it is too large: write a smaller {number} of at least {least}")
                }
                (Bound::Included(least), Bound::Unbounded) => format!("write a {number} of at least {least}"),
                _ => format!("write a {number} in {range:?}"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_names_the_kind_of_number_and_the_range() {
        let whole = within::<usize, _>(1..);
        assert_eq!(whole("1"), Ok(1));
        for text in ["0", "-1", "1.5", "1e99", "", "many"] {
            assert_eq!(whole(text), Err("write a whole number of at least 1".to_owned()), "{text}");
        }
        let too_large = "it is too large: write a smaller whole number of at least 1";
        assert_eq!(whole("99999999999999999999"), Err(too_large.to_owned()));
        assert_eq!(within::<u32, _>(1..)("5000000000"), Err(too_large.to_owned()));
        assert_eq!(within::<u8, _>(1..=9)("300"), Err("write a whole number from 1 to 9".to_owned()));
        let float = within::<f32, _>(-1.0..=0.0);
        assert_eq!([float("-1"), float("-0.5"), float("0")], [Ok(-1.0), Ok(-0.5), Ok(0.0)]);
        for text in ["5", "NaN", "-inf", "1e99", "-1.001"] {
            assert_eq!(float(text), Err("write a number from -1 to 0".to_owned()), "{text}");
        }
    }
}
