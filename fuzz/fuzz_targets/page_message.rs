//! Messages of pages for players, with the games and the SGF files in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use web::play::message::{Action, At, Open, Request};
use web::play::tree;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(request) = Request::parse(text) else { return };
    match request.action {
        Action::Position(At { game }) => drop(game.replay()),
        Action::Analyze(search) | Action::Review(search) => drop(search.game.replay()),
        Action::Genmove(genmove) => drop(genmove.game.replay()),
        Action::Start(start) => drop(start.game()),
        Action::Open(Open { sgf }) => {
            let Ok(tree) = tree::read(&sgf) else { return };
            // A page reads them in this order.
            assert!(tree.nodes.iter().enumerate().all(|(place, node)| node.parent.is_none_or(|parent| parent < place)));
        }
        Action::Score(_) | Action::Planes(_) | Action::Save(_) | Action::Stop(_) => {}
    }
});
