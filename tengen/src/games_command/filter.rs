//! A condition in SQL: SQLite evaluates it over the games of one file at a time, in a table in memory.
//!
//! The table has the columns of a file of games (`docs/DATA.md`) under their names: numbers as numbers, flags as 0 and
//! 1, times as texts in UTC, lists as JSON; and some more ([`MORE`]). SQLite says which columns a condition uses, and
//! only those are read. What a statement could do beyond reading the game's row is refused: a subquery over the table
//! would see one file.

use std::collections::BTreeSet;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, TimestampMillisecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use record::{GameId, games};
use runtime::{Classify, Stop};
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode};

/// What a list of games shows.
pub(super) const LISTED: [&str; 6] = ["id", "black", "white", "outcome", "score", "end"];

/// Columns beside those of the file, with the columns that they are made of.
const MORE: [(&str, Option<&str>); 2] = [("model", None), ("n_moves", Some("moves"))];

/// The table of a file's games. A condition knows it by its alias `games`, which subqueries cannot read from.
const TABLE: &str = "\"games of one file\"";

/// Instructions of SQLite's machine for a file, and for each of its games. A join of two lists of 400 moves takes two
/// million.
const STEPS: u64 = 10_000_000;
const STEPS_OF_GAME: u64 = 10_000_000;
/// How many of them between two looks at the limit.
const LOOK: c_int = 100_000;

/// A condition on games.
pub(super) struct Filter {
    connection: Connection,
    stop: Stop,
    /// Instructions that are left for this file.
    left: Arc<AtomicU64>,
    select: String,
    /// The columns of the file that are read, those of [`LISTED`] first.
    columns: Vec<String>,
    /// Whether the condition is about the model that played, which matches do not have.
    of_model: bool,
}

/// A game for which the condition holds.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) id: GameId,
    /// Its row in the file.
    pub(super) number: usize,
    /// Its values for [`LISTED`].
    pub(super) listed: Vec<String>,
}

impl Filter {
    /// # Errors
    /// A condition that SQLite does not understand, or that names columns that are not there.
    pub(super) fn new(condition: &str, stop: &Stop) -> anyhow::Result<Filter> {
        let schema = games::schema();
        let known: Vec<&str> =
            schema.fields().iter().map(|field| field.name().as_str()).chain(MORE.map(|(name, _)| name)).collect();
        let mut connection = Connection::open_in_memory()?;
        // Otherwise a misspelt column in double quotes is a text, and the condition holds for no game.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        let quoted: Vec<String> = known.iter().map(|name| format!("\"{name}\"")).collect();
        connection.execute_batch(&format!("CREATE TABLE {TABLE} ({})", quoted.join(", ")))?;
        // A comment at the end of the condition must not hide what follows.
        let select = format!("SELECT rowid FROM {TABLE} AS games WHERE (\n{condition}\n) ORDER BY rowid");
        let used = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = used.clone();
        connection.authorizer(Some(move |context: AuthContext<'_>| authorize(&context, &seen)))?;
        let checked = connection.prepare(&select).map(drop);
        connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
        checked.map_err(|error| refused(condition, &error, &known))?;
        let used = used.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stored = |name: String| match MORE.iter().find(|(more, _)| *more == name) {
            Some((_, of)) => of.map(str::to_owned),
            None => Some(name),
        };
        let of_model = used.contains("model");
        let mut columns: Vec<String> = LISTED.map(str::to_owned).into();
        for name in used.into_iter().filter_map(stored).filter(|name| known.contains(&name.as_str())) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        let left = Arc::new(AtomicU64::new(0));
        let (rest, stopped) = (left.clone(), stop.clone());
        let is_over = move || {
            let before = rest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(LOOK as u64));
            stopped.requested() || before.is_err()
        };
        connection.progress_handler(LOOK, Some(is_over))?;
        Ok(Filter { connection, stop: stop.clone(), left, select, columns, of_model })
    }

    /// Whether the condition is about the model that played.
    pub(super) fn is_of_model(&self) -> bool {
        self.of_model
    }

    /// The columns of a file of games that the condition and the list need.
    pub(super) fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }

    /// The games of a table for which the condition holds, played by the model of a number.
    ///
    /// # Errors
    /// A condition that cannot be evaluated for one of the games, such as a function of JSON on other text, or a
    /// recursion without an end. No games are found once `stop` is requested.
    pub(super) fn rows(&mut self, table: &RecordBatch, model: Option<u32>) -> anyhow::Result<Vec<Found>> {
        // Filling takes some instructions for each value.
        self.left.store(u64::MAX, Ordering::Relaxed);
        match self.matching(table, model) {
            Ok(numbers) => self.found(table, numbers),
            Err(_) if self.stop.requested() => Ok(Vec::new()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                let millions = STEPS_OF_GAME / 1_000_000;
                let reason = format!("it takes more than {millions} million steps a game; has a recursion no end?");
                Err(anyhow!("--where cannot be evaluated: {reason}")).misconfigured()
            }
            Err(error) => Err(anyhow!("--where cannot be evaluated: {error}")).misconfigured(),
        }
    }

    /// The numbers that the condition selects.
    fn matching(&mut self, table: &RecordBatch, model: Option<u32>) -> rusqlite::Result<Vec<i64>> {
        self.fill(table, model)?;
        let steps = STEPS + STEPS_OF_GAME * table.num_rows() as u64;
        self.left.store(steps, Ordering::Relaxed);
        let mut select = self.connection.prepare(&self.select)?;
        select.query_map([], |row| row.get(0))?.collect()
    }

    fn found(&self, table: &RecordBatch, numbers: Vec<i64>) -> anyhow::Result<Vec<Found>> {
        let row = |number: i64| usize::try_from(number).ok().filter(|&row| row < table.num_rows());
        let rows: Option<Vec<usize>> = numbers.into_iter().map(row).collect();
        let rows = rows.ok_or_else(|| anyhow!("--where must be one condition on a game")).misconfigured()?;
        rows.into_iter().map(|row| found(table, row)).collect()
    }

    /// Puts the rows of a table into that of the database, instead of the previous ones.
    fn fill(&mut self, table: &RecordBatch, model: Option<u32>) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        transaction.execute(&format!("DELETE FROM {TABLE}"), [])?;
        let own = table.schema_ref().fields().iter().map(|field| field.name().as_str());
        let names: Vec<&str> = own.chain(["rowid"]).chain(MORE.map(|(name, _)| name)).collect();
        let places: Vec<&str> = names
            .iter()
            .map(
                |&name| {
                    if name.ends_with("_at") { "strftime('%Y-%m-%d %H:%M:%f', ? / 1000.0, 'unixepoch')" } else { "?" }
                },
            )
            .collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        let insert = format!("INSERT INTO {TABLE} ({}) VALUES ({})", quoted.join(", "), places.join(", "));
        {
            let mut insert = transaction.prepare(&insert)?;
            let moves = table.column_by_name("moves").and_then(|moves| moves.as_list_opt::<i32>());
            for row in 0..table.num_rows() {
                let length = moves.map(|moves| i64::from(moves.value_length(row)));
                let more = [Value::from(row as i64), Value::from(model.map(i64::from)), Value::from(length)];
                let values = table.columns().iter().map(|column| value(column, row)).chain(more);
                insert.execute(rusqlite::params_from_iter(values))?;
            }
        }
        transaction.commit()
    }
}

/// Notes the columns of the table that are read; refuses what is not reading.
fn authorize(context: &AuthContext<'_>, used: &Mutex<BTreeSet<String>>) -> Authorization {
    match context.action {
        AuthAction::Function { function_name: "load_extension" } => Authorization::Deny,
        AuthAction::Select | AuthAction::Function { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Read { table_name, column_name } if TABLE.trim_matches('"') == table_name => {
            used.lock().unwrap_or_else(PoisonError::into_inner).insert(column_name.to_owned());
            Authorization::Allow
        }
        // The schema, under one of its names.
        AuthAction::Read { table_name, .. } if table_name.starts_with("sqlite_") => Authorization::Deny,
        // Functions that return tables, such as json_each.
        AuthAction::Read { .. } => Authorization::Allow,
        _ => Authorization::Deny,
    }
}

fn refused(condition: &str, error: &rusqlite::Error, known: &[&str]) -> anyhow::Error {
    let reason = match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    if reason.starts_with("no such table: games") {
        return anyhow!("--where \"{condition}\": a condition sees one game at a time, and cannot read the others");
    }
    anyhow!(
        "--where \"{condition}\": {reason}; columns: {}; put \"index\" and \"end\" into double quotes, and texts into single ones",
        known.join(", ")
    )
}

fn found(table: &RecordBatch, number: usize) -> anyhow::Result<Found> {
    let listed: Vec<String> = LISTED
        .iter()
        .map(|name| table.column_by_name(name).map_or(Value::Null, |column| value(column, number)))
        .map(|value| match value {
            Value::Null => String::new(),
            Value::Integer(number) => number.to_string(),
            Value::Real(number) => number.to_string(),
            Value::Text(text) => text,
            Value::Blob(_) => "binary".to_owned(),
        })
        .collect();
    let id = listed[0].parse().with_context(|| format!("game in row {number}"))?;
    Ok(Found { id, number, listed })
}

/// A value of a column, as SQLite has it.
fn value(column: &dyn Array, row: usize) -> Value {
    if column.is_null(row) {
        return Value::Null;
    }
    match column.data_type() {
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(row).to_owned()),
        DataType::Boolean => Value::Integer(column.as_boolean().value(row).into()),
        DataType::Int8 => Value::Integer(column.as_primitive::<Int8Type>().value(row).into()),
        DataType::UInt8 => Value::Integer(column.as_primitive::<UInt8Type>().value(row).into()),
        DataType::UInt16 => Value::Integer(column.as_primitive::<UInt16Type>().value(row).into()),
        DataType::UInt32 => Value::Integer(column.as_primitive::<UInt32Type>().value(row).into()),
        // SQLite has no unsigned numbers of 64 bits: large ones are texts.
        DataType::UInt64 => {
            let number = column.as_primitive::<UInt64Type>().value(row);
            i64::try_from(number).map_or_else(|_| Value::Text(number.to_string()), Value::Integer)
        }
        DataType::Float32 => Value::Real(shortest(column.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => Value::Real(column.as_primitive::<Float64Type>().value(row)),
        DataType::Timestamp(..) => Value::Integer(column.as_primitive::<TimestampMillisecondType>().value(row)),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<serde_json::Value> = (0..items.len()).map(|item| json(value(&items, item))).collect();
            Value::Text(serde_json::Value::Array(items).to_string())
        }
        _ => Value::Null,
    }
}

/// The number with the fewest digits that is this one among the f32, so that `komi = 6.6` holds.
fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Integer(number) => number.into(),
        Value::Real(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Null | Value::Blob(_) => serde_json::Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use record::{GameRecord, synthetic};

    use super::*;

    fn played() -> Vec<GameRecord> {
        let size = Size::new(5).unwrap();
        let mut games: Vec<GameRecord> =
            (0..20).map(|index| synthetic::game("a-3", "w", index, size, 8 + index as u32)).collect();
        for (index, game) in games.iter_mut().enumerate() {
            game.started_at = Some(1_700_000_000_000 + index as u64 * 3_600_000);
            game.komi = 6.6;
        }
        games
    }

    fn filter(condition: &str) -> anyhow::Result<Filter> {
        Filter::new(condition, &Stop::default())
    }

    /// The numbers of the rows, read from the columns that the condition needs and no others.
    fn rows(condition: &str) -> Vec<usize> {
        let mut filter = filter(condition).unwrap_or_else(|error| panic!("{condition}: {error:#}"));
        let table = games::to_batch(&played());
        let indices: Vec<usize> =
            filter.columns().iter().map(|name| table.schema_ref().index_of(name).unwrap()).collect();
        let found = filter.rows(&table.project(&indices).unwrap(), Some(3));
        found.unwrap().into_iter().map(|found| found.number).collect()
    }

    #[test]
    fn conditions_hold_for_the_games_they_describe() {
        let games = played();
        let all: Vec<usize> = (0..games.len()).collect();
        let those = |holds: &dyn Fn(&GameRecord) -> bool| {
            all.iter().copied().filter(|&row| holds(&games[row])).collect::<Vec<_>>()
        };
        assert_eq!(rows("TRUE"), all);
        assert_eq!(rows("TRUE -- all of them"), all);
        assert_eq!(rows("n_moves > 12"), those(&|game| game.turns.len() > 12));
        assert_eq!(rows("\"index\" IN (3, 5) OR \"end\" = 'none'"), [3, 5]);
        assert_eq!(rows("outcome = 1 AND NOT holdout"), those(&|g| g.outcome.as_i8() == 1 && !g.holdout));
        assert_eq!(rows("komi = 6.6 AND model = 3 AND black LIKE 'a-%'"), all);
        assert_eq!(rows("started_at >= '2023-11-15'"), all[2..], "the first is from 22:13:20 on the day before");
        let first = games[4].turns[0].mv.index(games[4].size);
        assert!(rows(&format!("json_extract(moves, '$[0]') = {first}")).contains(&4));
        assert_eq!(rows(&format!("seed = {0} OR seed = '{0}'", games[7].seed)), [7]);
        assert_eq!(rows("EXISTS (SELECT 1 FROM json_each(moves) WHERE value > 1000)"), [] as [usize; 0]);
        let long = those(&|game| game.turns.len() > 12);
        assert_eq!(rows("(SELECT count(*) FROM json_each(games.moves)) > 12 AND games.n_moves > 0"), long);
    }

    #[test]
    fn only_columns_of_the_condition_are_read() {
        let read = filter("n_moves > 12 AND komi > 0").unwrap();
        assert_eq!(read.columns(), ["id", "black", "white", "outcome", "score", "end", "komi", "moves"]);
        assert_eq!(filter("model = 1").unwrap().columns(), LISTED);
        assert!(!read.is_of_model() && filter("games.MODEL = 1").unwrap().is_of_model());
    }

    #[test]
    fn conditions_that_are_no_sql_or_do_more_than_read_are_errors() {
        let cases = [
            ("outcom = 1", "no such column: outcom; columns: id, black"),
            ("\"outcom\" = -1", "no such column: "),
            ("outcome =", "syntax error"),
            ("TRUE); DELETE FROM \"games of one file\"; SELECT (1", "not authorized"),
            ("load_extension('x')", "load_extension"),
            ("n_moves > (SELECT avg(n_moves) FROM games)", "a condition sees one game at a time"),
            ("(SELECT count(*) FROM \"games\") = 10", "a condition sees one game at a time"),
            ("id IN (WITH all_of AS (SELECT id FROM games) SELECT id FROM all_of)", "one game at a time"),
            ("n_moves > avg(n_moves)", "misuse of aggregate"),
            ("(SELECT count(*) FROM sqlite_schema) = 1", "not authorized"),
        ];
        for (condition, reason) in cases {
            let error = filter(condition).err().unwrap_or_else(|| panic!("{condition}"));
            let said = format!("{error:#}");
            assert!(said.contains(&format!("--where \"{condition}\": ")) && said.contains(reason), "{said}");
        }
        // A statement that looks beyond the table finds no games there.
        let mut filter = filter("FALSE) UNION SELECT (99").unwrap();
        let error = filter.rows(&games::to_batch(&played()), None).unwrap_err().to_string();
        assert!(error.contains("must be one condition"), "{error}");
    }

    /// A recursion without an end.
    const ENDLESS: &str =
        "EXISTS (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT 1 FROM c WHERE x < 0)";

    #[test]
    fn recursion_without_an_end_is_an_error_or_stopped() {
        let table = games::to_batch(&played()[..1]);
        let error = filter(ENDLESS).unwrap().rows(&table, None).unwrap_err().to_string();
        assert!(error.contains("has a recursion no end?"), "{error}");
        let stop = Stop::default();
        let mut filter = Filter::new(ENDLESS, &stop).unwrap();
        stop.request();
        assert!(filter.rows(&table, None).unwrap().is_empty());
    }

    #[test]
    fn condition_that_fails_for_a_game_is_an_error() {
        let mut filter = filter("json_extract(black, '$[0]') = 1").unwrap();
        let table = games::to_batch(&played()[..1]);
        let error = filter.rows(&table, None).unwrap_err().to_string();
        assert!(error.contains("--where cannot be evaluated") && error.contains("JSON"), "{error}");
    }
}
