//! A global allocator that counts, for tests that a path allocates nothing, or no more than it should.

#![expect(unsafe_code, reason = "the only way to count what is allocated")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The system's allocator, counting what each thread asks of it. A test makes it its `#[global_allocator]`.
#[derive(Clone, Copy, Debug)]
pub struct CountingAllocator;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

static BYTES: AtomicU64 = AtomicU64::new(0);

impl CountingAllocator {
    /// Allocations of this thread so far.
    pub fn calls(&self) -> u64 {
        CALLS.get()
    }

    /// Bytes that all threads have allocated so far, those that were freed included.
    pub fn bytes(&self) -> u64 {
        BYTES.load(Ordering::Relaxed)
    }
}

// SAFETY: the system's allocator does the work; the cell is a constant that needs no allocation and no destructor, and
// the atomic is a static.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}
