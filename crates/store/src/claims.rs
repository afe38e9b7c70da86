//! What evaluators are playing now, so that others play something else.

use std::time::Duration;

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::names::now;
use crate::{Run, Stem, StoreError};

const CLAIMS: &str = "claims";
const TOML: &str = "toml";

/// Games that somebody has begun to play and that have no results yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// One of the players.
    pub first: String,
    /// The other.
    pub second: String,
    /// Games between them.
    pub games: u32,
}

impl Run {
    /// Tells other evaluators what this one is about to play. It is no lock: two of them may claim the same.
    ///
    /// # Errors
    /// A store that cannot be written, or a worker whose name cannot be part of a file's name.
    pub fn claim(&self, worker: &str, claim: &Claim) -> Result<Stem, StoreError> {
        let stem = Stem::now(worker)?;
        self.store().publish_toml(&self.claim_path(&stem), claim)?;
        Ok(stem)
    }

    /// The games are played, or given up.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn release(&self, claim: &Stem) -> Result<(), StoreError> {
        self.store().delete(&self.claim_path(claim))
    }

    /// What others are playing. Claims older than `age` are those of killed processes: they do not count, and are deleted.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn claims(&self, age: Duration) -> Result<Vec<Claim>, StoreError> {
        let oldest = now().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let files = self.store().files(&self.path([CLAIMS]))?;
        let mut claims = Vec::new();
        for stem in files.iter().filter_map(|name| Stem::of_file(name, TOML)) {
            if stem.time() < oldest {
                self.release(&stem)?;
            } else {
                // One that is gone was released just now.
                claims.extend(self.store().find_toml(&self.claim_path(&stem))?);
            }
        }
        Ok(claims)
    }

    fn claim_path(&self, stem: &Stem) -> Path {
        self.path([CLAIMS]).join(format!("{stem}.{TOML}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    #[test]
    fn claims_last_until_they_are_released_or_old() {
        let run = Store::in_memory().unwrap().run(&"run".parse().unwrap());
        let claim = |first: &str| Claim { first: first.to_owned(), second: "random".to_owned(), games: 8 };
        let age = Duration::from_secs(60);
        assert_eq!(run.claims(age).unwrap(), []);
        let (one, _) = (run.claim("a", &claim("x")).unwrap(), run.claim("b", &claim("y")).unwrap());
        assert_eq!(run.claims(age).unwrap().len(), 2);
        run.release(&one).unwrap();
        run.release(&one).unwrap();
        assert_eq!(run.claims(age).unwrap(), [claim("y")]);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(run.claims(Duration::from_millis(1)).unwrap(), []);
        assert_eq!(run.claims(age).unwrap(), [], "old ones are deleted");
    }
}
