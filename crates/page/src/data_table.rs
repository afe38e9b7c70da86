//! Tables of data that visitors download.

use serde_json::{Map, Value};

/// Columns of equal length, with their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataTable {
    /// Names and values, in their order.
    pub columns: Vec<(&'static str, DataColumn)>,
}

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum DataColumn {
    /// Texts.
    Text(Vec<String>),
    /// Numbers, where there are any.
    Number(Vec<Option<f64>>),
}

impl DataTable {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// The table as CSV (RFC 4180), with a line of names. A text that begins like a formula is none in a spreadsheet.
    pub fn csv(&self) -> String {
        let line = |fields: Vec<String>| fields.join(",") + "\n";
        let names = self.columns.iter().map(|&(name, _)| name.to_owned()).collect();
        let row = |row| line(self.columns.iter().map(|(_, column)| column.field(row)).collect());
        line(names) + &(0..self.rows()).map(row).collect::<String>()
    }

    /// The table as a list of objects, a row each. Numbers that are not there are `null`.
    pub fn json(&self) -> Value {
        let row = |row: usize| -> Map<String, Value> {
            self.columns.iter().map(|(name, column)| ((*name).to_owned(), column.value(row))).collect()
        };
        (0..self.rows()).map(|number| Value::Object(row(number))).collect()
    }
}

impl DataColumn {
    fn len(&self) -> usize {
        match self {
            DataColumn::Text(texts) => texts.len(),
            DataColumn::Number(numbers) => numbers.len(),
        }
    }

    fn field(&self, row: usize) -> String {
        match self {
            DataColumn::Text(texts) => field(&texts[row]),
            DataColumn::Number(numbers) => numbers[row].map_or_else(String::new, |number| number.to_string()),
        }
    }

    fn value(&self, row: usize) -> Value {
        match self {
            DataColumn::Text(texts) => texts[row].as_str().into(),
            DataColumn::Number(numbers) => numbers[row].into(),
        }
    }
}

/// A field of CSV.
fn field(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_and_json_have_every_row() {
        let table = DataTable {
            columns: vec![
                ("player", DataColumn::Text(vec!["a, \"b\"".to_owned(), "=1+1".to_owned()])),
                ("elo", DataColumn::Number(vec![Some(-12.5), None])),
            ],
        };
        assert_eq!(table.csv(), "player,elo\n\"a, \"\"b\"\"\",-12.5\n'=1+1,\n");
        assert_eq!(table.json().to_string(), r#"[{"elo":-12.5,"player":"a, \"b\""},{"elo":null,"player":"=1+1"}]"#);
        assert_eq!((field("a-1"), field("-1+cmd()")), ("a-1".to_owned(), "'-1+cmd()".to_owned()));
    }
}
