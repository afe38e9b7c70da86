//! `tengen bench`: how fast this machine is, a readable line or a JSON object for each case.
//!
//! Rates for each core are by the time a thread was on a core, so that other work on the machine disturbs them little;
//! what is to be compared is measured in turns in one run.

mod clock;
mod data;
mod matches;
mod memory;
mod network;
mod npz;
mod peers;
mod played;
mod search;
mod selfplay;
mod subject;
mod train;

use std::fmt::Display;
use std::time::Duration;

use clap::Subcommand;
use runtime::Stop;
use serde::Serialize;

/// Arguments of `tengen bench`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    what: What,
    /// Print one JSON object for each case
    #[arg(long, global = true)]
    json: bool,
    /// Seconds that each number is measured for
    #[arg(long, global = true, default_value = "2", value_name = "S", allow_negative_numbers = true, value_parser = seconds)]
    seconds: Duration,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Visits a second of one core, with the model `uniform`: the search by itself
    Search(search::Args),
    /// Evaluations a second by batch size: of play, in f32, of libtorch without any tuning, and of other libraries
    ///
    /// Then the differences between the answers in other precisions and those in f32.
    Network(network::Args),
    /// Games, positions and evaluations a second of self-play, and the share of the bare network's rate
    Selfplay(selfplay::Args),
    /// Games a second of matches between two models, and their share of self-play's at equal visits
    Match(matches::Args),
    /// Examples a second of training, and their share of those of forward, backward and step alone
    Train(train::Args),
    /// Bytes for each node of a tree and for each game
    Memory(memory::Args),
    /// Rows a second from games to shards and from shards to tensors, memory, and bytes for each position
    ///
    /// With made-up games in a folder of its own; and with the games of a run, if one is named.
    Data(data::Args),
}

fn seconds(text: &str) -> Result<Duration, String> {
    runtime::within(0.01..=3600.0)(text).map(Duration::from_secs_f64)
}

/// What all measurements need.
struct Bench<'a> {
    store: &'a str,
    json: bool,
    time: Duration,
    stop: &'a Stop,
}

impl Bench<'_> {
    /// Prints one case.
    fn report(&self, case: &(impl Serialize + Display)) -> anyhow::Result<()> {
        if self.json { runtime::print(serde_json::to_string(case)?) } else { runtime::print(case) }
    }
}

/// Measures what is asked for.
///
/// # Errors
/// A model or a configuration that cannot be used, or a device that fails.
pub fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let bench = Bench { store, json: args.json, time: args.seconds, stop };
    match &args.what {
        What::Search(args) => search::run(&bench, args),
        What::Network(args) => network::run(&bench, args),
        What::Selfplay(args) => selfplay::run(&bench, args),
        What::Match(args) => matches::run(&bench, args),
        What::Train(args) => train::run(&bench, args),
        What::Memory(args) => memory::run(&bench, args),
        What::Data(args) => data::run(&bench, args),
    }
}
