//! Queries of KataGo's analysis protocol.
#![no_main]

use analysis::katago::{Query, ServerOptions};
use analysis::{Perspective, ReportStyle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(object) = serde_json::from_slice(bytes) else { return };
    let (perspective, points) = (Perspective::Black, 20.0);
    let style = ReportStyle { perspective, points, moves: 10, variation: 15, policy: false, path_visits: false };
    let (model, version) = ("uniform".to_owned(), "0".to_owned());
    let options = ServerOptions { model, version, size: None, komi: 7.0, visits: 10, style };
    // An error is a result; a query that is read is about positions of its game.
    if let Ok(Query::Analyse(position, _warnings)) = Query::read(&object, &options) {
        assert!(position.turns.iter().all(|(turn, _)| *turn <= position.game.turn()));
    }
});
