//! Where a process has its memory from.

/// Not the C library: tensors are made and dropped with every batch, by threads that come and go, which was a tenth of
/// the time of small towers, and left ten times the memory occupied that was in use. By mimalloc's `override`, libtorch has
/// its memory from here, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
