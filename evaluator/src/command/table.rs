//! `evaluator ratings`, and the table that is printed after matches.

use clap::ValueEnum;
use config::RunName;

use crate::RatedRun;
use crate::rate::AnchorChoice;

/// What is rated together, on which scale, and how it is printed.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub(super) struct TableArgs {
    /// Rate together with what was played in this run; may be repeated. Runs are tied by players who have played in both
    #[arg(long, value_name = "RUN")]
    with: Vec<RunName>,
    /// A player whose rating is known, as NAME=ELO, or NAME=ELO:SD if only so well; may be repeated. The table is on the
    /// scale of these players then
    #[arg(long, value_name = "NAME=ELO")]
    anchor: Vec<AnchorChoice>,
    /// How ratings are printed
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Show retired models, and pair them
    #[arg(long)]
    include_retired: bool,
}

/// How ratings are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// Everything there is to say
    Json,
}

impl TableArgs {
    /// The run with the models that the table shows.
    pub(super) fn of(&self, rated: RatedRun) -> RatedRun {
        if self.include_retired { rated.including_retired() } else { rated }
    }

    /// Rates the matches of the run, publishes the ratings if they are new, and prints them.
    pub(super) fn print(&self, rated: &RatedRun) -> anyhow::Result<()> {
        let stored = rated.rate()?;
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
