//! Options of ratings.

use std::fmt;
use std::str::FromStr;

/// Elo that players may differ by in an argument. The arithmetic does not converge with some that are far beyond it.
pub(crate) const MOST_ELO: f64 = 10_000.0;

/// The prior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum PriorChoice {
    /// Nothing: maximum likelihood, where it is finite.
    #[default]
    None,
    /// Every player is normally distributed around the middle of the pool, with this standard deviation in Elo.
    Gauss(f64),
    /// The models of a run are a random walk with so many Elo from one number to the next; `None` lets the results
    /// choose.
    Walk(Option<f64>),
}

/// A player with a rating from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchorChoice {
    /// The player's name.
    pub player: String,
    /// Its rating, in Elo.
    pub elo: f64,
    /// Standard deviation of that; `None` where it is to be kept exactly.
    pub sd: Option<f64>,
}

impl FromStr for PriorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<PriorChoice, String> {
        let (kind, width) = text.split_once(':').map_or((text, None), |(kind, width)| (kind, Some(width)));
        let width = width.map(positive).transpose()?;
        match (kind, width) {
            ("none", None) => Ok(PriorChoice::None),
            ("gauss", Some(sd)) => Ok(PriorChoice::Gauss(sd)),
            ("walk", step) => Ok(PriorChoice::Walk(step)),
            _ => Err("expected none, gauss:SD, walk:STEP or walk, with SD and STEP in Elo".to_owned()),
        }
    }
}

impl FromStr for AnchorChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<AnchorChoice, String> {
        let usage = || "expected NAME=ELO, or NAME=ELO:SD for a rating that is only known so well".to_owned();
        let (player, rating) = text.rsplit_once('=').ok_or_else(usage)?;
        let (elo, sd) = rating.split_once(':').map_or((rating, None), |(elo, sd)| (elo, Some(sd)));
        let elo: f64 = elo.parse().map_err(|_| usage())?;
        if player.is_empty() {
            return Err(usage());
        }
        if !(-MOST_ELO..=MOST_ELO).contains(&elo) {
            return Err(format!("write ELO as a number from -{MOST_ELO} to {MOST_ELO}"));
        }
        Ok(AnchorChoice { player: player.to_owned(), elo, sd: sd.map(positive).transpose()? })
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|&number: &f64| number.is_finite() && number > 0.0);
    number.ok_or_else(|| format!("{text:?} is not a positive number of Elo"))
}

impl fmt::Display for PriorChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PriorChoice::None => write!(f, "none"),
            PriorChoice::Gauss(sd) => write!(f, "gauss:{sd}"),
            PriorChoice::Walk(None) => write!(f, "walk"),
            PriorChoice::Walk(Some(step)) => write!(f, "walk:{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priors_are_what_they_print() {
        for text in ["none", "gauss:400", "walk:12.5", "walk"] {
            assert_eq!(text.parse::<PriorChoice>().map(|prior| prior.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "gauss", "gauss:", "gauss:-3", "gauss:0", "walk:x", "none:3", "walk:inf", "flat"] {
            assert!(text.parse::<PriorChoice>().is_err(), "{text}");
        }
    }

    #[test]
    fn anchors_are_hard_or_soft() {
        let anchor = |player: &str, elo, sd| AnchorChoice { player: player.to_owned(), elo, sd };
        assert_eq!("gnugo=1800".parse(), Ok(anchor("gnugo", 1800.0, None)));
        assert_eq!("a=b=-12.5:40".parse(), Ok(anchor("a=b", -12.5, Some(40.0))));
        for text in ["gnugo", "=3", "a=", "a=b", "a=1:", "a=1:0", "a=nan"] {
            assert!(text.parse::<AnchorChoice>().is_err(), "{text}");
        }
        for text in ["a=10001", "a=-1e99", "a=inf"] {
            let problem = "write ELO as a number from -10000 to 10000";
            assert_eq!(text.parse::<AnchorChoice>(), Err(problem.to_owned()), "{text}");
        }
    }
}
