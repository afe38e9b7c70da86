//! `tengen games`: search and bulk download of the games of a run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::OnceLock;

use go::sgf;
use tests::{TestStore, copy, fail, flip_a_byte, repository, succeed};

use crate::mistakes::under;

/// A copy of a run with games of two models and a match, in a folder or on a server.
fn played(store: &TestStore) {
    static PLAYED: OnceLock<TestStore> = OnceLock::new();
    let played = PLAYED.get_or_init(|| {
        let store = TestStore::shared();
        let larger = ["--set", "loop.models=1", "--set", "loop.final_games=2"];
        succeed(store.program("tengen").arg("run").arg(repository().join("configs/tiny.toml")).args(larger));
        store
    });
    let to = store.server().map_or_else(|| store.path().to_owned(), |server| server.objects());
    copy(played.path(), &to);
}

fn games(store: &TestStore, args: &[&str]) -> Command {
    let mut command = store.program("tengen");
    command.args(["games", "--run", "tiny"]).args(args);
    command
}

fn rows(said: &str) -> Vec<Vec<&str>> {
    said.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn games_are_found_and_downloaded_from_a_folder_and_a_bucket() {
    for store in [TestStore::new(), TestStore::on_server()] {
        played(&store);
        let run = store.run("tiny");
        let files = run.games().files_since(0).unwrap();
        let all: Vec<_> = files.iter().flat_map(|file| run.games().read(file).unwrap()).collect();
        let listed = succeed(&mut games(&store, &[]));
        assert!(listed.starts_with("id\tblack\twhite\toutcome\tscore\tend\n"), "{listed}");
        assert_eq!(rows(&listed).len(), all.len());

        let resigned = succeed(&mut games(&store, &["--where", "\"end\" = 'resignation' OR n_moves > 20"]));
        let expected = all.iter().filter(|game| game.score.is_none() || game.turns.len() > 20).count();
        assert!(expected > 0 && expected < all.len(), "{expected} of {}", all.len());
        assert_eq!(rows(&resigned).len(), expected);

        let out = tempfile::tempdir().unwrap();
        let path = out.path().join("won.zip");
        let said = succeed(games(&store, &["--where", "outcome = 1", "--sgf"]).arg(&path));
        let won: Vec<_> = all.iter().filter(|game| game.outcome.as_i8() == 1).collect();
        assert_eq!(said, format!("{} of {} games are in {}\n", won.len(), all.len(), path.display()));
        let mut zip = zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(zip.len(), won.len());
        for game in won {
            let mut entry = zip.by_name(&format!("{}/{}.sgf", game.black, game.id)).unwrap();
            let text = std::io::read_to_string(&mut entry).unwrap();
            let tree = sgf::collection(text.as_bytes()).next().unwrap().unwrap();
            assert_eq!(sgf::Record::from_tree(&tree).unwrap().turns.len(), game.turns.len());
        }
        for condition in ["json_extract(black, '$[0]') = 1", "FALSE) UNION SELECT (99999"] {
            let (code, said) = fail(&mut games(&store, &["--where", condition]));
            assert!(code == 2 && said.contains("--where "), "{condition}: {code}: {said}");
        }
        let limited = out.path().join("some.sgf");
        succeed(games(&store, &["--matches", "--limit", "1", "--sgf"]).arg(&limited));
        assert_eq!(sgf::collection(&fs::read(&limited).unwrap()).count(), 1);
        assert_eq!(fs::read_dir(out.path()).unwrap().count(), 2, "nothing else stays");
    }
}

#[test]
fn file_of_games_has_the_mode_that_the_umask_permits() {
    let store = TestStore::new();
    store.selfplay("tiny", "random", 1);
    let out = tempfile::tempdir().unwrap();
    for (umask, mode) in [("077", 0o600), ("027", 0o640)] {
        let path = out.path().join(format!("{umask}.sgf"));
        succeed(&mut under(&format!("umask {umask}"), games(&store, &["--sgf"]).arg(&path)));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{umask}");
    }
}

#[test]
fn search_sees_the_same_in_archives() {
    let store = TestStore::new();
    played(&store);
    let search = || succeed(&mut games(&store, &["--where", "n_moves > 12 AND worker = '0'"]));
    let before = search();
    succeed(store.program("shuffler").args(["--run", "tiny", "--compact=1"]));
    assert!(store.run("tiny").archives().loose_files().unwrap().is_empty());
    assert_eq!(search(), before);
}

#[test]
fn damaged_file_leaves_the_games_of_the_others() {
    let store = TestStore::new();
    played(&store);
    let before = rows(&succeed(&mut games(&store, &[]))).len();
    let files = store.run("tiny").games().files_since(0).unwrap();
    let lost = store.run("tiny").games().read(&files[0]).unwrap().len();
    flip_a_byte(&store.path().join("tiny/games").join(format!("{}.parquet", files[0])));
    let out = tempfile::tempdir().unwrap();
    let path = out.path().join("all.zip");
    let output = games(&store, &["--sgf"]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("the file is skipped") && said.contains("games of damaged files are missing, 1 of"),
        "{said}"
    );
    assert!(said.contains("`tengen audit tiny --repair`"), "{said}");
    assert_eq!(zip::ZipArchive::new(fs::File::open(&path).unwrap()).unwrap().len(), before - lost);
    let path = store.path().join("tiny/games").join(format!("{}.parquet", files[1]));
    let bytes = fs::read(&path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    let output = games(&store, &[]).output().unwrap();
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.code() == Some(1) && !rows(&listed).is_empty() && rows(&listed).len() < before, "{listed}");
}

#[test]
fn file_of_another_version_leaves_the_games_of_the_others() {
    let store = TestStore::new();
    played(&store);
    let before = rows(&succeed(&mut games(&store, &[]))).len();
    let run = store.run("tiny");
    let file = run.games().files_since(0).unwrap().remove(0);
    let lost = run.games().read(&file).unwrap();
    let mut table = record::games::to_batch(&lost);
    table.schema_metadata_mut().insert(record::VERSION_KEY, "games/7");
    fs::write(store.path().join(format!("tiny/games/{file}.parquet")), store::encode(&table)).unwrap();
    let output = games(&store, &[]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for words in ["has games/7, and this program reads games/6", "games in 1 files of other versions are missing"] {
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(rows(&String::from_utf8_lossy(&output.stdout)).len(), before - lost.len());
    // The repair of a damaged file leaves this one where it is.
    let other = run.games().files_since(0).unwrap().remove(1);
    let path = store.path().join(format!("tiny/games/{other}.parquet"));
    let bytes = fs::read(&path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    let (code, said) = fail(&mut games(&store, &[]));
    assert_eq!(code, 1, "{said}");
    for words in ["games of damaged files are missing, 1 of", "games in 1 files of other versions are missing"] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn damaged_results_are_moved_by_the_repair_that_the_error_names() {
    let store = TestStore::new();
    played(&store);
    let stem = store.run("tiny").matches().files().unwrap().remove(0);
    let path = store.path().join(format!("tiny/matches/{stem}.parquet"));
    let moved = store.path().join(format!("tiny/quarantine/matches/{stem}.parquet"));
    let mut later = record::games::to_batch(&store.run("tiny").matches().read(&stem).unwrap());
    later.schema_metadata_mut().insert(record::VERSION_KEY, "games/1000");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let (code, said) = fail(&mut games(&store, &["--matches"]));
    assert!(code == 1 && said.contains("`tengen audit tiny --repair` moves them to quarantine"), "{code}: {said}");
    let said = succeed(store.program("tengen").args(["audit", "tiny", "--repair"]));
    assert!(said.contains(&format!("{stem}.parquet to quarantine: ")) && said.contains(" 0 problems"), "{said}");
    assert!(moved.exists() && !path.exists());
    succeed(&mut games(&store, &["--matches"]));

    // A file of another version is whole, and stays.
    fs::remove_file(&moved).unwrap();
    fs::write(&path, store::encode(&later)).unwrap();
    let (code, said) = fail(&mut games(&store, &["--matches"]));
    assert!(code == 2 && said.contains("has games/1000, and this program reads games/"), "{code}: {said}");
    fail(store.program("tengen").args(["audit", "tiny", "--repair"]));
    assert!(path.exists() && !moved.exists());
}

#[test]
fn mistakes_are_named_before_anything_is_read() {
    let store = TestStore::new();
    fs::create_dir(store.path().join("taken.zip")).unwrap();
    let cases: [(&[&str], &str); 9] = [
        (&["--matches", "--where", "model = 1"], "games of matches have no model; use black and white"),
        (&["--where", "outcom = 1"], "no such column: outcom; columns: id, black"),
        (&["--where", "\"outcom\" = -1"], "no such column: "),
        (&["--where", "n_moves > (SELECT avg(n_moves) FROM games)"], "a condition sees one game at a time"),
        (&["--where", "outcome = 'x"], "--where"),
        (&["--where", "TRUE", "--sgf", "games.txt"], "must end in .zip, .sgf or .sgf.gz"),
        (&["--sgf", "no-such-folder/games.zip"], "no-such-folder/games.zip: there is no folder no-such-folder"),
        (&["--sgf", "taken.zip"], "taken.zip: it is a folder; name a file"),
        (&[], "there is no run tiny"),
    ];
    for (args, reason) in cases {
        let (code, said) = fail(games(&store, args).current_dir(store.path()));
        assert!(code == 2 && said.contains(reason), "{args:?}: {code}: {said}");
    }
    assert_eq!(store.files(), [] as [&str; 0]);
}
