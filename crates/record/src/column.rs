//! Columns: values with a name and a description.

use std::sync::Arc;

use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray, TimestampMillisecondArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};

use crate::table::VERSION_KEY;

/// A named, documented column.
pub(crate) struct Column {
    name: &'static str,
    doc: &'static str,
    nullable: bool,
    values: ArrayRef,
}

impl Column {
    fn new(name: &'static str, doc: &'static str, values: ArrayRef) -> Column {
        Column { name, doc, nullable: false, values }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    fn field(&self) -> Field {
        Field::new(self.name, self.values.data_type().clone(), self.nullable).with_metadata([("doc", self.doc)])
    }
}

/// Puts columns together to a table that names its version.
pub(crate) fn table(version: &'static str, columns: Vec<Column>) -> RecordBatch {
    let fields: Vec<Field> = columns.iter().map(Column::field).collect();
    let schema = Schema::new_with_metadata(fields, [(VERSION_KEY, version)]);
    let values = columns.into_iter().map(|column| column.values).collect();
    RecordBatch::try_new(Arc::new(schema), values).expect("every column has one value for each row")
}

pub(crate) fn strings<S: AsRef<str>>(name: &'static str, doc: &'static str, values: impl Iterator<Item = S>) -> Column {
    Column::new(name, doc, Arc::new(StringArray::from_iter_values(values)))
}

pub(crate) fn flags(name: &'static str, doc: &'static str, values: impl Iterator<Item = bool>) -> Column {
    Column::new(name, doc, Arc::new(values.map(Some).collect::<BooleanArray>()))
}

pub(crate) fn bytes(name: &'static str, doc: &'static str, values: impl Iterator<Item = Vec<u8>>) -> Column {
    Column::new(name, doc, Arc::new(BinaryArray::from_iter_values(values)))
}

/// Strings of bytes of which some rows have none.
pub(crate) fn optional_bytes(
    name: &'static str,
    doc: &'static str,
    values: impl Iterator<Item = Option<Vec<u8>>>,
) -> Column {
    Column { nullable: true, ..Column::new(name, doc, Arc::new(BinaryArray::from_iter(values))) }
}

pub(crate) fn numbers<T: ArrowPrimitiveType>(
    name: &'static str,
    doc: &'static str,
    values: impl Iterator<Item = T::Native>,
) -> Column {
    Column::new(name, doc, Arc::new(PrimitiveArray::<T>::from_iter_values(values)))
}

/// Numbers of which some rows have none.
pub(crate) fn optional_numbers<T: ArrowPrimitiveType>(
    name: &'static str,
    doc: &'static str,
    values: impl Iterator<Item = Option<T::Native>>,
) -> Column {
    let values: PrimitiveArray<T> = values.collect();
    Column { nullable: true, ..Column::new(name, doc, Arc::new(values)) }
}

/// Times, in milliseconds since 1970, of which some rows have none.
pub(crate) fn optional_times(
    name: &'static str,
    doc: &'static str,
    values: impl Iterator<Item = Option<u64>>,
) -> Column {
    let values: TimestampMillisecondArray = values.map(|time| time.and_then(|time| i64::try_from(time).ok())).collect();
    Column { nullable: true, ..Column::new(name, doc, Arc::new(values.with_timezone("UTC"))) }
}

/// A list of numbers for each row.
pub(crate) fn lists<T: ArrowPrimitiveType>(
    name: &'static str,
    doc: &'static str,
    rows: impl Iterator<Item = impl Iterator<Item = T::Native>>,
) -> Column {
    let (values, offsets) = flatten(rows);
    Column::new(name, doc, Arc::new(list_of(Arc::new(PrimitiveArray::<T>::from_iter_values(values)), offsets, false)))
}

/// A list of numbers for each row, in which some places have none.
pub(crate) fn lists_of_optional<T: ArrowPrimitiveType>(
    name: &'static str,
    doc: &'static str,
    rows: impl Iterator<Item = impl Iterator<Item = Option<T::Native>>>,
) -> Column {
    let (values, offsets) = flatten(rows);
    let values: PrimitiveArray<T> = values.into_iter().collect();
    Column::new(name, doc, Arc::new(list_of(Arc::new(values), offsets, true)))
}

/// A list of strings for each row.
pub(crate) fn lists_of_strings<S: AsRef<str>>(
    name: &'static str,
    doc: &'static str,
    rows: impl Iterator<Item = impl Iterator<Item = S>>,
) -> Column {
    let (values, offsets) = flatten(rows);
    Column::new(name, doc, Arc::new(list_of(Arc::new(StringArray::from_iter_values(values)), offsets, false)))
}

/// Visits as two columns of lists that go side by side: the moves and their counts.
pub(crate) fn move_indices(visits: &[(u16, u32)]) -> impl Iterator<Item = u16> {
    visits.iter().map(|&(mv, _)| mv)
}

/// The counts that go with [`move_indices`].
pub(crate) fn counts(visits: &[(u16, u32)]) -> impl Iterator<Item = u32> {
    visits.iter().map(|&(_, count)| count)
}

fn flatten<V>(rows: impl Iterator<Item = impl Iterator<Item = V>>) -> (Vec<V>, OffsetBuffer<i32>) {
    let mut values = Vec::new();
    let mut lengths = Vec::new();
    for row in rows {
        let before = values.len();
        values.extend(row);
        lengths.push(values.len() - before);
    }
    (values, OffsetBuffer::from_lengths(lengths))
}

fn list_of(values: ArrayRef, offsets: OffsetBuffer<i32>, nullable: bool) -> ListArray {
    let item: DataType = values.data_type().clone();
    ListArray::new(Arc::new(Field::new_list_field(item, nullable)), offsets, values, None)
}
