//! `tengen serve`: the web application.

use std::time::Duration;

use runtime::Stop;
use store::Store;
use web::Server;

/// Time for requests to end after a request to stop.
const DRAIN: Duration = Duration::from_secs(5);

/// Arguments of `tengen serve`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(flatten)]
    web: web::Args,
}

/// Serves the runs of a store until `stop` is requested.
///
/// # Errors
/// An address, a token or a certificate that cannot be used; a store that cannot be opened.
pub fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let store = Store::open(store)?;
    let server = Server::start(&args.web, store.clone())?;
    runtime::print(server.url())?;
    tracing::info!(url = server.url(), store = store.root(), "serving the web application");
    stop.health().set_ready();
    while !stop.wait(Duration::from_secs(3600)) {}
    let drained = server.stop(DRAIN);
    tracing::info!(drained, "web application stopped");
    Ok(())
}
