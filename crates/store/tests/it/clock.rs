//! Processes whose clocks are an hour off lose nothing and double nothing.

use std::fs::File;
use std::time::{Duration, SystemTime};

use store::{Claim, Run, Store};
use testing::with_clock_ahead;

use crate::{config, name, on_every_reliable_store, some_games, state};

const HOUR: i64 = 3_600_000;
/// As evaluators have it.
const AGE: Duration = Duration::from_secs(1800);

/// The run as processes see it whose clocks are right, an hour ahead, and an hour behind.
fn three(store: &Store) -> [Run; 3] {
    [0, HOUR, -HOUR].map(|ahead| with_clock_ahead(store, ahead).run(&name("r")))
}

fn claim(number: u64) -> Claim {
    Claim { first: "a".to_owned(), second: "b".to_owned(), numbers: vec![number] }
}

#[test]
fn threshold_is_newer_than_those_before_whatever_clocks_say() {
    on_every_reliable_store(|store| {
        let [right, ahead, behind] = three(store);
        for (place, run) in [&ahead, &right, &behind, &right].into_iter().enumerate() {
            let threshold = state::threshold(-0.5 - place as f32 / 10.0);
            run.resign().publish(&threshold).unwrap();
            for reader in three(store).iter().chain([&right, &ahead, &behind]) {
                assert_eq!(reader.resign().newest().unwrap(), Some(threshold.clone()), "{place}");
            }
        }
        assert_eq!(right.resign().list().unwrap(), ["000001", "000002", "000003", "000004"]);
    });
}

#[test]
fn ratings_are_newer_than_those_before_whatever_clocks_say() {
    on_every_reliable_store(|store| {
        let [right, ahead, behind] = three(store);
        for (place, run) in [&right, &ahead, &right, &behind].into_iter().enumerate() {
            run.ratings().publish(&[state::rating(place as f64)]).unwrap();
            for reader in three(store) {
                assert_eq!(reader.ratings().newest().unwrap(), Some(vec![state::rating(place as f64)]), "{place}");
            }
        }
    });
}

#[test]
fn games_of_all_workers_count_once() {
    on_every_reliable_store(|store| {
        let runs = three(store);
        for round in 0..3 {
            for (worker, run) in runs.iter().enumerate() {
                let worker = worker.to_string();
                run.games().publish(1, &worker, &some_games(&worker, 4 * round, 4 * round + 4)).unwrap();
                run.matches().publish(&worker, &some_games(&format!("m{worker}"), round, round + 1)).unwrap();
            }
        }
        for reader in three(store).iter().chain(&runs) {
            assert_eq!((reader.games().newest_files().unwrap().len(), reader.matches().all().unwrap().len()), (9, 9));
            for worker in ["0", "1", "2"] {
                assert_eq!(reader.games().indices(1, worker).unwrap().len(), 12);
            }
        }
    });
}

#[test]
fn claims_of_others_hold_whatever_clocks_say() {
    on_every_reliable_store(|store| {
        let runs = three(store);
        for (number, run) in (0..).zip(&runs) {
            assert!(run.claims().acquire("w", &claim(number)).unwrap());
            // All of them, including those who have only just been started.
            for reader in runs.iter().chain(&three(store)) {
                assert_eq!(reader.claims().list(AGE).unwrap().len(), number as usize + 1);
                assert!(
                    !reader.claims().acquire("another", &claim(number)).unwrap(),
                    "these games are not played twice"
                );
            }
        }
    });
}

#[test]
fn claims_of_killed_evaluators_do_not_hold_for_ever_whatever_clocks_say() {
    for ahead in [0, HOUR, -HOUR] {
        let (folder, run) = crate::in_folder();
        run.create(&config(&[])).unwrap();
        run.claims().acquire("killed", &claim(1)).unwrap();
        let file = std::fs::read_dir(folder.path().join("r/claims")).unwrap().next().unwrap().unwrap().path();
        let past = SystemTime::now() - Duration::from_secs(3600);
        File::options().write(true).open(&file).unwrap().set_modified(past).unwrap();

        let store = Store::open(folder.path().to_str().unwrap()).unwrap();
        let reader = with_clock_ahead(&store, ahead).run(&name("r"));
        assert_eq!(reader.claims().list(AGE).unwrap(), [claim(1)], "how late it is at the place is not known yet");
        assert!(reader.claims().acquire("living", &claim(2)).unwrap());
        reader.claims().release(&claim(2)).unwrap();
        assert_eq!(reader.claims().list(AGE).unwrap(), []);
        assert!(!file.exists());
    }
}
