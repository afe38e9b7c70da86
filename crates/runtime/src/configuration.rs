//! Configurations of runs, as they are typed.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use config::RunConfig;

use crate::Classify;

/// The configuration of a new run.
#[derive(Args, Clone, Debug)]
pub struct ConfigArgs {
    /// Configuration of a new run; an existing run must have the same
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,

    /// Override a key of that configuration, such as search.visits=50; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    overrides: Vec<String>,
}

impl ConfigArgs {
    /// The configuration, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or is no configuration, and other values without a file: the operator's to mend.
    pub fn read(&self) -> anyhow::Result<Option<RunConfig>> {
        match &self.config {
            Some(path) => configuration(path, &self.overrides).map(Some),
            None if self.overrides.is_empty() => Ok(None),
            None => Err(anyhow!("--set changes what --config says, and there is no --config")).misconfigured(),
        }
    }
}

/// The configuration in a file and those that it extends, with other values for some keys, each as `section.key=value`.
///
/// # Errors
/// A file that cannot be read or is no configuration: the operator's to mend.
pub fn configuration(path: &Path, overrides: &[String]) -> anyhow::Result<RunConfig> {
    Ok(RunConfig::load(path, overrides, |path| std::fs::read_to_string(path))?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use config::ConfigError;
    use exit_class::{ExitClass, classify};

    use super::*;
    use crate::exit_class;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        config: ConfigArgs,
    }

    fn read(arguments: &[&str]) -> anyhow::Result<Option<RunConfig>> {
        Program::parse_from(["program"].iter().chain(arguments)).config.read()
    }

    #[test]
    fn what_is_set_wins_over_what_the_file_says() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/tiny.toml");
        let plain = read(&["--config", file]).unwrap().unwrap();
        let other = read(&["--config", file, "--set", "search.visits=7", "--set", "seed=9"]).unwrap().unwrap();
        assert_eq!((other.search.visits, other.seed), (7, 9));
        assert_ne!((plain.search.visits, plain.seed), (7, 9));
        assert!(read(&[]).unwrap().is_none());
    }

    #[test]
    fn what_cannot_be_used_is_the_operators_to_mend() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/tiny.toml");
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let cases: [(&[&str], &str); 4] = [
            (&["--set", "search.visits=7"], "there is no --config"),
            (&["--config", "/nowhere.toml"], "cannot read /nowhere.toml"),
            (&["--config", file, "--set", "search.visist=7"], "search.visist"),
            (&["--config", other], other),
        ];
        for (arguments, what) in cases {
            let error = read(arguments).unwrap_err();
            assert!(format!("{error:#}").contains(what), "{error:#}");
            assert!(exit_class(&error, &[classify::<ConfigError>]) == ExitClass::Configuration, "{error:#}");
        }
    }
}
