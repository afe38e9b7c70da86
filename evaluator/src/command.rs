//! The command line.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{ArgGroup, Parser, Subcommand};
use exit_class::{Classifier, classify};
use models::ModelError;
use net::NetError;
use ratings::sprt::SprtError;
use runtime::{Classify, Stop};

use crate::EvaluatorError;
use crate::rate::RateError;

mod args;
mod matches;
mod rate;
mod report;
mod retire;
mod sprt;
mod table;

use args::CommonArgs;
use matches::MatchArgs;
use table::TableArgs;

/// Play matches between models of a run and rate them by all stored results.
///
/// Each opening is played with both colours, with the search settings of each model. Results are stored as games
/// finish. Re-running the command resumes.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = runtime::exit_codes(), subcommand_negates_reqs = true)]
#[command(group(ArgGroup::new("match").required(true)))]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    matches: MatchArgs,
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Everything but plain matches.
#[derive(Subcommand, Debug)]
enum Command {
    /// Play a sequential probability ratio test of two players
    Sprt(sprt::SprtArgs),
    /// Test a model against the champion of the run, and promote it if it is stronger
    ///
    /// The first champion is random. Self-play does not depend on the champion.
    Gate(sprt::GateArgs),
    /// Print the rating table of a run
    Ratings(TableArgs),
    /// Rate a CSV table of results of any origin, and print JSON
    Rate(rate::RateArgs),
    /// Write an HTML report of a run
    Report(report::ReportArgs),
    /// Retire models: hide them from tables, reports, pairings and promotion tests. Their games still count
    Retire(retire::RetireArgs),
    /// Restore a retired model
    Unretire(retire::UnretireArgs),
    /// Delete the weights of all retired models permanently
    ///
    /// Metadata, games and results are kept, and so are weights of champions and of models that training may continue
    /// from.
    DeleteRetiredWeights,
}

impl Args {
    /// Starts the log. Matches may be unattended; commands that only read and rate are interactive.
    fn start_log(&self) {
        match self.command {
            None | Some(Command::Sprt(_) | Command::Gate(_)) => self.common.log.start(),
            Some(_) => self.common.log.start_for_people(),
        }
    }
}

/// The program: reads its arguments, and runs until it has finished or is stopped.
pub fn main() -> ExitCode {
    let args = Args::parse();
    args.start_log();
    runtime::main("evaluator", ERRORS, |stop| run(&args, stop))
}

/// The errors of libraries that a command may end with, beside those of every program; for [`runtime::main`].
pub const ERRORS: &[Classifier] = &[
    classify::<EvaluatorError>,
    classify::<ModelError>,
    classify::<NetError>,
    classify::<RateError>,
    classify::<SprtError>,
];

/// Runs the command.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let common = &args.common;
    let Some(command) = &args.command else { return matches::run(common, &args.matches, &args.table, stop) };
    if args.matches != MatchArgs::default() || args.table != TableArgs::default() {
        let problem = "options of matches, such as --pair and --games, do not go with a sub-command";
        return Err(anyhow!(problem)).misconfigured();
    }
    match command {
        Command::Rate(rate) => rate::run(rate),
        Command::Sprt(sprt) => sprt::sprt(common, sprt, stop),
        Command::Gate(gate) => sprt::gate(common, gate, stop),
        Command::Ratings(table) => {
            let rated = table.of(common.rated(None, stop)?);
            table.print(&rated, rated.rate_to_show()?)
        }
        Command::Report(report) => report::run(common.rated(None, stop)?, report),
        Command::Retire(retire) => retire::run(&common.rated(retire.which.run(), stop)?, retire),
        Command::Unretire(unretire) => retire::unretire(&common.rated(unretire.model.run(), stop)?, unretire),
        Command::DeleteRetiredWeights => retire::delete_weights(&common.rated(None, stop)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("evaluator").chain(text.split_whitespace()))
    }

    #[test]
    fn args_ask_for_exactly_one_kind_of_work() {
        for text in [
            "--pair v1-1 v1-2 --games 40",
            "--pair v1-1 v1-2 --games 1000000",
            "--pair 9x9-demo GnuGo-10",
            "--pair-uncertain --pairs 3 --run v1",
            "--pair-uncertain --run v1 --objective ladder --include-retired",
            "--schedule --run v1 --wait",
            "--round-robin --run v1 --format csv",
            "--store s --run v1 ratings",
            "ratings --run v1 --with v2 --anchor Random=-1534 --format json",
            "report --run v1",
            "report page.html --run v1 --include-retired --anchor Random=-1534",
            "retire 300 --run v1",
            "retire v1-3",
            "unretire v1-3",
            "delete-retired-weights --run v1",
            "sprt v1-1 v1-2 --elo0 -5 --elo1 5 --threads 2 --device cpu",
            "gate v1 --include-retired",
            "ratings --run v1 --log-level warn --log-format json",
            "sprt v1-1 v1-2 --elo0 -5 --elo1 5 --times false --metrics-addr 127.0.0.1:0 --drain-seconds 20",
            "rate f.csv --prior gauss:400 --no-first-move --anchor a=1 --anchor b=2:30",
        ] {
            assert!(args(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "--run v1",
            "--pair v1-1",
            "--pair v1-1 v1-0",
            "--pair v1-1 v1-2 --games 7",
            "--pair v1-1 v1-2 --games 1000002",
            "sprt v1-1 v1-2 --elo0 -5 --elo1 5 --games 1000002",
            "--pair v1-1 v1-2 --round-robin",
            "--pair v1-1 v1-2 --pairs 3",
            "--pair v1-1 v1-2 --wait",
            "--pair-uncertain --games 8",
            "--schedule --games 8",
            "--schedule --pairs 3",
            "--schedule --pair-uncertain",
            "--wait",
            "--pair-uncertain --objective nothing",
            "--round-robin --run v1 --objective ladder",
            "--schedule --run v1 --objective best",
            "ratings --pairs 3",
            "ratings --no-first-move --run v1",
            "sprt v1-1 v1-2 --elo0 0",
            "rate",
            "rate f.csv --prior flat",
            "retire -5 --run v1",
            "retire NaN --run v1",
            "retire 300 --include-retired --run v1",
            "unretire 3",
            "report --with v2 --run v1",
        ] {
            assert!(args(text).is_err(), "{text}");
        }
    }

    #[test]
    fn options_of_matches_are_refused_beside_a_command() {
        for text in ["--pair v1-1 v1-2 ratings", "--games 4 report --run v1", "--format csv rate f.csv"] {
            let error = run(&args(text).expect("clap takes it"), &Stop::never()).expect_err("they do not go together");
            assert!(error.to_string().starts_with("options of matches"), "{text}: {error}");
        }
    }

    #[test]
    fn run_is_that_of_the_first_player_that_has_one() {
        let run = |text: &str| {
            let parsed = args(text).expect("the arguments fit");
            args::run_of_any(parsed.matches.players()).map(|run| run.to_string())
        };
        assert_eq!(run("--pair random v1-2"), Some("v1".to_owned()));
        assert_eq!(run("--pair v2 v1-2"), Some("v2".to_owned()));
        assert_eq!(run("--pair 9x9-demo GnuGo-10"), Some("9x9-demo".to_owned()));
        assert_eq!(run("--against-anchors v3+visits=4"), Some("v3".to_owned()));
        assert_eq!(run("--pair random uniform"), None);
    }
}
