//! What pages send: messages of those for players, with the games and the SGF files in them, queries, and graphs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // An error is a result.
    let _message = web::play::check_message(text);
    let _query = web::check_query(text);
    let _graph = web::play::check_values(text);
});
