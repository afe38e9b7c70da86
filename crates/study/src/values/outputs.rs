//! Outputs of a network.

use mcts::{Evaluator, Request, Ticket, Value};

/// The network's values of some positions, which are one batch.
///
/// # Errors
/// The model fails.
pub(super) fn values(model: &mut dyn Evaluator, requests: &[Request<'_>]) -> anyhow::Result<Vec<Value>> {
    let tickets: Vec<Ticket> = requests.iter().map(|&request| model.submit(request)).collect();
    model.flush().map_err(|error| anyhow::anyhow!(error))?;
    Ok(tickets.into_iter().map(|ticket| model.get(ticket).value).collect())
}
