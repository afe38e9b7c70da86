//! `9x9-demo`, the model that comes with the programs, in an empty store.

use std::fs;
use std::path::Path;

use testing::{Tool, require};
use tests::{TestStore, fail, program, repository, succeed};

#[test]
fn evaluator_pairs_the_demo_with_gnugo_in_an_empty_store() {
    let Some(gnugo) = require(Tool::GnuGo) else { return };
    let store = TestStore::new();
    let mut evaluator = store.program("evaluator");
    evaluator.args(["--pair", "9x9-demo+visits=2", "GnuGo-0", "--games", "2"]);
    let engines = tempfile::NamedTempFile::new().unwrap();
    if gnugo != Path::new("/usr/games/gnugo") {
        let text = fs::read_to_string(repository().join("configs/engines/gnugo.toml")).unwrap();
        fs::write(&engines, text.replace("/usr/games/gnugo", gnugo.to_str().unwrap())).unwrap();
        evaluator.arg("--engines").arg(engines.path());
    }
    let output = evaluator.output().unwrap();
    let (table, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && log.contains("results are not stored"), "{log}");
    assert!(["9x9-demo-1+visits=2", "GnuGo-0", "of 2 games drawn"].iter().all(|part| table.contains(part)), "{table}");
    assert_eq!(store.files(), [""; 0]);
}

#[test]
fn selfplay_of_the_demo_begins_its_run() {
    let (store, cache) = (TestStore::new(), tempfile::tempdir().unwrap());
    let mut selfplay = store.program("selfplay");
    succeed(selfplay.args(["--model", "9x9-demo-1", "--games", "1", "--evalcache"]).arg(cache.path()));
    // Others would change the games.
    let sets = fs::read_dir(cache.path().join("evalcache")).unwrap();
    let sets: Vec<String> = sets.map(|set| set.unwrap().file_name().into_string().unwrap()).collect();
    assert!(sets.len() == 1 && sets[0].contains("-9x9-komi-requested-exact-"), "{sets:?}");
    let run = store.run("9x9-demo");
    assert_eq!((run.models().list().unwrap(), run.games().files(1).unwrap().len()), (vec![1], 1));
    // It is a run as any other now, and keeps the results of its matches.
    succeed(store.program("evaluator").args(["--pair", "9x9-demo+visits=1", "Captures", "--games", "2"]));
    assert_eq!(run.matches().all().unwrap().len(), 2);
}

/// A GUI starts its engine in any folder, also one that cannot be written.
#[test]
fn commands_that_only_read_make_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let tengen = |args: &[&str]| {
        let mut command = program("tengen");
        command.current_dir(folder.path()).args(args);
        command
    };
    succeed(&mut tengen(&["gtp", "--model", "9x9-demo", "--device", "cpu"]));
    succeed(&mut tengen(&["analysis-server", "--model", "uniform"]));
    let output = tengen(&["gtp", "--model", "9x9-demo", "--device", "cpu", "--run", "v1"]).output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && log.contains("--run has no effect"), "{log}");
    let (code, said) = fail(&mut tengen(&["study", "depth", "--model", "v1"]));
    assert!(code == 2 && said.contains("there is no run v1 in ") && said.contains("and 9x9-demo"), "{code}: {said}");
    let (code, said) = fail(&mut tengen(&["bench", "data", "--run", "v1"]));
    assert!(code == 2 && said.contains("there is no such folder"), "{code}: {said}");
    let (code, said) = fail(program("evaluator").current_dir(folder.path()).args(["ratings", "--run", "v1"]));
    assert!(code == 2 && said.contains("there is no run v1 in "), "{code}: {said}");
    let out = tempfile::tempdir().unwrap();
    let mut trainer = program("trainer");
    trainer.current_dir(folder.path()).args(["export", "--model", "9x9-demo", "--out"]);
    succeed(trainer.arg(out.path().join("demo.safetensors")));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn gtp_plays_with_a_file_of_weights() {
    let store = TestStore::new();
    let session = |file: &str| {
        let mut tengen = store.program("tengen");
        tengen.current_dir(repository()).args(["gtp", "--visits", "2", "--model", file]);
        tengen
    };
    let input = store.path().join("commands");
    fs::write(&input, "version\ngenmove b\nquit\n").unwrap();
    let said = succeed(session("demo/9x9-demo.safetensors").stdin(fs::File::open(&input).unwrap()));
    assert!(said.contains("demo/9x9-demo.safetensors") && said.matches("\n= ").count() == 1, "{said}");
    let (code, said) = fail(&mut session("demo/none.safetensors"));
    assert!(code == 2 && said.contains("cannot read demo/none.safetensors"), "{code}: {said}");
}
