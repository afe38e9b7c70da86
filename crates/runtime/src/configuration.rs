//! Configurations of runs, as they are typed.

use std::path::{Path, PathBuf};

use clap::Args;
use config::{ConfigError, Grow, Phase, Retention, RunConfig, RunName};
use exit_class::{Classified, ExitClass};
use store::{Run, StoreError};

/// A run that a program cannot work on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No run is named where one is needed.
    #[error("no run is named; name one with --run NAME")]
    Unnamed,
    /// The run does not exist.
    #[error("there is no run {run} in {store}; `tengen status` lists all runs")]
    Absent {
        /// Its name.
        run: RunName,
        /// The store.
        store: String,
    },
    /// The run does not exist, and the program can begin it.
    #[error("there is no run {run} in {store}; `tengen status` lists all runs; begin it with --config FILE")]
    NotBegun {
        /// Its name.
        run: RunName,
        /// The store.
        store: String,
    },
    /// Overrides of no configuration.
    #[error("--set overrides keys of --config; add --config FILE")]
    OnlyOverrides,
    /// The given configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store failed, or the run began with another configuration.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RunError {
    /// Says that the run does not exist.
    pub fn absent(run: &Run) -> RunError {
        RunError::Absent { run: run.name().clone(), store: run.store().root().to_owned() }
    }
}

impl Classified for RunError {
    fn class(&self) -> ExitClass {
        match self {
            RunError::Store(error) => error.class(),
            _ => ExitClass::Configuration,
        }
    }
}

/// The configuration of a new run.
#[derive(Args, Clone, Debug)]
pub struct ConfigArgs {
    /// Configuration of a new run; an existing run must have the same [default: that of the run]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,

    /// Override a key of that configuration, such as search.visits=50; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE", global = true)]
    overrides: Vec<String>,
}

impl ConfigArgs {
    /// The configuration of a run, which begins with the given one if it has none.
    ///
    /// # Errors
    /// As `ConfigArgs::read` and [`run_config`]; the run began with another configuration.
    pub fn open(&self, run: &Run) -> Result<RunConfig, RunError> {
        if let Some(config) = self.read()? {
            begin(run, &config, &self.overrides)?;
        }
        stored(run)
    }

    /// The configuration that [`ConfigArgs::open`] would return, unless the run began with another one. No run begins:
    /// files that do not fit the configuration can be refused before the run would keep it.
    ///
    /// # Errors
    /// As `ConfigArgs::read`; the run has no configuration, and none is given.
    pub fn peek(&self, run: &Run) -> Result<RunConfig, RunError> {
        match self.read()? {
            Some(config) => Ok(config),
            None => stored(run),
        }
    }

    /// Whether anything was given.
    pub fn is_given(&self) -> bool {
        self.config.is_some() || !self.overrides.is_empty()
    }

    /// The configuration, if there is one.
    ///
    /// # Errors
    /// A file that cannot be read or is no configuration, and other values without a file: the operator's to mend.
    fn read(&self) -> Result<Option<RunConfig>, RunError> {
        match &self.config {
            Some(path) => Ok(Some(configuration(path, &self.overrides)?)),
            None if self.overrides.is_empty() => Ok(None),
            None => Err(RunError::OnlyOverrides),
        }
    }
}

/// The configuration of a run, for a program that could have begun it.
fn stored(run: &Run) -> Result<RunConfig, RunError> {
    let missing = || RunError::NotBegun { run: run.name().clone(), store: run.store().root().to_owned() };
    run.config()?.ok_or_else(missing)
}

/// Creates a run, unless it exists with this configuration. Warns where the move limit cuts games, and where a schedule
/// of a file replaces a given value or is not reached. Warns, too, where the given `[retention]` is not that of the
/// run: it is no part of the digest.
///
/// # Errors
/// The run began with another configuration, or a store that cannot be used.
pub fn begin(run: &Run, config: &RunConfig, overrides: &[String]) -> Result<(), RunError> {
    run.create(config)?;
    // No error: a short limit is legal, and tests use it. Another board keeps the limit of the file that it extends.
    let (move_limit, points) = (config.game.move_limit, config.game.board().area());
    if move_limit < 2 * points {
        tracing::warn!(move_limit, points, "game.move_limit is below twice the points, which cuts games short");
    }
    for (key, schedule, model) in replaced(config, overrides) {
        tracing::warn!(key, schedule, model, "a schedule replaces the given value from this model on; set it, too");
    }
    for (schedule, entry, last) in unreached(config) {
        tracing::warn!(
            schedule,
            entry,
            last,
            "the run is finished before the last entry of a schedule; change the schedule, loop.models or train.steps"
        );
    }
    let stored = run_config(run)?.retention;
    // A file that keeps everything, as `base.toml` does, tells nothing about what the operator wants.
    let is_given = config.retention != Retention::ALL || overrides.iter().any(|set| set.starts_with("retention"));
    if is_given && config.retention != stored {
        let file = format!("{}/{}/run.toml", run.store().root(), run.name());
        tracing::warn!(file, "the run has another [retention], which holds; edit the section in the file");
    }
    Ok(())
}

/// Keys that are given without the schedule that replaces them: the key, the schedule of the file, and its first model.
fn replaced<'a>(config: &RunConfig, overrides: &'a [String]) -> Vec<(&'a str, &'static str, u32)> {
    let phases = config.search.phases.first().map(|phase| phase.from_model);
    let grow = config.train.grow.first().map(|grow| grow.from_model);
    let keys = overrides.iter().filter_map(|text| text.split_once('=')).map(|(key, _)| key.trim());
    let given: Vec<&'a str> = keys.collect();
    let mut found = Vec::new();
    for (schedule, keys, first) in [("search.phases", Phase::KEYS, phases), ("train.grow", Grow::KEYS, grow)] {
        let Some(model) = first.filter(|_| !given.contains(&schedule)) else { continue };
        found.extend(given.iter().copied().filter(|key| keys.contains(key)).map(|key| (key, schedule, model)));
    }
    found
}

/// Schedules that the run does not reach the end of: the key, the model or step of its last entry, and the last of the
/// run.
fn unreached(config: &RunConfig) -> Vec<(&'static str, u64, u64)> {
    let RunConfig { search, train, run_loop, .. } = config;
    let models = u64::from(run_loop.models);
    let steps = models.saturating_mul(train.steps as u64);
    let schedules = [
        ("search.phases", search.phases.last().map(|phase| u64::from(phase.from_model)), models),
        ("train.grow", train.grow.last().map(|grow| u64::from(grow.from_model)), models),
        ("train.learning_rate", train.learning_rate.last().map(|rate| rate.from_step), steps - 1),
    ];
    let entries = schedules.into_iter().filter_map(|(schedule, entry, last)| Some((schedule, entry?, last)));
    entries.filter(|(_, entry, last)| entry > last).collect()
}

/// The run that `--run` names, where a program needs one.
///
/// # Errors
/// None is named, which the operator must mend.
pub fn named_run(run: Option<&RunName>) -> Result<&RunName, RunError> {
    run.ok_or(RunError::Unnamed)
}

/// The configuration of a run that exists.
///
/// # Errors
/// There is no such run, which the operator must mend; a store that cannot be used.
pub fn run_config(run: &Run) -> Result<RunConfig, RunError> {
    run.config()?.ok_or_else(|| RunError::absent(run))
}

/// The configuration in a file and those that it extends, with other values for some keys, each as `section.key=value`.
///
/// # Errors
/// A file that cannot be read or is no configuration: the operator's to mend.
pub fn configuration(path: &Path, overrides: &[String]) -> Result<RunConfig, ConfigError> {
    RunConfig::load(path, overrides, |path| std::fs::read_to_string(path))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use config::Preset;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        config: ConfigArgs,
    }

    fn read(arguments: &[&str]) -> Result<Option<RunConfig>, RunError> {
        Program::parse_from(["program"].iter().chain(arguments)).config.read()
    }

    #[test]
    fn override_of_set_replaces_value_of_file() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/tiny.toml");
        let plain = read(&["--config", file]).unwrap().unwrap();
        let other = read(&["--config", file, "--set", "search.visits=7", "--set", "seed=9"]).unwrap().unwrap();
        assert_eq!((other.search.visits, other.seed), (7, 9));
        assert_ne!((plain.search.visits, plain.seed), (7, 9));
        assert!(read(&[]).unwrap().is_none());
    }

    #[test]
    fn given_values_that_schedules_replace_are_found() {
        let found = |file: &str, overrides: &[&str]| {
            let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
            let file = format!("{}/../../configs/{file}", env!("CARGO_MANIFEST_DIR"));
            let config = configuration(Path::new(&file), &overrides).unwrap();
            let found = replaced(&config, &overrides);
            found.iter().map(|(key, schedule, model)| format!("{key} {schedule} {model}")).collect::<Vec<_>>()
        };
        assert_eq!(found("9x9-strong.toml", &["search.visits = 7", "seed=2"]), ["search.visits search.phases 25"]);
        assert_eq!(
            found("9x9.toml", &["network.blocks=2", "network.filters=16"]),
            ["network.blocks train.grow 25", "network.filters train.grow 25"]
        );
        assert!(found("9x9.toml", &["network.blocks=2", "train.grow=[]"]).is_empty());
        assert!(found("9x9-strong.toml", &["search.visits=7", "search.phases=[]"]).is_empty());
        assert!(found("9x9-strong.toml", &["search.leaves=2"]).is_empty());
        assert!(found("tiny.toml", &["search.visits=7"]).is_empty());
    }

    #[test]
    fn schedules_that_a_run_does_not_reach_are_found() {
        let found = |preset: Preset, overrides: &[&str]| unreached(&preset.with(overrides).unwrap());
        let presets = [
            Preset::Base,
            Preset::NineByNine,
            Preset::NineByNineLarger,
            Preset::NineByNineFurther,
            Preset::NineByNineGpu,
            Preset::NineteenByNineteenGpu,
            Preset::Tiny,
            Preset::Minigo,
        ];
        for preset in presets {
            assert!(found(preset, &[]).is_empty(), "{preset:?}");
        }
        assert_eq!(
            found(Preset::NineByNine, &["loop.models=20"]),
            [("search.phases", 24, 20), ("train.grow", 25, 20), ("train.learning_rate", 8500, 2499)]
        );
        let ending = "train.learning_rate=[{from_step=0,rate=0.1},{from_step=10000,rate=0.01}]";
        assert_eq!(found(Preset::NineByNine, &[ending]), [("train.learning_rate", 10_000, 9999)]);
    }

    #[test]
    fn unusable_configuration_is_misconfigured() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../configs/tiny.toml");
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let cases: [(&[&str], &str); 4] = [
            (&["--set", "search.visits=7"], "add --config FILE"),
            (&["--config", "/nowhere.toml"], "cannot read /nowhere.toml"),
            (&["--config", file, "--set", "search.visist=7"], "search.visist"),
            (&["--config", other], other),
        ];
        for (arguments, what) in cases {
            let error = read(arguments).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
            assert!(error.class() == ExitClass::Configuration, "{error}");
        }
    }
}
