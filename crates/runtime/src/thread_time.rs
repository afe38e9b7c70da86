//! The clock that runs only while a thread is on a core.

use std::time::Duration;

/// How long this thread was on a core since it began; `None` where the system does not tell. proc(5),
/// `/proc/[pid]/schedstat`.
pub fn thread_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
