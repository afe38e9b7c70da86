//! Games as text: SGF, the Smart Game Format, FF\[4\] (<https://www.red-bean.com/sgf/>).
//!
//! [`parse`] reads any collection into trees of properties. A [`Record`] is what this project needs of one game: its
//! main line, which it can read from a tree, replay by the rules, and write. [`collection`] reads what it can of many
//! games of which some are broken.
//!
//! Text that is not UTF-8 is read as Latin-1. Where its `CA` says Shift_JIS, Big5 or GBK, only the ASCII of it is read
//! ([`unread_encoding`]). `CA` is written as UTF-8. Reading never panics and never recurses, so that neither nonsense
//! nor deep nesting does harm.

mod collection;
mod coordinates;
mod error;
mod number;
mod outcome;
mod parse;
mod read;
mod record;
mod replay;
mod text;
mod tree;
mod write;

pub use collection::{collection, games};
pub use coordinates::write as point_to_sgf;
pub use error::{Error, Fault};
pub use outcome::{Margin, Outcome};
pub use parse::{first_game, parse};
pub use record::{Application, Branch, Notice, Player, Record, Turn};
pub use replay::ReplayError;
pub use text::unread_encoding;
pub use tree::{Node, Property, Tree, Value};
pub use write::Extra;
