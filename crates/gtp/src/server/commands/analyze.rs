//! Thinking aloud.

use std::time::Duration;

use super::arguments::{Answer, done, none};
use crate::server::Session;
use crate::server::analysis::{AnalysisRequest, Dialect, Ticker};
use crate::server::controller::Controller;
use crate::server::session::{Timing, enough};

/// How often a player that has come to an end polls the controller.
const PAUSE: Duration = Duration::from_millis(100);

/// Searches the position and prints results until input arrives.
pub(super) fn analyze(
    session: &mut Session<'_>,
    dialect: Dialect,
    arguments: &[&str],
    controller: &mut dyn Controller,
) -> Answer {
    let request = AnalysisRequest::parse(dialect, session.game.size(), arguments)?;
    controller.begin();
    let mut ticker = Ticker::new(&request);
    session.think(request.color, request.avoid(), &mut |search| {
        ticker.tick(controller, search);
        enough(controller.called())
    })?;
    while !controller.wait(PAUSE) {}
    done()
}

/// As `genmove`, with intermediate and final results. Only GoGui's interruption makes it hurry. The response begins
/// with the first result: before that it can still be a failure.
pub(super) fn genmove_analyze(
    session: &mut Session<'_>,
    dialect: Dialect,
    arguments: &[&str],
    controller: &mut dyn Controller,
) -> Answer {
    let mut request = AnalysisRequest::parse(dialect, session.game.size(), arguments)?;
    if dialect == Dialect::Cgos {
        // CGOS wants one line, and its client asks for others when it can take them.
        request = request.without_haste();
    }
    let color = request.color.unwrap_or(session.game.to_move());
    let decision = session.decide(color, Timing::Timed, Some(&request), controller)?;
    let played = session.carry_out(color, decision)?;
    controller.say(&format!("play {played}"));
    done()
}

/// KataGo's: ends an analysis, as any line does, and pondering until the next move of ours.
pub(super) fn stop(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.stop_pondering();
    done()
}

#[cfg(test)]
mod tests {
    use go::{Game, Move};
    use mcts::Avoid;

    use crate::server::tests::{setup, talk_with};
    use crate::server::{Decision, Player, PlayerError, Setup, Task, Watch};

    /// Passes, and counts how often it is to think.
    #[derive(Default)]
    struct Counting {
        thoughts: usize,
    }

    impl Player for Counting {
        fn genmove(&mut self, _: &Task<'_>, _: &mut Watch<'_>) -> Result<Decision, PlayerError> {
            Ok(Decision::Move(Move::Pass))
        }

        fn think(&mut self, _: &Game, _: f32, _: &[Avoid], _: &mut Watch<'_>) -> Result<(), PlayerError> {
            self.thoughts += 1;
            Ok(())
        }

        fn play_on(&mut self, _: &Game, _: f32) -> Result<Vec<Game>, PlayerError> {
            Ok(Vec::new())
        }
    }

    /// The player ponders before each line that follows a move of its own, the end of the input included.
    #[test]
    fn stop_ends_pondering_until_the_next_move() {
        for (input, responses, thoughts) in [
            ("genmove b\nname\nname\n", "= pass\n\n= Tengen\n\n= Tengen\n\n", 3),
            ("genmove b\nstop\nname\n", "= pass\n\n=\n\n= Tengen\n\n", 1),
            ("genmove b\nstop now\nname\n", "= pass\n\n? syntax error\n\n= Tengen\n\n", 3),
            ("genmove b\nstop\nplay w A1\ngenmove b\n", "= pass\n\n=\n\n=\n\n= pass\n\n", 2),
        ] {
            let mut player = Counting::default();
            let said = talk_with(&mut player, Setup { ponder: true, ..setup(5) }, input.as_bytes());
            assert_eq!((said.as_str(), player.thoughts), (responses, thoughts), "{input}");
        }
    }
}
