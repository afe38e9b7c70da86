//! A request of the Open Inference Protocol.
#![no_main]

use go::Size;
use libfuzzer_sys::fuzz_target;
use net::Inputs;
use prost::Message;
use remote::KserveInput;
use remote::proto::kserve::ModelInferRequest;

fuzz_target!(|bytes: &[u8]| {
    let Ok(request) = ModelInferRequest::decode(bytes) else { return };
    for inputs in [Inputs::History, Inputs::Features, Inputs::Tactics] {
        for side in [5, 9] {
            let size = Size::new(side).expect("5, 9 and 19 are sizes");
            let packing = inputs.packing(size);
            if let Ok(input) = KserveInput::read(&request, size, &packing, 64) {
                let mut planes = vec![0; input.positions * packing.plane_bytes()];
                packing.unpack(&input.bits, &input.scalars, &mut planes);
            }
        }
    }
});
