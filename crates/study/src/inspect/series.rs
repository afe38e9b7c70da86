//! Several networks side by side: histograms of every tensor, norms, and what changed from one to the next.
//!
//! Networks are read twice, one after the other, so that a long run fits into memory: first for the range of each
//! tensor, and then for the histograms over it.

use std::collections::BTreeMap;
use std::fmt;

use net::ListedTensor;
use serde::Serialize;

use super::Subject;
use super::facts::{ModelFacts, like, norms};
use super::tensor::{counts, difference, finite, norm, shown};
use crate::StudyError;

/// Bars of a histogram.
const BARS: usize = 24;

/// The share of a tensor's numbers beyond either end of the range that its histograms have; they are counted in the bar
/// at that end. A single outlier would leave one bar for all others.
const BEYOND: f64 = 0.002;

/// All that the page shows.
#[derive(Debug, Serialize)]
pub(super) struct Series {
    pub(super) networks: Vec<Column>,
    /// By tensor, in the order of the networks.
    pub(super) tensors: Vec<Row>,
    pub(super) beyond: f64,
    /// When the page was written, in milliseconds since 1970.
    written: u64,
    version: &'static str,
}

/// One network.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    pub(super) card: ModelFacts,
    /// √ of the sum of squares of its trained parameters.
    pub(super) norm: Option<f64>,
    /// ‖a − b‖ / ‖b‖ over the tensors that it shares with the one before.
    pub(super) change: Option<f64>,
    /// Numbers that are not finite.
    pub(super) broken: usize,
    /// Channels of batch norms that say the same of every position, of how many.
    pub(super) dead: usize,
    pub(super) channels: usize,
}

/// One tensor in all networks.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: String,
    /// The range of the histograms; absent where no number is finite.
    pub(super) range: Option<(f64, f64)>,
    /// By network; absent where it has no such tensor.
    pub(super) cells: Vec<Option<Cell>>,
}

/// One tensor in one network.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Cell {
    pub(super) dimensions: Vec<usize>,
    /// Numbers in each part of the range.
    pub(super) counts: Vec<usize>,
    pub(super) mean: Option<f64>,
    pub(super) deviation: Option<f64>,
    pub(super) norm: Option<f64>,
    /// ‖a − b‖ / ‖b‖, b the same tensor of the network before; absent where that has none of these dimensions.
    pub(super) change: Option<f64>,
    pub(super) broken: usize,
    /// Channels of this batch norm that say the same of every position; absent for other tensors.
    pub(super) dead: Option<usize>,
}

impl Series {
    /// All that there is to show of so many networks, which `open` reads.
    ///
    /// # Errors
    /// A network that cannot be read.
    pub(super) fn gather(
        count: usize,
        open: &dyn Fn(usize) -> Result<Subject, StudyError>,
    ) -> Result<Series, StudyError> {
        let mut tensors: Vec<Row> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for place in 0..count {
            for tensor in &open(place)?.listing.tensors {
                let at = *places.entry(tensor.name.clone()).or_insert_with(|| {
                    let cells = (0..count).map(|_| None).collect();
                    tensors.push(Row { name: tensor.name.clone(), range: None, cells });
                    tensors.len() - 1
                });
                tensors[at].range = joined(tensors[at].range, middle(finite(&tensor.numbers)));
            }
        }
        let (mut networks, mut before) = (Vec::new(), None::<Subject>);
        for place in 0..count {
            let subject = open(place)?;
            networks.push(Column::new(&subject, before.as_ref()));
            let dead: BTreeMap<String, usize> =
                norms(&subject.listing).into_iter().map(|norm| (norm.name.clone(), norm.dead.len())).collect();
            for tensor in &subject.listing.tensors {
                let row = &mut tensors[places[&tensor.name]];
                let dead = tensor.name.strip_suffix(".running_var").and_then(|norm| dead.get(norm).copied());
                row.cells[place] = Some(Cell::new(tensor, like(before.as_ref(), tensor), row.range, dead));
            }
            before = Some(subject);
        }
        for row in &mut tensors {
            row.range = row.range.and_then(|(low, high)| shown(low).zip(shown(high)));
        }
        Ok(Series {
            networks,
            tensors,
            beyond: BEYOND,
            written: runtime::unix_millis(),
            version: env!("CARGO_PKG_VERSION"),
        })
    }

    /// The names of the first and the last network.
    pub(super) fn ends(&self) -> [&str; 2] {
        [self.networks.first(), self.networks.last()].map(|column| column.map_or("", |column| &column.card.name))
    }
}

impl fmt::Display for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let broken: usize = self.networks.iter().map(|network| network.broken).sum();
        write!(f, "{} networks, {} tensors, {broken} numbers not finite", self.networks.len(), self.tensors.len())
    }
}

impl Column {
    fn new(subject: &Subject, before: Option<&Subject>) -> Column {
        let tensors = &subject.listing.tensors;
        // Running means and variances are no weights.
        let trainable = || tensors.iter().filter(|tensor| !tensor.name.contains(".running_"));
        let pairs = trainable().filter_map(|tensor| Some((tensor, like(before, tensor)?)));
        let (own, others): (Vec<&[f32]>, Vec<&[f32]>) =
            pairs.map(|(tensor, other)| (&tensor.numbers[..], &other.numbers[..])).unzip();
        let change = (!own.is_empty()).then(|| difference(&own.concat(), &others.concat())).flatten();
        let norms = norms(&subject.listing);
        let numbers = || tensors.iter().flat_map(|tensor| &tensor.numbers);
        let all: Vec<f64> = trainable().flat_map(|tensor| finite(&tensor.numbers)).collect();
        Column {
            card: ModelFacts::new(subject),
            norm: shown(norm(&all)),
            change: change.and_then(shown),
            broken: numbers().filter(|number| !number.is_finite()).count(),
            dead: norms.iter().map(|norm| norm.dead.len()).sum(),
            channels: norms.iter().map(|norm| norm.variance.len()).sum(),
        }
    }
}

impl Cell {
    fn new(
        tensor: &ListedTensor,
        before: Option<&ListedTensor>,
        range: Option<(f64, f64)>,
        dead: Option<usize>,
    ) -> Cell {
        let numbers = finite(&tensor.numbers);
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let variance = numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / numbers.len() as f64;
        Cell {
            dimensions: tensor.dimensions.clone(),
            counts: range.map_or(Vec::new(), |range| counts(&numbers, range, BARS)),
            mean: shown(mean),
            deviation: shown(variance.sqrt()),
            norm: if numbers.is_empty() { None } else { shown(norm(&numbers)) },
            change: before.and_then(|before| difference(&tensor.numbers, &before.numbers)).and_then(shown),
            broken: tensor.numbers.len() - numbers.len(),
            dead,
        }
    }
}

/// The range of the numbers without [`BEYOND`] of them at either end; `None` of none.
fn middle(mut numbers: Vec<f64>) -> Option<(f64, f64)> {
    numbers.sort_unstable_by(f64::total_cmp);
    let cut = (BEYOND * numbers.len() as f64) as usize;
    let (&low, &high) = (numbers.get(cut)?, numbers.get(numbers.len() - 1 - cut)?);
    // A margin where all are the same.
    let room = if low == high { 0.5 * low.abs().max(1e-6) } else { 0.0 };
    Some((low - room, high + room))
}

fn joined(one: Option<(f64, f64)>, other: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, other) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (one, other) => one.or(other),
    }
}
