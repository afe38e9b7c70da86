//! `tengen study inspect`: the weights of a network, or of several of a run, as one HTML page.
//!
//! The cast: `Subject` is a network by its name and how it came to be; `facts` puts its numbers together, of which
//! `tensor` knows those of one tensor; `series` has histograms of several networks side by side. An `Inspection` is
//! either, as a page (`network_body`, `series_body`, `pictures`) and as tables.

mod facts;
mod inspection;
mod network_body;
mod parts;
mod pictures;
mod series;
mod series_body;
mod subject;
mod tables;
mod tensor;

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use config::ModelRef;
use models::{ModelName, Models};
use runtime::{Classify, check_distinct, write_whole};
use store::Store;

use self::facts::Facts;
pub use self::inspection::Inspection;
pub use self::parts::{SCRIPT, STYLE, TableLinks};
use self::series::Series;
use self::subject::Subject;
use crate::StudyError;

/// Networks that fit side by side on a page.
const MOST: usize = 100;

/// Arguments of `tengen study inspect`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Models: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or files of weights. Several are shown side
    /// by side, in this order
    #[arg(value_name = "MODEL|FILE", required = true, num_args = 1..)]
    models: Vec<ModelName>,
    /// Compare a single network, tensor by tensor, with this one, in the same form [default: none]
    #[arg(long, value_name = "MODEL|FILE", conflicts_with = "every")]
    against: Option<ModelName>,
    /// Expand the name of a run to its models N, 2N, 3N, ... and its newest [default: its newest alone]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=1_000_000_u32))]
    every: Option<u32>,
    /// Output file [default: the names of the first and the last model, with .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the page.
pub(crate) fn run(store: &str, args: &Args) -> anyhow::Result<()> {
    let models = &Models::new(Store::open_or_empty(store)?);
    let named = args.named(models)?;
    check_distinct(&args.out, named.iter().chain(&args.against).filter_map(ModelName::file))?;
    let found = match &named[..] {
        [model] if args.every.is_none() => network(models, model, args.against.as_ref())?,
        _ if args.against.is_some() => {
            return Err(anyhow!("--against compares a single network; {} are named", named.len())).misconfigured();
        }
        _ if named.len() > MOST => {
            let many =
                anyhow!("a page has at most {MOST} networks, and {} are named; use a larger --every", named.len());
            return Err(many).misconfigured();
        }
        _ => networks(models, &named)?,
    };
    let file = args.out.clone().unwrap_or_else(|| format!("{}.html", found.name()).into());
    let written = write_whole(&file, found.page().as_bytes());
    written.with_context(|| format!("cannot write {}", file.display())).misconfigured()?;
    runtime::print(format_args!("{}: {found}", file.display()))
}

/// The network of a model, and what it has in common with another one.
///
/// # Errors
/// No such model; networks that have nothing in common.
pub fn network(models: &Models, model: &ModelName, against: Option<&ModelName>) -> Result<Inspection, StudyError> {
    let subject = Subject::open(models, model)?;
    let against = against.map(|other| Subject::open(models, other)).transpose()?;
    Ok(Inspection::of_network(Facts::gather(&subject, against.as_ref())?))
}

/// The networks of several models.
///
/// # Errors
/// No such model.
pub fn networks(models: &Models, these: &[ModelName]) -> Result<Inspection, StudyError> {
    let series = Series::gather(these.len(), &|place| Subject::open(models, &these[place]))?;
    Ok(Inspection::of_series(series))
}

impl Args {
    /// The networks, with the models of runs that `--every` means.
    fn named(&self, models: &Models) -> Result<Vec<ModelName>, StudyError> {
        let Some(every) = self.every else { return Ok(self.models.clone()) };
        let mut names = Vec::new();
        for named in &self.models {
            match named {
                ModelName::Model(model @ ModelRef::Newest(_)) => {
                    let (run, newest) = models.trained(model)?;
                    for number in
                        run.models().list()?.into_iter().filter(|&number| number == newest || number % every == 0)
                    {
                        if !run.models().weights_are_deleted(number)? {
                            names.push(ModelName::Model(ModelRef::Exact(run.name().model(number))));
                        }
                    }
                }
                _ => names.push(named.clone()),
            }
        }
        Ok(names)
    }
}

#[cfg(test)]
mod tests;
