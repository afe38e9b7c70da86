use bytes::Bytes;
use config::Preset;
use go::Size;
use record::{GameId, GameRecord, synthetic};
use store::{Manifest, Store};

use super::*;

fn run() -> Run {
    let run = Store::in_memory().unwrap().run(&"tiny".parse().unwrap());
    run.create(&Preset::Tiny.config()).unwrap();
    run
}

fn name(model: u32) -> String {
    if model == 0 { "random".to_owned() } else { format!("tiny-{model}") }
}

fn games(model: u32, range: std::ops::Range<u64>) -> Vec<GameRecord> {
    range.map(|index| synthetic::game(&name(model), "w", index, Size::new(5).unwrap(), 8)).collect()
}

fn publish(run: &Run, model: u32, worker: &str, time: u64, range: std::ops::Range<u64>) {
    let file = FileRef { model, stem: Stem::new(worker, time).unwrap() };
    run.games().publish_as(&file, &games(model, range)).unwrap();
}

fn publish_model(run: &Run, number: u32) {
    let config = Preset::Tiny.config();
    let metadata = ModelMetadata::new(run.name(), number, 10 * u64::from(number), &config);
    run.models().publish(&metadata, Bytes::from_static(b"weights")).unwrap();
}

fn rating(player: &str, elo: f64) -> RatingRow {
    RatingRow {
        player: player.to_owned(),
        elo,
        error: 20.0,
        above_pool: elo,
        above_pool_error: 15.0,
        games: 10,
        points: 5.0,
    }
}

/// Reads all that is there.
fn read(reader: &mut Reader) -> Facts {
    reader.refresh().unwrap();
    reader.list().unwrap();
    while !reader.is_done() {
        reader.read(3).unwrap();
    }
    reader.facts()
}

fn played(facts: &Facts) -> Vec<u64> {
    facts.games.values().map(|games| games.counts.games()).collect()
}

#[test]
fn reader_finds_what_was_published_and_then_what_is_new() {
    let run = run();
    let mut reader = Reader::open(run.clone()).unwrap();
    let empty = read(&mut reader);
    assert_eq!((empty.newest_model, empty.games.len(), empty.unread), (None, 0, 0));

    publish(&run, 0, "a", 1, 0..20);
    publish(&run, 0, "b", 2, 20..30);
    publish_model(&run, 1);
    publish(&run, 1, "a", 3, 0..5);
    run.ratings().publish(&[rating("tiny-1", 50.0), rating("random", 0.0)]).unwrap();
    let log = LogName { generation: 1, time: 1 }.to_string();
    run.logs().publish(&log, "{\"set\":\"train\",\"step\":10,\"policy\":1.5}\nnonsense\n".into()).unwrap();
    let first = read(&mut reader);
    assert_eq!((played(&first), first.newest_model, first.models[&1].step), (vec![30, 5], Some(1), 10));
    let losses: Vec<u64> = first.curves.values("train", "policy").map(|(step, ..)| step).collect();
    assert_eq!((first.ratings.len(), losses, first.curves.unread), (2, vec![10], 1));
    assert_eq!(first.workers[&("selfplay", "a".to_owned())], Worker { newest: 3, files: 2, model: Some(1) });
    assert_eq!(first.workers[&("trainer", "trainer".to_owned())], Worker { newest: 1, files: 1, model: Some(1) });

    assert!(!reader.refresh().unwrap() && !reader.list().unwrap(), "nothing is new");
    publish(&run, 1, "a", 4, 5..12);
    publish_model(&run, 2);
    run.ratings().publish(&[rating("tiny-2", 80.0), rating("tiny-1", 50.0), rating("random", 0.0)]).unwrap();
    assert!(reader.refresh().unwrap() && reader.list().unwrap());
    let second = read(&mut reader);
    assert_eq!((played(&second), second.newest_model, second.ratings.len()), (vec![30, 12], Some(2), 3));
    assert_eq!(first.ratings.len(), 2, "what a page shows does not change");
}

#[test]
fn shuffler_was_last_there_when_shards_became_whole() {
    let folder = tempfile::tempdir().unwrap();
    let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"tiny".parse().unwrap());
    run.create(&Preset::Tiny.config()).unwrap();
    let mut reader = Reader::open(run.clone()).unwrap();
    let shuffler = |facts: &Facts| facts.workers.get(&("shuffler", "shuffler".to_owned())).copied();
    assert_eq!(shuffler(&read(&mut reader)), None);
    for generation in 1..=2 {
        let manifest = Manifest { generation, ..Manifest::default() };
        run.shards().publish([], manifest).unwrap();
        assert!(reader.list().unwrap());
        let found = shuffler(&reader.facts()).unwrap();
        let time = run.shards().published_at(generation).unwrap().unwrap() as u64;
        assert!(time > 0);
        assert_eq!(found, Worker { newest: time, files: generation.into(), model: Some(generation) });
        assert_eq!(reader.facts().shards, Some(generation));
    }
    assert!(!reader.list().unwrap(), "nothing is new");

    // The manifest comes last.
    std::fs::create_dir(folder.path().join("tiny/shards/000003")).unwrap();
    std::fs::write(folder.path().join("tiny/shards/000003/part-0000.parquet"), "PAR1").unwrap();
    for mut reader in [reader, Reader::open(run).unwrap()] {
        let found = read(&mut reader);
        assert_eq!((found.shards, shuffler(&found).unwrap().model), (Some(2), Some(2)), "those of 3 are not whole");
    }
}

#[test]
fn games_that_were_published_twice_count_once_even_in_old_models() {
    let run = run();
    for model in 0..6 {
        publish(&run, model, "a", 10, 0..10);
    }
    let mut reader = Reader::open(run.clone()).unwrap();
    assert_eq!(played(&read(&mut reader)), [10; 6]);
    // Of the newest model, and of one whose games are forgotten by name. Games of other workers are other games.
    publish(&run, 5, "a", 20, 5..15);
    publish(&run, 1, "a", 20, 5..15);
    reader.listings = 0;
    assert_eq!(played(&read(&mut reader)), [10, 15, 10, 10, 10, 15]);
    assert!(reader.names.len() <= WITH_NAMES + 1, "{:?}", reader.names.keys());
}

#[test]
fn matches_count_once() {
    let run = run();
    let of = |index| {
        let (black, white) = (name(1), name(2));
        let game = synthetic::game("made", "up", index, Size::new(5).unwrap(), 1);
        GameRecord { id: GameId::of(&black, &white, "", index), black, white, ..game }
    };
    let first: Vec<_> = (0..8).map(of).collect();
    run.matches().publish("e", &first).unwrap();
    run.matches().publish("f", &first[..3]).unwrap();
    let facts = read(&mut Reader::open(run).unwrap());
    assert_eq!((facts.pool.counts.games(), facts.pool.pairs.len()), (8, 1));
    assert_eq!(facts.workers.len(), 2);
}

#[test]
fn facts_are_there_before_everything_is_read() {
    let run = run();
    for model in 0..4 {
        publish(&run, model, "a", 1, 0..10);
    }
    publish_model(&run, 1);
    let mut reader = Reader::open(run).unwrap();
    reader.refresh().unwrap();
    assert_eq!(reader.facts().newest_model, Some(1));
    reader.list().unwrap();
    assert_eq!(reader.facts().unread, 5);
    reader.read(1).unwrap();
    assert_eq!((reader.facts().models.len(), reader.facts().unread), (1, 4));
    reader.read(1).unwrap();
    assert_eq!(reader.facts().games.keys().copied().collect::<Vec<_>>(), [3], "newest first");
}

#[test]
fn damaged_files_are_named_and_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"tiny".parse().unwrap());
    run.create(&Preset::Tiny.config()).unwrap();
    publish(&run, 0, "a", 1, 0..10);
    publish(&run, 0, "cut", 2, 10..20);
    let cut = FileRef { model: 0, stem: Stem::new("cut", 2).unwrap() };
    let path = folder.path().join(format!("tiny/games/{cut}.parquet"));
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    run.logs().publish("000001-2.jsonl", "\u{fffd}".into()).unwrap();
    run.ratings().publish(&[rating("random", 0.0)]).unwrap();
    let ratings = std::fs::read_dir(folder.path().join("tiny/ratings")).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&ratings, "PAR1").unwrap();
    std::fs::create_dir(folder.path().join("tiny/resign")).unwrap();
    std::fs::write(folder.path().join("tiny/resign/000001.toml"), "format = 2\n").unwrap();
    let mut reader = Reader::open(run.clone()).unwrap();
    reader.refresh().unwrap();
    reader.list().unwrap();
    // A file that was listed and is gone, as in a run that is being deleted.
    let gone = FileRef { model: 0, stem: Stem::new("gone", 5).unwrap() };
    reader.unread.games.entry(0).or_default().insert(gone);
    while !reader.is_done() {
        reader.read(8).unwrap();
    }
    let facts = reader.facts();
    assert_eq!((played(&facts), facts.damaged.len()), (vec![10], 4));
    let [path, ratings] = [path, ratings].map(|path| format!("{} is damaged", path.display()));
    for words in [path, ratings, "gone".to_owned(), "resign/000001.toml has format 2".to_owned()] {
        assert!(facts.damaged.iter().any(|named| named.contains(&words)), "{words}: {:?}", facts.damaged);
    }

    // More than are named.
    for time in 0..21 {
        let file = FileRef { model: 0, stem: Stem::new("many", 10 + time).unwrap() };
        run.games().publish_as(&file, &games(0, 20..21)).unwrap();
        std::fs::write(folder.path().join(format!("tiny/games/{file}.parquet")), "PAR1").unwrap();
    }
    let facts = read(&mut reader);
    assert_eq!((facts.damaged.len(), facts.unreadable), (MOST_DAMAGED, 25));
    let notes = crate::sections::notes(&facts).into_string();
    assert!(notes.contains("25 files cannot be read; the newest: ") && notes.contains("many-"), "{notes}");
    // A file of a model whose games are forgotten by name: all of its files are read again.
    reader.names.clear();
    publish(&run, 0, "late", 99, 30..31);
    assert_eq!(read(&mut reader).unreadable, 25);
}

#[test]
fn run_that_does_not_exist_is_an_error() {
    let store = Store::in_memory().unwrap();
    let error = Reader::open(store.run(&"none".parse().unwrap())).err().unwrap();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
}

#[test]
fn every_listed_plot_exists() {
    let run = run();
    publish(&run, 0, "w", 1, 0..4);
    let facts = read(&mut Reader::open(run).unwrap());
    let strength = crate::strength::Strength::of(&facts);
    for (name, title) in crate::plots::PLOTS {
        let plot = crate::plots::plot(&facts, &strength, name).unwrap_or_else(|| panic!("{name} is no plot"));
        assert_eq!((plot.id.as_str(), plot.title.as_str()), (*name, *title));
    }
}
