//! Weights of others: safetensors, the text format of Leela Zero, and whatever else is converted.
#![no_main]

use cpu::Auxiliary;
use libfuzzer_sys::fuzz_target;
use net::{FileKind, Listing, Weights};

fuzz_target!(|bytes: &[u8]| {
    // An error is a result.
    let _weights = Weights::from_bytes(bytes);
    let _listing = Listing::read(bytes);
    let _converted = FileKind::read(bytes);
    let _heads = Auxiliary::from_safetensors(bytes);
});
