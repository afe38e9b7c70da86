//! Every command, what it takes and what it answers.

use go::{Game, Move, Point, PointSet, Size};

use super::parse::{color, vertex};
use super::{Decision, Failure, Session, board, sgf};

type Answer = Result<String, Failure>;

/// Performs a command with its arguments.
type Command = fn(&mut Session<'_>, &[&str]) -> Answer;

/// In the order in which `list_commands` shows them.
pub(super) const COMMANDS: [(&str, Command); 19] = [
    ("protocol_version", |_, arguments| none(arguments).map(|()| "2".to_owned())),
    ("name", |session, arguments| none(arguments).map(|()| session.setup.name.clone())),
    ("version", |session, arguments| none(arguments).map(|()| session.setup.version.clone())),
    ("known_command", |_, arguments| one(arguments).map(|name| is_known(name).to_string())),
    ("list_commands", |_, arguments| none(arguments).map(|()| COMMANDS.map(|(name, _)| name).join("\n"))),
    ("quit", quit),
    ("boardsize", boardsize),
    ("clear_board", clear_board),
    ("komi", komi),
    ("play", play),
    ("genmove", genmove),
    ("undo", undo),
    ("time_settings", time_settings),
    ("time_left", time_left),
    ("final_score", final_score),
    ("showboard", showboard),
    ("loadsgf", loadsgf),
    ("all_legal", all_legal),
    ("list_stones", list_stones),
];

fn is_known(name: &str) -> bool {
    COMMANDS.iter().any(|&(known, _)| known == name)
}

fn quit(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.over = true;
    done()
}

/// Also clears the board, which the protocol leaves open.
fn boardsize(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let side: i64 = number(one(arguments)?)?;
    let size = usize::try_from(side).ok().and_then(|side| Size::new(side).ok()).filter(|&size| session.accepts(size));
    session.begin(Game::new(size.ok_or(Failure::UnacceptableSize)?));
    done()
}

fn clear_board(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.begin(Game::new(session.game.size()));
    done()
}

fn komi(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let komi: f32 = number(one(arguments)?)?;
    // The protocol wants every komi to be accepted, however ridiculous; infinity is not a number of points.
    session.komi = Some(komi).filter(|komi| komi.is_finite()).ok_or(Failure::Syntax)?;
    done()
}

fn play(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [player, point] = arguments else { return Err(Failure::Syntax) };
    let (color, mv) = (color(player)?, vertex(session.game.size(), point)?);
    session.play(color, mv)?;
    done()
}

fn genmove(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let color = color(one(arguments)?)?;
    match session.decide(color)? {
        Decision::Resign => Ok("resign".to_owned()),
        Decision::Move(mv) => {
            session.play(color, mv).map_err(|_| Failure::Player("the player chose an illegal move".to_owned()))?;
            Ok(mv.to_gtp(session.game.size()))
        }
    }
}

fn undo(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.game.undo().map(|_| String::new()).ok_or(Failure::CannotUndo)
}

/// Accepted and not heeded: the player thinks for its visits, not for a time.
fn time_settings(_: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [main, byo_yomi, stones] = arguments else { return Err(Failure::Syntax) };
    [main, byo_yomi, stones].into_iter().try_for_each(|text| number::<u32>(text).map(drop))?;
    done()
}

/// As [`time_settings`]. A clock that has run out may be below zero.
fn time_left(_: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [player, time, stones] = arguments else { return Err(Failure::Syntax) };
    color(player)?;
    number::<i32>(time)?;
    number::<u32>(stones)?;
    done()
}

/// The score of the board as it stands, whether the game has ended or not.
fn final_score(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    let margin = f64::from(session.game.score(session.setup.scoring)) - f64::from(session.komi);
    Ok(board::score(margin))
}

fn showboard(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    Ok(board::show(&session.game, session.komi))
}

/// `loadsgf FILE [MOVE]`: the game as it was before that move, counted from 1, or at its end.
fn loadsgf(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let (path, before) = match *arguments {
        [path] => (path, None),
        [path, before] => (path, Some(number(before)?)),
        _ => return Err(Failure::Syntax),
    };
    let loaded = sgf::load(path.as_ref(), before).and_then(|(game, komi)| {
        if session.accepts(game.size()) { Ok((game, komi)) } else { Err(sgf::LoadError::Size(game.size().side())) }
    });
    let (game, komi) = loaded.map_err(|error| {
        tracing::warn!(path, %error, "cannot load a game");
        Failure::CannotLoad
    })?;
    session.begin(game);
    session.komi = komi.unwrap_or(session.komi);
    done()
}

/// GNU Go's: the points where a player may put a stone now, by row from the top.
fn all_legal(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let color = color(one(arguments)?)?;
    let mut game = session.game.clone();
    game.set_to_move(color);
    Ok(vertices(&game, game.legal_points()))
}

/// GNU Go's: the points where a player has stones, by row from the top.
fn list_stones(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let color = color(one(arguments)?)?;
    Ok(vertices(&session.game, *session.game.position().stones().of(color)))
}

fn vertices(game: &Game, points: PointSet) -> String {
    let vertex = |point: Point| Move::Play(point).to_gtp(game.size());
    points.iter().map(vertex).collect::<Vec<_>>().join(" ")
}

fn done() -> Answer {
    Ok(String::new())
}

fn none(arguments: &[&str]) -> Result<(), Failure> {
    if arguments.is_empty() { Ok(()) } else { Err(Failure::Syntax) }
}

fn one<'a>(arguments: &[&'a str]) -> Result<&'a str, Failure> {
    match *arguments {
        [argument] => Ok(argument),
        _ => Err(Failure::Syntax),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| Failure::Syntax)
}
