//! `evaluator report`: a page for a browser.

use std::path::PathBuf;

use anyhow::Context;
use runtime::Classify;

use crate::rate::AnchorChoice;
use crate::{RatedRun, report};

/// Arguments of `evaluator report`.
#[derive(clap::Args, Debug)]
pub(super) struct ReportArgs {
    /// Output file
    #[arg(default_value = "report.html")]
    file: PathBuf,
    /// Player with a known rating, NAME=ELO or NAME=ELO:SD; sets the scale; may be repeated [default:
    /// the oldest model is 0]
    #[arg(long, value_name = "NAME=ELO")]
    anchor: Vec<AnchorChoice>,
    /// Show retired models
    #[arg(long)]
    include_retired: bool,
}

/// Writes the page.
pub(super) fn run(rated: RatedRun, ReportArgs { file, anchor, include_retired }: &ReportArgs) -> anyhow::Result<()> {
    let rated = if *include_retired { rated.including_retired() } else { rated };
    let report = report::gather(&rated, anchor)?;
    report::write(file, &report).with_context(|| format!("cannot write {}", file.display())).misconfigured()?;
    runtime::print(format_args!("{}: {report}", file.display()))
}
