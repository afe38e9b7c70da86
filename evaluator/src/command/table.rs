//! `evaluator ratings`, and the table that is printed after matches.

use clap::ValueEnum;
use config::{PlayerId, RunName};

use crate::rate::AnchorChoice;
use crate::table::Table;
use crate::{EvaluatorError, RatedRun};

/// Players that are rated together, the scale, and the format.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub(super) struct TableArgs {
    /// Include the results of this run; may be repeated [default: none]. Players of both runs
    /// connect them
    #[arg(long, value_name = "RUN")]
    with: Vec<RunName>,
    /// Player with a known rating, NAME=ELO or NAME=ELO:SD; sets the scale; may be repeated [default:
    /// the oldest model is 0]
    #[arg(long, value_name = "NAME=ELO")]
    anchor: Vec<AnchorChoice>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Show and pair retired models
    #[arg(long)]
    include_retired: bool,
}

/// Output format
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// Text table
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// All statistics
    Json,
}

impl TableArgs {
    /// The run with the models that the table shows.
    pub(super) fn of(&self, rated: RatedRun) -> RatedRun {
        if self.include_retired { rated.including_retired() } else { rated }
    }

    /// Looks for the runs that are included, before matches that take hours.
    pub(super) fn check(&self, rated: &RatedRun) -> Result<(), EvaluatorError> {
        self.with.iter().try_for_each(|name| rated.other(name).map(drop))
    }

    /// Looks for the players whose ratings are known, before matches that take hours; `playing` may play in these.
    pub(super) fn check_anchors(
        &self,
        rated: &RatedRun,
        playing: impl FnOnce() -> Result<Vec<PlayerId>, EvaluatorError>,
    ) -> Result<(), EvaluatorError> {
        match &self.anchor[..] {
            [] => Ok(()),
            anchors => rated.check_anchors(&self.with, anchors, playing()?),
        }
    }

    /// Prints the ratings of the run as they are stored, or on the scale and with the runs that the arguments name.
    pub(super) fn print(&self, rated: &RatedRun, stored: Table) -> anyhow::Result<()> {
        let table = match (&self.with[..], &self.anchor[..]) {
            ([], []) => stored,
            (others, anchors) => rated.rate_with(others, anchors)?,
        };
        match self.format {
            Format::Table => runtime::print(table),
            Format::Csv => runtime::print(table.to_csv()),
            Format::Json => runtime::print(format_args!("{:#}", table.to_json())),
        }
    }
}
