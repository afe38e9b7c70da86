//! The numbers of networks as tables for programs.

use page::{DataColumn, DataTable};

use super::facts::Facts;
use super::parts::dimensions;
use super::series::Series;
use super::tensor::{Histogram, TensorFacts};

/// Rows that become a table, column by column.
struct Rows<T>(Vec<T>);

impl<T> Rows<T> {
    fn text(&self, of: impl Fn(&T) -> String) -> DataColumn {
        DataColumn::Text(self.0.iter().map(of).collect())
    }

    fn number(&self, of: impl Fn(&T) -> Option<f64>) -> DataColumn {
        DataColumn::Number(self.0.iter().map(of).collect())
    }

    fn count(&self, of: impl Fn(&T) -> usize) -> DataColumn {
        self.number(|row| Some(of(row) as f64))
    }
}

/// A table of a network; `None` for a name of none.
pub(super) fn of_network(facts: &Facts, name: &str) -> Option<DataTable> {
    Some(match name {
        "tensors" => tensors(facts),
        "histograms" => histograms(facts),
        "kernels" => kernels(facts),
        "channels" => channels(facts),
        _ => return None,
    })
}

/// A table of several networks; `None` for a name of none.
pub(super) fn of_series(series: &Series, name: &str) -> Option<DataTable> {
    Some(match name {
        "networks" => networks(series),
        "tensors" => tensors_of_series(series),
        "histograms" => histograms_of_series(series),
        _ => return None,
    })
}

fn tensors(facts: &Facts) -> DataTable {
    let rows = Rows(facts.tensors.iter().collect::<Vec<&TensorFacts>>());
    DataTable {
        columns: vec![
            ("tensor", rows.text(|row| row.name.clone())),
            ("dimensions", rows.text(|row| dimensions(&row.dimensions))),
            ("numbers", rows.count(|row| row.count)),
            ("mean", rows.number(|row| row.mean)),
            ("deviation", rows.number(|row| row.deviation)),
            ("least", rows.number(|row| row.least)),
            ("largest", rows.number(|row| row.largest)),
            ("norm", rows.number(|row| row.norm)),
            ("near_zero", rows.number(|row| row.near_zero)),
            ("nan", rows.count(|row| row.nan)),
            ("infinite", rows.count(|row| row.infinite)),
            ("difference", rows.number(|row| row.against.as_ref()?.difference)),
            ("other_norm", rows.number(|row| row.against.as_ref()?.norm)),
        ],
    }
}

/// A row for each bar of each histogram.
fn histograms(facts: &Facts) -> DataTable {
    let other = facts.against.as_ref().map_or("", |card| &card.name);
    let of = |tensor: &'_ TensorFacts| {
        let own = tensor.histogram.clone().map(|histogram| (facts.model.name.clone(), histogram));
        let against = tensor.against.as_ref().and_then(|against| against.histogram.clone());
        own.into_iter().chain(against.map(|histogram| (other.to_owned(), histogram))).collect::<Vec<_>>()
    };
    let all = facts.tensors.iter().flat_map(|tensor| of(tensor).into_iter().map(|found| (tensor.name.clone(), found)));
    bars(all.flat_map(|(tensor, (network, Histogram { from, to, counts }))| {
        bars_of(&tensor, &network, (from, to), &counts)
    }))
}

struct Bar {
    tensor: String,
    network: String,
    from: f64,
    to: f64,
    count: usize,
}

fn bars_of(tensor: &str, network: &str, (from, to): (f64, f64), counts: &[usize]) -> Vec<Bar> {
    let end = |bar: usize| from + (to - from) * bar as f64 / counts.len() as f64;
    let bar = |(bar, &count): (usize, &usize)| Bar {
        tensor: tensor.to_owned(),
        network: network.to_owned(),
        from: end(bar),
        to: end(bar + 1),
        count,
    };
    counts.iter().enumerate().map(bar).collect()
}

fn bars(all: impl Iterator<Item = Bar>) -> DataTable {
    let rows = Rows(all.collect::<Vec<Bar>>());
    DataTable {
        columns: vec![
            ("tensor", rows.text(|bar| bar.tensor.clone())),
            ("network", rows.text(|bar| bar.network.clone())),
            ("from", rows.number(|bar| Some(bar.from))),
            ("to", rows.number(|bar| Some(bar.to))),
            ("count", rows.count(|bar| bar.count)),
        ],
    }
}

/// A row for each number of the first layer.
fn kernels(facts: &Facts) -> DataTable {
    let stem = &facts.stem;
    let rows = Rows((0..stem.weights.len()).collect::<Vec<usize>>());
    let finite = |at: usize| Some(f64::from(stem.weights[at])).filter(|weight| weight.is_finite());
    let planes = stem.planes.len();
    DataTable {
        columns: vec![
            ("plane", rows.text(|at| stem.planes[at / 9 % planes].clone())),
            ("filter", rows.count(|at| at / 9 / planes)),
            ("row", rows.count(|at| at % 9 / 3)),
            ("column", rows.count(|at| at % 3)),
            ("weight", rows.number(|&at| finite(at))),
        ],
    }
}

/// A row for each channel of each batch norm.
fn channels(facts: &Facts) -> DataTable {
    let all = facts.norms.iter().flat_map(|norm| (0..norm.variance.len()).map(move |channel| (norm, channel)));
    let rows = Rows(all.collect::<Vec<_>>());
    DataTable {
        columns: vec![
            ("norm", rows.text(|(norm, _)| norm.name.clone())),
            ("channel", rows.count(|(_, channel)| *channel)),
            ("scale", rows.number(|(norm, channel)| norm.scale.as_ref().and_then(|scale| scale[*channel]))),
            ("variance", rows.number(|(norm, channel)| norm.variance[*channel])),
            ("dead", rows.count(|(norm, channel)| usize::from(norm.dead.contains(channel)))),
        ],
    }
}

fn networks(series: &Series) -> DataTable {
    let rows = Rows(series.networks.iter().collect::<Vec<_>>());
    DataTable {
        columns: vec![
            ("network", rows.text(|column| column.card.name.clone())),
            ("norm", rows.number(|column| column.norm)),
            ("change", rows.number(|column| column.change)),
            ("dead", rows.count(|column| column.dead)),
            ("channels", rows.count(|column| column.channels)),
            ("not_finite", rows.count(|column| column.broken)),
            ("step", rows.number(|column| column.card.step.map(|step| step as f64))),
            ("parameters", rows.count(|column| column.card.parameters)),
        ],
    }
}

/// A row for each tensor of each network.
fn tensors_of_series(series: &Series) -> DataTable {
    let cells = series.tensors.iter().flat_map(|tensor| {
        let cells = series.networks.iter().zip(&tensor.cells);
        cells.filter_map(move |(column, cell)| Some((tensor, column, cell.as_ref()?)))
    });
    let rows = Rows(cells.collect::<Vec<_>>());
    DataTable {
        columns: vec![
            ("tensor", rows.text(|(tensor, ..)| tensor.name.clone())),
            ("network", rows.text(|(_, column, _)| column.card.name.clone())),
            ("dimensions", rows.text(|(.., cell)| dimensions(&cell.dimensions))),
            ("mean", rows.number(|(.., cell)| cell.mean)),
            ("deviation", rows.number(|(.., cell)| cell.deviation)),
            ("norm", rows.number(|(.., cell)| cell.norm)),
            ("change", rows.number(|(.., cell)| cell.change)),
            ("not_finite", rows.count(|(.., cell)| cell.broken)),
        ],
    }
}

fn histograms_of_series(series: &Series) -> DataTable {
    bars(series.tensors.iter().flat_map(|tensor| {
        let range = tensor.range.unwrap_or_default();
        let cells = series.networks.iter().zip(&tensor.cells);
        cells.flat_map(move |(column, cell)| {
            let counts = cell.as_ref().map_or(&[][..], |cell| &cell.counts);
            bars_of(&tensor.name, &column.card.name, range, counts)
        })
    }))
}
