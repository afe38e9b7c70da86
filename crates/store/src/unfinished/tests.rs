use go::Size;
use record::{VERSION_KEY, synthetic};

use super::*;
use crate::archives::Archives;
use crate::marks::Marks;

fn store() -> UnfinishedGames {
    let at = RunFolder::in_memory();
    let games = Games::new(at.clone(), Archives::new(at.clone(), Marks::new(at.clone())));
    UnfinishedGames::new(at, games)
}

fn games(worker: &str, indices: std::ops::Range<u64>) -> Vec<GameRecord> {
    let game = |index| synthetic::game("run-1", worker, index, Size::new(5).unwrap(), 8);
    indices.map(|index| GameRecord { turns: game(index).turns[..4].to_vec(), ..game(index) }).collect()
}

fn any(_: u32) -> bool {
    true
}

fn taken_by(store: &UnfinishedGames, taker: &str) -> Option<(FileRef, Vec<u64>)> {
    let taken = store.acquire(taker, &[], any).unwrap()?;
    Some((taken.file, taken.games.iter().map(|game| game.index).collect()))
}

#[test]
fn handed_off_games_are_claimed_once_and_by_their_own_worker_first() {
    let store = store();
    assert_eq!(store.acquire("a", &[], any).unwrap(), None);
    let a = store.hand_off(1, "a", &games("a", 0..3)).unwrap();
    let b = store.hand_off(1, "b", &games("b", 5..7)).unwrap();
    assert_eq!(taken_by(&store, "b"), Some((b.clone(), vec![5, 6])));
    assert_eq!(store.acquire("c", &[], |model| model > 1).unwrap(), None, "other models are not asked for");
    assert_eq!(taken_by(&store, "c"), Some((a.clone(), vec![0, 1, 2])));
    assert_eq!(taken_by(&store, "d"), None);
    let there = [(a.clone(), Some("c".to_owned())), (b, Some("b".to_owned()))];
    assert_eq!(store.files().unwrap(), there);
    assert_eq!(store.indices(1, "a").unwrap(), (0..3).collect(), "whichever process resumes them");
    store.complete("c", &a).unwrap();
    assert_eq!(store.indices(1, "a").unwrap(), BTreeSet::new());
    assert_eq!(store.files().unwrap().len(), 1);
    assert_eq!(taken_by(&store, "d"), None);
}

#[test]
fn take_games_returns_games_as_handed_off() {
    let store = store();
    let games = games("a", 0..3);
    store.hand_off(1, "a", &games).unwrap();
    let read = store.acquire("a", &[], any).unwrap().unwrap().games;
    assert_eq!(read.len(), games.len());
    for (read, store) in read.iter().zip(&games) {
        assert_eq!(
            (read.id, &read.turns, read.seed, &read.worker),
            (store.id, &store.turns, store.seed, &store.worker)
        );
    }
}

#[test]
fn killed_taker_and_no_other_finds_what_it_had_taken() {
    let store = store();
    let file = store.hand_off(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&store, "b").is_some());
    // It had published one of them before.
    store.games.publish(1, "a", &games("a", 1..2)).unwrap();
    assert_eq!(taken_by(&store, "c"), None);
    assert_eq!(taken_by(&store, "b"), Some((file.clone(), vec![0, 2, 3])));
    let other = store.hand_off(2, "a", &games("a", 6..7)).unwrap();
    let taken = store.acquire("b", &[&file], any).unwrap().map(|taken| taken.file);
    assert_eq!(taken.as_ref(), Some(&other), "it holds the first");
    assert_eq!(store.acquire("b", &[&other, &file], any).unwrap(), None);
    store.complete("b", &other).unwrap();
    store.complete("b", &file).unwrap();
    assert_eq!((taken_by(&store, "b"), store.listing().unwrap().intents.len()), (None, 0));
}

#[test]
fn games_handed_off_twice_are_in_one_place() {
    let store = store();
    let first = store.hand_off(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&store, "b").is_some());
    // Killed between leaving what was not finished and ending what was taken.
    let second = store.hand_off(1, "a", &games("a", 2..4)).unwrap();
    store.games.publish(1, "a", &games("a", 0..2)).unwrap();
    assert_eq!(taken_by(&store, "b"), Some((second, vec![2, 3])), "of the first, nothing is store");
    assert!(!store.files().unwrap().iter().any(|(file, _)| *file == first));
}

/// Its worker was killed after it had handed them off again, and before it had deleted the file that it had taken them
/// from.
#[test]
fn games_handed_off_twice_are_those_of_the_later_file() {
    let store = store();
    store.hand_off(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&store, "b").is_some());
    let second = store.hand_off(1, "a", &games("a", 0..4)).unwrap();
    assert_eq!(taken_by(&store, "c"), Some((second.clone(), vec![0, 1, 2, 3])));
    assert_eq!(taken_by(&store, "b"), None, "it comes back");
    assert_eq!(store.files().unwrap(), [(second, Some("c".to_owned()))]);
}

/// Its worker could not publish the first game, handed off the others again, and released the file.
#[test]
fn games_of_a_released_file_are_resumed_once_whichever_file_is_first() {
    let store = store();
    let first = store.hand_off(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&store, "b").is_some());
    let second = store.hand_off(1, "a", &games("a", 1..4)).unwrap();
    store.release("b", &first).unwrap();
    let resumed: BTreeSet<_> = ["c", "d"].iter().filter_map(|taker| taken_by(&store, taker)).collect();
    assert_eq!(resumed, BTreeSet::from([(first, vec![0]), (second, vec![1, 2, 3])]));
}

#[test]
fn hand_off_is_later_than_all_before_by_any_clock() {
    let store = store();
    let first = store.hand_off(1, "a", &games("a", 0..1)).unwrap();
    let at = RunFolder { store: store.at.store.with_clock(|| 5), ..store.at.clone() };
    let behind = UnfinishedGames::new(at, store.games);
    let [second, third] = [0, 1].map(|index| behind.hand_off(1, "a", &games("a", index..index + 1)).unwrap());
    assert!(first < second && second < third, "{first} {second} {third}");
    assert_eq!(behind.hand_off(1, "b", &games("b", 0..1)).unwrap().stem.time(), 5, "another worker");
}

#[test]
fn files_of_killed_process_are_deleted() {
    let store = store();
    let files: Vec<FileRef> =
        (0..2).map(|first| store.hand_off(1, "a", &games("a", first..first + 1)).unwrap()).collect();
    // Killed after it had noted what it was about to take, and before it had deleted the claim on what was finished.
    let intent = |file: &FileRef| Intent { file: file.to_string() };
    store.at.store.publish_toml(&store.intent_path(&Stem::new("b", 1).unwrap()), &intent(&files[0])).unwrap();
    assert!(store.claim(&files[1], "b").unwrap());
    store.at.store.delete(&store.file(&files[1], PARQUET)).unwrap();
    assert_eq!(taken_by(&store, "b"), Some((files[0].clone(), vec![0])));
    let there = store.listing().unwrap();
    assert_eq!((there.claimed, there.intents.len()), (BTreeSet::from([files[0].clone()]), 1));
}

/// What a disk may leave of a file.
fn damage(store: &UnfinishedGames, path: &Path) {
    store.at.store.delete(path).unwrap();
    store.at.store.publish(path, bytes::Bytes::from_static(b"format = 1\nfi")).unwrap();
}

#[test]
fn taker_whose_claim_or_intent_is_damaged_finds_what_it_had_taken() {
    for damages_claim in [true, false] {
        let store = store();
        let file = store.hand_off(1, "a", &games("a", 0..2)).unwrap();
        assert!(taken_by(&store, "b").is_some());
        let intent = store.listing().unwrap().intents.pop_first().unwrap();
        damage(&store, &if damages_claim { store.file(&file, TAKEN) } else { store.intent_path(&intent) });
        let taker = (!damages_claim).then(|| "b".to_owned());
        assert_eq!(store.files().unwrap(), [(file.clone(), taker)]);
        assert_eq!(taken_by(&store, "c"), None, "it is claimed");
        assert_eq!(taken_by(&store, "b"), Some((file.clone(), vec![0, 1])));
        store.complete("b", &file).unwrap();
        let there = store.listing().unwrap();
        assert!(there.files.is_empty() && there.claimed.is_empty() && there.intents.is_empty());
    }
}

#[test]
fn damaged_intent_that_came_to_nothing_is_deleted() {
    let store = store();
    let other = store.hand_off(1, "a", &games("a", 0..1)).unwrap();
    assert!(taken_by(&store, "c").is_some());
    let intent = Stem::new("b", 1).unwrap();
    // Its bytes are TOML, and name no file.
    store.at.store.publish_toml(&store.intent_path(&intent), &Intent { file: "000001".to_owned() }).unwrap();
    assert_eq!(taken_by(&store, "b"), None);
    assert_eq!(store.listing().unwrap().intents.iter().map(Stem::worker).collect::<Vec<_>>(), ["c"]);
    assert_eq!(store.files().unwrap(), [(other, Some("c".to_owned()))]);
}

#[test]
fn released_games_can_be_claimed_by_others() {
    let store = store();
    let file = store.hand_off(1, "a", &games("a", 0..1)).unwrap();
    assert!(taken_by(&store, "b").is_some());
    store.release("b", &file).unwrap();
    assert_eq!(taken_by(&store, "c"), Some((file, vec![0])));
}

/// Workers of that version resume them, and those of this one go on to others.
#[test]
fn games_of_a_later_version_are_skipped_and_released() {
    let store = store();
    let mut later = unfinished::to_batch(&games("a", 0..2));
    later.schema_metadata_mut().insert(VERSION_KEY, "unfinished/2");
    let foreign = FileRef { model: 1, stem: Stem::new("a", 1).unwrap() };
    store.at.store.publish_table(&store.file(&foreign, PARQUET), &later).unwrap();
    let own = store.hand_off(1, "a", &games("a", 2..4)).unwrap();
    assert_eq!(store.indices(1, "a").unwrap(), BTreeSet::from([2, 3]));
    // A process that has not met the file yet.
    let store = UnfinishedGames::new(store.at, store.games);
    assert_eq!(taken_by(&store, "a"), Some((own.clone(), vec![2, 3])));
    assert_eq!(store.acquire("a", &[&own], any).unwrap(), None);
    let there = store.listing().unwrap();
    assert_eq!((there.files, there.claimed), (BTreeSet::from([foreign, own.clone()]), BTreeSet::from([own])));
}

/// As after a return to this version: what a killed worker of the later one had acquired stays its own.
#[test]
fn notes_of_a_later_version_stay() {
    let store = store();
    let taken = store.hand_off(1, "a", &games("a", 0..2)).unwrap();
    let note = store.intent_path(&Stem::new("b", 1).unwrap());
    for path in [&note, &store.file(&taken, TAKEN)] {
        store.at.store.publish(path, bytes::Bytes::from_static(b"format = 2\nwho = \"b\"\n")).unwrap();
    }
    assert_eq!(taken_by(&store, "b"), None);
    let other = store.hand_off(1, "a", &games("a", 2..4)).unwrap();
    assert_eq!(taken_by(&store, "b"), Some((other.clone(), vec![2, 3])));
    store.complete("b", &other).unwrap();
    assert_eq!(store.files().unwrap(), [(taken, None)]);
    assert!(store.at.store.exists(&note).unwrap());
}
