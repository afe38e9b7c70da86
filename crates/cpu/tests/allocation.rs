//! Evaluation allocates nothing. Counts every allocation of the process, so this is its only test.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use cpu::{Description, InstructionSet, Model, Precision};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn evaluation_allocates_nothing() {
    for bytes in [&include_bytes!("data/plain.safetensors")[..], include_bytes!("data/all.safetensors")] {
        let description = Description::from_safetensors(bytes).unwrap();
        let planes = vec![1; 40 * description.planes() * description.area()];
        let scales = Model::calibrate(&description, &planes).unwrap();
        for precision in [Precision::F32, Precision::Int16(&scales)] {
            let model = Model::new(&description, precision, InstructionSet::best()).unwrap();
            let mut session = model.session();
            let (mut policies, mut values) = (vec![0.0; 40 * model.moves()], vec![0.0; 40]);
            let before = COUNT.load(Ordering::Relaxed);
            session.evaluate(&planes, &mut policies, &mut values);
            assert_eq!(COUNT.load(Ordering::Relaxed), before);
        }
    }
}
