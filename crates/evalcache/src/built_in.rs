//! Tables that come with the program, fitted by `tengen study evalcache --out`.

use std::sync::{Arc, OnceLock};

use go::Size;

use crate::{Steps, Tables};

/// Boards of more points on a side use the tables of 19x19, others those of 9x9.
const LAST_SMALL: usize = 13;

macro_rules! tables {
    ($name:literal) => {{
        static READ: OnceLock<Arc<Tables>> = OnceLock::new();
        (&READ, include_bytes!(concat!("../tables/", $name, ".tables")).as_slice())
    }};
}

impl Tables {
    /// The tables for new files of this board.
    pub fn built_in(size: Size, steps: Steps) -> &'static Arc<Tables> {
        // The small ones are fitted to `9x9-demo` (experiments/0106-means-of-moves-without-steps). The large ones are
        // fitted to a network of 6x64 that was trained on human games, and to the same with surer policies: log-odds in
        // experiments/0105-evaluation-cache-19x19, means of moves without steps in 0106.
        let (read, bytes) = match (size.side() <= LAST_SMALL, steps) {
            (true, Steps::S256) => tables!("9-256"),
            (true, Steps::S2048) => tables!("9-2048"),
            (true, Steps::Exact) => tables!("9-exact"),
            (false, Steps::S256) => tables!("19-256"),
            (false, Steps::S2048) => tables!("19-2048"),
            (false, Steps::Exact) => tables!("19-exact"),
        };
        read.get_or_init(|| Tables::from_bytes(bytes).expect("a test reads them").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_tables_are_of_their_steps() {
        for size in Size::all() {
            for steps in Steps::ALL {
                assert_eq!(Tables::built_in(size, steps).steps(), steps);
            }
        }
        let digests = Steps::ALL.map(|steps| Tables::built_in(Size::MAX, steps).digest());
        assert_ne!(digests[0], digests[1]);
        assert_ne!(digests[0], Tables::built_in(Size::MIN, Steps::S256).digest());
    }
}
