//! A run: its configuration and its folders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use bytes::Bytes;
use config::{RunConfig, RunName};
use object_store::path::Path;
use record::GameSummary;

use crate::archive::Archives;
use crate::claims::Notices;
use crate::names::number_name;
use crate::resign::Newest;
use crate::{Changes, FileRef, Stem, Store, StoreError};

/// One run in a store. Cloning is cheap.
#[derive(Clone, Debug)]
pub struct Run {
    store: Store,
    name: RunName,
    /// The newest name seen in each folder whose names order by time, so that only what came since is asked for.
    newest: Arc<Mutex<BTreeMap<&'static str, String>>>,
    /// The newest threshold that was read.
    pub(crate) threshold: Arc<Mutex<Newest>>,
    /// What was last seen of the claims, and of the clock of the place.
    pub(crate) notices: Arc<Mutex<Notices>>,
    /// The models that were seen.
    pub(crate) models: Arc<Mutex<BTreeSet<u32>>>,
    /// The results that were read.
    pub(crate) results: Arc<Mutex<BTreeMap<Stem, Vec<GameSummary>>>>,
    /// The archives that were opened.
    pub(crate) archives: Arc<Mutex<Archives>>,
}

/// Above the configuration in `run.toml`.
const HEADER: &str = "# The configuration this run was started with. It does not change.\n";
/// Before its digest, in the line that follows.
const DIGEST: &str = "# Digest: ";

/// The folder of a copy of it under its digest, which tells what was changed in `run.toml`.
const COPIES: &str = "config";

impl Run {
    pub(crate) fn new(store: Store, name: RunName) -> Run {
        Run {
            store,
            name,
            newest: Arc::default(),
            threshold: Arc::default(),
            notices: Arc::default(),
            models: Arc::default(),
            results: Arc::default(),
            archives: Arc::default(),
        }
    }

    /// The name of the run.
    pub fn name(&self) -> &RunName {
        &self.name
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Whether the run has been created.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn exists(&self) -> Result<bool, StoreError> {
        self.store.exists(&self.config_path())
    }

    /// The configuration of the run; `None` before it is created.
    ///
    /// # Errors
    /// A store that cannot be reached, a file that is no configuration, or [`StoreError::Edited`] for one that was changed.
    pub fn config(&self) -> Result<Option<RunConfig>, StoreError> {
        let path = self.config_path();
        let Some(bytes) = self.store.find(&path)? else { return Ok(None) };
        let text = std::str::from_utf8(&bytes)
            .map_err(|e| StoreError::Damaged { path: self.store.name(&path), reason: e.to_string() })?;
        let config = RunConfig::from_toml(text);
        let config = config.map_err(|source| StoreError::Config { path: self.store.name(&path), source })?;
        self.check_unchanged(text, &config)?;
        Ok(Some(config))
    }

    /// Compares a configuration with the digest that was written above it, or with the name of its copy. Runs of earlier
    /// versions have neither.
    fn check_unchanged(&self, text: &str, config: &RunConfig) -> Result<(), StoreError> {
        let found = config.digest();
        let noted = text.lines().take_while(|line| line.starts_with('#')).find_map(|line| line.strip_prefix(DIGEST));
        let wanted = match noted {
            Some(noted) => noted.trim().to_owned(),
            None => {
                let copies = self.store.files(&self.path([COPIES]))?;
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
        let copy = self.store.find(&self.copy_path(&wanted))?;
        let before = copy.and_then(|bytes| RunConfig::from_toml(std::str::from_utf8(&bytes).ok()?).ok());
        let keys = before.map_or_else(Vec::new, |before| config.differences(&before));
        let changes = Box::new(Changes { keys, found, wanted });
        Err(StoreError::Edited { path: self.store.name(&self.config_path()), changes })
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
        match self.store.publish(&self.copy_path(&digest), text.clone()) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error),
        }
        match self.store.publish(&self.config_path(), text) {
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
        Err(StoreError::Conflict { path: self.store.name(&self.config_path()), changes: Box::new(changes) })
    }

    fn copy_path(&self, digest: &str) -> Path {
        self.path([COPIES]).join(format!("{digest}.toml"))
    }

    /// Publishes something under the name of the worker and the present time, or a later one: where somebody else goes on with
    /// games of this worker, both may publish some in the same millisecond.
    pub(crate) fn publish_now(
        &self,
        model: u32,
        worker: &str,
        publish: impl Fn(&FileRef) -> Result<(), StoreError>,
    ) -> Result<FileRef, StoreError> {
        let stem = self.at_free_time(worker, |stem| publish(&FileRef { model, stem: stem.clone() }))?;
        Ok(FileRef { model, stem })
    }

    /// Publishes something under the name of the worker and the present time, or a later one when that is taken.
    pub(crate) fn at_free_time(
        &self,
        worker: &str,
        publish: impl Fn(&Stem) -> Result<(), StoreError>,
    ) -> Result<Stem, StoreError> {
        loop {
            let stem = Stem::new(worker, self.store().now())?;
            match publish(&stem) {
                Err(StoreError::AlreadyExists { .. }) => {}
                done => return done.map(|()| stem),
            }
        }
    }

    /// Deletes what writers that were killed left behind on a local folder, where it is older than `age`, and answers
    /// how many files that were. Nothing ever reads such files; they only take room. A bucket has none.
    ///
    /// # Errors
    /// A folder that cannot be listed, or a file that cannot be deleted.
    pub fn sweep(&self, age: Duration) -> Result<usize, StoreError> {
        match self.store.folder() {
            Some(root) => {
                let folder = root.join(self.name.as_str());
                sweep(&folder, age).map_err(|e| StoreError::of_file_system("sweep", &folder, &e))
            }
            None => Ok(0),
        }
    }

    /// The newest name in a folder of which `counts` says that it does; `None` when there is none.
    ///
    /// What was the newest before is asked for once more only while nothing newer counts: somebody may have deleted it.
    pub(crate) fn newest_name(
        &self,
        folder: &'static str,
        counts: impl Fn(&str) -> Result<bool, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let known = self.known_name(folder);
        let later = self.store.after(&self.path([folder]), known.as_deref())?;
        for name in later.keys().rev() {
            if counts(name)? {
                self.learn_name(folder, name);
                return Ok(Some(name.clone()));
            }
        }
        match known {
            Some(name) if !counts(&name)? => {
                self.known().remove(folder);
                self.newest_name(folder, counts)
            }
            known => Ok(known),
        }
    }

    /// The newest name seen in a folder.
    pub(crate) fn known_name(&self, folder: &'static str) -> Option<String> {
        self.known().get(folder).cloned()
    }

    /// Remembers a name as the newest of a folder.
    pub(crate) fn learn_name(&self, folder: &'static str, name: &str) {
        self.known().insert(folder, name.to_owned());
    }

    fn known(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, String>> {
        self.newest.lock().expect("nobody panics while holding names")
    }

    /// A folder or file of the run.
    pub(crate) fn path<'a>(&'a self, parts: impl IntoIterator<Item = &'a str>) -> Path {
        std::iter::once(self.name.as_str()).chain(parts).collect()
    }

    /// The folder of a model or generation in one of the run's folders.
    pub(crate) fn numbered(&self, folder: &str, number: u32) -> Path {
        self.path([folder]).join(number_name(number))
    }

    fn config_path(&self) -> Path {
        self.path(["run.toml"])
    }
}

fn sweep(folder: &std::path::Path, age: Duration) -> io::Result<usize> {
    let mut swept = 0;
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            swept += sweep(&entry.path(), age)?;
        } else if is_staged(&entry.file_name().to_string_lossy()) && is_older(&entry, age)? {
            fs::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

/// Whether `object_store` names files so while it writes them: a final name, `#`, and a number.
fn is_staged(name: &str) -> bool {
    name.rsplit_once('#').is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn is_older(entry: &fs::DirEntry, age: Duration) -> io::Result<bool> {
    let written = entry.metadata()?.modified()?;
    // A file from the future is not older than anything.
    Ok(SystemTime::now().duration_since(written).is_ok_and(|since| since >= age))
}
