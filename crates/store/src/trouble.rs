//! An unreliable line to a store, made up for tests and trials.

use std::io;
use std::sync::Mutex;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const DELAY: Duration = Duration::from_millis(20);

/// Decides what becomes of each request.
pub(crate) struct Trouble {
    one_in: u32,
    random: Mutex<Xoshiro256PlusPlus>,
}

#[derive(Clone, Copy)]
enum Fate {
    Lost,
    AnswerLost,
    Delayed,
}

impl Trouble {
    /// One request in `one_in` meets trouble, each kind as likely.
    pub(crate) fn new(one_in: u32, seed: u64) -> Trouble {
        Trouble { one_in: one_in.max(1), random: Mutex::new(Xoshiro256PlusPlus::seed_from_u64(seed)) }
    }

    /// Makes a request over this line.
    pub(crate) async fn meet<T>(&self, work: &impl AsyncFn() -> object_store::Result<T>) -> object_store::Result<T> {
        match self.throw() {
            None => work().await,
            Some(Fate::Lost) => Err(lost("the request was lost")),
            Some(Fate::AnswerLost) => work().await.and_then(|_| Err(lost("the answer was lost"))),
            Some(Fate::Delayed) => {
                tokio::time::sleep(DELAY).await;
                work().await
            }
        }
    }

    fn throw(&self) -> Option<Fate> {
        let mut random = self.random.lock().expect("nobody panics while throwing dice");
        let hit = random.random_range(0..self.one_in) == 0;
        hit.then(|| [Fate::Lost, Fate::AnswerLost, Fate::Delayed][random.random_range(0..3)])
    }
}

fn lost(what: &str) -> object_store::Error {
    object_store::Error::Generic { store: "unreliable line", source: io::Error::other(what).into() }
}
