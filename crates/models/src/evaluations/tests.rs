//! Writers that are killed, bits that are flipped, and segments that are merged: on a folder and on an S3 server.

use std::env;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use evalcache::Steps;
use evalcache::segment::{self, Merged};
use go::{Game, Size, Symmetry};
use tempfile::TempDir;
use testing::s3::{Refusal, Server};
use testing::{Access, with_guard};

use super::publish::{MOST_UNPUBLISHED, PUBLISH_AFTER};
use super::refresh::REFRESH_AFTER;
use super::shared::MOST_IN_MEMORY;
use super::*;

mod late;
mod merges;
mod recorder;

/// Where the writer writes, the options of that place, and its first segment: the test is only a writer where these are
/// set.
const PLACE: &str = "EVALCACHE_TEST_PLACE";
const OPTIONS: &str = "EVALCACHE_TEST_OPTIONS";
const FIRST: &str = "EVALCACHE_TEST_FIRST";
const PUBLISHED: &str = "published a segment";
/// How often, unless TENGEN_TEST_KILLS says otherwise.
const KILLS: u32 = 8;
/// How many, unless TENGEN_TEST_FLIPS says otherwise.
const FLIPS: usize = 24;
/// Evaluations of a segment.
const EACH: u64 = 30;

fn set() -> Set {
    Set {
        model: [3; 32],
        size: Size::new(5).unwrap(),
        komi: KomiCoding::Unseen,
        symmetries: Symmetries::Canonical,
        steps: Steps::S256,
    }
}

fn options(store: Store) -> EvaluationCacheOptions {
    EvaluationCacheOptions { store, steps: Steps::S256, symmetries: Symmetries::Canonical, copies: None }
}

/// With copies, so that lookups do not read from the bucket.
fn options_with(store: &Store, copies: &Path) -> EvaluationCacheOptions {
    EvaluationCacheOptions { copies: Some(copies.to_owned()), ..options(store.clone()) }
}

fn open(store: &Store) -> EvaluationCache {
    EvaluationCache::open(&options(store.clone()), set()).unwrap()
}

fn view() -> View {
    View::new(&Game::new(set().size), Symmetry::Identity)
}

/// The evaluation of a number: a key, a policy and a value.
fn evaluation(number: u64) -> (Key, Vec<f32>, f32) {
    let mixed = |salt: u64| (number ^ salt).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
    let key =
        Key::from_bits(u128::from(mixed(1).wrapping_mul(0xBF58_476D_1CE4_E5B9)) << 16 | u128::from(number & 0xffff));
    let policy = (0..26_u32).map(|i| (mixed(2).rotate_left(i) % 64) as f32 / 64.0 + 1e-3).collect();
    (key, policy, (mixed(3) % 200) as f32 / 100.0 - 1.0)
}

/// Puts an evaluation, and returns the expected result of a lookup.
fn put(cache: &EvaluationCache, number: u64) -> (Vec<f32>, f32) {
    let (key, mut policy, value) = evaluation(number);
    let value = cache.put(key, &view(), &mut policy, value, &mut Vec::new());
    (policy, value)
}

/// The expected result of a lookup.
fn expected(number: u64) -> (Vec<f32>, f32) {
    let (_, mut policy, value) = evaluation(number);
    let tables = Tables::built_in(set().size, set().steps);
    let mut code = Vec::new();
    tables.encode(&view(), &policy, value, &mut code).unwrap();
    let value = tables.decode(&view(), &code, &mut policy);
    (policy, value)
}

fn get(cache: &EvaluationCache, number: u64) -> Option<(Vec<f32>, f32)> {
    let mut policy = vec![0.0; 26];
    let value = cache.get(evaluation(number).0, &view(), &mut policy, &mut Vec::new())?;
    Some((policy, value))
}

/// The bytes of the first segment.
fn first_segment(segments: &Evaluations) -> Vec<u8> {
    let file = segments.open(1).unwrap();
    let mut bytes = vec![0; file.size() as usize];
    file.read(0, &mut bytes).unwrap();
    bytes
}

/// Where the blocks of a segment end. Behind them are the second head and the footer, which has the length of the head.
fn end_of_blocks(bytes: &[u8]) -> usize {
    let footer = bytes.len() - 24;
    footer - u32::from_le_bytes(bytes[footer..footer + 4].try_into().unwrap()) as usize
}

/// How many of these evaluations are there; every one that is must be right.
fn found(cache: &EvaluationCache, numbers: Range<u64>) -> u64 {
    let right = |&number: &u64| match get(cache, number) {
        None => false,
        found => {
            assert_eq!(found, Some(expected(number)), "evaluation {number}");
            true
        }
    };
    numbers.filter(right).count() as u64
}

/// Waits for what a cache does in the background.
fn idle(cache: &EvaluationCache) {
    cache.shared.upkeep.wait();
    cache.shared.merges.wait();
}

/// A folder, and an S3 server.
fn on_both(check: impl Fn(&Store, &str, &[(String, String)])) {
    let folder = TempDir::new().unwrap();
    let place = folder.path().to_str().unwrap();
    check(&Store::open(place).unwrap(), place, &[]);
    let server = Server::start().unwrap();
    let (url, options) = (server.url(), server.options());
    check(&Store::open_with(&url, &options).unwrap(), &url, &options);
}

#[test]
fn evaluations_outlive_the_process_once_published() {
    on_both(|store, _, _| {
        let cache = open(store);
        let put: Vec<_> = (0..300).map(|number| put(&cache, number)).collect();
        assert_eq!(put[7], expected(7));
        // Another process sees them when they are published, which the end of the first does at last.
        assert_eq!((found(&cache, 0..300), found(&open(store), 0..300)), (300, 0));
        drop(cache);
        let other = open(store);
        assert_eq!((found(&other, 0..300), found(&other, 300..600)), (300, 0));
        assert_eq!((other.segments(), other.evaluations()), (1, 300));
    });
}

#[test]
fn evaluations_are_published_with_the_first_one_after_a_minute() {
    let store = Store::in_memory().unwrap();
    let cache = open(&store);
    put(&cache, 1);
    *cache.shared.published.lock().unwrap() -= 2 * PUBLISH_AFTER;
    // Lookups publish nothing, so that an idle process does not either.
    assert_eq!((found(&cache, 1..2), found(&open(&store), 1..2)), (1, 0));
    put(&cache, 2);
    idle(&cache);
    assert_eq!(found(&open(&store), 1..3), 2);
}

#[test]
fn store_that_refuses_writes_is_not_tried_with_every_evaluation() {
    let server = Server::start().unwrap();
    let store = Store::open_with(&server.url(), &server.options()).unwrap();
    let cache = open(&store);
    server.refuse(Some(Refusal::ReadOnly));
    cache.shared.due.store(2, Ordering::Relaxed);
    let tries = [1, 2, 3].map(|number| {
        server.asked();
        put(&cache, number);
        idle(&cache);
        server.asked().iter().any(|line| line.starts_with("PUT"))
    });
    assert_eq!(tries, [false, true, false]);
    server.refuse(None);
    cache.publish().unwrap();
    assert_eq!((found(&open(&store), 1..4), cache.shared.due.load(Ordering::Relaxed)), (3, MOST_IN_MEMORY));
}

#[test]
fn evaluations_that_cannot_be_published_are_in_memory_up_to_a_bound() {
    let store = Store::in_memory().unwrap();
    let cache = open(&with_guard(&store, |access| access != Access::Put));
    assert!(cache.shared.publish().is_ok(), "there are none");
    put(&cache, 1);
    assert!(cache.publish().is_err());
    let key = |number: usize| Key::from_bits((number as u128) << 60);
    (0..MOST_UNPUBLISHED + 10).for_each(|number| cache.shared.keep(key(number), b"code"));
    assert_eq!(cache.shared.recent.read().unwrap().len(), MOST_UNPUBLISHED);
}

#[test]
fn segments_of_other_sets_are_not_mixed() {
    let store = Store::in_memory().unwrap();
    put(&open(&store), 1);
    let sets = [
        Set { model: [4; 32], ..set() },
        Set { komi: KomiCoding::Seen, ..set() },
        Set { symmetries: Symmetries::Mean8, ..set() },
        Set { steps: Steps::S2048, ..set() },
    ];
    for other in sets {
        let options = EvaluationCacheOptions { steps: other.steps, ..options(store.clone()) };
        assert_eq!(EvaluationCache::open(&options, other).unwrap().segments(), 0, "{other:?}");
    }
    assert_eq!(open(&store).segments(), 1);
}

/// As where a file was copied into the folder of another set.
#[test]
fn segment_of_another_set_neither_names_the_folder_nor_passes_the_check() {
    let store = Store::in_memory().unwrap();
    let cache = open(&store);
    let folder = cache.name().to_owned();
    let other = Set { model: [4; 32], ..set() };
    let bytes = segment::write(other, &cache.shared.tables, &[], &[]).unwrap();
    assert_eq!(cache.shared.segments.publish(&bytes.into()).unwrap(), 1);
    let named = || EvaluationCache::open_named(&store, &folder).unwrap();
    let check = || {
        let problems = named().check(&|| ControlFlow::Continue(())).unwrap();
        let [EvaluationCacheError::OtherSet { path }] = &problems[..] else { panic!("{problems:?}") };
        assert!(path.ends_with("000001.segment"), "{path}");
    };
    assert_eq!(named().set(), &other, "there is no other segment");
    check();
    put(&cache, 1);
    drop(cache);
    assert_eq!((named().set(), named().segments(), found(&named(), 1..2)), (&set(), 1, 1));
    check();
}

#[test]
fn segments_share_the_tables_of_the_cache() {
    let store = Store::in_memory().unwrap();
    for number in 0..2 {
        put(&open(&store), number);
    }
    let cache = open(&store);
    assert_eq!(cache.segments(), 2);
    assert!(cache.shared.opened().iter().all(|one| Arc::ptr_eq(&one.segment.head().tables, &cache.shared.tables)));
}

#[test]
fn compaction_keeps_everything_and_deletes_what_it_merged() {
    on_both(|store, _, _| {
        for nth in 0..5 {
            let cache = open(store);
            (nth * 50..nth * 50 + 60).for_each(|number| drop(put(&cache, number)));
        }
        let (reader, cache) = (open(store), open(store));
        assert_eq!((cache.segments(), found(&cache, 0..260)), (5, 260));
        let done = cache.compact(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!(done, MergedSegments { merged: 5, evaluations: 260, deleted: 5, damaged: 0 });
        assert_eq!((cache.segments(), found(&cache, 0..260)), (1, 260));
        assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap(), MergedSegments::default());
        // A reader that opened the segments before finds all of them still: in a bucket in the merged segment.
        assert_eq!(found(&reader, 0..260), 260);
        reader.refresh().unwrap();
        assert_eq!((reader.segments(), found(&reader, 0..260)), (1, 260));
    });
}

#[test]
fn compaction_deletes_what_a_killed_writer_abandoned() {
    let folder = TempDir::new().unwrap();
    let cache = open(&Store::open(folder.path().to_str().unwrap()).unwrap());
    put(&cache, 1);
    cache.publish().unwrap();
    let staged = folder.path().join("evalcache").join(cache.name()).join("000002.segment#1");
    let written = SystemTime::now() - Duration::from_secs(25 * 3600);
    File::create(&staged).unwrap().set_modified(written).unwrap();
    assert_eq!(cache.compact(&|_| ControlFlow::Continue(())).unwrap(), MergedSegments::default());
    assert!(!staged.exists());
}

#[test]
fn writer_of_every_eighth_segment_merges() {
    let store = Store::in_memory().unwrap();
    let cache = open(&store);
    put(&cache, 0);
    cache.publish().unwrap();
    let bytes = first_segment(&cache.shared.segments);
    // Those of other processes, which are about to merge them.
    for number in 2..=9 {
        assert_eq!(cache.shared.segments.publish(&bytes.clone().into()).unwrap(), number);
    }
    for number in 10..=15 {
        put(&cache, number);
        cache.publish().unwrap();
        idle(&cache);
        assert_eq!(cache.segments() as u64, number);
    }
    put(&cache, 16);
    cache.publish().unwrap();
    idle(&cache);
    assert_eq!((cache.segments(), found(&cache, 10..17), found(&cache, 0..1)), (1, 7, 1));
}

#[test]
fn compactions_at_the_same_time_lose_nothing() {
    on_both(|store, _, _| {
        for nth in 0..6 {
            let cache = open(store);
            (nth * 50..nth * 50 + 60).for_each(|number| drop(put(&cache, number)));
        }
        let caches: Vec<EvaluationCache> = (0..3).map(|_| open(store)).collect();
        thread::scope(|scope| {
            for cache in &caches {
                scope.spawn(|| cache.compact(&|_| ControlFlow::Continue(())).unwrap());
            }
        });
        let after = open(store);
        assert_eq!(found(&after, 0..310), 310);
        after.compact(&|_| ControlFlow::Continue(())).unwrap();
        assert_eq!((after.segments(), after.evaluations(), found(&after, 0..310)), (1, 310, 310));
        assert!(after.check(&|| ControlFlow::Continue(())).unwrap().is_empty());
    });
}

#[test]
fn misses_find_the_segments_of_others_after_a_while() {
    let store = Store::in_memory().unwrap();
    let (reader, writer) = (open(&store), open(&store));
    put(&writer, 1);
    drop(writer);
    assert_eq!(found(&reader, 1..2), 0);
    reader.shared.refreshed.lock().unwrap().at -= 2 * REFRESH_AFTER;
    // This miss does not wait for the list.
    assert_eq!(found(&reader, 1..2), 0);
    idle(&reader);
    assert_eq!(found(&reader, 1..2), 1);
}

#[test]
fn set_without_a_readable_segment_names_them() {
    let store = Store::in_memory().unwrap();
    let segments = store.evaluations("s", None).unwrap();
    let opened = || match EvaluationCache::open_named(&store, "s") {
        Err(EvaluationCacheError::Unreadable { problems, .. }) => problems.len(),
        other => panic!("{:?}", other.map(|cache| cache.segments())),
    };
    assert_eq!(opened(), 0);
    segments.publish(&vec![0; 5000].into()).unwrap();
    segments.publish(&vec![1; 5000].into()).unwrap();
    assert_eq!(opened(), 2);
}

#[test]
fn unreadable_segment_is_opened_once() {
    let server = Server::start().unwrap();
    let store = Store::open_with(&server.url(), &server.options()).unwrap();
    let cache = open(&store);
    cache.shared.segments.publish(&vec![0; 5000].into()).unwrap();
    let opens = || {
        server.asked();
        cache.refresh().unwrap();
        server.asked().iter().any(|line| line.ends_with("000001.segment"))
    };
    assert_eq!([opens(), opens()], [true, false]);
    // Once it is deleted, its number is that of another segment.
    cache.shared.segments.delete(1).unwrap();
    put(&cache, 7);
    cache.publish().unwrap();
    assert_eq!((cache.segments(), found(&cache, 7..8)), (1, 1));
}

#[test]
fn open_segment_whose_number_is_published_anew_is_opened_again() {
    let store = Store::in_memory().unwrap();
    put(&open(&store), 0);
    let cache = open(&store);
    cache.shared.segments.delete(1).unwrap();
    put(&cache, 7);
    cache.publish().unwrap();
    assert_eq!((cache.segments(), found(&cache, 7..8), found(&cache, 0..1)), (1, 1, 0));
}

/// The copies of parts of segments.
fn copied(copies: &Path) -> Vec<PathBuf> {
    let inside = |at: PathBuf| std::fs::read_dir(at).unwrap().map(|found| found.unwrap().path());
    let mut found = vec![copies.to_owned()];
    (0..4).for_each(|_| found = found.drain(..).flat_map(inside).collect());
    found.sort();
    found
}

#[test]
fn opening_deletes_a_copy_that_a_killed_process_abandoned() {
    let server = Server::start().unwrap();
    let store = Store::open_with(&server.url(), &server.options()).unwrap();
    let copies = TempDir::new().unwrap();
    let options = options_with(&store, copies.path());
    let cache = EvaluationCache::open(&options, set()).unwrap();
    put(&cache, 1);
    cache.publish().unwrap();
    let whole = copied(copies.path());
    let partial = whole[0].with_file_name("7.4711.part");
    let written = SystemTime::now() - Duration::from_secs(25 * 3600);
    File::create(&partial).unwrap().set_modified(written).unwrap();
    EvaluationCache::open(&options, set()).unwrap();
    assert_eq!(copied(copies.path()), whole);
}

#[test]
fn damaged_copies_are_replaced_from_the_bucket() {
    let server = Server::start().unwrap();
    let store = Store::open_with(&server.url(), &server.options()).unwrap();
    let copies = TempDir::new().unwrap();
    let options = options_with(&store, copies.path());
    let cache = EvaluationCache::open(&options, set()).unwrap();
    (0..2000).for_each(|number| drop(put(&cache, number)));
    cache.publish().unwrap();
    assert_eq!(found(&cache, 0..2000), 2000);
    let files = || copied(copies.path());
    assert!(!files().is_empty());
    for file in files() {
        let mut bytes = std::fs::read(&file).unwrap();
        bytes.iter_mut().for_each(|byte| *byte ^= 4);
        std::fs::write(&file, bytes).unwrap();
    }
    for cache in [cache, EvaluationCache::open(&options, set()).unwrap()] {
        assert_eq!(found(&cache, 0..2000), 2000);
        assert!(cache.check(&|| ControlFlow::Continue(())).unwrap().is_empty());
    }
    // Copies go with their segments, also when another process deleted these.
    let other = open(&store);
    other.shared.segments.delete(1).unwrap();
    EvaluationCache::open(&options, set()).unwrap();
    let left = files();
    assert!(left.is_empty(), "{left:?}");
}

/// As a compaction leaves it that is killed before it deletes.
#[test]
fn merged_segments_stand_for_those_that_were_not_deleted() {
    let store = Store::in_memory().unwrap();
    for nth in 0..3 {
        put(&open(&store), nth);
    }
    let cache = open(&store);
    let mut merged = Merged::default();
    cache.shared.open.read().unwrap().iter().for_each(|one| merged.add(&one.segment).unwrap());
    let bytes = merged.write(set(), &cache.shared.tables, &[1, 2, 3]).unwrap();
    cache.shared.segments.publish(&bytes.into()).unwrap();
    let after = open(&store);
    assert_eq!((after.segments(), found(&after, 0..3)), (1, 3));
    assert_eq!(after.compact(&|_| ControlFlow::Continue(())).unwrap().deleted, 3);
    assert_eq!((cache.shared.segments.numbers().unwrap(), found(&after, 0..3)), (vec![4], 3));
}

#[test]
fn flipped_bits_cost_one_block_and_give_no_wrong_evaluation() {
    let flips = env::var("TENGEN_TEST_FLIPS").map_or(FLIPS, |text| text.parse().unwrap());
    on_both(|store, _, _| {
        let cache = open(store);
        (0..1000).for_each(|number| drop(put(&cache, number)));
        cache.publish().unwrap();
        let bytes = first_segment(&cache.shared.segments);
        cache.shared.segments.delete(1).unwrap();
        let (bits, mut lost, copies) = (bytes.len() * 8, 0, TempDir::new().unwrap());
        let options = options_with(store, copies.path());
        for nth in 0..flips {
            let at = nth * (bits / flips) + nth % 8;
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            let number = cache.shared.segments.publish(&damaged.into()).unwrap();
            let reader = EvaluationCache::open(&options, set()).unwrap();
            let missing = 1000 - found(&reader, 0..1000);
            assert!(missing <= 256, "bit {at}: {missing} evaluations");
            assert_eq!(reader.check(&|| ControlFlow::Continue(())).unwrap().len(), 1, "bit {at}");
            assert_eq!(reader.check(&|| ControlFlow::Break(())).unwrap().len(), 0, "it ends before the first segment");
            lost += missing;
            reader.shared.segments.delete(number).unwrap();
        }
        assert!(lost > 0, "no block was hit");
    });
}

/// Not a test of its own: the process that the next one starts and kills.
#[test]
fn writer() {
    let (Ok(place), Ok(options), Ok(first)) = (env::var(PLACE), env::var(OPTIONS), env::var(FIRST)) else { return };
    let pairs = options.lines().filter_map(|line| line.split_once('='));
    let pairs: Vec<(String, String)> = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    let cache = open(&Store::open_with(&place, &pairs).unwrap());
    for nth in first.parse::<u64>().unwrap().. {
        (nth * EACH..(nth + 1) * EACH).for_each(|number| drop(put(&cache, number)));
        // Every eighth segment is followed by a merge in the background.
        cache.publish().unwrap();
        writeln!(std::io::stdout(), "{PUBLISHED}").unwrap();
    }
}

/// Starts a writer of segments from the `first` on, kills it a moment after it has published so many, and returns how
/// many it has published by then.
fn killed_writer(place: &str, options: &[(String, String)], first: u64, kill: u32) -> u64 {
    let lines: Vec<String> = options.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut writer = Command::new(env::current_exe().unwrap());
    writer
        .args(["--exact", "evaluations::tests::writer", "--nocapture"])
        .env(PLACE, place)
        .env(OPTIONS, lines.join("\n"));
    let mut writer = writer.env(FIRST, first.to_string()).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut published = said.by_ref().filter(|line| line.as_ref().is_ok_and(|line| line.ends_with(PUBLISHED)));
    let before = published.by_ref().take(kill as usize % 4).count();
    // Anywhere in what comes next.
    thread::sleep(Duration::from_micros(u64::from(kill) * 7919 % 9973));
    writer.kill().unwrap();
    writer.wait().unwrap();
    (before + published.count()) as u64
}

#[test]
fn killed_writers_lose_nothing_that_was_published() {
    let kills = env::var("TENGEN_TEST_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    on_both(|store, place, options| {
        let (mut published, copies) = (0, TempDir::new().unwrap());
        for kill in 0..kills {
            published += killed_writer(place, options, published, kill);
            let cache = EvaluationCache::open(&options_with(store, copies.path()), set()).unwrap();
            // The merge that it may begin needs the store until its end, and deletes segments during the check.
            idle(&cache);
            assert_eq!(found(&cache, 0..published * EACH), published * EACH, "after {} kills", kill + 1);
            // An evaluation on its way is there or not, and right if it is.
            found(&cache, published * EACH..(published + 2) * EACH);
            assert!(cache.check(&|| ControlFlow::Continue(())).unwrap().is_empty(), "after {} kills", kill + 1);
        }
        assert!(published >= 8, "{published} segments are too few for a compaction");
    });
}
