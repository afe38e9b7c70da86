//! Evaluation allocates nothing.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cpu::{Description, InstructionSet, Model, Precision};

/// The system's allocator, counting what each thread asks of it.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work; the cell is a constant that needs no allocation and no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
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
            let before = COUNT.get();
            session.evaluate(&planes, &mut policies, &mut values);
            assert_eq!(COUNT.get(), before);
        }
    }
}
