//! How a game ended, as the property `RE` says.

use std::fmt;

use super::number;
use crate::color::Color;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// One player won.
    Win(Color, Margin),
    /// A draw.
    Draw,
    /// The game does not count.
    Void,
    /// Unknown or unreadable.
    Unknown,
}

/// The way in which a game was won.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// So many points.
    Points(f32),
    /// The loser resigned.
    Resignation,
    /// The loser's time ran out.
    Time,
    /// The loser broke a rule, or did not come.
    Forfeit,
    /// It does not say.
    Unknown,
}

impl Outcome {
    /// Reads the value of `RE`; what cannot be read is unknown.
    pub fn parse(text: &str) -> Outcome {
        let text = text.trim();
        match text {
            "0" | "Draw" | "draw" => return Outcome::Draw,
            "Void" | "void" => return Outcome::Void,
            _ => {}
        }
        let won = [("B+", Color::Black), ("W+", Color::White)]
            .into_iter()
            .find_map(|(prefix, color)| Some((color, text.strip_prefix(prefix)?)));
        match won.and_then(|(color, margin)| Some((color, Margin::parse(margin)?))) {
            Some((color, margin)) => Outcome::Win(color, margin),
            None => Outcome::Unknown,
        }
    }
}

impl Margin {
    fn parse(text: &str) -> Option<Margin> {
        match text {
            "" => Some(Margin::Unknown),
            "R" | "Resign" => Some(Margin::Resignation),
            "T" | "Time" => Some(Margin::Time),
            "F" | "Forfeit" => Some(Margin::Forfeit),
            points => number::real(points).map(Margin::Points),
        }
    }
}

impl fmt::Display for Outcome {
    /// The value of `RE`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Win(Color::Black, margin) => write!(f, "B+{margin}"),
            Outcome::Win(Color::White, margin) => write!(f, "W+{margin}"),
            Outcome::Draw => f.write_str("0"),
            Outcome::Void => f.write_str("Void"),
            Outcome::Unknown => f.write_str("?"),
        }
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Margin::Points(points) => points.fmt(f),
            Margin::Resignation => f.write_str("R"),
            Margin::Time => f.write_str("T"),
            Margin::Forfeit => f.write_str("F"),
            Margin::Unknown => Ok(()),
        }
    }
}
