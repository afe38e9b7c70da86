//! Segments of evaluation caches.

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
    let files = || std::fs::read_dir(copies.path().join("s/000001")).unwrap().count();
    assert_eq!(files(), 3);
    // A copy that a killed process left half written is none.
    std::fs::write(copies.path().join("s/000001/1"), b"half").unwrap();
    assert_eq!(part(200_000, 60_000).unwrap(), content[200_000..260_000]);
    drop(server);
    assert_eq!(part(150_000, 60_000).unwrap(), content[150_000..210_000]);
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
