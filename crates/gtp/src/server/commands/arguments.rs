//! Arguments and responses that several commands share.

use crate::server::Failure;

pub(super) type Answer = Result<String, Failure>;

pub(super) fn done() -> Answer {
    Ok(String::new())
}

pub(super) fn none(arguments: &[&str]) -> Result<(), Failure> {
    if arguments.is_empty() { Ok(()) } else { Err(Failure::Syntax) }
}

pub(super) fn one<'a>(arguments: &[&'a str]) -> Result<&'a str, Failure> {
    match *arguments {
        [argument] => Ok(argument),
        _ => Err(Failure::Syntax),
    }
}

pub(super) fn number<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Syntax)
}
