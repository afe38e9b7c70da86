//! Before the first move.

use go::{Game, Size};

use super::arguments::{Answer, done, none, number, one};
use crate::server::{Failure, Session, sgf};

pub(super) fn quit(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.over = true;
    done()
}

/// Also clears the board, which the protocol leaves open.
pub(super) fn boardsize(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let side: i64 = number(one(arguments)?)?;
    let size = usize::try_from(side).ok().and_then(|side| Size::new(side).ok()).filter(|&size| session.accepts(size));
    session.begin(Game::new(size.ok_or(Failure::UnacceptableSize)?));
    done()
}

pub(super) fn clear_board(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.begin(Game::new(session.game.size()));
    done()
}

/// KataGo's: forgets what was thought.
pub(super) fn clear_cache(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    none(arguments)?;
    session.player.new_game();
    done()
}

/// GNU Go's: the random numbers that follow are drawn from an integer.
pub(super) fn set_random_seed(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let seed: i64 = number(one(arguments)?)?;
    session.player.reseed(seed as u64);
    done()
}

pub(super) fn komi(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let komi: f32 = number(one(arguments)?)?;
    // The protocol wants every komi to be accepted, however ridiculous; infinity is not a number of points.
    session.komi = Some(komi).filter(|komi| komi.is_finite()).map(half_points).ok_or(Failure::Syntax)?;
    done()
}

/// Komi rounded to half points, as networks see it: scores have the same one.
fn half_points(komi: f32) -> f32 {
    // Any f32 can be doubled in f64. The sum makes no zero negative.
    ((2.0 * f64::from(komi)).round() / 2.0 + 0.0) as f32
}

/// KGS's: `kgs-chat game|private USER MESSAGE`. Says which program this is to users who ask in private; in a game it
/// keeps silent, which is to fail.
pub(super) fn kgs_chat(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    match *arguments {
        ["private", _, _, ..] => Ok(format!("{} {}", session.setup.name, session.setup.version)),
        ["game", _, _, ..] => Err(Failure::Unsupported("nothing to say")),
        _ => Err(Failure::Syntax),
    }
}

/// `loadsgf FILE [MOVE]`: the game as it was before that move, counted from 1, or at its end.
pub(super) fn loadsgf(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
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
    session.komi = komi.map_or(session.komi, half_points);
    done()
}

#[cfg(test)]
mod tests {
    use crate::server::tests::{First, check_with, setup};

    #[test]
    fn komi_is_rounded_to_half_points() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.sgf");
        std::fs::write(&path, "(;SZ[5]KM[6.8];B[cc])").expect("the file can be written");
        let mut transcript = String::new();
        for (written, komi) in [
            ("7.25", "7.5"),
            ("-7.25", "-7.5"),
            ("6.7", "6.5"),
            ("0.2", "0"),
            ("-0.2", "0"),
            ("3e38", "300000000000000000000000000000000000000"),
        ] {
            transcript += &format!("> komi {written}\n=\n> get_komi\n= {komi}\n");
        }
        transcript += &format!("> loadsgf {}\n=\n> get_komi\n= 7\n", path.display());
        check_with(&mut First::default(), setup(5), &transcript);
    }
}
