//! Self-play of one model.

use crate::counts::Counts;

/// Self-play of one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelGames {
    /// The games; one that was published twice counts once.
    pub counts: Counts,
    /// Time in the name of the first file, in milliseconds since 1970.
    pub first: Option<u64>,
    /// Time in the name of the newest file.
    pub newest: Option<u64>,
}

impl ModelGames {
    /// Notes that there is a file of this time.
    pub(crate) fn extend(&mut self, time: u64) {
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.newest = self.newest.max(Some(time));
    }
}
