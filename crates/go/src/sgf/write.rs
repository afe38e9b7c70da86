//! From a record to text.

use super::coordinates;
use super::record::Record;
use super::text::{escape, escape_part};
use crate::color::Color;
use crate::point_set::PointSet;

/// Moves on one line of text.
const MOVES_A_LINE: usize = 10;

impl Record {
    /// Writes the game as a collection of one: what describes it in the root, then a node a move.
    pub fn to_sgf(&self) -> String {
        let mut out = String::from("(;");
        self.write_root(&mut out);
        for (i, turn) in self.turns.iter().enumerate() {
            if i % MOVES_A_LINE == 0 {
                out.push('\n');
            }
            let point = turn.mv.point().map(|point| coordinates::write(self.size, point));
            out.push(';');
            write_raw(&mut out, letter(turn.color), &point.unwrap_or_default());
            write_text(&mut out, "C", &turn.comment);
        }
        out.push_str(")\n");
        out
    }

    fn write_root(&self, out: &mut String) {
        write_raw(out, "GM", "1");
        write_raw(out, "FF", "4");
        write_raw(out, "CA", "UTF-8");
        if let Some(application) = &self.application {
            let value = format!("{}:{}", escape_part(&application.name), escape_part(&application.version));
            write_raw(out, "AP", &value);
        }
        write_raw(out, "SZ", &self.size.to_string());
        if let Some(komi) = self.komi.filter(|komi| komi.is_finite()) {
            write_raw(out, "KM", &komi.to_string());
        }
        write_text(out, "RU", &self.rules);
        write_text(out, "PB", &self.black.name);
        write_text(out, "BR", &self.black.rank);
        write_text(out, "PW", &self.white.name);
        write_text(out, "WR", &self.white.rank);
        write_text(out, "DT", &self.date);
        if let Some(outcome) = self.outcome {
            write_raw(out, "RE", &outcome.to_string());
        }
        if self.handicap > 0 {
            write_raw(out, "HA", &self.handicap.to_string());
        }
        self.write_points(out, "AB", &self.setup.black);
        self.write_points(out, "AW", &self.setup.white);
        if self.first != self.natural_first() {
            write_raw(out, "PL", letter(self.first));
        }
        write_text(out, "C", &self.comment);
    }

    fn write_points(&self, out: &mut String, name: &str, points: &PointSet) {
        if !points.is_empty() {
            out.push_str(name);
        }
        for point in points {
            out.push_str(&format!("[{}]", coordinates::write(self.size, point)));
        }
    }
}

fn letter(color: Color) -> &'static str {
    match color {
        Color::Black => "B",
        Color::White => "W",
    }
}

/// Writes a property that has text, and nothing when there is none.
fn write_text(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        write_raw(out, name, &escape(text));
    }
}

fn write_raw(out: &mut String, name: &str, value: &str) {
    out.extend([name, "[", value, "]"]);
}
