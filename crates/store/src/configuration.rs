//! The configuration of a run: `run.toml`, with which the run exists.

use bytes::Bytes;
use config::{ConfigError, RunConfig};
use object_store::path::Path;

use crate::error::{Changes, StoreError};
use crate::folder::RunFolder;
use crate::run::Run;

/// Above the configuration in `run.toml`.
const HEADER: &str = "# The configuration this run was started with. Only [retention] may be edited.\n";
/// Before its digest, in the line that follows.
const DIGEST: &str = "# Digest: ";

/// The folder of a copy of it under its digest, which shows what was changed in `run.toml`.
const COPIES: &str = "config";

impl Run {
    /// Whether the run has been created.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn exists(&self) -> Result<bool, StoreError> {
        self.store().exists(&config_path(self.folder()))
    }

    /// The configuration of the run; `None` before it is created.
    ///
    /// # Errors
    /// A store that cannot be reached, a file that is no configuration, or [`StoreError::Edited`] for one that was
    /// changed.
    pub fn config(&self) -> Result<Option<RunConfig>, StoreError> {
        let path = config_path(self.folder());
        let Some(bytes) = self.store().find(&path)? else { return Ok(None) };
        let text = std::str::from_utf8(&bytes)
            .map_err(|e| StoreError::Damaged { path: self.store().name(&path), reason: e.to_string() })?;
        let config = RunConfig::from_toml(text).map_err(|source| unusable(self.store().name(&path), source))?;
        self.check_unchanged(text, &config)?;
        Ok(Some(config))
    }

    /// Compares a configuration with the digest that was written above it, or, where an editor removed that line, with
    /// the name of its copy.
    fn check_unchanged(&self, text: &str, config: &RunConfig) -> Result<(), StoreError> {
        let found = config.digest();
        let noted = text.lines().take_while(|line| line.starts_with('#')).find_map(|line| line.strip_prefix(DIGEST));
        let wanted = match noted {
            Some(noted) => noted.trim().to_owned(),
            None => {
                let copies = self.store().files(&self.folder().path([COPIES]))?;
                let digests: Vec<&str> = copies.iter().filter_map(|name| name.strip_suffix(".toml")).collect();
                match digests.first() {
                    Some(first) if !digests.contains(&found.as_str()) => (*first).to_owned(),
                    _ => return Ok(()),
                }
            }
        };
        if wanted == found {
            return Ok(());
        }
        let copy = self.store().find(&copy_path(self.folder(), &wanted))?;
        let before = copy.and_then(|bytes| RunConfig::from_toml(std::str::from_utf8(&bytes).ok()?).ok());
        let keys = before.map_or_else(Vec::new, |before| config.differences(&before));
        let changes = Box::new(Changes { keys, found, wanted });
        Err(StoreError::Edited { path: self.store().name(&config_path(self.folder())), changes })
    }

    /// Creates the run, unless it exists with this same configuration.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it exists with another one.
    pub fn create(&self, config: &RunConfig) -> Result<(), StoreError> {
        if let Some(found) = self.config()? {
            return self.compare(&found, config);
        }
        let digest = config.digest();
        let text = Bytes::from(format!("{HEADER}{DIGEST}{digest}\n{}", config.to_toml()));
        // Before the run exists, so that every run has its copy. Another text of the same digest is as good.
        match self.store().publish(&copy_path(self.folder(), &digest), text.clone()) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error),
        }
        match self.store().publish(&config_path(self.folder()), text) {
            Err(StoreError::AlreadyExists { path }) => match self.config()? {
                Some(found) => self.compare(&found, config),
                None => Err(StoreError::AlreadyExists { path }),
            },
            done => done,
        }
    }

    fn compare(&self, found: &RunConfig, wanted: &RunConfig) -> Result<(), StoreError> {
        let changes = Changes { keys: found.differences(wanted), found: found.digest(), wanted: wanted.digest() };
        if changes.found == changes.wanted {
            return Ok(());
        }
        Err(StoreError::Conflict { path: self.store().name(&config_path(self.folder())), changes: Box::new(changes) })
    }
}

/// The error of a `run.toml`. It began with all keys of its version, and its digest covers them: a key that is added to
/// it does not help, but for those of `[retention]`.
fn unusable(path: String, source: ConfigError) -> StoreError {
    let is_fixed = |key: &str| !key.starts_with("retention");
    match source {
        ConfigError::Missing { key } if is_fixed(&key) => {
            StoreError::OtherKeys { path, problem: format!("missing key {key}") }
        }
        ConfigError::UnknownKey { key, .. } if is_fixed(&key) => {
            StoreError::OtherKeys { path, problem: format!("unknown key {key}") }
        }
        source => StoreError::Config { path, source },
    }
}

fn config_path(at: &RunFolder) -> Path {
    at.path(["run.toml"])
}

fn copy_path(at: &RunFolder, digest: &str) -> Path {
    at.path([COPIES]).join(format!("{digest}.toml"))
}
