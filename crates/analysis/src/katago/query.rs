//! From a line to a query.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use go::{Color, Game, Move, Size, Stones, handicap_stones};
use mcts::Avoid;
use serde_json::{Map, Value};

use super::fields::{Fields, LONGEST, color, location_of};
use super::{Refusal, ServerOptions, Warning, refuse, rules};
use crate::{Perspective, ReportStyle};

/// Komi beyond this is refused, as KataGo does.
const MOST_KOMI: f64 = 150.0;
/// KataGo takes so many visits. A search stops at [`mcts::MOST_VISITS`].
const MOST_VISITS: i64 = 1 << 50;
/// Priorities beyond this and its negative are refused, as KataGo does. Some clients use the time in milliseconds.
const MOST_PRIORITY: i64 = (1 << 62) - 1;

/// A request of a client.
#[derive(Debug)]
pub enum Query {
    /// Analysis of positions of a game.
    Analyse(Box<Position>, Vec<Warning>),
    /// Something else.
    Act(Action),
}

/// Positions of a game, and how to analyse them.
#[derive(Debug)]
pub struct Position {
    /// The game to its last position.
    pub game: Arc<Game>,
    /// The turns to analyse, ascending, each once and with its priority.
    pub turns: Vec<(usize, i64)>,
    /// White's compensation.
    pub komi: f32,
    /// Visits, the evaluation of the position itself included.
    pub visits: u32,
    /// How long a search may take.
    pub time: Option<Duration>,
    /// When the first partial report is due, and the others after each other.
    pub progress: Option<[Duration; 2]>,
    /// Excluded moves.
    pub avoid: Vec<Avoid>,
    /// What reports contain.
    pub style: ReportStyle,
}

/// Anything but an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Say the version.
    Version,
    /// Say which models there are.
    Models,
    /// Forget evaluations in memory.
    ClearCache,
    /// Stop the queries of this id, or all of them; only those of these turns, if any are given.
    Terminate(Option<String>, Option<Vec<usize>>),
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// The problem, and the field that has it.
    pub fn read(object: &Map<String, Value>, options: &ServerOptions) -> Result<Query, Refusal> {
        match object.get("action") {
            None => {
                let (position, warnings) = Position::read(object, options)?;
                Ok(Query::Analyse(Box::new(position), warnings))
            }
            Some(Value::String(action)) => Action::read(action, object).map(Query::Act),
            Some(_) => refuse("action", "must be a string"),
        }
    }
}

impl Action {
    fn read(action: &str, object: &Map<String, Value>) -> Result<Action, Refusal> {
        let mut fields = Fields::new(object);
        match action {
            "query_version" => Ok(Action::Version),
            "query_models" => Ok(Action::Models),
            "clear_cache" => Ok(Action::ClearCache),
            "terminate" => match fields.get("terminateId") {
                Some(Value::String(id)) => Ok(Action::Terminate(Some(id.clone()), turn_numbers(&mut fields)?)),
                _ => refuse("terminateId", "must be a string, the id of the query to stop"),
            },
            "terminate_all" => Ok(Action::Terminate(None, turn_numbers(&mut fields)?)),
            _ => refuse("action", "must be query_version, query_models, clear_cache, terminate or terminate_all"),
        }
    }
}

fn turn_numbers(fields: &mut Fields<'_>) -> Result<Option<Vec<usize>>, Refusal> {
    let Some(list) = fields.list("turnNumbers")? else { return Ok(None) };
    let turns: Option<Vec<usize>> = list.iter().map(|turn| turn.as_u64().map(|turn| turn as usize)).collect();
    turns.map(Some).ok_or_else(|| Refusal { reason: "must be a list of turns".to_owned(), field: "turnNumbers" })
}

impl Position {
    fn read(object: &Map<String, Value>, options: &ServerOptions) -> Result<(Position, Vec<Warning>), Refusal> {
        let mut fields = Fields::new(object);
        let mut warnings = Vec::new();
        fields.get("id");
        let size = size(&mut fields, options)?;
        let game = Arc::new(game(&mut fields, size)?);
        match fields.get("rules") {
            Some(value) => match rules::difference(value, handicap_stones(&game)) {
                Ok(difference) => warnings.extend(difference.map(|reason| warning("rules", reason))),
                Err(reason) => return refuse("rules", reason),
            },
            None => return refuse("rules", "must be given: the name of rules, or an object"),
        }
        let turns = turns(&mut fields, game.turn())?;
        let mut found = Position {
            turns,
            komi: komi(&mut fields)?.unwrap_or(options.komi),
            visits: options.visits,
            time: None,
            progress: progress(&mut fields)?,
            avoid: avoid(&mut fields, size)?,
            style: ReportStyle {
                policy: fields.flag("includePolicy")?,
                path_visits: fields.flag("includePVVisits")?,
                ..options.style
            },
            game,
        };
        if let Some(value) = fields.get("overrideSettings") {
            found.override_settings(value, &mut warnings)?;
        }
        // As in KataGo, fields of the query count more than settings.
        found.override_limits(&mut fields)?;
        for name in ["includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includeMovesOwnershipStdev"]
        {
            if fields.flag(name)? {
                warnings.push(warning(name, "not supported; the web application shows ownership"));
            }
        }
        for name in ["rootPolicyTemperature", "rootFpuReductionMax", "whiteHandicapBonus"] {
            if fields.get(name).is_some() {
                warnings.push(warning(name, "not supported, ignored"));
            }
        }
        warnings.extend(fields.unused());
        Ok((found, warnings))
    }

    /// Settings of KataGo's configuration that clients override.
    fn override_settings(&mut self, value: &Value, warnings: &mut Vec<Warning>) -> Result<(), Refusal> {
        let Value::Object(settings) = value else { return refuse("overrideSettings", "must be an object") };
        let mut fields = Fields::new(settings);
        if let Some(value) = fields.get("reportAnalysisWinratesAs") {
            self.style.perspective = match value.as_str().map(str::to_ascii_uppercase).as_deref() {
                Some("BLACK" | "B") => Perspective::Black,
                Some("WHITE" | "W") => Perspective::White,
                Some("SIDETOMOVE") => Perspective::SideToMove,
                _ => return refuse("reportAnalysisWinratesAs", "must be BLACK, WHITE or SIDETOMOVE"),
            };
        }
        self.override_limits(&mut fields)?;
        self.time = fields.seconds("maxTime")?;
        // 0 is what the search does.
        let is_off = |value: &Value| value.as_f64() == Some(0.0);
        if fields.get("wideRootNoise").is_some_and(|value| !is_off(value)) {
            warnings.push(warning("wideRootNoise", "not supported, ignored"));
        }
        let ignored = |unused: Warning| Warning { reason: "not supported, ignored".to_owned(), ..unused };
        warnings.extend(fields.unused().map(ignored));
        Ok(())
    }

    /// What a query and its settings may both say.
    fn override_limits(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        if let Some(visits) = fields.integer("maxVisits", 1, MOST_VISITS)? {
            self.visits = u32::try_from(visits).unwrap_or(u32::MAX);
        }
        if let Some(length) = fields.integer("analysisPVLen", 1, 1000)? {
            self.style.variation = length as usize;
        }
        Ok(())
    }
}

fn warning(field: &str, reason: impl Into<String>) -> Warning {
    Warning { field: field.to_owned(), reason: reason.into() }
}

fn size(fields: &mut Fields<'_>, options: &ServerOptions) -> Result<Size, Refusal> {
    let most = go::MAX_SIDE as i64;
    let mut side = |name| match fields.integer(name, 2, most)? {
        Some(side) => Ok(side as usize),
        None => refuse(name, format!("must be an integer from 2 to {most}")),
    };
    let (width, height) = (side("boardXSize")?, side("boardYSize")?);
    let Ok(size) = Size::new(width) else { return refuse("boardXSize", format!("must be from 2 to {most}")) };
    if width != height {
        return refuse("boardYSize", "must be the same as boardXSize: boards are square");
    }
    match options.size {
        Some(known) if known != size => {
            refuse("boardXSize", format!("the model is for {known}x{known} boards, not for {size}x{size}"))
        }
        _ => Ok(size),
    }
}

fn komi(fields: &mut Fields<'_>) -> Result<Option<f32>, Refusal> {
    let Some(value) = fields.get("komi") else { return Ok(None) };
    match value.as_f64().filter(|komi| komi.abs() <= MOST_KOMI && (2.0 * komi).fract() == 0.0) {
        Some(komi) => Ok(Some(komi as f32)),
        None => refuse("komi", "must be an integer or half-integer from -150 to 150"),
    }
}

/// When the first partial report is due, and the others after each other. Without an interval there is one.
fn progress(fields: &mut Fields<'_>) -> Result<Option<[Duration; 2]>, Refusal> {
    let every = fields.seconds("reportDuringSearchEvery")?;
    let first = fields.seconds("firstReportDuringSearchAfter")?;
    Ok(first.or(every).map(|first| [first, every.unwrap_or(Duration::from_secs_f64(LONGEST))]))
}

/// The game from its first position to the last.
fn game(fields: &mut Fields<'_>, size: Size) -> Result<Game, Refusal> {
    let mut stones = Stones::EMPTY;
    for (color, mv) in fields.moves("initialStones", size)? {
        let Some(point) = mv.point() else { return refuse("initialStones", "a stone cannot be on pass") };
        stones.of_mut(color).insert(point);
        stones.of_mut(color.opponent()).remove(point);
    }
    if fields.get("moves").is_none() {
        return refuse("moves", "must be a list of moves, which may be empty");
    }
    let moves = fields.moves("moves", size)?;
    let first = match fields.get("initialPlayer") {
        Some(value) => match color(value) {
            Some(color) => color,
            None => return refuse("initialPlayer", "must be \"B\" or \"W\""),
        },
        None => match moves.first() {
            Some((color, _)) => *color,
            None if stones.black.len() >= 2 && stones.white.is_empty() => Color::White,
            None => Color::Black,
        },
    };
    let start = match go::Position::from_stones(size, &stones, first) {
        Ok(start) => start,
        Err(error) => return refuse("initialStones", error.on(size)),
    };
    let mut game = Game::from_position(start);
    for (number, (color, mv)) in moves.into_iter().enumerate() {
        game.set_to_move(color);
        if let Err(reason) = game.play_past(mv) {
            // KaTrain searches for the first two words.
            return refuse("moves", format!("Illegal move {number}: {color} {}: {reason}", mv.to_gtp(size)));
        }
    }
    Ok(game)
}

/// The turns to analyse. One that is listed several times has one response, as in KataGo, and its last priority.
fn turns(fields: &mut Fields<'_>, last: usize) -> Result<Vec<(usize, i64)>, Refusal> {
    let wanted = || format!("must be a list of integers from 0 to {last}");
    let turns: Vec<usize> = match fields.list("analyzeTurns")? {
        None => vec![last],
        Some(list) => {
            let turn = |value: &Value| value.as_u64().map(|turn| turn as usize).filter(|turn| *turn <= last);
            match list.iter().map(turn).collect() {
                Some(turns) => turns,
                None => return refuse("analyzeTurns", wanted()),
            }
        }
    };
    let priority = fields.integer("priority", -MOST_PRIORITY, MOST_PRIORITY)?;
    let one = |value: &Value| value.as_i64().filter(|one| (-MOST_PRIORITY..=MOST_PRIORITY).contains(one));
    let priorities: Option<Vec<i64>> = match fields.list("priorities")? {
        None => Some(vec![priority.unwrap_or(0); turns.len()]),
        Some(_) if priority.is_some() => return refuse("priorities", "cannot be given together with priority"),
        Some(list) => list.iter().map(one).collect(),
    };
    let Some(priorities) = priorities.filter(|priorities| priorities.len() == turns.len()) else {
        return refuse("priorities", "must be a list of integers, one for each of analyzeTurns");
    };
    let turns: BTreeMap<usize, i64> = turns.into_iter().zip(priorities).collect();
    Ok(turns.into_iter().collect())
}

/// Excluded moves: those of `avoidMoves`, or all but those of `allowMoves`.
fn avoid(fields: &mut Fields<'_>, size: Size) -> Result<Vec<Avoid>, Refusal> {
    let avoided = avoid_list(fields, "avoidMoves", size)?;
    let allowed = avoid_list(fields, "allowMoves", size)?;
    match (avoided, allowed) {
        (avoided, None) => Ok(avoided.unwrap_or_default()),
        (Some(_), Some(_)) => refuse("allowMoves", "cannot be given together with avoidMoves"),
        (None, Some(allowed)) => Ok(allowed.into_iter().map(|one| one.all_others(size)).collect()),
    }
}

fn avoid_list(fields: &mut Fields<'_>, name: &'static str, size: Size) -> Result<Option<Vec<Avoid>>, Refusal> {
    let Some(list) = fields.list(name)? else { return Ok(None) };
    let one = |value: &Value| {
        let moves = value.get("moves")?.as_array()?.iter().map(|location| location_of(size, location));
        let moves: Vec<Move> = moves.collect::<Option<_>>()?;
        let until = value.get("untilDepth")?.as_u64().filter(|depth| *depth > 0)?;
        Some(Avoid::listed(color(value.get("player")?)?, &moves, until as usize))
    };
    let wanted = "must be a list of objects with player, moves and untilDepth, which is at least 1";
    list.iter()
        .map(one)
        .collect::<Option<Vec<Avoid>>>()
        .map(Some)
        .ok_or_else(|| Refusal { reason: wanted.to_owned(), field: name })
}

#[cfg(test)]
mod tests;
