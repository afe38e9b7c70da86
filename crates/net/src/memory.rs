//! Memory that training frees stays with the process.
//!
//! A step of training allocates and frees the same few dozen tensors of some megabytes as the step before. By default
//! glibc gives so much memory back to the system each time and asks for it again, and every page comes back zeroed: a
//! tenth to a fifth of the time of a step.

use std::sync::Once;

/// Larger blocks than this come from the system one by one, as all above 32 MiB do by default.
#[cfg(target_env = "gnu")]
const LARGE: libc::c_int = 1 << 30;

/// Keeps memory that is freed. Once asked, for good, and for the whole process.
pub(crate) fn keep() {
    static ASKED: Once = Once::new();
    ASKED.call_once(ask);
}

#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the only way to tell glibc")]
fn ask() {
    // SAFETY: mallopt(3) takes numbers and may be called at any time; where it refuses, things stay as they are.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
        // Memory is asked for in pieces of this size.
        libc::mallopt(libc::M_TOP_PAD, 64 << 20);
    }
}

#[cfg(not(target_env = "gnu"))]
fn ask() {}
