//! What evaluators are playing now, so that others play something else.
//!
//! A claim is a file whose name says which games it is about: the pair, and the first of the games. A file is published
//! once, so of two evaluators that want the same games one gets them.
//!
//! How old a claim is, is said by the clock of the place that keeps it, which is the same for all; clocks of machines
//! may be hours apart.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::error::StoreError;
use crate::folder::RunFolder;
use crate::names::TOML;
use crate::parts::sha256;

/// A claim that was neither made nor renewed for so long is that of a killed evaluator.
pub const CLAIM_LASTS: Duration = Duration::from_secs(1800);

const CLAIMS: &str = "claims";

/// Games in progress, without results yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// One of the players.
    pub first: String,
    /// The other.
    pub second: String,
    /// The numbers of the games in the series of the pair, ascending.
    pub numbers: Vec<u64>,
}

/// A claim as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    worker: String,
    /// When it was made, in milliseconds since 1970 by the clock of its process: for messages.
    time: u64,
    #[serde(flatten)]
    claim: Claim,
}

/// What was last seen of the claims of others, and the time at the place that keeps them.
#[derive(Debug, Default)]
struct Notices {
    /// By file and when it was written; none for that of a later version. A later file under the same name is another
    /// claim.
    read: BTreeMap<(String, i64), Option<Claim>>,
    /// A time of the place in milliseconds since 1970, and when it was that late at least.
    clock: Option<(i64, Instant)>,
    /// Whether that was seen of a file of its own. Until then it may be much later there.
    is_sure: bool,
}

impl Notices {
    /// It was that late at the place just now, or later.
    fn set(&mut self, time: i64) {
        if self.time().is_none_or(|now| time > now) {
            self.clock = Some((time, Instant::now()));
        }
    }

    /// How late it is at the place, as far as is known.
    fn time(&self) -> Option<i64> {
        let since = |then: Instant| i64::try_from(then.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.clock.map(|(time, then)| time.saturating_add(since(then)))
    }
}

impl Claim {
    /// Whether it is about these two players, in either order.
    pub fn is_of(&self, one: &str, other: &str) -> bool {
        (self.first == one && self.second == other) || (self.first == other && self.second == one)
    }

    /// The name of its file: names of players may hold what names of files may not.
    fn file(&self) -> String {
        let (one, other) = (self.first.as_str().min(&self.second), self.first.as_str().max(&self.second));
        let digest = sha256(format!("{one}\n{other}").as_bytes());
        format!("{}-{:09}{TOML}", &digest[..16], self.numbers.first().unwrap_or(&0))
    }
}

/// The claims of a run.
#[derive(Debug)]
pub struct Claims {
    at: RunFolder,
    /// What was last seen of the claims, and of the clock of the place.
    notices: Mutex<Notices>,
}

impl Claims {
    pub(crate) fn new(at: RunFolder) -> Claims {
        Claims { notices: Mutex::default(), at }
    }

    /// Claims the games that this evaluator is about to play; `false` when another has claimed games of this pair that
    /// begin with the same number.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn acquire(&self, worker: &str, claim: &Claim) -> Result<bool, StoreError> {
        let stored = Stored { worker: worker.to_owned(), time: self.at.store.now(), claim: claim.clone() };
        let path = self.file(&claim.file());
        match self.at.store.publish_toml(&path, &stored) {
            Err(StoreError::AlreadyExists { .. }) => return Ok(false),
            done => done?,
        }
        let is_sure = self.notices().is_sure;
        if !is_sure && let Some(time) = self.at.store.written_at(&path)? {
            // What was just written says how late it is there.
            let mut notices = self.notices();
            notices.set(time);
            notices.is_sure = true;
        }
        Ok(true)
    }

    /// The games are finished or discarded.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn release(&self, claim: &Claim) -> Result<(), StoreError> {
        self.at.store.delete(&self.file(&claim.file()))
    }

    /// Makes a claim as young as a new one, for games that take long; `false` when the games are claimed by another
    /// evaluator now, perhaps one of a later version, whose claim stays. They are then played twice and count once.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn renew(&self, worker: &str, claim: &Claim) -> Result<bool, StoreError> {
        match self.at.store.find_toml::<Stored>(&self.file(&claim.file())) {
            Ok(Some(found)) if found.worker != worker => return Ok(false),
            // One that cannot be read is written anew.
            Ok(_) | Err(StoreError::Damaged { .. }) => {}
            Err(error @ StoreError::OtherVersion { .. }) => {
                tracing::warn!(%error, "claim not renewed; another evaluator may play the same games");
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        self.release(claim)?;
        self.acquire(worker, claim)
    }

    /// What others are playing. Claims older than `age` are those of killed processes: they do not count, and are
    /// deleted. Before anything is known of the time at the place, none is that old. A second call reads only new
    /// claims.
    ///
    /// Those of a later version are not listed, since their games are not known. They stay: [`Claims::acquire`] cannot
    /// claim games that begin with the same number.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn list(&self, age: Duration) -> Result<Vec<Claim>, StoreError> {
        let files = self.at.store.dated_files(&self.at.path([CLAIMS]))?;
        files.values().for_each(|&time| self.notices().set(time));
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let oldest = self.notices().time().map_or(i64::MIN, |now| now.saturating_sub(age));
        let known = std::mem::take(&mut self.notices().read);
        let mut claims = BTreeMap::new();
        for (file, time) in files.into_iter().filter(|(file, _)| file.ends_with(TOML)) {
            if time < oldest {
                self.at.store.delete(&self.file(&file))?;
                continue;
            }
            let key = (file, time);
            if let Some(claim) = known.get(&key) {
                claims.insert(key, claim.clone());
                continue;
            }
            match self.at.store.find_toml::<Stored>(&self.file(&key.0)) {
                Ok(Some(found)) => drop(claims.insert(key, Some(found.claim))),
                Err(error @ StoreError::OtherVersion { .. }) => {
                    tracing::warn!(%error, "skipped a claim; another evaluator may play the same games");
                    claims.insert(key, None);
                }
                // None that these programs can read: what it was about may be played.
                Err(StoreError::Damaged { .. }) => self.at.store.delete(&self.file(&key.0))?,
                // One that is gone was released just now.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        self.notices().read.clone_from(&claims);
        Ok(claims.into_values().flatten().collect())
    }

    /// All claims, those of killed processes included, each with when it was made by the clock of the place, in
    /// milliseconds since 1970. Changes nothing, for observers.
    ///
    /// # Errors
    /// A store that cannot be reached.
    pub fn observe(&self) -> Result<Vec<(i64, Claim)>, StoreError> {
        let files = self.at.store.dated_files(&self.at.path([CLAIMS]))?;
        let mut claims = Vec::new();
        for (file, time) in files.into_iter().filter(|(file, _)| file.ends_with(TOML)) {
            match self.at.store.find_toml::<Stored>(&self.file(&file)) {
                Ok(Some(found)) => claims.push((time, found.claim)),
                // Evaluators pass over these, too.
                Ok(None) | Err(StoreError::Damaged { .. } | StoreError::OtherVersion { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(claims)
    }

    fn notices(&self) -> MutexGuard<'_, Notices> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, file: &str) -> Path {
        self.at.path([CLAIMS]).join(file)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const AGE: Duration = Duration::from_secs(60);

    fn claims() -> Claims {
        Claims::new(RunFolder::in_memory())
    }

    fn claim(first: &str, second: &str, number: u64) -> Claim {
        Claim { first: first.to_owned(), second: second.to_owned(), numbers: vec![number, number + 1] }
    }

    #[test]
    fn concurrent_claims_of_same_games_have_one_winner() {
        let claims = claims();
        assert!(claims.acquire("a", &claim("x+visits=4", "y", 4)).unwrap());
        assert!(!claims.acquire("b", &claim("x+visits=4", "y", 4)).unwrap());
        assert!(!claims.acquire("b", &claim("y", "x+visits=4", 4)).unwrap(), "either order is one pair");
        assert!(claims.acquire("b", &claim("y", "x+visits=4", 6)).unwrap());
        assert!(claims.acquire("b", &claim("x", "y", 4)).unwrap());
        claims.release(&claim("x+visits=4", "y", 4)).unwrap();
        assert!(claims.acquire("b", &claim("x+visits=4", "y", 4)).unwrap());
        let acquire = |worker: u32| claims.acquire(&worker.to_string(), &claim("x", "y", 8)).unwrap();
        let won: Vec<bool> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|worker| scope.spawn(move || acquire(worker))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(won.iter().filter(|&&won| won).count(), 1, "{won:?}");
    }

    #[test]
    fn claims_last_until_they_are_released_or_old() {
        let claims = claims();
        assert_eq!(claims.list(AGE).unwrap(), []);
        let (one, other) = (claim("x", "random", 0), claim("y", "random", 0));
        assert!(claims.acquire("a", &one).unwrap() && claims.acquire("b", &other).unwrap());
        assert_eq!(claims.list(AGE).unwrap().len(), 2);
        claims.release(&one).unwrap();
        claims.release(&one).unwrap();
        assert_eq!(claims.list(AGE).unwrap(), std::slice::from_ref(&other));
        let observed: Vec<Claim> = claims.observe().unwrap().into_iter().map(|(_, claim)| claim).collect();
        assert_eq!(observed, [other]);
        let now = claims.notices().time().unwrap();
        claims.notices().set(now + 2 * i64::try_from(AGE.as_millis()).unwrap());
        assert_eq!(claims.list(AGE).unwrap(), []);
        let files = claims.at.store.dated_files(&claims.at.path([CLAIMS])).unwrap();
        assert!(files.is_empty(), "old ones are deleted: {files:?}");
    }

    /// An evaluator that was stopped for longer than its claim lasts comes back.
    #[test]
    fn claim_of_another_is_not_renewed() {
        let claims = claims();
        let claim = claim("x", "random", 0);
        assert!(claims.acquire("a", &claim).unwrap());
        assert!(claims.renew("a", &claim).unwrap());
        claims.release(&claim).unwrap();
        assert!(claims.acquire("b", &claim).unwrap());
        assert!(!claims.renew("a", &claim).unwrap());
        assert!(claims.renew("b", &claim).unwrap(), "it is still there, and still of the other");
    }

    #[test]
    fn claim_whose_file_is_cut_off_holds_until_it_is_listed() {
        let claims = claims();
        let (whole, cut) = (claim("x", "random", 0), claim("y", "random", 0));
        assert!(claims.acquire("a", &whole).unwrap());
        let path = claims.file(&cut.file());
        claims.at.store.publish(&path, bytes::Bytes::from_static(b"format = 1\nworker = \"b")).unwrap();
        assert!(!claims.acquire("a", &cut).unwrap(), "its name is taken");
        let observed: Vec<Claim> = claims.observe().unwrap().into_iter().map(|(_, claim)| claim).collect();
        assert_eq!(observed, std::slice::from_ref(&whole));
        assert!(claims.at.store.exists(&path).unwrap(), "observers change nothing");
        assert_eq!(claims.list(AGE).unwrap(), [whole]);
        assert!(claims.acquire("a", &cut).unwrap());
    }

    /// A newer evaluator plays these games.
    #[test]
    fn claim_of_a_later_version_is_skipped_and_stays() {
        let claims = claims();
        let (own, claim) = (claim("y", "random", 0), claim("x", "random", 0));
        assert!(claims.acquire("a", &own).unwrap());
        let path = claims.file(&claim.file());
        claims.at.store.publish(&path, bytes::Bytes::from_static(b"format = 2\nby = \"b\"\n")).unwrap();
        for _ in 0..2 {
            assert_eq!(claims.list(AGE).unwrap(), std::slice::from_ref(&own));
        }
        assert_eq!(claims.observe().unwrap().len(), 1);
        assert!(!claims.renew("a", &claim).unwrap() && !claims.acquire("a", &claim).unwrap());
        assert_eq!(&claims.at.store.get(&path).unwrap()[..], b"format = 2\nby = \"b\"\n");
    }
}
