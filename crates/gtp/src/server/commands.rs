//! Every command, its arguments and its response.

mod analyze;
mod arguments;
mod ask;
mod clocks;
mod gogui;
mod handicaps;
mod moves;
mod rules;
mod scoring;
mod setup;

use super::analysis::Dialect::{Cgos, KataGo, LeelaZero};
use super::controller::Controller;
use super::{Failure, Session};

use analyze::{analyze, genmove_analyze, stop};
use arguments::{Answer, done, none, one};

/// Performs a command with its arguments.
#[derive(Clone, Copy)]
enum Perform {
    /// At once.
    Now(fn(&mut Session<'_>, &[&str]) -> Answer),
    /// After a search that the controller may follow and stop.
    Thinking(fn(&mut Session<'_>, &[&str], &mut dyn Controller) -> Answer),
}

use Perform::{Now, Thinking};

/// In the order in which `list_commands` shows them.
const COMMANDS: [(&str, Perform); 62] = [
    ("protocol_version", Now(|_, arguments| none(arguments).map(|()| "2".to_owned()))),
    ("name", Now(|session, arguments| none(arguments).map(|()| session.setup.name.clone()))),
    ("version", Now(|session, arguments| none(arguments).map(|()| session.setup.version.clone()))),
    ("known_command", Now(|_, arguments| one(arguments).map(|name| find(name).is_some().to_string()))),
    ("list_commands", Now(|_, arguments| none(arguments).map(|()| COMMANDS.map(|(name, _)| name).join("\n")))),
    ("quit", Now(setup::quit)),
    ("boardsize", Now(setup::boardsize)),
    ("clear_board", Now(setup::clear_board)),
    ("clear_cache", Now(setup::clear_cache)),
    ("set_random_seed", Now(setup::set_random_seed)),
    ("komi", Now(setup::komi)),
    ("get_komi", Now(|session, arguments| none(arguments).map(|()| session.komi.to_string()))),
    ("kata-get-rules", Now(rules::kata_get_rules)),
    ("kata-set-rules", Now(rules::kata_set_rules)),
    ("kata-set-rule", Now(rules::kata_set_rule)),
    ("loadsgf", Now(setup::loadsgf)),
    ("fixed_handicap", Now(handicaps::fixed_handicap)),
    ("place_free_handicap", Now(handicaps::place_free_handicap)),
    ("set_free_handicap", Now(handicaps::set_free_handicap)),
    ("play", Now(moves::play)),
    ("gogui-play_sequence", Now(moves::play_sequence)),
    ("undo", Now(moves::undo)),
    ("gg-undo", Now(moves::undo_some)),
    ("genmove", Thinking(moves::genmove)),
    ("reg_genmove", Thinking(moves::reg_genmove)),
    ("kgs-genmove_cleanup", Thinking(scoring::genmove_cleanup)),
    ("lz-genmove_analyze", Thinking(|session, arguments, to| genmove_analyze(session, LeelaZero, arguments, to))),
    ("kata-genmove_analyze", Thinking(|session, arguments, to| genmove_analyze(session, KataGo, arguments, to))),
    ("genmove_analyze", Thinking(|session, arguments, to| genmove_analyze(session, KataGo, arguments, to))),
    ("cgos-genmove_analyze", Thinking(|session, arguments, to| genmove_analyze(session, Cgos, arguments, to))),
    ("lz-analyze", Thinking(|session, arguments, to| analyze(session, LeelaZero, arguments, to))),
    ("kata-analyze", Thinking(|session, arguments, to| analyze(session, KataGo, arguments, to))),
    ("analyze", Thinking(|session, arguments, to| analyze(session, KataGo, arguments, to))),
    ("cgos-analyze", Thinking(|session, arguments, to| analyze(session, Cgos, arguments, to))),
    ("stop", Now(stop)),
    ("time_settings", Now(clocks::time_settings)),
    ("kgs-time_settings", Now(clocks::kgs_time_settings)),
    ("time_left", Now(clocks::time_left)),
    ("final_score", Now(scoring::final_score)),
    ("final_status_list", Now(scoring::final_status_list)),
    ("kgs-game_over", Now(|_, arguments| none(arguments).and_then(|()| done()))),
    ("kgs-rules", Now(rules::kgs_rules)),
    ("kgs-chat", Now(setup::kgs_chat)),
    ("showboard", Now(ask::showboard)),
    ("all_legal", Now(ask::all_legal)),
    ("is_legal", Now(ask::is_legal)),
    ("list_stones", Now(ask::list_stones)),
    ("color", Now(ask::color_of)),
    ("countlib", Now(ask::countlib)),
    ("captures", Now(ask::captures)),
    ("last_move", Now(ask::last_move)),
    ("move_history", Now(ask::move_history)),
    ("get_handicap", Now(ask::get_handicap)),
    ("query_boardsize", Now(ask::query_boardsize)),
    ("gogui-interrupt", Now(|_, arguments| none(arguments).and_then(|()| done()))),
    ("gogui-analyze_commands", Now(gogui::analyze_commands)),
    ("tengen-policy", Thinking(gogui::policy)),
    ("tengen-visits", Thinking(gogui::visits)),
    ("tengen-variation", Thinking(gogui::variation)),
    ("tengen-value", Thinking(gogui::value)),
    ("tengen-pass_alive", Now(gogui::pass_alive)),
    ("tengen-status", Now(gogui::status)),
];

fn find(name: &str) -> Option<Perform> {
    COMMANDS.iter().find(|&&(known, _)| known == name).map(|&(_, perform)| perform)
}

/// The response to a command, or the rest of a response that was begun.
pub(super) fn perform(
    session: &mut Session<'_>,
    words: Result<Vec<String>, Failure>,
    controller: &mut dyn Controller,
) -> Answer {
    let words = words?;
    let (command, arguments) = words.split_first().ok_or(Failure::UnknownCommand)?;
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match find(command).ok_or(Failure::UnknownCommand)? {
        Now(perform) => perform(session, &arguments),
        Thinking(perform) => perform(session, &arguments, controller),
    }
}
