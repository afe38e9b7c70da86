//! The plan of a dry run.

use std::fmt;

use store::{Rejected, SampleSummary, WindowSummary};

use crate::ShufflerError;

/// What making the shards of a generation would do.
#[derive(Debug)]
pub struct Plan {
    /// The generation: the number of the model that is trained on the shards.
    pub generation: u32,
    /// Whether its shards exist already.
    pub published: bool,
    /// The window as it is now.
    pub window: WindowSummary,
    /// What would be sampled, or why nothing would be.
    pub sampled: Result<SampleSummary, ShufflerError>,
    /// Files that cannot be read.
    pub rejected: Vec<Rejected>,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let window = &self.window;
        let published = if self.published { ", which is published already" } else { "" };
        writeln!(f, "generation {}{published}", self.generation)?;
        writeln!(
            f,
            "window of up to {} {}: {} games of models {} to {}, {} positions, {} of them new; {} games published twice",
            window.limit,
            if window.in_positions { "positions" } else { "games" },
            window.games,
            window.from_model,
            window.to_model,
            window.positions,
            window.new_positions,
            window.duplicate_games
        )?;
        for rejected in &self.rejected {
            writeln!(f, "rejected: {}", rejected.reason)?;
        }
        match &self.sampled {
            Ok(sample) => write!(
                f,
                "sample: {} of {} examples wanted, {:.2} for each position, {:.2} for each new one{}; {:.1} % from \
                 calibration games",
                sample.examples,
                sample.wanted,
                sample.mean_per_position,
                sample.reuse,
                if sample.bounded { " (bounded by [window])" } else { "" },
                100.0 * sample.calibration_fraction
            ),
            Err(error) => write!(f, "no sample: {error}"),
        }
    }
}
