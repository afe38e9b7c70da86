//! Reading columns: by name, with every surprise named by column and row.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_buffer::ArrowNativeType;
use go::{Move, Size};

use crate::turn::check_visits;
use crate::{Outcome, RecordError};

/// The key in a table's metadata under which it names its version, such as `games/1`.
pub const VERSION_KEY: &str = "tengen.schema";

/// A table whose version has been checked.
pub(crate) struct Table<'a> {
    batch: &'a RecordBatch,
}

impl<'a> Table<'a> {
    pub(crate) fn open(batch: &'a RecordBatch, version: &'static str) -> Result<Table<'a>, RecordError> {
        let found = batch.schema_ref().metadata().get(VERSION_KEY);
        if found.is_none_or(|found| found != version) {
            return Err(RecordError::Version { expected: version, found: found.map(ToString::to_string) });
        }
        Ok(Table { batch })
    }

    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    pub(crate) fn strings(&self, name: &'static str) -> Result<Strings<'a>, RecordError> {
        let column = self.column(name)?;
        let values = column.as_string_opt::<i32>().ok_or_else(|| wrong_type(name, "strings", column))?;
        no_nulls(name, values)?;
        Ok(Strings { name, values })
    }

    pub(crate) fn flags(&self, name: &'static str) -> Result<&'a BooleanArray, RecordError> {
        let column = self.column(name)?;
        let values = column.as_boolean_opt().ok_or_else(|| wrong_type(name, "booleans", column))?;
        no_nulls(name, values)?;
        Ok(values)
    }

    pub(crate) fn bytes(&self, name: &'static str) -> Result<&'a BinaryArray, RecordError> {
        let values = self.optional_bytes(name)?;
        no_nulls(name, values)?;
        Ok(values)
    }

    pub(crate) fn optional_bytes(&self, name: &'static str) -> Result<&'a BinaryArray, RecordError> {
        let column = self.column(name)?;
        column.as_binary_opt::<i32>().ok_or_else(|| wrong_type(name, "binary strings", column))
    }

    pub(crate) fn numbers<T: ArrowPrimitiveType>(&self, name: &'static str) -> Result<&'a [T::Native], RecordError> {
        let values = self.optional_numbers::<T>(name)?;
        no_nulls(name, values)?;
        Ok(values.values())
    }

    pub(crate) fn optional_numbers<T: ArrowPrimitiveType>(
        &self,
        name: &'static str,
    ) -> Result<&'a PrimitiveArray<T>, RecordError> {
        let column = self.column(name)?;
        column.as_primitive_opt::<T>().ok_or_else(|| wrong_type(name, T::DATA_TYPE, column))
    }

    pub(crate) fn lists<T: ArrowPrimitiveType>(&self, name: &'static str) -> Result<Lists<'a, T>, RecordError> {
        let column = self.column(name)?;
        let lists = Lists::new(column, name)?.ok_or_else(|| wrong_type(name, list_of(T::DATA_TYPE), column))?;
        lists.all_there()
    }

    /// Lists in which single places may have no value.
    pub(crate) fn lists_of_optional<T: ArrowPrimitiveType>(
        &self,
        name: &'static str,
    ) -> Result<Lists<'a, T>, RecordError> {
        let column = self.column(name)?;
        Lists::new(column, name)?.ok_or_else(|| wrong_type(name, list_of(T::DATA_TYPE), column))
    }

    pub(crate) fn lists_of_strings(&self, name: &'static str) -> Result<StringLists<'a>, RecordError> {
        let column = self.column(name)?;
        let wrong = || wrong_type(name, list_of("strings"), column);
        let lists = column.as_list_opt::<i32>().ok_or_else(wrong)?;
        no_nulls(name, lists)?;
        let values = lists.values().as_string_opt::<i32>().ok_or_else(wrong)?;
        no_nulls(name, values)?;
        Ok(StringLists { lists, values })
    }

    fn column(&self, name: &'static str) -> Result<&'a ArrayRef, RecordError> {
        self.batch.column_by_name(name).ok_or(RecordError::MissingColumn { column: name })
    }
}

/// A column of strings.
pub(crate) struct Strings<'a> {
    name: &'static str,
    values: &'a StringArray,
}

impl<'a> Strings<'a> {
    pub(crate) fn row(&self, row: usize) -> &'a str {
        self.values.value(row)
    }

    /// The value of a row, read by `parse`.
    pub(crate) fn parse<V, E: Display>(
        &self,
        row: usize,
        parse: impl Fn(&str) -> Result<V, E>,
    ) -> Result<V, RecordError> {
        parse(self.row(row)).map_err(|e| value_error(self.name, row, e))
    }
}

/// A column of lists of numbers.
pub(crate) struct Lists<'a, T: ArrowPrimitiveType> {
    name: &'static str,
    lists: &'a ListArray,
    values: &'a PrimitiveArray<T>,
}

impl<'a, T: ArrowPrimitiveType> Lists<'a, T> {
    /// `None` when the column holds something else.
    fn new(column: &'a ArrayRef, name: &'static str) -> Result<Option<Lists<'a, T>>, RecordError> {
        let Some(lists) = column.as_list_opt::<i32>() else { return Ok(None) };
        no_nulls(name, lists)?;
        Ok(lists.values().as_primitive_opt::<T>().map(|values| Lists { name, lists, values }))
    }

    fn all_there(self) -> Result<Lists<'a, T>, RecordError> {
        let Some(nulls) = self.values.nulls().filter(|nulls| nulls.null_count() > 0) else { return Ok(self) };
        match (0..self.lists.len()).find(|&row| self.range(row).any(|i| nulls.is_null(i))) {
            Some(row) => Err(RecordError::Null { column: self.name, row }),
            None => Ok(self),
        }
    }

    pub(crate) fn row(&self, row: usize) -> &'a [T::Native] {
        &self.values.values()[self.range(row)]
    }

    /// The values of a row, `None` in the places that have none.
    pub(crate) fn optional_row(&self, row: usize) -> impl Iterator<Item = Option<T::Native>> {
        self.range(row).map(|i| self.values.is_valid(i).then(|| self.values.value(i)))
    }

    fn range(&self, row: usize) -> std::ops::Range<usize> {
        let offsets = self.lists.value_offsets();
        offsets[row].as_usize()..offsets[row + 1].as_usize()
    }
}

/// A column of lists of strings.
pub(crate) struct StringLists<'a> {
    lists: &'a ListArray,
    values: &'a StringArray,
}

impl<'a> StringLists<'a> {
    pub(crate) fn row(&self, row: usize) -> impl ExactSizeIterator<Item = &'a str> {
        let offsets = self.lists.value_offsets();
        (offsets[row].as_usize()..offsets[row + 1].as_usize()).map(|i| self.values.value(i))
    }
}

pub(crate) fn value_error(column: &'static str, row: usize, problem: impl Display) -> RecordError {
    RecordError::Value { column, row, problem: problem.to_string() }
}

/// The value of a row, if it has one.
pub(crate) fn optional<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    values.is_valid(row).then(|| values.value(row))
}

/// A value of the column `size`.
pub(crate) fn read_size(row: usize, side: u8) -> Result<Size, RecordError> {
    Size::new(side.into()).map_err(|e| value_error("size", row, e))
}

/// A value of the column `komi`.
pub(crate) fn read_komi(row: usize, komi: f32) -> Result<f32, RecordError> {
    if komi.is_finite() { Ok(komi) } else { Err(value_error("komi", row, format!("{komi} is not finite"))) }
}

/// A value of the column `moves`, on a board of this size.
pub(crate) fn read_move(row: usize, size: Size, index: u16) -> Result<Move, RecordError> {
    let missing = || value_error("moves", row, format!("move {index} does not exist on {size}x{size}"));
    Move::from_index(size, index.into()).ok_or_else(missing)
}

/// A value of the column `outcome`.
pub(crate) fn read_outcome(row: usize, number: i8) -> Result<Outcome, RecordError> {
    Outcome::from_i8(number).ok_or_else(|| value_error("outcome", row, format!("{number} is not 1, -1 or 0")))
}

/// Moves and counts, two lists that go side by side, as pairs.
pub(crate) fn read_visits<'a>(
    row: usize,
    size: Size,
    moves: &'a [u16],
    counts: &'a [u32],
) -> Result<impl Iterator<Item = (u16, u32)> + use<'a>, RecordError> {
    if moves.len() != counts.len() {
        return Err(value_error("visit_moves", row, format!("{} moves have {} counts", moves.len(), counts.len())));
    }
    let visits = moves.iter().copied().zip(counts.iter().copied());
    check_visits(size, visits.clone()).map_err(|problem| value_error("visit_moves", row, problem))?;
    Ok(visits)
}

fn no_nulls(column: &'static str, values: &dyn Array) -> Result<(), RecordError> {
    match values.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => Ok(()),
        Some(nulls) => {
            let row = (0..values.len()).find(|&row| nulls.is_null(row)).unwrap_or_default();
            Err(RecordError::Null { column, row })
        }
    }
}

fn wrong_type(column: &'static str, expected: impl Display, found: &ArrayRef) -> RecordError {
    RecordError::ColumnType { column, expected: expected.to_string(), found: found.data_type().to_string() }
}

fn list_of(item: impl Display) -> String {
    format!("lists of {item}")
}
