//! What the names of models mean, for clients that name no digest, and when the store is to be asked again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use config::RunName;
use remote::{Digest, ModelKey};

/// How long no other check of a name begins after one that was late.
pub(super) const AWAY: Duration = Duration::from_secs(60);

/// When the store is read for what a name means, of a client that names no digest.
#[derive(Clone, Copy)]
pub(super) struct Checks {
    /// A name means the same model for so long.
    pub(super) every: Duration,
    /// A check that takes longer is late. The model in memory serves until it finds another one, and no other check
    /// begins for [`AWAY`].
    pub(super) patience: Duration,
}

impl Checks {
    pub(super) const DEFAULT: Checks = Checks { every: Duration::from_secs(1), patience: Duration::from_secs(1) };
}

/// What was found under the names of models.
pub(super) struct Names {
    pub(super) checks: Checks,
    found: HashMap<(RunName, u32), Named>,
}

/// What a name means.
struct Named {
    digest: Digest,
    /// When the store said so last, or [`AWAY`] after a check that was late.
    checked: Instant,
}

impl Names {
    pub(super) fn new(checks: Checks) -> Names {
        Names { checks, found: HashMap::new() }
    }

    /// The digest that the client names, or that the model of this name had when that was checked, if that was lately.
    pub(super) fn resolve(&self, key: &ModelKey, now: Instant) -> Option<Digest> {
        key.digest.or_else(|| {
            let named = self.found.get(&name(key))?;
            (now.saturating_duration_since(named.checked) < self.checks.every).then_some(named.digest)
        })
    }

    /// The digest that the model of this name had when that was checked last.
    pub(super) fn last(&self, key: &ModelKey) -> Option<Digest> {
        self.found.get(&name(key)).map(|named| named.digest)
    }

    /// Notes what the store has under a name now.
    pub(super) fn note(&mut self, key: &ModelKey, digest: Digest, now: Instant) {
        self.found.insert(name(key), Named { digest, checked: now });
    }

    /// Notes when a name was checked, and returns the digest that it means.
    pub(super) fn note_check(&mut self, key: &ModelKey, checked: Instant) -> Option<Digest> {
        let named = self.found.get_mut(&name(key))?;
        named.checked = checked;
        Some(named.digest)
    }

    /// Forgets a name if the store has another model under it; whether it has.
    pub(super) fn forget_replaced(&mut self, key: &ModelKey, stored: Digest) -> bool {
        let is_replaced = self.last(key).is_some_and(|digest| digest != stored);
        if is_replaced {
            self.found.remove(&name(key));
        }
        is_replaced
    }
}

fn name(key: &ModelKey) -> (RunName, u32) {
    (key.run.clone(), key.number)
}
