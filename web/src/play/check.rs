//! Messages without models and engines, for tests and the fuzz target.

use super::message::{Action, Request};
use super::{save, tree};

/// Reads a message of a page, with the game or the file in it, as far as that needs no model.
///
/// # Errors
/// Why it cannot be used.
pub fn check_message(text: &str) -> Result<(), String> {
    let game = match Request::parse(text).map_err(|refusal| refusal.reason)?.action {
        Action::Position { game } => game,
        Action::Analyze(search) | Action::Review(search) => search.game,
        Action::Genmove(genmove) => genmove.game,
        Action::Score(score) => score.game,
        Action::Planes(seen) | Action::Predict(seen) => seen.game,
        Action::Save(save) => return save::check(&save),
        Action::Start(start) => start.game()?,
        Action::Open { sgf } => return tree::read(&sgf).map(drop),
        Action::Stop { .. } => return Ok(()),
    };
    game.replay().map(drop)
}

#[cfg(test)]
mod tests {
    use play::generator;
    use rand::RngExt;

    use super::*;

    const MESSAGES: [&str; 6] = [
        r#"{"id":1,"do":{"start":{"size":9,"komi":0.5,"handicap":2}}}"#,
        r#"{"id":2,"do":{"position":{"game":{"size":3,"komi":7,"moves":[["B","B2"],["W","pass"],["B","A1"]]}}}}"#,
        r#"{"id":3,"do":{"open":{"sgf":"(;SZ[3];B[bb](;W[aa];B[ab])(;W[cc]C[a]))"}}}"#,
        r#"{"id":4,"do":{"stop":{"id":3}}}"#,
        r#"{"id":5,"do":{"predict":{"game":{"size":3,"komi":7,"moves":[["B","B2"]]},"model":"v1-2"}}}"#,
        r#"{"id":6,"do":{"save":{"game":{"size":3,"komi":7},"tree":[{"played":["B","B2"]},{"parent":0,"played":["W","A1"]}]}}}"#,
    ];

    #[test]
    fn messages_are_checked_and_damaged_ones_do_no_harm() {
        let mut rng = generator(1);
        let mut refused = 0;
        for message in MESSAGES {
            assert_eq!(check_message(message), Ok(()));
            for _ in 0..2_000 {
                let mut bytes = message.as_bytes().to_vec();
                for _ in 0..rng.random_range(1..4) {
                    let place = rng.random_range(0..bytes.len());
                    bytes[place] = rng.random_range(b' '..127);
                }
                let text = String::from_utf8(bytes).expect("ASCII");
                refused += usize::from(check_message(&text).is_err());
            }
        }
        assert!(refused > 4_000, "{refused}");
    }
}
