//! `evaluator rate`: ratings for a table of results, wherever it comes from.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use anyhow::Context;
use runtime::Classify;

use super::table::Format;
use crate::rate::{self, AnchorChoice, PriorChoice, Request};

/// Arguments of `evaluator rate`.
#[derive(clap::Args, Debug)]
pub(super) struct RateArgs {
    /// CSV with the columns game_id, black, white and result (B, W or D); - for standard input
    file: PathBuf,
    /// Prior: none, gauss:SD around the mean of the pool, walk:STEP along the models of a run, or walk (step estimated)
    #[arg(long, default_value_t, value_name = "PRIOR")]
    prior: PriorChoice,
    /// Assume no first-move advantage
    #[arg(long)]
    no_first_move: bool,
    /// Player with a known rating, NAME=ELO or NAME=ELO:SD; sets the scale; may be repeated [default:
    /// the mean is 0]
    #[arg(long, value_name = "NAME=ELO")]
    anchor: Vec<AnchorChoice>,
    /// Output format
    #[arg(long, value_enum, default_value = "json", value_name = "FORMAT")]
    format: Format,
}

/// Rates the table; no store is needed.
pub(super) fn run(args: &RateArgs) -> anyhow::Result<()> {
    let RateArgs { file, prior, no_first_move, anchor, format } = args;
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_string(&mut text),
        _ => File::open(file).and_then(|mut file| file.read_to_string(&mut text)),
    };
    let named = || format!("cannot rate {}", file.display());
    read.with_context(named).misconfigured()?;
    let request = Request { prior: *prior, no_first_move: *no_first_move, anchors: anchor.clone() };
    let report = rate::rate(&text, &request).with_context(named)?;
    match format {
        Format::Json => runtime::print(report),
        Format::Csv => runtime::print(report.to_csv()),
        Format::Table => runtime::print(report.to_table()),
    }
}
