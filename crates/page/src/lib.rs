//! Parts of pages: the frame, plots and tables. Pages of the web application, the report and the page of a network are
//! made of them.
//!
//! Everything here maps values to text. A page is whole without scripts; scripts add zoom, and live data.

mod data_table;
mod draw;
mod figure;
mod frame;
pub mod number;
mod plot;
mod scale;
mod standalone;

pub use data_table::{DataColumn, DataTable};
pub use draw::LOOKS;
pub use figure::DataLinks;
pub use frame::{Frame, Link};
pub use plot::{Axis, Format, Interval, Mark, Plot, Point, Series, Shape};
pub use scale::Scale;
pub use standalone::{Standalone, facts_element};

/// The common style.
pub const STYLE: &str = include_str!("../assets/style.css");

/// What scripts add to plots, as a module that exports `enhance`.
pub const PLOTS: &str = include_str!("../assets/plots.js");
