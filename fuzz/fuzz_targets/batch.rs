//! A message of a client of an inference server.
#![no_main]

use go::Size;
use libfuzzer_sys::fuzz_target;
use net::Inputs;
use prost::Message;
use remote::Batch;
use remote::proto::v1::{ClientMessage, client_message};

fuzz_target!(|bytes: &[u8]| {
    let Ok(ClientMessage { message: Some(client_message::Message::Batch(message)) }) = ClientMessage::decode(bytes) else {
        return;
    };
    let Ok(batch) = Batch::read(message, 64) else { return };
    for inputs in [Inputs::History, Inputs::Features, Inputs::Tactics] {
        for side in [5, 9, 19] {
            let packing = inputs.packing(Size::new(side).expect("5, 9 and 19 are sizes"));
            if batch.check(&packing).is_ok() {
                let mut planes = vec![0; batch.positions * packing.plane_bytes()];
                packing.unpack(&batch.bits, &batch.scalars, &mut planes);
                assert!(packing.can_pack(&planes));
            }
        }
    }
});
