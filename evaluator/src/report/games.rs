//! Games to display: the newest matches, and self-play from the beginning of the run to its end.

use go::{Move, Point};
use record::GameRecord;
use serde::Serialize;
use store::{Run, StoreError};

/// Matches to show.
const MATCHES: usize = 12;

/// Games of the newest model to show; of the others there is one each.
const NEWEST: usize = 3;

/// Models of which self-play is shown, evenly from the first to the newest.
const MODELS: usize = 5;

/// A game to display.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Game {
    /// `match` or `self-play`.
    pub kind: &'static str,
    /// The name of the game.
    pub id: String,
    /// Who had Black.
    pub black: String,
    /// Who had White.
    pub white: String,
    /// Points on a side of the board.
    pub size: usize,
    /// Points added to White's area.
    pub komi: f32,
    /// As SGF writes it.
    pub result: String,
    /// Why it ended.
    pub end: &'static str,
    /// Moves, Black first, as in the table of games.
    pub moves: Vec<usize>,
    /// The points that each move captures.
    pub captures: Vec<Vec<usize>>,
    /// What each search expected, for Black; none for moves that were not searched.
    pub values: Vec<Option<f32>>,
}

/// Matches of players that `is_hidden` are omitted.
pub(super) fn games(run: &Run, is_hidden: &dyn Fn(&str) -> bool) -> Result<Vec<Game>, StoreError> {
    let mut shown = matches(run, is_hidden)?;
    let models = run.games().models()?;
    for place in (0..MODELS.min(models.len())).rev() {
        let number = models[place * (models.len() - 1) / (MODELS.min(models.len()) - 1).max(1)];
        let wanted = if Some(&number) == models.last() { NEWEST } else { 1 };
        shown.extend(selfplay(run, number, wanted)?);
    }
    Ok(shown)
}

/// The newest first.
fn matches(run: &Run, is_hidden: &dyn Fn(&str) -> bool) -> Result<Vec<Game>, StoreError> {
    let mut shown = Vec::new();
    for stem in run.matches().files()?.iter().rev() {
        if shown.len() >= MATCHES {
            break;
        }
        let Some(games) = if_readable(run.matches().read(stem))? else { continue };
        let games = games.iter().filter(|game| !is_hidden(&game.black) && !is_hidden(&game.white));
        shown.extend(games.rev().take(MATCHES - shown.len()).map(|game| show("match", game)));
    }
    Ok(shown)
}

/// Of the newest file that can be read.
fn selfplay(run: &Run, model: u32, wanted: usize) -> Result<Vec<Game>, StoreError> {
    for file in run.games().files(model)?.iter().rev() {
        if let Some(games) = if_readable(run.games().read(file))? {
            return Ok(games.iter().rev().take(wanted).map(|game| show("self-play", game)).collect());
        }
    }
    Ok(Vec::new())
}

/// The games of a file; `None` where it is damaged, gone or of another version.
fn if_readable(read: Result<Vec<GameRecord>, StoreError>) -> Result<Option<Vec<GameRecord>>, StoreError> {
    match read {
        Err(error) if error.is_skippable() => {
            tracing::warn!(%error, "skipped a file of games");
            Ok(None)
        }
        read => read.map(Some),
    }
}

fn show(kind: &'static str, game: &GameRecord) -> Game {
    Game {
        kind,
        id: game.id.to_string(),
        black: game.black.clone(),
        white: game.white.clone(),
        size: game.size.side(),
        komi: game.komi,
        result: game.outcome.sgf_result(game.score, game.end).to_string(),
        end: game.end.as_str(),
        captures: captures(game),
        moves: game.turns.iter().map(|turn| turn.mv.index(game.size)).collect(),
        values: game.turns.iter().map(|turn| turn.is_searched().then_some(turn.root_value)).collect(),
    }
}

/// The points that each move takes stones from.
fn captures(game: &GameRecord) -> Vec<Vec<usize>> {
    let mut position = go::Game::new(game.size);
    let mut taken = |mv: Move| {
        let stone = |game: &go::Game, point| game.position().stone(point);
        let before = position.clone();
        // A record of the store was checked when it was published.
        position.play(mv).ok()?;
        let gone = |point: &Point| stone(&before, *point).is_some() && stone(&position, *point).is_none();
        Some(Point::all(game.size).filter(gone).map(|point| Move::Play(point).index(game.size)).collect())
    };
    game.turns.iter().map(|turn| turn.mv).map(|mv| taken(mv).unwrap_or_default()).collect()
}
