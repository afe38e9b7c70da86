//! ONNX files of others.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _looks = onnx::looks_like(bytes);
    // An error is a result; what is read can be written and read again.
    if let Ok(network) = onnx::read(bytes) {
        assert_eq!(onnx::read(&onnx::write(&network)).expect("what was written can be read"), network);
    }
});
