//! One move of a game.

use go::{Move, Size};

use crate::SearchAnnotations;

/// One move of a game and how it was found.
///
/// A turn that was not searched has no visits, and its values and entropy are 0 and mean nothing; tables hold no values
/// for them. A table of games holds neither visits nor notes: policies are in the examples (see
/// [`crate::GameRecord::with_policies`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The move.
    pub mv: Move,
    /// How it was found.
    pub kind: SearchKind,
    /// How much its example counts in training; 0 when there is none.
    pub weight: f32,
    /// The search's policy as whole numbers, as (move index, number): ascending indices, numbers above 0.
    ///
    /// PUCT: the visits of the root's moves after the search, inherited ones included. Gumbel: there visits say which
    /// moves were sampled and not how good they are, so these are the improved policy of all moves considered, in
    /// 1,024ths: as fine as what AlphaZero trained on, which were 800 visits.
    pub visits: Vec<(u16, u32)>,
    /// Mean value of the search at the root, for Black, -1 to 1.
    pub root_value: f32,
    /// Mean value of the best move of the search, for Black, -1 to 1: of the most visited one, and after a Gumbel
    /// search of the one that sequential halving left.
    pub best_child_value: f32,
    /// The network's own value of the position, for Black, -1 to 1.
    pub network_value: f32,
    /// Entropy of the network's priors over the moves that the search considers, before noise, in nats.
    pub prior_entropy: f32,
    /// Kullback-Leibler divergence of the search's policy, as `visits` have it, from those priors, in nats; `None`
    /// where nothing was searched.
    pub policy_surprise: Option<f32>,
    /// More about the search, for readable games. Tables do not hold it, so turns that were read have none.
    pub note: Option<Box<SearchAnnotations>>,
}

/// How the move of a turn was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SearchKind {
    /// It was given, as in the opening of a match.
    Given,
    /// A search with the full budget, for training.
    Full,
    /// A search with the small budget of playout-cap randomisation, without an example.
    Fast,
    /// Nothing was searched: the move was drawn from the network's own policy, for variety. 3 was a kind of search
    /// once.
    Policy = 4,
}

impl SearchKind {
    /// Every kind, in the order of their codes.
    pub const ALL: [SearchKind; 4] = [SearchKind::Given, SearchKind::Full, SearchKind::Fast, SearchKind::Policy];
    /// What tables say of their codes.
    pub(crate) const DOC: &str = "origin of each turn's move: 0 given, 1 full search, 2 fast search, 4 policy draw";

    /// The number that tables use.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Undoes [`SearchKind::code`].
    ///
    /// # Errors
    /// No kind has this code.
    pub(crate) fn from_code(code: u8) -> Result<SearchKind, String> {
        let found = SearchKind::ALL.into_iter().find(|kind| kind.code() == code);
        found.ok_or_else(|| format!("{code} is no kind of search"))
    }

    /// The name of the kind in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            SearchKind::Given => "given",
            SearchKind::Full => "full search",
            SearchKind::Fast => "fast search",
            SearchKind::Policy => "policy draw",
        }
    }

    /// Whether there was a search at all.
    pub fn is_searched(self) -> bool {
        !matches!(self, SearchKind::Given | SearchKind::Policy)
    }
}

impl Turn {
    /// A move without search.
    pub fn unsearched(kind: SearchKind, mv: Move) -> Turn {
        Turn {
            mv,
            kind,
            weight: 0.0,
            visits: Vec::new(),
            root_value: 0.0,
            best_child_value: 0.0,
            network_value: 0.0,
            prior_entropy: 0.0,
            policy_surprise: None,
            note: None,
        }
    }

    /// Whether a search chose this move.
    pub fn is_searched(&self) -> bool {
        self.kind.is_searched()
    }

    /// Whether this turn yields an example.
    pub fn is_example(&self) -> bool {
        self.weight > 0.0
    }

    /// The first thing that is wrong with this turn on a board of `size`.
    pub(crate) fn check(&self, size: Size) -> Result<(), String> {
        check_weight(self.kind, self.weight)?;
        match (self.is_searched(), self.is_example(), self.visits.is_empty()) {
            (_, true, true) => return Err("a turn with an example has no visits".to_owned()),
            (false, _, false) => return Err("a turn that was not searched has visits".to_owned()),
            _ => {}
        }
        check_visits(size, self.visits.iter().copied())?;
        for value in [self.root_value, self.best_child_value, self.network_value] {
            check_value(value)?;
        }
        check_entropy(self.prior_entropy)?;
        self.policy_surprise.map_or(Ok(()), check_divergence)
    }
}

/// A weight is a number that is not negative, and above 0 only after a search.
pub(crate) fn check_weight(kind: SearchKind, weight: f32) -> Result<(), String> {
    if !(0.0..f32::INFINITY).contains(&weight) {
        return Err(format!("weight {weight} is not a number from 0 up"));
    }
    match kind.is_searched() || weight == 0.0 {
        true => Ok(()),
        false => Err("a turn that was not searched has a weight".to_owned()),
    }
}

/// Visits are of moves that exist, in order, and above 0.
pub(crate) fn check_visits(size: Size, visits: impl Iterator<Item = (u16, u32)>) -> Result<(), String> {
    let mut next = 0;
    for (mv, count) in visits {
        if usize::from(mv) >= size.moves() {
            return Err(format!("move {mv} does not exist on {size}x{size}"));
        }
        if usize::from(mv) < next {
            return Err(format!("visits of move {mv} are out of order"));
        }
        if count == 0 {
            return Err(format!("move {mv} is listed without a visit"));
        }
        next = usize::from(mv) + 1;
    }
    Ok(())
}

/// A value lies between -1 and 1.
pub(crate) fn check_value(value: f32) -> Result<(), String> {
    if (-1.0..=1.0).contains(&value) { Ok(()) } else { Err(format!("value {value} is not between -1 and 1")) }
}

/// An entropy is not negative, rounding apart.
pub(crate) fn check_entropy(entropy: f32) -> Result<(), String> {
    let most = (go::MAX_MOVES as f32).ln();
    if (-1e-3..=most + 1e-3).contains(&entropy) { Ok(()) } else { Err(format!("entropy {entropy} is out of range")) }
}

/// A divergence from priors is not negative, rounding apart, and no prior is smaller than the smallest normal number.
pub(crate) fn check_divergence(divergence: f32) -> Result<(), String> {
    // The largest is 87.34, and those of searches are rounded to 8 bits: to halves there.
    if (-1e-3..=87.5).contains(&divergence) { Ok(()) } else { Err(format!("divergence {divergence} is out of range")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_divergence_in_8_bits_is_in_range() {
        let largest = -f32::MIN_POSITIVE.ln();
        assert!(check_divergence(largest).is_ok() && check_divergence((2.0 * largest).round() / 2.0).is_ok());
        assert!(check_divergence(88.0).is_err() && check_divergence(f32::NAN).is_err());
    }

    /// Stored games hold the codes.
    #[test]
    fn codes_are_fixed_for_ever() {
        for (code, kind) in [0, 1, 2, 4].into_iter().zip(SearchKind::ALL) {
            assert_eq!((kind.code(), SearchKind::from_code(code)), (code, Ok(kind)));
        }
        assert_eq!(SearchKind::from_code(3), Err("3 is no kind of search".to_owned()));
        let words = SearchKind::ALL.map(|kind| format!("{} {}", kind.code(), kind.as_str()));
        assert!(SearchKind::DOC.ends_with(&words.join(", ")), "the columns tell what the codes are");
        assert_eq!(SearchKind::from_code(99), Err("99 is no kind of search".to_owned()));
    }
}
