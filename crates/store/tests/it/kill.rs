//! Writers that are killed: nothing half is ever seen, and nothing that was published is lost.

use std::env;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use config::RunName;
use record::GameRecord;
use store::{Checkpoint, FileRef, Run, Stem, Store};
use testing::wait_until;

use crate::{Endless, in_folder, some_games, stored};

/// Where the writer writes; the test is only a writer where this is set.
const PLACE: &str = "STORE_TEST_PLACE";
const KILLS: i32 = 12;

/// Not a test of its own: the process that the next one starts and kills.
#[test]
fn writer() {
    let Ok(place) = env::var(PLACE) else { return };
    let name: RunName = "r".parse().unwrap();
    let run = Store::open(&place).unwrap().run(&name);
    for index in next_index(&run).. {
        run.games().publish_as(&file(index), &games(index)).unwrap();
        let state = Bytes::from(vec![index as u8; 100_000]);
        let files = [("weights.bin".to_owned(), state.clone()), ("state.bin".to_owned(), state)];
        run.checkpoints().publish(&Checkpoint { step: index, files: files.into() }).unwrap();
    }
}

#[test]
fn killed_writers_lose_and_break_nothing() {
    let (folder, run) = in_folder();
    let mut published = 0;
    for kill in 0..KILLS {
        let mut writer = Endless::start("kill::writer", PLACE, folder.path());
        // The first while they start, the last after some files, however slow the machine is.
        if kill >= KILLS - 3 {
            wait_until("games", || {
                assert!(writer.is_running(), "a writer has ended");
                run.games().files(1).unwrap().len() as u64 > published
            });
        }
        thread::sleep(Duration::from_millis(40).mul_f64(1.2_f64.powi(kill)));
        drop(writer);

        let files = run.games().files(1).unwrap();
        assert!(files.len() as u64 >= published, "games were lost");
        published = files.len() as u64;
        for (index, found) in files.iter().enumerate() {
            let games = games(index as u64);
            assert_eq!((found, run.games().read(found).unwrap()), (&file(index as u64), stored(&games)));
            let examples: Vec<_> = games.iter().flat_map(|game| game.examples().unwrap()).collect();
            assert_eq!(run.examples().read(found).unwrap().to_examples(), examples);
        }
        if let Some(checkpoint) = run.checkpoints().newest().unwrap() {
            assert!(checkpoint.files.values().all(|bytes| bytes.len() == 100_000 && bytes[0] == checkpoint.step as u8));
        }
    }
    assert!(published >= 3, "each of the last writers published games");
    run.pruning().sweep(Duration::ZERO).unwrap();
    assert_eq!(run.pruning().sweep(Duration::ZERO).unwrap(), 0);
}

fn file(index: u64) -> FileRef {
    FileRef { model: 1, stem: Stem::new("w", index).unwrap() }
}

fn games(index: u64) -> Vec<GameRecord> {
    let games = some_games("w", 3 * index, 3 * index + 3);
    games.into_iter().map(|game| GameRecord { holdout: false, ..game }).collect()
}

fn next_index(run: &Run) -> u64 {
    run.games().files(1).unwrap().len() as u64
}
