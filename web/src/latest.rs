//! What requests share: one reads it anew, and the others have what was read before.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// While one request reads, others have what was read so long ago at most, rather than that all threads of pages wait.
const STALE: Duration = Duration::from_secs(60);

/// A `T` for all requests, and a `K` for the one that reads.
pub(crate) struct Latest<T, K = ()> {
    reading: Mutex<K>,
    last: Mutex<Option<(Instant, T)>>,
}

impl<T, K: Default> Default for Latest<T, K> {
    fn default() -> Latest<T, K> {
        Latest { reading: Mutex::default(), last: Mutex::default() }
    }
}

impl<T: Clone, K> Latest<T, K> {
    /// What is younger than `fresh`, or what `read` makes of what was read before.
    pub(crate) fn get<E>(&self, fresh: Duration, read: impl FnOnce(&mut K, Option<T>) -> Result<T, E>) -> Result<T, E> {
        if let Some(last) = self.younger(fresh) {
            return Ok(last);
        }
        let mut reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => match self.younger(STALE) {
                Some(last) => return Ok(last),
                None => self.reading.lock().unwrap_or_else(PoisonError::into_inner),
            },
        };
        // Another request may have read it meanwhile.
        if let Some(last) = self.younger(fresh) {
            return Ok(last);
        }
        let next = read(&mut reading, self.younger(Duration::MAX))?;
        *self.last() = Some((Instant::now(), next.clone()));
        Ok(next)
    }

    fn younger(&self, than: Duration) -> Option<T> {
        self.last().as_ref().filter(|(read, _)| read.elapsed() < than).map(|(_, last)| last.clone())
    }

    fn last(&self) -> MutexGuard<'_, Option<(Instant, T)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl<T, K> Latest<T, K> {
    /// Lets time pass.
    pub(crate) fn age(&self, by: Duration) {
        self.last.lock().unwrap().iter_mut().for_each(|(read, _)| *read -= by);
    }

    /// A request that reads for as long as it holds this.
    pub(crate) fn read_by_another(&self) -> MutexGuard<'_, K> {
        self.reading.lock().unwrap()
    }
}
