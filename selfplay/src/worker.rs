//! One thread: its own network, its own games.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use play::{Selfplay, SelfplaySpec};
use record::GameRecord;

use crate::{Model, SelfplayError, Shared};

/// Plays every `threads`-th game that is wanted and not published, and sends the records.
///
/// The share of a thread is fixed beforehand, so that which thread plays a game does not depend on timing.
pub(crate) fn play(
    shared: &Shared<'_>,
    thread: usize,
    model: &Model,
    finished: &Sender<GameRecord>,
) -> Result<(), SelfplayError> {
    let job = shared.job;
    let wanted = (0..job.games).filter(|index| !shared.published.contains(index));
    let mut wanted = wanted.skip(thread).step_by(job.threads);
    let (name, config) = (job.model.to_string(), &job.config);
    let slots = config.selfplay.batch / config.search.leaves;
    let mut evaluator = model.evaluator(job.cache);
    let mut counted = play::Counts::default();
    // Nobody listens any more when a game could not be published.
    let heard = Cell::new(true);
    play::run(
        &mut [&mut *evaluator],
        slots,
        &mut || {
            let index = wanted.next().filter(|_| !shared.enough.load(Ordering::Relaxed))?;
            Some(Selfplay::new(SelfplaySpec::new(config, &name, shared.series, index, job.threshold)))
        },
        &mut |record| heard.set(heard.get() && finished.send(record).is_ok()),
        &mut |counts| {
            shared.evaluations.fetch_add(counts.evaluations - counted.evaluations, Ordering::Relaxed);
            shared.recalled.fetch_add(counts.recalled - counted.recalled, Ordering::Relaxed);
            counted = counts;
            if shared.stop.requested() || !heard.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )
    .map_err(|source| SelfplayError::Evaluate { model: job.model.clone(), source })?;
    Ok(())
}
