//! `tengen config`: configuration files, resolved and compared.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Subcommand;

/// Parts to print.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Print the resolved configuration with every key, as a run stores it
    Show {
        /// Configuration file
        file: PathBuf,
        /// Override a key, such as search.visits=50; may be repeated
        #[arg(long = "set", value_name = "KEY=VALUE")]
        overrides: Vec<String>,
    },
    /// Print the keys in which two configurations differ
    ///
    /// One line per key: name, first value and second value, separated by tabs.
    Diff {
        /// First configuration file, or run.toml of a run
        left: PathBuf,
        /// Second configuration file
        right: PathBuf,
    },
    /// Print the JSON Schema of configuration files, for editors (Taplo, Even Better TOML)
    Schema,
}

/// Prints it.
///
/// # Errors
/// A file that cannot be read or is no configuration: the operator's to mend.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    match &args.command {
        Command::Show { file, overrides } => {
            runtime::print(runtime::configuration(file, overrides)?.to_toml().trim_end())
        }
        Command::Diff { left, right } => {
            let [left, right] = [runtime::configuration(left, &[])?, runtime::configuration(right, &[])?];
            let mut lines = String::new();
            for found in left.differences(&right) {
                let _ = writeln!(lines, "{}\t{}\t{}", found.key, found.one, found.other);
            }
            if lines.is_empty() { Ok(()) } else { runtime::print(lines.trim_end()) }
        }
        Command::Schema => runtime::print(format!("{:#}", config::schema())),
    }
}
