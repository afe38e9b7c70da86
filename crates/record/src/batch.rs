//! Many examples, kept as columns.

use arrow_array::{RecordBatch, UInt32Array};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;

use crate::{Example, GameId, RecordError, examples};

/// Examples kept as columns, every row checked: less than half of the memory of a `Vec<Example>`, and rows can be
/// picked and mixed without building any.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleRows(RecordBatch);

/// A table of examples of which nothing was checked yet, for those who want a few of its rows.
#[derive(Clone, Debug)]
pub struct UncheckedRows(RecordBatch);

impl UncheckedRows {
    /// The table.
    pub fn new(batch: &RecordBatch) -> UncheckedRows {
        UncheckedRows(batch.clone())
    }

    /// The games that the rows come from, in order, each with its number of consecutive rows.
    ///
    /// # Errors
    /// Another version, or names of games that are none.
    pub fn runs(&self) -> Result<Vec<(GameId, usize)>, RecordError> {
        examples::runs(&self.0)
    }

    /// Some rows, checked, in the given order; a row may be named again.
    ///
    /// # Errors
    /// As [`examples::from_batch`], of those rows.
    ///
    /// # Panics
    /// When a row does not exist.
    pub fn pick(&self, rows: &[u32]) -> Result<ExampleRows, RecordError> {
        ExampleRows::from_batch(&take(&self.0, rows))
    }
}

fn take(batch: &RecordBatch, rows: &[u32]) -> RecordBatch {
    let rows = UInt32Array::from_iter_values(rows.iter().copied());
    take_record_batch(batch, &rows).expect("callers name rows of the table")
}

impl ExampleRows {
    /// Takes a table of examples and checks every row. Columns it does not know are ignored.
    ///
    /// # Errors
    /// As [`examples::from_batch`].
    pub fn from_batch(batch: &RecordBatch) -> Result<ExampleRows, RecordError> {
        examples::check(batch)?;
        let schema = examples::schema();
        let known = schema.fields().iter().filter_map(|field| batch.column_by_name(field.name()).cloned()).collect();
        // Other writers may name the items of lists differently; rows that are to be mixed must agree in that too.
        match RecordBatch::try_new(schema, known) {
            Ok(batch) => Ok(ExampleRows(batch)),
            Err(_) => Ok(ExampleRows(examples::to_batch(&examples::from_batch(batch)?))),
        }
    }

    /// The columns of these examples.
    pub fn from_examples(rows: &[Example]) -> ExampleRows {
        ExampleRows(examples::to_batch(rows))
    }

    /// The examples, one by one.
    pub fn to_examples(&self) -> Vec<Example> {
        examples::from_batch(&self.0).expect("the rows were checked")
    }

    /// The table.
    pub fn batch(&self) -> &RecordBatch {
        &self.0
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.0.num_rows()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory these rows keep from other use, in bytes.
    pub fn memory(&self) -> usize {
        self.0.get_array_memory_size()
    }

    /// A copy of some rows, in the given order; a row may be named again.
    ///
    /// # Panics
    /// When a row does not exist.
    pub fn take(&self, rows: &[u32]) -> ExampleRows {
        ExampleRows(take(&self.0, rows))
    }

    /// The rows at `places`, each a part and a row in it, in that order.
    ///
    /// # Panics
    /// When a place does not exist, or there are no parts.
    pub fn gather(parts: &[ExampleRows], places: &[(usize, usize)]) -> ExampleRows {
        let batches: Vec<&RecordBatch> = parts.iter().map(|part| &part.0).collect();
        ExampleRows(interleave_record_batch(&batches, places).expect("all parts have the same columns"))
    }
}
