//! Streams, events and graphs of a GPU, which `tch` lacks: the Rust side of `shim.cpp`.
#![expect(unsafe_code, reason = "calls of C++")]

use std::any::Any;
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::NetError;

/// `c10::Event`.
#[repr(C)]
struct RawEvent {
    opaque: [u8; 0],
}

/// `at::cuda::CUDAGraph`.
#[repr(C)]
struct RawGraph {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn tengen_allow_tf32(allow: bool) -> *mut c_char;
    fn tengen_new_pool(pool: *mut u64) -> *mut c_char;
    fn tengen_begin_graph(pool: *const u64, graph: *mut *mut RawGraph) -> *mut c_char;
    fn tengen_end_graph(graph: *mut RawGraph) -> *mut c_char;
    fn tengen_replay_graph(graph: *mut RawGraph) -> *mut c_char;
    fn tengen_free_graph(graph: *mut RawGraph);
    fn tengen_init_cuda() -> *mut c_char;
    fn tengen_draw_stream(gpu: c_int, id: *mut i64) -> *mut c_char;
    fn tengen_use_stream(gpu: c_int, id: i64, before: *mut i64) -> *mut c_char;
    fn tengen_record_event(gpu: c_int, event: *mut *mut RawEvent) -> *mut c_char;
    fn tengen_has_happened(event: *const RawEvent, happened: *mut bool) -> *mut c_char;
    fn tengen_wait_for_event(event: *const RawEvent) -> *mut c_char;
    fn tengen_free_event(event: *mut RawEvent);
    fn tengen_free_message(message: *mut c_char);
}

/// Initialises CUDA.
///
/// # Errors
/// Why no GPU can be used: there is no driver, or one that is too old.
pub(crate) fn init_cuda() -> Result<(), NetError> {
    // SAFETY: the function takes and keeps nothing.
    check(unsafe { tengen_init_cuda() })
}

/// A stream of a GPU, on which the operations of a thread follow each other, and not those of other threads.
pub(crate) struct Stream {
    gpu: usize,
    id: i64,
    is_own: bool,
}

/// Draws until one is free. libtorch has 32 streams for each GPU.
const DRAWS: usize = 64;

impl Stream {
    /// Gives this thread a stream, one that no other [`Stream`] has as long as there are such.
    ///
    /// # Errors
    /// A GPU that cannot be used.
    pub(crate) fn take(gpu: usize) -> Result<Stream, NetError> {
        let stream = Stream::draw(gpu)?;
        stream.become_current()?;
        Ok(stream)
    }

    /// A stream for [`Stream::on`], one that no other [`Stream`] has as long as there are such.
    ///
    /// # Errors
    /// A GPU that cannot be used.
    pub(crate) fn draw(gpu: usize) -> Result<Stream, NetError> {
        let mut stream = Stream { gpu, id: 0, is_own: false };
        for _ in 0..DRAWS {
            // SAFETY: the function takes a number and writes one.
            check(unsafe { tengen_draw_stream(number(gpu), &raw mut stream.id) })?;
            stream.is_own = streams_in_use().insert((gpu, stream.id));
            if stream.is_own {
                break;
            }
        }
        Ok(stream)
    }

    /// Starts the operations of `work` on this stream, and waits until they are done. The thread has its stream back
    /// then.
    ///
    /// # Errors
    /// Those of `work`, or an operation that failed on the device.
    pub(crate) fn on<T>(&self, work: impl FnOnce() -> Result<T, NetError>) -> Result<T, NetError> {
        let before = Stream { gpu: self.gpu, id: self.become_current()?, is_own: false };
        // A panic would leave the thread with this stream.
        let done = unpanicked(work);
        let waited = Event::record(self.gpu).and_then(|event| event.wait());
        before.become_current()?;
        let done = done?;
        waited?;
        Ok(done)
    }

    /// Makes it the stream of this thread; returns the one before.
    fn become_current(&self) -> Result<i64, NetError> {
        let mut before = 0;
        // SAFETY: the function takes the number of a GPU and that of a stream which it has, and writes one.
        check(unsafe { tengen_use_stream(number(self.gpu), self.id, &raw mut before) })?;
        Ok(before)
    }

    /// Whether no other thread of ours uses it. What is recorded on a shared one may be another thread's.
    pub(crate) fn is_own(&self) -> bool {
        self.is_own
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.is_own {
            streams_in_use().remove(&(self.gpu, self.id));
        }
    }
}

/// The streams that threads of this process have, by GPU and number.
fn streams_in_use() -> MutexGuard<'static, BTreeSet<(usize, i64)>> {
    static IN_USE: Mutex<BTreeSet<(usize, i64)>> = Mutex::new(BTreeSet::new());
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The moment at which all that a thread had started on its stream is done.
pub(crate) struct Event(*mut RawEvent);

// SAFETY: an event may be used from any thread, from one at a time.
unsafe impl Send for Event {}

impl Event {
    /// After all that this thread has started on a GPU so far.
    pub(crate) fn record(gpu: usize) -> Result<Event, NetError> {
        let mut event = Event(null_mut());
        // SAFETY: the function writes an event or nothing; `event` frees what it writes.
        check(unsafe { tengen_record_event(number(gpu), &raw mut event.0) })?;
        Ok(event)
    }

    /// Whether it has happened.
    pub(crate) fn has_happened(&self) -> Result<bool, NetError> {
        let mut happened = false;
        // SAFETY: the event was made by `record`, and lives.
        check(unsafe { tengen_has_happened(self.0, &raw mut happened) })?;
        Ok(happened)
    }

    /// Blocks until it has happened.
    pub(crate) fn wait(&self) -> Result<(), NetError> {
        // SAFETY: as above.
        check(unsafe { tengen_wait_for_event(self.0) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: nothing else has the event; deleting none is allowed.
        unsafe { tengen_free_event(self.0) }
    }
}

/// Keeps libtorch from rounding f32 to TF32 on GPUs, as it does by default: f32 is chosen where bf16 is not exact
/// enough.
pub(crate) fn forbid_tf32() -> Result<(), NetError> {
    // SAFETY: the function sets a flag.
    check(unsafe { tengen_allow_tf32(false) })
}

/// Memory for graphs that never run at the same time.
pub(crate) struct Pool([u64; 2]);

impl Pool {
    /// # Errors
    /// This libtorch has no graphs.
    pub(crate) fn new() -> Result<Pool, NetError> {
        let mut pool = [0; 2];
        // SAFETY: the function writes two numbers.
        check(unsafe { tengen_new_pool(pool.as_mut_ptr()) })?;
        Ok(Pool(pool))
    }
}

/// Operations that were recorded once and are started together, as one.
pub(crate) struct Graph(*mut RawGraph);

// SAFETY: a graph may be used from any thread, from one at a time. Recording and freeing one changes what libtorch
// keeps for all of a device, and is done under `recording`.
unsafe impl Send for Graph {}

/// Held while a graph is recorded or freed.
fn recording() -> MutexGuard<'static, ()> {
    static RECORDING: Mutex<()> = Mutex::new(());
    RECORDING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Graph {
    /// Records what `work` starts on this thread's stream, which is not to wait for the device.
    ///
    /// # Errors
    /// Those of `work`, or an operation that cannot be recorded.
    pub(crate) fn record<T>(pool: &Pool, work: impl FnOnce() -> Result<T, NetError>) -> Result<(Graph, T), NetError> {
        let mut graph = Graph(null_mut());
        let guard = recording();
        // SAFETY: the function reads two numbers and writes a graph or nothing; `graph` frees what it writes.
        let begun = check(unsafe { tengen_begin_graph(pool.0.as_ptr(), &raw mut graph.0) });
        if let Err(error) = begun {
            drop(guard);
            return Err(error);
        }
        // A panic would leave the stream recording.
        let done = unpanicked(work);
        // SAFETY: recording of this graph has begun.
        let ended = check(unsafe { tengen_end_graph(graph.0) });
        drop(guard);
        let done = done?;
        ended?;
        Ok((graph, done))
    }

    /// Starts what was recorded.
    pub(crate) fn replay(&self) -> Result<(), NetError> {
        // SAFETY: the graph was recorded and lives.
        check(unsafe { tengen_replay_graph(self.0) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let _recording = recording();
        // SAFETY: nothing else has the graph; deleting none is allowed.
        unsafe { tengen_free_graph(self.0) }
    }
}

/// The result of `work`, or the message that it panicked with. An operation of `tch` with a number among its arguments
/// panics where it should fail: the number finds the error when it is dropped. So do operators.
pub(crate) fn unpanicked<T>(work: impl FnOnce() -> Result<T, NetError>) -> Result<T, NetError> {
    let message = |panic: Box<dyn Any + Send>| match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast_ref::<&str>().unwrap_or(&"an operation of libtorch panicked")).to_owned(),
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(NetError::of_libtorch(&message(panic))))
}

/// The same on a GPU, where memory runs out. On a CPU a panic is one of ours.
pub(crate) fn unpanicked_on<T>(device: tch::Device, work: impl FnOnce() -> Result<T, NetError>) -> Result<T, NetError> {
    if device.is_cuda() { unpanicked(work) } else { work() }
}

fn number(gpu: usize) -> c_int {
    c_int::try_from(gpu).unwrap_or(c_int::MAX)
}

/// The error in a message, if there is one.
pub(crate) fn check(message: *mut c_char) -> Result<(), NetError> {
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: a message is a string of C++'s making, which is freed once, after the copy.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: as above.
    unsafe { tengen_free_message(message) };
    Err(NetError::of_libtorch(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::{CudaLibrary, load_cuda};

    #[test]
    fn panics_are_errors() {
        let error = unpanicked(|| -> Result<(), NetError> { panic!("CUDA {} of memory", "out") }).unwrap_err();
        assert!(matches!(error, NetError::Torch(message) if message == "CUDA out of memory"));
        assert_eq!(unpanicked(|| Ok(3)).unwrap(), 3);
        let zeros = |len: i64| tch::Tensor::zeros([len], (tch::Kind::Float, tch::Device::Cpu));
        let message = unpanicked(|| Ok(zeros(2) + zeros(3))).unwrap_err().to_string();
        assert!(message.starts_with("libtorch: The size of tensor") && !message.contains("frame #"), "{message}");
    }

    #[test]
    fn graphs_are_there_with_the_cuda_library_and_an_error_without() {
        let library = load_cuda().unwrap();
        match (library, Pool::new()) {
            (CudaLibrary::Loaded { .. }, Ok(_)) => {}
            (CudaLibrary::Absent { .. }, Err(error)) => {
                assert!(error.to_string().contains("this libtorch has no"), "{error}");
            }
            (library, found) => panic!("{library:?}: {:?}", found.map(drop)),
        }
    }

    /// No machine has so many GPUs, and few that run this test have any.
    #[test]
    fn gpu_that_is_not_there_is_an_error_and_no_crash() {
        let of_stream = |gpu| Stream::take(gpu).map(drop);
        for result in [of_stream(100), Event::record(100).map(drop)] {
            assert!(matches!(result, Err(NetError::Torch(message)) if !message.is_empty()));
        }
        // Without a check the first would be GPU 0, and the second the current one.
        for gpu in [256, usize::MAX] {
            for result in [of_stream(gpu), Event::record(gpu).map(drop)] {
                let message = result.unwrap_err().to_string();
                assert!(message.contains(&format!("there is no GPU {}", number(gpu))), "{message}");
            }
        }
    }
}
