//! Outputs of a network: priors of moves, and values.

use go::Move;
use mcts::{Evaluator, Request, Search, Ticket, Value};

/// The moves that a search considers, one at least, with the network's priors: the highest first, of equals the lowest
/// move.
pub(super) fn priors(search: &Search) -> Vec<(Move, f32)> {
    let size = search.game().size();
    let mut priors = search.priors();
    priors.sort_by(|(a, p), (b, q)| q.total_cmp(p).then(a.index(size).cmp(&b.index(size))));
    priors
}

/// The network's values of some positions, which are one batch.
///
/// # Errors
/// The model fails.
pub(super) fn values(model: &mut dyn Evaluator, requests: &[Request<'_>]) -> anyhow::Result<Vec<Value>> {
    let tickets: Vec<Ticket> = requests.iter().map(|&request| model.submit(request)).collect();
    model.flush().map_err(|error| anyhow::anyhow!(error))?;
    Ok(tickets.into_iter().map(|ticket| model.get(ticket).value).collect())
}
