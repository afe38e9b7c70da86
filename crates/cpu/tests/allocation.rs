//! Evaluation allocates nothing.

use cpu::{Description, InstructionSet, Model, Precision};
use testing::CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

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
            let before = ALLOCATOR.calls();
            session.evaluate(&planes, &mut policies, &mut values);
            assert_eq!(ALLOCATOR.calls(), before);
        }
    }
}
