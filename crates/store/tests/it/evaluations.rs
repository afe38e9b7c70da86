//! Segments of evaluation caches.

use std::fs::File;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use store::{Store, StoreError};
use tempfile::TempDir;

use crate::{on_every_reliable_store, on_every_store, on_server};

fn bytes(len: usize) -> Bytes {
    (0..len).map(|i| (i % 251) as u8).collect::<Vec<_>>().into()
}

fn read(segments: &store::Evaluations, number: u32, at: u64, len: usize) -> Result<Vec<u8>, StoreError> {
    let mut out = vec![0; len];
    segments.open(number)?.read(at, &mut out).map(|()| out)
}

#[test]
fn segments_get_consecutive_numbers_and_are_read_in_parts() {
    on_every_store(|store| {
        let segments = store.evaluations("set-1", None).unwrap();
        assert!(segments.numbers().unwrap().is_empty());
        assert!(matches!(segments.open(1), Err(StoreError::NotFound { .. })));
        let content = bytes(300_000);
        assert_eq!(segments.publish(&content).unwrap(), 1);
        assert_eq!(segments.publish(&bytes(10)).unwrap(), 2);
        assert_eq!(segments.numbers().unwrap(), [1, 2]);
        assert_eq!(segments.open(1).unwrap().size(), 300_000);
        assert_eq!(read(&segments, 1, 131_000, 500).unwrap(), content[131_000..131_500]);
        assert!(read(&segments, 2, 5, 6).is_err());
        let open = segments.open(2).unwrap();
        assert!(open.is_current().unwrap());
        segments.delete(2).unwrap();
        assert!(!open.is_current().unwrap(), "it is gone");
        assert_eq!(segments.publish(&bytes(11)).unwrap(), 2);
        assert!(!open.is_current().unwrap(), "another one has its number");
        assert!(segments.open(2).unwrap().is_current().unwrap());
        segments.delete(1).unwrap();
        segments.delete(1).unwrap();
        assert_eq!(segments.numbers().unwrap(), [2]);
        assert_eq!(store.evaluation_sets().unwrap(), ["set-1"]);
    });
}

/// As two processes do that listed the folder at the same time.
#[test]
fn writers_at_the_same_time_get_numbers_of_their_own() {
    on_every_reliable_store(|store| {
        let segments = store.evaluations("s", None).unwrap();
        std::thread::scope(|scope| {
            for writer in 1..=4_usize {
                let segments = &segments;
                scope.spawn(move || {
                    for nth in 0..5 {
                        segments.publish(&bytes(10 * writer + nth)).unwrap();
                    }
                });
            }
        });
        assert_eq!(segments.numbers().unwrap(), (1..=20).collect::<Vec<_>>());
    });
}

#[test]
fn copies_of_a_bucket_serve_what_was_read_before() {
    let server = testing::s3::Server::start().unwrap();
    let copies = TempDir::new().unwrap();
    let content = bytes(300_000);
    let segments = on_server(&server).evaluations("s", Some(copies.path())).unwrap();
    segments.publish(&content).unwrap();
    let open = segments.open(1).unwrap();
    let part = |at: u64, len: usize| {
        let mut out = vec![0; len];
        open.read(at, &mut out).map(|()| out)
    };
    assert_eq!(part(131_000, 500).unwrap(), content[131_000..131_500]);
    assert_eq!(part(299_990, 10).unwrap(), content[299_990..]);
    let [folder] = copied(copies.path()).try_into().unwrap();
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 3);
    // A copy that a killed process left half written is none.
    std::fs::write(folder.join("1"), b"half").unwrap();
    assert_eq!(part(200_000, 60_000).unwrap(), content[200_000..260_000]);
    // A wrong one stays until it is dropped.
    let mut wrong = content[131_072..262_144].to_vec();
    wrong[7] ^= 1;
    std::fs::write(folder.join("1"), wrong).unwrap();
    assert_ne!(part(131_072, 100).unwrap(), content[131_072..131_172]);
    assert!(open.drop_copies(131_079..131_080));
    assert!(!open.drop_copies(131_079..131_080), "it is gone");
    assert_eq!(part(131_072, 100).unwrap(), content[131_072..131_172]);
    drop(server);
    assert_eq!(part(150_000, 60_000).unwrap(), content[150_000..210_000]);
}

#[test]
fn reads_of_a_bucket_without_copies_are_requests() {
    let (server, folder) = (testing::s3::Server::start().unwrap(), TempDir::new().unwrap());
    let (bucket, local) = (on_server(&server), Store::open(folder.path().to_str().unwrap()).unwrap());
    let requests = |store: &Store, copies| store.evaluations("s", copies).unwrap().reads_are_requests();
    assert!(requests(&bucket, None) && !requests(&bucket, Some(folder.path())) && !requests(&local, None));
}

/// The folders of the copies of segments.
fn copied(copies: &std::path::Path) -> Vec<std::path::PathBuf> {
    let folders = |at: &std::path::Path| std::fs::read_dir(at).unwrap().map(|found| found.unwrap().path());
    folders(copies)
        .flat_map(|store| folders(&store).collect::<Vec<_>>())
        .flat_map(|set| folders(&set).collect::<Vec<_>>())
        .collect()
}

#[test]
fn copies_belong_to_one_store_and_one_object() {
    let (one, other) = (testing::s3::Server::start().unwrap(), testing::s3::Server::start().unwrap());
    let copies = TempDir::new().unwrap();
    let first = on_server(&one).evaluations("s", Some(copies.path())).unwrap();
    // As long as the first, so that lengths tell nothing.
    let second = on_server(&other).evaluations("s", Some(copies.path())).unwrap();
    let (content, others) = (bytes(1000), bytes(1001).slice(1..));
    first.publish(&content).unwrap();
    second.publish(&others).unwrap();
    let read = |segments: &store::Evaluations| {
        let mut out = vec![0; 1000];
        segments.open(1).unwrap().read(0, &mut out).unwrap();
        out
    };
    for _ in 0..2 {
        assert_eq!((read(&first), read(&second)), (content.to_vec(), others.to_vec()));
    }
    // A set that is deleted and begun anew.
    first.delete(1).unwrap();
    first.publish(&others).unwrap();
    assert_eq!(read(&first), others);
    first.retain_copies(&[1]);
    assert!(!copied(copies.path()).is_empty());
    first.retain_copies(&[2]);
    second.retain_copies(&[2]);
    assert!(copied(copies.path()).is_empty());
}

#[test]
fn copies_that_killed_processes_abandoned_are_deleted_after_a_day() {
    let server = testing::s3::Server::start().unwrap();
    let copies = TempDir::new().unwrap();
    let segments = on_server(&server).evaluations("s", Some(copies.path())).unwrap();
    assert_eq!(segments.sweep_copies().unwrap(), 0, "there is no folder");
    segments.publish(&bytes(1000)).unwrap();
    assert_eq!(read(&segments, 1, 0, 1000).unwrap(), bytes(1000));
    let [folder] = copied(copies.path()).try_into().unwrap();
    let names = ["0", "1.4711.part", "2.4711.part", "3.part", "notes.4711.part"];
    for (name, hours) in names.into_iter().zip([25, 25, 23, 25, 25]) {
        let file = File::options().create(true).append(true).open(folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    }
    assert_eq!([(); 2].map(|()| segments.sweep_copies().unwrap()), [1, 0]);
    let there = names.map(|name| folder.join(name).exists());
    assert_eq!(there, [true, false, true, true, true]);
}

#[test]
fn copies_of_sets_that_were_not_opened_for_30_days_are_deleted() {
    let server = testing::s3::Server::start().unwrap();
    let copies = TempDir::new().unwrap();
    let set = |name: &str| on_server(&server).evaluations(name, Some(copies.path())).unwrap();
    assert_eq!(set("own").sweep_unused_copies().unwrap(), 0, "there is no folder");
    let names = ["own", "month", "week"];
    for name in names {
        set(name).publish(&bytes(1000)).unwrap();
        assert_eq!(read(&set(name), 1, 0, 1000).unwrap(), bytes(1000));
    }
    let at = std::fs::read_dir(copies.path()).unwrap().next().unwrap().unwrap().path();
    let opened = |name: &str, days: u64| {
        let time = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        File::open(at.join(name)).unwrap().set_modified(time).unwrap();
    };
    opened("own", 31);
    opened("month", 31);
    opened("week", 7);
    std::fs::create_dir(at.join("not_a_set")).unwrap();
    opened("not_a_set", 31);
    assert_eq!([(); 2].map(|()| set("own").sweep_unused_copies().unwrap()), [1, 0]);
    assert_eq!(names.map(|name| at.join(name).exists()), [true, false, true]);
    assert!(at.join("not_a_set").exists());
    // It was used just now.
    assert_eq!(set("week").sweep_unused_copies().unwrap(), 0);
    assert_eq!(read(&set("month"), 1, 0, 1000).unwrap(), bytes(1000));
}

#[test]
fn open_segments_of_a_folder_outlive_their_deletion() {
    let folder = TempDir::new().unwrap();
    let segments = Store::open(folder.path().to_str().unwrap()).unwrap().evaluations("s", None).unwrap();
    segments.publish(&bytes(100)).unwrap();
    let open = segments.open(1).unwrap();
    segments.delete(1).unwrap();
    let mut out = [0; 3];
    open.read(97, &mut out).unwrap();
    assert_eq!(out, bytes(100)[97..]);
}
