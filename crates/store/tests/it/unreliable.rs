//! Many writers, some of them at work twice, over lines that lose one request in ten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

use record::GameRecord;
use store::{Claim, FileRef, Run, Stem, StoreError};
use testing::s3::{Refusal, Server};
use testing::with_vanishing_files;

use crate::{name, on_every_reliable_store, on_every_store, on_every_unreliable_store, on_server, some_games, stored};

/// As many files, unless TENGEN_TEST_FILES says otherwise.
const FILES: u64 = 250;
const WRITERS: u64 = 8;

fn file(number: u64) -> FileRef {
    // Names as restarted workers make them: the same for the same games.
    FileRef { model: 1, stem: Stem::new(&format!("w{}", number % WRITERS), number).unwrap() }
}

fn games(number: u64) -> Vec<GameRecord> {
    some_games("w", number, number + 1)
}

/// Publishes the files of one writer; every third time it does not know that it has, and does it again.
fn write(run: &Run, writer: u64, files: u64) {
    for number in (writer..files).step_by(WRITERS as usize) {
        for _ in 0..1 + u32::from(number % 3 == 0) {
            run.games().publish_as(&file(number), &games(number)).unwrap();
        }
    }
}

#[test]
fn many_files_over_an_unreliable_line_are_there_once() {
    let count = env::var("TENGEN_TEST_FILES").map_or(FILES, |text| text.parse().unwrap());
    on_every_unreliable_store(|store| {
        let run = &store.run(&name("r"));
        thread::scope(|scope| (0..WRITERS).for_each(|writer| drop(scope.spawn(move || write(run, writer, count)))));
        let files = run.games().files(1).unwrap();
        assert_eq!(files, (0..count).map(file).collect::<Vec<_>>(), "{store:?}");
        let read = |slice: &[FileRef]| -> Vec<GameRecord> {
            slice.iter().flat_map(|file| run.games().read(file).unwrap()).collect()
        };
        let found: Vec<GameRecord> = thread::scope(|scope| {
            let parts = files.chunks(count.div_ceil(WRITERS) as usize);
            let readers: Vec<_> = parts.map(|slice| scope.spawn(move || read(slice))).collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
        });
        assert!(found == (0..count).flat_map(|number| stored(&games(number))).collect::<Vec<_>>(), "{store:?}");
    });
}

#[test]
fn concurrent_puts_of_name_have_one_winner() {
    on_every_store(|store| {
        let run = &store.run(&name("r"));
        for round in 0..5 {
            let claim = |writer: u64| {
                let mine = games(100 * round + writer);
                match run.games().publish_as(&file(round), &mine) {
                    Ok(()) => Some(mine),
                    Err(StoreError::AlreadyExists { .. }) => None,
                    Err(error) => panic!("{store:?}: {error}"),
                }
            };
            let claims: Vec<_> = thread::scope(|scope| {
                let writers: Vec<_> = (1..=WRITERS).map(|writer| scope.spawn(move || claim(writer))).collect();
                writers.into_iter().filter_map(|writer| writer.join().unwrap()).collect()
            });
            let [published] = &claims[..] else {
                panic!("{store:?}: {} writers think that they have published", claims.len());
            };
            assert_eq!(run.games().read(&file(round)).unwrap(), stored(published), "{store:?}");
            // Of the others nothing is there, not even examples in the folder where the winner has none.
            let (game, folders) = (&published[0], (run.examples(), run.holdout()));
            let (own, other) = if game.holdout { (folders.1, folders.0) } else { folders };
            assert_eq!(own.read(&file(round)).unwrap().to_examples(), game.examples().unwrap(), "{store:?}");
            assert!(matches!(other.read(&file(round)), Err(StoreError::NotFound { .. })), "{store:?}");
        }
    });
}

#[test]
fn listing_is_whole_or_fails() {
    on_every_unreliable_store(|store| {
        let run = store.run(&name("r"));
        let mut sizes = BTreeMap::<usize, usize>::new();
        let wanted: BTreeSet<String> = (0..20).map(|i| format!("log-{i:02}")).collect();
        for name in &wanted {
            run.logs().publish(name, "x".into()).unwrap();
        }
        (0..100).for_each(|_| *sizes.entry(run.logs().list().unwrap().len()).or_default() += 1);
        assert_eq!(sizes, BTreeMap::from([(wanted.len(), 100)]), "{store:?}");
    });
}

/// A missing file would be an error of the configuration, after which no supervisor starts the program again.
#[test]
fn name_was_taken_although_its_file_is_gone_at_the_comparison() {
    on_every_reliable_store(|store| {
        let (run, late) = (store.run(&name("r")), with_vanishing_files(store).run(&name("r")));
        run.logs().publish("log", "first".into()).unwrap();
        let error = late.logs().publish("log", "second".into()).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyExists { .. }), "{store:?}: {error}");
        late.logs().publish("log", "third".into()).unwrap();
        let claim = Claim { first: "a".to_owned(), second: "b".to_owned(), numbers: vec![0] };
        assert!(run.claims().acquire("one", &claim).unwrap());
        assert!(!late.claims().acquire("other", &claim).unwrap(), "{store:?}");
        assert!(late.claims().acquire("other", &claim).unwrap(), "{store:?}");
    });
}

#[test]
fn progress_is_noted_while_the_store_serves_requests() {
    let (server, noted) = (Server::start().unwrap(), Arc::<AtomicUsize>::default());
    let counter = noted.clone();
    let store = on_server(&server).with_progress(move || {
        counter.fetch_add(1, Ordering::Relaxed);
    });
    let run = store.run(&name("r"));
    run.games().publish(1, "w", &some_games("w", 0, 3)).unwrap();
    let written = noted.swap(0, Ordering::Relaxed);
    assert!((3..=4).contains(&written), "{written} objects");
    server.refuse(Some(Refusal::ClockSkew));
    assert!(run.games().files(1).is_err());
    assert_eq!(noted.load(Ordering::Relaxed), 0);
}
