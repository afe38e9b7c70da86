//! `tengen run`: arguments, and the settings that follow from them.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use config::RunName;
use models::{Place, Priority};
use net::{Backend, Precision};
use runtime::{Classify, InferenceArgs, LiveArgs, Notes, ResourceArgs, Stop, TimesArgs};
use store::Store;
use trainer::ReferenceArgs;
use web::Server;

use crate::run_loop::{self, Resources};

/// Arguments of `tengen run`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Configuration of the run, such as configs/9x9.toml
    config: PathBuf,
    /// Name of the run [default: name of the configuration file, unless that is run.toml]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Override a key of the configuration, such as search.visits=50; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Serve the pages of the store's runs meanwhile, at a loopback address; another port if it is taken [default:
    /// none; 127.0.0.1:8080 without a value]
    #[arg(long, env = "TENGEN_SERVE", value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:8080", value_parser = address)]
    serve: Option<String>,
    #[command(flatten)]
    references: ReferenceArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    #[command(flatten)]
    inference: InferenceArgs,
    #[command(flatten)]
    times: TimesArgs,
    #[command(flatten)]
    live: LiveArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
}

/// Advances the run until it has all its models and the last is rated, or `stop` is requested.
///
/// # Errors
/// A configuration that cannot be used, or another one than the run began with; a stage that failed.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let config = runtime::configuration(&args.config, &args.overrides)?;
    let name = name(args).misconfigured()?;
    args.service.start("tengen", Some(name.as_str()), stop)?;
    let client = format!("run {name}");
    let place = Place::open(&args.resources, &args.inference, &client, Priority::Selfplay, stop)?;
    Backend::of_training(place.devices().first(), Precision::Auto)?.log("training", args.resources.threads());
    let store = Store::open(store)?;
    let server = args.serve.as_deref().map(|address| Server::start_local(address, store.clone())).transpose()?;
    let mut notes = Notes::default();
    if let Some(server) = &server {
        tracing::info!(url = server.url(), "serving the web application");
        notes.print(format!("pages of the run: {}runs/{name}", server.url()));
    }
    let run = store.run(&name);
    // Before the run begins: with a wrong file there is to be none.
    let references = args.references.open(&run, &config)?;
    runtime::begin(&run, &config, &args.overrides)?;
    stop.health().set_ready();
    let resources = Resources {
        search_threads: place.search_threads(&args.resources),
        place,
        threads: args.resources.threads(),
        cache: args.resources.cache(),
        times: args.times.times.unwrap_or(false),
        live: args.live.interval(u64::from(server.is_some())),
        references: &references,
    };
    let done = run_loop::run(&store, &run, &config, resources, stop);
    // Open pages do not keep the process.
    server.map(|server| server.stop(Duration::ZERO));
    done.and(notes.finish())
}

/// The value of `--serve`, which takes the configuration for its value where that follows.
fn address(text: &str) -> Result<String, String> {
    if text.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok()) {
        Ok(text.to_owned())
    } else {
        Err("write HOST:PORT, or --serve after the configuration".to_owned())
    }
}

fn name(args: &Args) -> anyhow::Result<RunName> {
    match (&args.run, args.config.file_stem().and_then(|stem| stem.to_str())) {
        (Some(name), _) => Ok(name.clone()),
        // The file of a stored run. A run of its stem would begin anew beside the one that is meant.
        (None, Some("run")) => {
            let folder = args.config.parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
            anyhow::bail!("a run.toml does not name its run; add --run {}", folder.unwrap_or("NAME"))
        }
        (None, Some(stem)) => stem.parse().context("the configuration file's name cannot name a run; use --run NAME"),
        (None, None) => anyhow::bail!("the configuration file has no name; use --run NAME"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn serve_before_the_configuration_says_where_to_write_it() {
        let serve = |arguments: &[&str]| {
            let parsed = Program::try_parse_from(["program"].iter().chain(arguments));
            parsed.map(|program| program.args.serve)
        };
        assert_eq!(serve(&["a.toml", "--serve"]).unwrap().as_deref(), Some("127.0.0.1:8080"));
        for address in ["localhost:0", "[::1]:8080"] {
            assert_eq!(serve(&["--serve", address, "a.toml"]).unwrap().as_deref(), Some(address));
        }
        let error = serve(&["--serve", "configs/9x9.toml"]).unwrap_err().to_string();
        assert!(error.contains("write HOST:PORT, or --serve after the configuration"), "{error}");
    }
}
