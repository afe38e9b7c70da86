//! Where a process has its memory from.

/// Not the C library: tensors are made and dropped with every batch, by threads that come and go, which was a tenth of
/// the time of small towers, and left eight times the memory occupied that was needed. By mimalloc's `override`, libtorch has
/// its memory from here, too.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
