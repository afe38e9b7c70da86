//! `trainer inspect`: what is in a network, as one page for a browser.
//!
//! The cast: [`Subject`] is a network by its name and how it came to be; `facts` puts its numbers together, of which
//! `tensor` knows those of one tensor; the page draws them.

mod facts;
mod tensor;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use cli::{Blame, Misconfigured, Page, write_whole};
use config::ModelRef;
use net::Listing;
use store::ModelCard;

use self::facts::Facts;
use crate::{TrainerError, files, models};

const PAGE: Page<'_> = Page {
    title: "Tengen: a network",
    body: include_str!("inspect/page/body.html"),
    style: include_str!("inspect/page/inspect.css"),
    scripts: &[include_str!("inspect/page/pictures.js"), include_str!("inspect/page/page.js")],
};

/// Arguments of `trainer inspect`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// The network: a model of any run in the store (v5-173, or v5 for the newest of run v5), 9x9-demo, or a file
    #[arg(value_name = "MODEL|FILE")]
    model: String,
    /// Compare it with this one, named likewise, tensor by tensor
    #[arg(long, value_name = "MODEL|FILE")]
    against: Option<String>,
    /// The page [default: the name of the model, and .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// A network, and what is known of it.
struct Subject {
    name: String,
    listing: Listing,
    /// Bytes of its file.
    bytes: usize,
    card: Option<ModelCard>,
    /// The first model of its run, where that is another one.
    first: Option<ModelCard>,
}

/// Writes the page.
pub(crate) fn run(store: &str, args: &Args) -> anyhow::Result<()> {
    let subject = Subject::open(store, &args.model)?;
    let against = args.against.as_deref().map(|other| Subject::open(store, other)).transpose()?;
    let facts = Facts::gather(&subject, against.as_ref()).map_err(|why| Misconfigured::new(anyhow!(why)))?;
    let file = args.out.clone().unwrap_or_else(|| format!("{}.html", subject.name).into());
    let written = write_whole(&file, PAGE.of(&facts).as_bytes());
    written.with_context(|| format!("cannot write {}", file.display())).misconfigured()?;
    cli::print(format_args!("{}: {facts}", file.display()))
}

impl Subject {
    /// A model by its name; anything that can be no such name is a file.
    fn open(store: &str, named: &str) -> anyhow::Result<Subject> {
        match files::as_model(named) {
            Some(model) => Subject::of_model(store, &model),
            None => Subject::of_file(named),
        }
    }

    fn of_model(store: &str, model: &ModelRef) -> anyhow::Result<Subject> {
        let (run, number) = files::resolve(&models::store_of(store, model)?, model)?;
        let (card, bytes) = run.model(number)?;
        let first = if number > 1 && run.has_model(1)? { Some(run.model_card(1)?) } else { None };
        let name = card.id().to_string();
        Ok(Subject { listing: read(&name, &bytes)?, name, bytes: bytes.len(), card: Some(card), first })
    }

    fn of_file(path: &str) -> anyhow::Result<Subject> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {path}")).misconfigured()?;
        let name = files::name(path.as_ref());
        Ok(Subject { listing: read(&name, &bytes)?, name, bytes: bytes.len(), card: None, first: None })
    }
}

fn read(name: &str, bytes: &[u8]) -> Result<Listing, TrainerError> {
    Listing::read(bytes).map_err(|source| TrainerError::Weights { name: name.to_owned(), source })
}

#[cfg(test)]
mod tests;
