//! `tengen serve`: the web application.

use std::time::Duration;

use runtime::Stop;
use store::Store;
use web::Server;

/// Time between two signs that the process is well.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// Arguments of `tengen serve`.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    #[command(flatten)]
    web: web::ServeArgs,
    #[command(flatten)]
    service: runtime::ServiceArgs,
}

/// Serves the runs of a store until `stop` is requested.
///
/// # Errors
/// An address, a token or a certificate that cannot be used; a store that cannot be opened.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    args.service.start("tengen", None, stop)?;
    // No error: a run may begin there while pages are open. A misspelt folder has pages without runs.
    if Store::is_absent_folder(store) {
        tracing::warn!(store, "the folder of the store does not exist; creating it");
    }
    let store = Store::open(store)?;
    let server = Server::start(&args.web, store.clone())?;
    runtime::print(server.url())?;
    tracing::info!(url = server.url(), store = store.root(), "serving the web application");
    stop.health().set_ready();
    // Its work is to be there.
    while !stop.wait(HEARTBEAT) {
        stop.health().heartbeat();
    }
    let drained = server.stop(args.service.drain_time());
    tracing::info!(drained, "web application stopped");
    Ok(())
}
