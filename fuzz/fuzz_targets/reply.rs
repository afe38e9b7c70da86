//! A message of an inference server.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;
use remote::proto::v1::{ServerMessage, server_message};
use remote::{Answer, Encoding, check_reply};

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = ServerMessage::decode(bytes) else { return };
    // An error is a result.
    let _read = check_reply(message.clone());
    let Some(server_message::Message::Answer(message)) = message.message else { return };
    let Ok(Answer { result: Ok(output), .. }) = Answer::read(message) else { return };
    for encoding in [Encoding::F32, Encoding::F16] {
        for (positions, moves) in [(1, 26), (2, 82), (1, 362)] {
            // Numbers of another length are an error.
            let _read = output.read(encoding, &mut vec![0.0; positions * moves], &mut vec![0.0; positions]);
        }
    }
});
