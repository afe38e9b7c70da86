//! Why results cannot be rated.

/// A pool that cannot be rated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatingError {
    /// Neither the games nor the prior say how some players compare.
    #[error("the games and the prior leave some ratings undetermined; play games that connect all players")]
    Undetermined,
    /// Newton's method came to no end; this cannot happen with finite counts.
    #[error("the ratings did not converge in {0} steps")]
    NotConverged(usize),
}
