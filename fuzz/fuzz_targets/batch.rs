//! A message of a client of an inference server.
#![no_main]

use go::Size;
use libfuzzer_sys::fuzz_target;
use net::Inputs;
use prost::Message;
use remote::proto::v1::{self, ClientMessage, client_message};
use remote::{Batch, ModelKey};

fuzz_target!(|bytes: &[u8]| {
    let Ok(ClientMessage { message: Some(client_message::Message::Batch(message)) }) = ClientMessage::decode(bytes) else {
        return;
    };
    // Other messages have nothing to read. A name of a model that is read can be written and read again.
    if let Some(key) = message.model.clone().and_then(|model| ModelKey::try_from(model).ok()) {
        assert_eq!(ModelKey::try_from(v1::Model::from(&key)), Ok(key));
    }
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
