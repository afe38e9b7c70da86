//! What evaluators are playing now, so that others play something else.
//!
//! A claim is a file whose name says which games it is about: the pair, and the first of the games. A file is published once,
//! so of two evaluators that want the same games one gets them.

use std::time::Duration;

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::names::now;
use crate::parts::sha256;
use crate::{Run, StoreError};

const CLAIMS: &str = "claims";
const TOML: &str = ".toml";

/// Games that somebody has begun to play and that have no results yet.
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
    /// When it was made, in milliseconds since 1970.
    time: u64,
    #[serde(flatten)]
    claim: Claim,
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

impl Run {
    /// Tells other evaluators what this one is about to play; `false` when somebody else has claimed games of this pair that
    /// begin with the same number.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn claim(&self, worker: &str, claim: &Claim) -> Result<bool, StoreError> {
        let stored = Stored { worker: worker.to_owned(), time: now(), claim: claim.clone() };
        match self.store().publish_toml(&self.claim_path(&claim.file()), &stored) {
            Err(StoreError::AlreadyExists { .. }) => Ok(false),
            done => done.map(|()| true),
        }
    }

    /// The games are played, or given up.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub fn release(&self, claim: &Claim) -> Result<(), StoreError> {
        self.store().delete(&self.claim_path(&claim.file()))
    }

    /// What others are playing. Claims older than `age` are those of killed processes: they do not count, and are deleted.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub fn claims(&self, age: Duration) -> Result<Vec<Claim>, StoreError> {
        let oldest = now().saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX));
        let files = self.store().files(&self.path([CLAIMS]))?;
        let mut claims = Vec::new();
        for file in files.iter().filter(|file| file.ends_with(TOML)) {
            match self.store().find_toml::<Stored>(&self.claim_path(file)) {
                Ok(Some(found)) if found.time >= oldest => claims.push(found.claim),
                // Old, or none that these programs can read: what it was about may be played.
                Ok(Some(_)) | Err(StoreError::Damaged { .. }) => self.store().delete(&self.claim_path(file))?,
                // One that is gone was released just now.
                Ok(None) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(claims)
    }

    fn claim_path(&self, file: &str) -> Path {
        self.path([CLAIMS]).join(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    const AGE: Duration = Duration::from_secs(60);

    fn run() -> Run {
        Store::in_memory().unwrap().run(&"run".parse().unwrap())
    }

    fn claim(first: &str, second: &str, number: u64) -> Claim {
        Claim { first: first.to_owned(), second: second.to_owned(), numbers: vec![number, number + 1] }
    }

    #[test]
    fn of_two_who_want_the_same_games_one_gets_them() {
        let run = run();
        assert!(run.claim("a", &claim("x+visits=4", "y", 4)).unwrap());
        assert!(!run.claim("b", &claim("x+visits=4", "y", 4)).unwrap());
        assert!(!run.claim("b", &claim("y", "x+visits=4", 4)).unwrap(), "either order is one pair");
        assert!(run.claim("b", &claim("y", "x+visits=4", 6)).unwrap());
        assert!(run.claim("b", &claim("x", "y", 4)).unwrap());
        run.release(&claim("x+visits=4", "y", 4)).unwrap();
        assert!(run.claim("b", &claim("x+visits=4", "y", 4)).unwrap());
    }

    #[test]
    fn claims_last_until_they_are_released_or_old() {
        let run = run();
        assert_eq!(run.claims(AGE).unwrap(), []);
        let (one, other) = (claim("x", "random", 0), claim("y", "random", 0));
        assert!(run.claim("a", &one).unwrap() && run.claim("b", &other).unwrap());
        assert_eq!(run.claims(AGE).unwrap().len(), 2);
        run.release(&one).unwrap();
        run.release(&one).unwrap();
        assert_eq!(run.claims(AGE).unwrap(), [other]);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(run.claims(Duration::from_millis(1)).unwrap(), []);
        assert_eq!(run.claims(AGE).unwrap(), [], "old ones are deleted");
    }
}
