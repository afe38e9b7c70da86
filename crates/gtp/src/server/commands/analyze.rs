//! Thinking aloud.

use std::time::Duration;

use super::arguments::{Answer, done};
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

/// As `genmove`, with intermediate and final results. Only GoGui's interruption makes it hurry. The response begins with the
/// first result: before that it can still be a failure.
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
