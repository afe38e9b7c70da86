//! What thousands of processes ask of a bucket when they start and while they wait: few small things, and no lists.

use std::cell::Cell;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use store::{ModelMetadata, Run, Store};
use testing::s3::Server;
use testing::{wait_until, with_slow_reads};

use crate::{config, name, on_every_run, on_server, some_games, state};

const MODELS: u32 = 60;
const THRESHOLDS: u32 = 20;
const POLLS: usize = 25;

/// A run that has gone on for a while, on a server, and a process that has just been started.
fn old_run() -> (Server, Run) {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    run.create(&config(&[])).unwrap();
    for number in 1..=MODELS {
        let metadata: ModelMetadata = state::metadata(number);
        run.models().publish(&metadata, Bytes::from("w")).unwrap();
    }
    for number in 0..THRESHOLDS {
        run.resign().publish(&state::threshold(-0.5 - f32::from(number as u8) / 100.0)).unwrap();
    }
    for worker in ["1", "11", "2", "1-uniform"] {
        run.games().publish(MODELS, worker, &some_games(worker, 0, 3)).unwrap();
    }
    let fresh = on_server(&server).run(&name("r"));
    server.asked();
    (server, fresh)
}

/// How many requests there were, none of which lists anything.
fn without_a_list(server: &Server) -> usize {
    let asked = server.asked();
    assert!(asked.iter().all(|line| !line.starts_with("LIST")), "{asked:#?}");
    asked.len()
}

#[test]
fn start_finds_newest_model_without_list() {
    let (server, run) = old_run();
    assert_eq!(run.models().newest().unwrap(), Some(MODELS));
    let models = without_a_list(&server);
    let threshold = run.resign().newest().unwrap().unwrap().threshold;
    assert!((threshold + 0.69).abs() < 1e-6, "{threshold}");
    let thresholds = without_a_list(&server);
    println!("{models} requests for the newest of {MODELS} models, {thresholds} for that of {THRESHOLDS} thresholds");
    assert!(models <= 13 && thresholds <= 11, "{models} and {thresholds} requests");
}

#[test]
fn logs_and_thresholds_after_a_name_are_listed_without_those_before() {
    on_every_run(|run| {
        let thresholds: Vec<f32> = vec![-0.5, -0.6, -0.7];
        thresholds.iter().for_each(|&threshold| run.resign().publish(&state::threshold(threshold)).unwrap());
        let all = run.resign().list().unwrap();
        assert_eq!(run.resign().list_after(&all[0]).unwrap(), all[1..]);
        assert_eq!(run.resign().list_after(&all[2]).unwrap(), all[3..]);
        // Other files of the folder begin otherwise.
        let logs = ["000001-1.jsonl", "000002-1.jsonl", "000002-2.jsonl", "events.1"];
        logs.iter().for_each(|log| run.logs().publish(log, Bytes::from("{}")).unwrap());
        assert_eq!(run.logs().list_after("000001-1.jsonl").unwrap(), logs[1..3]);
    });
}

#[test]
fn wait_for_first_model_lists_folder_once() {
    let server = Server::start().unwrap();
    let run = on_server(&server).run(&name("r"));
    assert_eq!(run.models().newest().unwrap(), None);
    let first = "HEAD stores/r/models/000001/model.toml";
    assert_eq!(server.asked(), [first, "LIST stores/r/models/"]);
    assert_eq!(run.models().newest().unwrap(), None);
    assert_eq!(run.resign().newest().unwrap(), None);
    assert_eq!(server.asked(), [first, "HEAD stores/r/resign/000001.toml"]);
    run.models().publish(&state::metadata(1), Bytes::from("w")).unwrap();
    assert_eq!(run.models().newest().unwrap(), Some(1));
}

#[test]
fn poll_requests_one_small_object() {
    let (server, run) = old_run();
    run.resign().newest().unwrap();
    server.asked();
    for _ in 0..POLLS {
        assert!(!run.models().exists(MODELS + 1).unwrap());
    }
    assert_eq!(server.asked(), vec!["HEAD stores/r/models/000061/model.toml"; POLLS]);
    for _ in 0..POLLS {
        assert!(run.resign().newest().unwrap().is_some());
    }
    assert_eq!(server.asked(), vec!["HEAD stores/r/resign/000021.toml"; POLLS]);
}

#[test]
fn worker_asks_for_the_names_of_its_own_files_only() {
    let (server, run) = old_run();
    let indices = run.games().indices(MODELS, "1").unwrap();
    assert_eq!(indices.into_iter().collect::<Vec<_>>(), [0, 1, 2]);
    let asked = server.asked();
    let lists: Vec<&String> = asked.iter().filter(|line| line.starts_with("LIST")).collect();
    // The archives once in a process, to see that none is missing.
    assert_eq!(lists, ["LIST stores/r/games/000060/1-", "LIST stores/r/games/archive/"]);
    // One file of its own and one of a series whose name begins alike; the next archive; the end and the columns of a
    // file.
    assert!(asked.len() <= 9, "{asked:#?}");
    assert_eq!(run.games().indices(MODELS, "3").unwrap().len(), 0);
    assert!(server.asked().len() <= 3);
}

#[test]
fn results_models_and_claims_are_read_once() {
    let (server, run) = old_run();
    let claim = |number| store::Claim { first: "a".to_owned(), second: "b".to_owned(), numbers: vec![number] };
    let other = on_server(&server).run(&name("r"));
    for number in 0..5 {
        other.matches().publish("w", &some_games("m", number, number + 1)).unwrap();
        other.claims().acquire("w", &claim(number)).unwrap();
    }
    let look = || {
        let age = std::time::Duration::from_secs(1800);
        let found = (
            run.matches().all().unwrap().len(),
            run.models().list().unwrap().len(),
            run.claims().list(age).unwrap().len(),
        );
        assert_eq!(found, (5, MODELS as usize, 5));
        server.asked()
    };
    server.asked();
    look();
    assert_eq!(
        look(),
        ["LIST stores/r/matches/", "LIST stores/r/models/", "LIST stores/r/claims/"],
        "what has not changed is not read again"
    );
}

/// An evaluator that has just started reads what thousands of matches left.
#[test]
fn results_and_models_of_a_bucket_are_read_several_at_once() {
    let (store, most) = with_slow_reads(&Store::in_memory().unwrap());
    let run = store.run(&name("r"));
    for number in 0..9 {
        run.matches().publish("w", &some_games("m", number, number + 1)).unwrap();
        run.models().publish(&state::metadata(number as u32 + 1), Bytes::from("w")).unwrap();
    }
    // A thread that is alone for long reads all of them, one after the other.
    let read_at_once = |read: &dyn Fn(&Run)| {
        most.store(0, Ordering::Relaxed);
        read(&store.run(&name("r")));
        most.load(Ordering::Relaxed) > 1
    };
    let results = |fresh: &Run| {
        let noted = Cell::new(0);
        let all = || fresh.matches().all_noting(&|| noted.set(noted.get() + 1)).unwrap();
        let found: Vec<u64> = all().iter().map(|game| game.index).collect();
        assert_eq!(found, (0..9).collect::<Vec<_>>(), "the oldest first");
        assert_eq!((all().len(), noted.get()), (9, 1), "only what is read is progress");
    };
    let models = |fresh: &Run| assert_eq!(fresh.models().list().unwrap(), (1..10).collect::<Vec<_>>());
    wait_until("several results at once", || read_at_once(&results));
    wait_until("several models at once", || read_at_once(&models));
}

#[test]
fn resuming_worker_lists_handed_off_games_and_nothing_else() {
    let (server, run) = old_run();
    assert_eq!(run.unfinished().acquire("1", &[], |_| true).unwrap(), None);
    assert!(run.unfinished().indices(MODELS, "1").unwrap().is_empty());
    assert_eq!(server.asked(), ["LIST stores/r/unfinished/", "LIST stores/r/unfinished/000060/1-"]);
}

/// However many processes list at the same moment, each file is taken by one of them.
#[test]
fn handed_off_games_are_claimed_by_one_of_many_at_once() {
    const FILES: u64 = 20;
    on_every_run(|run| {
        for file in 0..FILES {
            run.unfinished().hand_off(1, "gone", &some_games("gone", 10 * file, 10 * file + 2)).unwrap();
        }
        let take = |taker: usize| {
            let run = run.clone();
            std::thread::spawn(move || {
                let mut taken = Vec::new();
                while let Some(games) = run.unfinished().acquire(&taker.to_string(), &[], |_| true).unwrap() {
                    taken.extend(games.games.iter().map(|game| game.index));
                    run.games().publish(1, "gone", &games.games).unwrap();
                    run.unfinished().complete(&taker.to_string(), &games.file).unwrap();
                }
                taken
            })
        };
        let takers: Vec<_> = (0..8).map(take).collect();
        let mut taken: Vec<u64> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
        taken.sort_unstable();
        let all: Vec<u64> = (0..FILES).flat_map(|file| [10 * file, 10 * file + 1]).collect();
        assert_eq!(taken, all);
        assert_eq!(run.games().indices(1, "gone").unwrap(), all.into_iter().collect());
        assert_eq!(
            (run.unfinished().files().unwrap(), run.unfinished().indices(1, "gone").unwrap().len()),
            (vec![], 0)
        );
    });
}
