use go::Size;
use record::synthetic;

use super::*;
use crate::archives::Archives;
use crate::marks::Marks;

fn left() -> InProgress {
    let at = RunFolder::in_memory();
    let games = Games::new(at.clone(), Archives::new(at.clone(), Marks::new(at.clone())));
    InProgress::new(at, games)
}

fn games(worker: &str, indices: std::ops::Range<u64>) -> Vec<GameRecord> {
    let game = |index| synthetic::game("run-1", worker, index, Size::new(5).unwrap(), 8);
    indices.map(|index| GameRecord { turns: game(index).turns[..4].to_vec(), ..game(index) }).collect()
}

fn any(_: u32) -> bool {
    true
}

fn taken_by(left: &InProgress, taker: &str) -> Option<(FileRef, Vec<u64>)> {
    let taken = left.take(taker, any).unwrap()?;
    Some((taken.file, taken.games.iter().map(|game| game.index).collect()))
}

#[test]
fn handed_off_games_are_claimed_once_and_by_their_own_worker_first() {
    let left = left();
    assert_eq!(left.take("a", any).unwrap(), None);
    let a = left.leave(1, "a", &games("a", 0..3)).unwrap();
    let b = left.leave(1, "b", &games("b", 5..7)).unwrap();
    assert_eq!(taken_by(&left, "b"), Some((b.clone(), vec![5, 6])));
    assert_eq!(left.take("c", |model| model > 1).unwrap(), None, "other models are not asked for");
    assert_eq!(taken_by(&left, "c"), Some((a.clone(), vec![0, 1, 2])));
    assert_eq!(taken_by(&left, "d"), None);
    let there = [(a.clone(), Some("c".to_owned())), (b, Some("b".to_owned()))];
    assert_eq!(left.files().unwrap(), there);
    assert_eq!(left.indices(1, "a").unwrap(), (0..3).collect(), "whichever process resumes them");
    left.end("c", &a).unwrap();
    assert_eq!(left.indices(1, "a").unwrap(), BTreeSet::new());
    assert_eq!(left.files().unwrap().len(), 1);
    assert_eq!(taken_by(&left, "d"), None);
}

#[test]
fn take_games_returns_games_as_handed_off() {
    let left = left();
    let games = games("a", 0..3);
    left.leave(1, "a", &games).unwrap();
    let read = left.take("a", any).unwrap().unwrap().games;
    for (read, left) in read.iter().zip(&games) {
        assert_eq!((read.id, &read.turns, read.seed, &read.worker), (left.id, &left.turns, left.seed, &left.worker));
    }
}

#[test]
fn killed_taker_and_no_other_finds_what_it_had_taken() {
    let left = left();
    let file = left.leave(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&left, "b").is_some());
    // It had published one of them before.
    left.games.publish(1, "a", &games("a", 1..2)).unwrap();
    assert_eq!(taken_by(&left, "c"), None);
    assert_eq!(taken_by(&left, "b"), Some((file.clone(), vec![0, 2, 3])));
    left.end("b", &file).unwrap();
    assert_eq!((taken_by(&left, "b"), left.listing().unwrap().intents.len()), (None, 0));
}

#[test]
fn games_handed_off_twice_are_in_one_place() {
    let left = left();
    let first = left.leave(1, "a", &games("a", 0..4)).unwrap();
    assert!(taken_by(&left, "b").is_some());
    // Killed between leaving what was not finished and ending what was taken.
    let second = left.leave(1, "a", &games("a", 2..4)).unwrap();
    left.games.publish(1, "a", &games("a", 0..2)).unwrap();
    assert_eq!(taken_by(&left, "b"), Some((second, vec![2, 3])), "of the first, nothing is left");
    assert!(!left.files().unwrap().iter().any(|(file, _)| *file == first));
}

#[test]
fn files_of_killed_process_are_deleted() {
    let left = left();
    let files: Vec<FileRef> = (0..2).map(|first| left.leave(1, "a", &games("a", first..first + 1)).unwrap()).collect();
    // Killed after it had noted what it was about to take, and before it had deleted the claim on what was finished.
    let intent = |file: &FileRef| Intent { file: file.to_string() };
    left.at.store.publish_toml(&left.intent_path(&Stem::new("b", 1).unwrap()), &intent(&files[0])).unwrap();
    assert!(left.claim(&files[1], "b").unwrap());
    left.at.store.delete(&left.file(&files[1], PARQUET)).unwrap();
    assert_eq!(taken_by(&left, "b"), Some((files[0].clone(), vec![0])));
    let there = left.listing().unwrap();
    assert_eq!((there.claimed, there.intents.len()), (BTreeSet::from([files[0].clone()]), 1));
}

#[test]
fn released_games_can_be_claimed_by_others() {
    let left = left();
    let file = left.leave(1, "a", &games("a", 0..1)).unwrap();
    assert!(taken_by(&left, "b").is_some());
    left.give_back("b", &file).unwrap();
    assert_eq!(taken_by(&left, "c"), Some((file, vec![0])));
}
