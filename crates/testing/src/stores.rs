//! Stores with faults, and as a process with a wrong clock sees them.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use store::{Run, Stem, Store};

use crate::faults::{Fault, FaultInjector};

/// Faults of every transport.
const TRANSPORT: &[Fault] = &[Fault::RequestLost, Fault::ResponseLost, Fault::Delayed];

/// The same store, where one request in `one_in` is lost, or late, or its response is lost; `seed` decides which.
pub fn with_faults(store: &Store, one_in: u32, seed: u64) -> Store {
    let faults = FaultInjector::new(TRANSPORT, one_in, seed);
    store.with_objects(|objects| Arc::new(Faulty { objects, faults, vanishing: false, reads: None, guard: None }))
}

/// The same store, where a file that is in the way of another is gone right after: its process has deleted it.
pub fn with_vanishing_files(store: &Store) -> Store {
    let faults = FaultInjector::new(TRANSPORT, 0, 0);
    store.with_objects(|objects| Arc::new(Faulty { objects, faults, vanishing: true, reads: None, guard: None }))
}

/// The same store, where every read is late, and the most reads that were in flight at once so far.
pub fn with_slow_reads(store: &Store) -> (Store, Arc<AtomicUsize>) {
    let (faults, most) = (FaultInjector::new(TRANSPORT, 0, 0), Arc::<AtomicUsize>::default());
    let reads = Some((AtomicUsize::new(0), most.clone()));
    let slow = store.with_objects(|objects| Arc::new(Faulty { objects, faults, vanishing: false, reads, guard: None }));
    (slow, most)
}

/// The same store in a process that is late, or stops: `guard` is called before each of these requests, and may do with
/// the store what other processes do meanwhile. A request for which it returns false is refused, and not made again.
pub fn with_guard(store: &Store, guard: impl Fn(Access) -> bool + Send + Sync + 'static) -> Store {
    let (faults, guard) = (FaultInjector::new(TRANSPORT, 0, 0), Some(Guard(Arc::new(guard))));
    store.with_objects(|objects| Arc::new(Faulty { objects, faults, vanishing: false, reads: None, guard }))
}

/// The run in a process that is killed after so many writes.
pub fn killed(run: &Run, writes: usize) -> Run {
    killed_after(run, Access::Put, writes)
}

/// The run in a process that is killed after so many requests of a kind.
pub fn killed_after(run: &Run, kind: Access, requests: usize) -> Run {
    let made = AtomicUsize::new(0);
    let guard = move |access: Access| access != kind || made.fetch_add(1, Ordering::Relaxed) < requests;
    with_guard(run.store(), guard).run(run.name())
}

/// The same store in a process whose clock is ahead by so many milliseconds. No time comes twice.
pub fn with_clock_ahead(store: &Store, milliseconds: i64) -> Store {
    let stem = || Stem::now("clock").expect("the name is a good one");
    store.with_clock(move || stem().time().saturating_add_signed(milliseconds))
}

/// A request for one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Of its bytes, or of what there is to know of it.
    Get,
    /// To write it.
    Put,
    /// To delete it.
    Delete,
}

/// What is called before each request.
#[derive(Clone)]
struct Guard(Arc<dyn Fn(Access) -> bool + Send + Sync>);

impl Guard {
    /// Calls it on a thread of its own, since this one may not wait for another request.
    fn check(&self, access: Access, at: &Path) -> Result<()> {
        match thread::scope(|scope| scope.spawn(|| (self.0)(access)).join()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::PermissionDenied { path: at.to_string(), source: "the guard refused it".into() }),
            Err(failed) => panic::resume_unwind(failed),
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guard")
    }
}

/// Objects under fault injection: requests are lost before they are carried out, or their responses are lost, or late.
#[derive(Debug)]
struct Faulty {
    objects: Arc<dyn ObjectStore>,
    faults: FaultInjector,
    /// Whether a file is deleted that a put finds in its way.
    vanishing: bool,
    /// Where reads are late: those in flight, and the most there were.
    reads: Option<(AtomicUsize, Arc<AtomicUsize>)>,
    /// What is called before requests.
    guard: Option<Guard>,
}

impl Faulty {
    fn check(&self, access: Access, at: &Path) -> Result<()> {
        self.guard.as_ref().map_or(Ok(()), |guard| guard.check(access, at))
    }

    async fn meet<T>(&self, request: impl Future<Output = Result<T>>) -> Result<T> {
        match self.faults.draw() {
            Some(Fault::RequestLost) => return Err(lost("request")),
            Some(Fault::ResponseLost) => return request.await.and_then(|_| Err(lost("response"))),
            Some(Fault::Delayed) => tokio::time::sleep(Fault::DELAY).await,
            _ => {}
        }
        request.await
    }

    /// As `meet`, for reads.
    async fn read<T>(&self, request: impl Future<Output = Result<T>>) -> Result<T> {
        if let Some((now, most)) = &self.reads {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            tokio::time::sleep(Fault::DELAY).await;
            now.fetch_sub(1, Ordering::Relaxed);
        }
        self.meet(request).await
    }

    /// As `meet`, for responses in parts: they are lost, each after it is done or all before.
    fn meet_stream<T: Send + 'static>(&self, parts: BoxStream<'static, Result<T>>) -> BoxStream<'static, Result<T>> {
        match self.faults.draw() {
            Some(Fault::RequestLost) => stream::iter([Err(lost("request"))]).boxed(),
            Some(Fault::ResponseLost) => parts
                .map(|part| part.and_then(|_| Err(lost("response"))))
                .chain(stream::iter([Err(lost("response"))]))
                .boxed(),
            _ => parts,
        }
    }
}

fn lost(what: &str) -> Error {
    Error::Generic { store: "faulty", source: io::Error::other(format!("the {what} was lost")).into() }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Faulty({})", self.objects)
    }
}

#[async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, at: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.check(Access::Put, at)?;
        let put = self.meet(self.objects.put_opts(at, payload, options)).await;
        if self.vanishing && matches!(put, Err(Error::AlreadyExists { .. })) {
            let paths = stream::iter([Ok(at.clone())]).boxed();
            for deleted in self.objects.delete_stream(paths).collect::<Vec<_>>().await {
                deleted?;
            }
        }
        put
    }

    async fn put_multipart_opts(&self, at: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.meet(self.objects.put_multipart_opts(at, options)).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.check(Access::Get, at)?;
        self.read(self.objects.get_opts(at, options)).await
    }

    async fn get_ranges(&self, at: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check(Access::Get, at)?;
        self.read(self.objects.get_ranges(at, ranges)).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let Some(guard) = self.guard.clone() else { return self.meet_stream(self.objects.delete_stream(paths)) };
        let allowed = move |path: Path| guard.check(Access::Delete, &path).map(|()| path);
        self.meet_stream(self.objects.delete_stream(paths.map(move |path| path.and_then(&allowed)).boxed()))
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.meet_stream(self.objects.list(prefix))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        self.meet_stream(self.objects.list_with_offset(prefix, offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.meet(self.objects.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.meet(self.objects.copy_opts(from, to, options)).await
    }
}
