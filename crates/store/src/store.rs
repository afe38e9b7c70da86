//! The object layer: reading, publishing and deleting objects, each a blocking call that is retried.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use crate::classify;
use crate::error::{Doing, StoreError};
use crate::executor::Executor;
use crate::names;
use crate::open::{self, Absent, Location};
use crate::retry::Retry;
use crate::traffic::{self, Operation};

/// The store of all runs.
///
/// Cloning is cheap, and clones may be used from several threads. Calls block.
///
/// # Panics
/// A call panics on a thread that drives asynchronous tasks. `spawn_blocking` of tokio has threads for it.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    location: Location,
    executor: Arc<Executor>,
    /// The time in milliseconds since 1970.
    clock: Clock,
    /// Called after every request that succeeded.
    progress: Progress,
}

type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
type Progress = Arc<dyn Fn() + Send + Sync>;

impl Store {
    /// Opens the store at a folder, which is created where it does not exist, or at a URL: `file:///path`,
    /// `s3://bucket/prefix` or `gs://bucket/prefix`. A bucket is not contacted before it is used.
    ///
    /// # Errors
    /// A URL that means no store, or a folder that cannot be created.
    pub fn open(location: &str) -> Result<Store, StoreError> {
        Store::open_with(location, &[])
    }

    /// As [`Store::open`], with options for a bucket that go before those of the environment, as `object_store` names
    /// them: `aws_endpoint`, `aws_access_key_id`, ….
    ///
    /// # Errors
    /// As [`Store::open`]; an option that does not exist.
    pub fn open_with(location: &str, options: &[(String, String)]) -> Result<Store, StoreError> {
        Store::at(open::open(location, options, Absent::Create)?)
    }

    /// As [`Store::open`], for programs that only read: a folder that does not exist is an error.
    ///
    /// # Errors
    /// A URL that means no store, or a folder that is not there.
    pub fn open_existing(location: &str) -> Result<Store, StoreError> {
        Store::at(open::open(location, &[], Absent::Refuse)?)
    }

    /// As [`Store::open`], for commands that begin no run, and whose built-in models need no store: a folder that does
    /// not exist is a store without runs, and is not created.
    ///
    /// # Errors
    /// A URL that means no store, or a folder that cannot be looked into.
    pub fn open_or_empty(location: &str) -> Result<Store, StoreError> {
        Store::at(open::open(location, &[], Absent::Empty)?)
    }

    /// Whether a location is a folder that is not there, which [`Store::open`] would make.
    pub fn is_absent_folder(location: &str) -> bool {
        open::is_absent_folder(location)
    }

    /// A location as messages show it: a URL without the credentials that [`Store::open`] would refuse.
    pub fn shown(location: &str) -> String {
        open::without_credentials(location)
    }

    /// A store that is gone with its last clone.
    ///
    /// # Errors
    /// When the system has no free resources.
    pub fn in_memory() -> Result<Store, StoreError> {
        Store::at(open::in_memory("memory".to_owned()))
    }

    fn at(location: Location) -> Result<Store, StoreError> {
        let executor = Executor::new()
            .map_err(|e| StoreError::BadUrl { url: location.root.clone(), reason: format!("no runtime: {e}") })?;
        let (executor, clock, progress) = (Arc::new(executor), Arc::new(names::now), Arc::new(|| ()));
        Ok(Store(Arc::new(Inner { location, executor, clock, progress })))
    }

    /// The same store with a decorator around its objects, which every request goes through.
    #[cfg(any(test, feature = "testing"))]
    pub fn with_objects(&self, decorate: impl FnOnce(Arc<dyn ObjectStore>) -> Arc<dyn ObjectStore>) -> Store {
        let mut inner = Inner::clone(&self.0);
        inner.location.objects = decorate(inner.location.objects);
        // Lists by the beginnings of names would go past it.
        inner.location.pages = None;
        Store(Arc::new(inner))
    }

    /// The same store in a process with this clock, in milliseconds since 1970.
    #[cfg(any(test, feature = "testing"))]
    pub fn with_clock(&self, clock: impl Fn() -> u64 + Send + Sync + 'static) -> Store {
        Store(Arc::new(Inner { clock: Arc::new(clock), ..Inner::clone(&self.0) }))
    }

    /// The same store, where every request that succeeds is noted: for processes whose progress is that of their
    /// requests.
    pub fn with_progress(&self, note: impl Fn() + Send + Sync + 'static) -> Store {
        Store(Arc::new(Inner { progress: Arc::new(note), ..Inner::clone(&self.0) }))
    }

    /// The time by the clock of this process, in milliseconds since 1970, which gives no time twice.
    pub(crate) fn now(&self) -> u64 {
        (self.0.clock)()
    }

    /// Where the store is, as errors name it.
    pub fn root(&self) -> &str {
        &self.0.location.root
    }

    /// The full name of a file, for messages.
    pub(crate) fn name(&self, path: &Path) -> String {
        format!("{}/{path}", self.root())
    }

    /// The whole contents of a file.
    pub(crate) fn get(&self, path: &Path) -> Result<Bytes, StoreError> {
        let at = self.full(path);
        let read = async || self.objects().get(&at).await?.bytes().await;
        let bytes = self.request(Operation::Get, read).map_err(|e| self.error(Doing::Read, path, &e))?;
        traffic::read(bytes.len());
        Ok(bytes)
    }

    /// The contents of a file, if there is one.
    pub(crate) fn find(&self, path: &Path) -> Result<Option<Bytes>, StoreError> {
        match self.get(path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The length and the version of a file, and when it was written.
    pub(crate) fn object(&self, path: &Path) -> Result<ObjectMeta, StoreError> {
        self.head(path).map_err(|e| self.error(Doing::Read, path, &e))
    }

    /// The last bytes of a file, as many as requested or all there are, and its length.
    pub(crate) fn end(&self, path: &Path, bytes: u64) -> Result<(Bytes, u64), StoreError> {
        if self.folder().is_none() {
            // A server refuses the end of an empty file.
            let size = self.object(path)?.size;
            return Ok((self.range(path, size.saturating_sub(bytes)..size)?, size));
        }
        let at = self.full(path);
        let read = async || {
            let options = GetOptions { range: Some(GetRange::Suffix(bytes)), ..GetOptions::default() };
            let found = self.objects().get_opts(&at, options).await?;
            let size = found.meta.size;
            Ok((found.bytes().await?, size))
        };
        let (end, size) = self.request(Operation::Get, read).map_err(|e| self.error(Doing::Read, path, &e))?;
        traffic::read(end.len());
        Ok((end, size))
    }

    /// Some bytes of a file.
    pub(crate) fn range(&self, path: &Path, range: Range<u64>) -> Result<Bytes, StoreError> {
        let mut parts = self.ranges(path, &[range])?;
        Ok(parts.pop().unwrap_or_default())
    }

    /// Some bytes of a file, for each range; what lies close together is read at once.
    pub(crate) fn ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StoreError> {
        if ranges.iter().all(|range| range.is_empty()) {
            return Ok(vec![Bytes::new(); ranges.len()]);
        }
        let at = self.full(path);
        let read = async || self.objects().get_ranges(&at, ranges).await;
        let parts = self.request(Operation::Get, read).map_err(|e| self.error(Doing::Read, path, &e))?;
        traffic::read(parts.iter().map(Bytes::len).sum());
        Ok(parts)
    }

    /// Whether there is such a file.
    pub(crate) fn exists(&self, path: &Path) -> Result<bool, StoreError> {
        match self.head(path) {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.error(Doing::Read, path, &error)),
        }
    }

    /// When a file was written by the clock of the place, in milliseconds since 1970; `None` when there is none.
    pub(crate) fn written_at(&self, path: &Path) -> Result<Option<i64>, StoreError> {
        match self.head(path) {
            Ok(found) => Ok(Some(found.last_modified.timestamp_millis())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.error(Doing::Read, path, &error)),
        }
    }

    /// What there is to know of a file without reading it.
    fn head(&self, path: &Path) -> object_store::Result<ObjectMeta> {
        let at = self.full(path);
        let head = || self.request(Operation::Head, async || self.objects().head(&at).await);
        match head() {
            // The response to a HEAD has no body that could say why, and that to a get has. Where the get succeeds, the
            // machine may have slept, so that the signature of the HEAD was too old.
            Err(object_store::Error::PermissionDenied { .. }) => {
                self.request(Operation::Get, async || self.objects().get(&at).await.map(drop))?;
                head()
            }
            found => found,
        }
    }

    /// Publishes a file: it appears whole, under its final name, once.
    ///
    /// Publishing the same bytes again is no error, so that a process that was killed, or runs twice, may repeat
    /// itself; a put whose response was lost and that is tried again counts as one. On a folder the bytes are written
    /// aside (as `name#1`, which no listing shows), synced, and hard-linked to the name, which fails where the name is
    /// taken; in a bucket it is one conditional put.
    pub(crate) fn publish(&self, path: &Path, bytes: Bytes) -> Result<(), StoreError> {
        let at = self.full(path);
        let options = PutOptions::from(PutMode::Create);
        let put = async || self.objects().put_opts(&at, bytes.clone().into(), options.clone()).await;
        match self.request(Operation::Put, put) {
            Ok(_) => {
                traffic::written(bytes.len());
                Ok(())
            }
            Err(error @ (object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. })) => {
                match self.find(path)? {
                    Some(there) if there == bytes => Ok(()),
                    // One that is gone at the comparison was another process's, too. A missing file would be the
                    // operator's to mend, and no restart would help.
                    _ => Err(self.error(Doing::Write, path, &error)),
                }
            }
            Err(error) => Err(self.error(Doing::Write, path, &error)),
        }
    }

    /// Writes a file where there may be another one, as whatever damages a store does.
    ///
    /// # Errors
    /// A store that cannot be written.
    #[cfg(any(test, feature = "testing"))]
    pub fn overwrite(&self, path: &str, bytes: Vec<u8>) -> Result<(), StoreError> {
        let (path, bytes) = (Path::from(path), Bytes::from(bytes));
        let at = self.full(&path);
        let put = async || self.objects().put(&at, bytes.clone().into()).await;
        self.request(Operation::Put, put).map(drop).map_err(|e| self.error(Doing::Write, &path, &e))
    }

    /// Publishes a file of a name that is new, if that succeeds at once; returns whether it did.
    pub(crate) fn publish_if_reachable(&self, path: &Path, bytes: Bytes) -> bool {
        let at = self.full(path);
        let (length, options) = (bytes.len(), PutOptions::from(PutMode::Create));
        Operation::Put.asked();
        match self.0.executor.block_on(self.objects().put_opts(&at, bytes.into(), options)) {
            Ok(_) => {
                traffic::written(length);
                true
            }
            Err(error) => {
                tracing::debug!(%error, path = %at, "cannot write object");
                false
            }
        }
    }

    /// Deletes everything in a folder, `first` before anything else: the file whose presence makes the others count.
    pub(crate) fn delete_folder(&self, folder: &Path, first: &str) -> Result<(), StoreError> {
        self.delete(&folder.clone().join(first))?;
        let at = self.full(folder);
        let list = async || self.objects().list(Some(&at)).try_collect::<Vec<_>>().await;
        let found = self.request(Operation::List, list);
        for object in found.map_err(|e| self.error(Doing::List, folder, &e))? {
            self.delete_full(&object.location).map_err(|e| self.error(Doing::Delete, folder, &e))?;
        }
        match &self.0.location.folder {
            // Deletes what killed writers abandoned and the folder itself, which a listing would show.
            Some(root) => self.remove_dir(&root.join(folder.as_ref())),
            None => Ok(()),
        }
    }

    /// Deletes a folder on this machine if nothing is in it. Buckets have no folders.
    pub(crate) fn delete_empty_folder(&self, folder: &Path) {
        if let Some(root) = &self.0.location.folder
            && let Err(error) = std::fs::remove_dir(root.join(folder.as_ref()))
        {
            tracing::debug!(%error, "folder not deleted");
        }
    }

    fn remove_dir(&self, dir: &std::path::Path) -> Result<(), StoreError> {
        match std::fs::remove_dir_all(dir) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::of_file_system(Doing::Delete, dir, &e)),
            _ => Ok(()),
        }
    }

    /// Deletes a file; one that is gone already is no error.
    pub(crate) fn delete(&self, path: &Path) -> Result<(), StoreError> {
        self.delete_full(&self.full(path)).map_err(|e| self.error(Doing::Delete, path, &e))
    }

    /// Deletes a file if that succeeds at once.
    pub(crate) fn delete_if_reachable(&self, path: &Path) {
        let at = self.full(path);
        Operation::Delete.asked();
        if let Err(error) = self.0.executor.block_on(self.objects().delete(&at)) {
            tracing::debug!(%error, path = %at, "cannot delete object");
        }
    }

    fn delete_full(&self, at: &Path) -> object_store::Result<()> {
        match self.request(Operation::Delete, async || self.objects().delete(at).await) {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            done => done,
        }
    }

    /// The folder on this machine, when the store is one.
    pub(crate) fn folder(&self) -> Option<&std::path::Path> {
        self.0.location.folder.as_deref()
    }

    /// Lists by how names begin, where the place has that.
    pub(crate) fn pages(&self) -> Option<&dyn PaginatedListStore> {
        self.0.location.pages.as_deref()
    }

    pub(crate) fn objects(&self) -> &dyn ObjectStore {
        self.0.location.objects.as_ref()
    }

    /// The path in the place, with its prefix.
    pub(crate) fn full(&self, path: &Path) -> Path {
        self.0.location.prefix.parts().chain(path.parts()).collect()
    }

    /// Runs an operation, and retries it with back-off after a transient error.
    ///
    /// So every request must be one that may be made twice. A put is: the present object is then compared with the
    /// new one.
    pub(crate) fn request<T>(
        &self,
        operation: Operation,
        work: impl AsyncFn() -> object_store::Result<T>,
    ) -> object_store::Result<T> {
        let mut retry = Retry::new(self.0.location.folder.is_some());
        loop {
            operation.asked();
            match self.0.executor.block_on(work()) {
                Err(error) if retry.wait_after(&error) => operation.again(),
                answer => {
                    if answer.is_ok() {
                        (self.0.progress)();
                    }
                    return answer.inspect_err(|error| operation.failed(error));
                }
            }
        }
    }

    pub(crate) fn error(&self, doing: Doing, path: &Path, error: &object_store::Error) -> StoreError {
        classify::store_error(self.root(), doing, self.name(path), error)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({})", self.root())
    }
}
