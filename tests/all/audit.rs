//! `tengen audit` finds what is wrong with a run, and nothing in a run with which nothing is wrong.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::sync::OnceLock;

use record::{EndReason, Example, ExampleRows, GameRecord, Outcome};
use store::{FileRef, Run, Stem};
use tests::{TestStore, copy, flip_a_byte, repository, succeed, whole_games};

/// A store of its own with a finished run of two models.
fn sound() -> TestStore {
    static MADE: OnceLock<TestStore> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let store = TestStore::shared();
        let config = repository().join("configs/tiny.toml");
        let larger = ["loop.models=2", "selfplay.holdout_fraction=0.3", "loop.final_games=2"];
        let mut tengen = store.program("tengen");
        succeed(tengen.arg("run").arg(config).args(larger.iter().flat_map(|set| ["--set", set])));
        store
    });
    let store = TestStore::new();
    copy(made.path(), store.path());
    store
}

/// A copy of a run, to be damaged.
struct Victim {
    store: TestStore,
    run: Run,
    /// A file of games of model 1.
    file: FileRef,
}

impl Victim {
    fn of(sound: &TestStore) -> Victim {
        let store = TestStore::new();
        copy(&sound.path().join("tiny"), &store.path().join("tiny"));
        let run = store.run("tiny");
        let file = run.games().files(1).unwrap().remove(0);
        Victim { store, run, file }
    }

    /// The first file in a folder of the run, in order of name.
    fn first(&self, folder: &str) -> PathBuf {
        let folder = self.store.path().join("tiny").join(folder);
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).min().unwrap()
    }

    /// The file of this folder that goes with the file of games.
    fn path(&self, folder: &str) -> PathBuf {
        let extension = if folder == "sgf" { "sgf" } else { "parquet" };
        self.store.path().join("tiny").join(folder).join(format!("{}.{extension}", self.file))
    }

    /// What problems of the other files of games, of their examples and of results begin with.
    fn others(&self) -> Vec<String> {
        let name = |path: String| self.store.path().join("tiny").join(path).display().to_string();
        let files = self.run.games().files_since(0).unwrap().into_iter().filter(|file| *file != self.file);
        let names = files.flat_map(|file| ["games", "examples", "holdout"].map(|of| format!("{of}/{file}.parquet")));
        names.chain(["matches/".to_owned()]).map(name).collect()
    }

    /// Publishes the file of games anew, with something about them changed.
    fn change(&self, change: impl Fn(&mut Vec<GameRecord>)) {
        let mut games = whole_games(&self.run, &self.file);
        change(&mut games);
        for folder in ["games", "examples", "holdout", "sgf"] {
            drop(fs::remove_file(self.path(folder)));
        }
        self.run.games().publish_as(&self.file, &games).unwrap();
    }

    /// As [`Victim::change`], without the checks that publication makes.
    fn force(&self, change: impl Fn(&mut Vec<GameRecord>)) {
        let mut games = whole_games(&self.run, &self.file);
        change(&mut games);
        let stem = self.run.matches().publish("forged", &games).unwrap();
        fs::rename(self.store.path().join(format!("tiny/matches/{stem}.parquet")), self.path("games")).unwrap();
    }

    /// Makes the shards of model 2 anew, with other rows in the first part.
    fn reshuffle(&self, change: impl Fn(&mut Vec<Example>)) {
        let mut manifest = self.run.shards().manifest(2).unwrap().unwrap();
        let read = |part| self.run.shards().read(2, part).unwrap().to_examples();
        let mut parts: Vec<Vec<Example>> = manifest.parts.iter().map(read).collect();
        change(&mut parts[0]);
        fs::remove_dir_all(self.store.path().join("tiny/shards/000002")).unwrap();
        manifest.sampled.examples = parts.iter().map(Vec::len).sum();
        manifest.ages.iter_mut().for_each(|age| age.examples = 0);
        manifest.ages[0].examples = manifest.sampled.examples;
        self.run.shards().publish(parts.iter().map(|part| ExampleRows::from_examples(part)), manifest).unwrap();
    }

    fn archive(&self, path: &str) -> PathBuf {
        self.store.path().join("tiny").join(path)
    }

    fn audit(&self) -> Output {
        self.store.program("tengen").args(["audit", "tiny"]).output().unwrap()
    }
}

fn counted(games: &mut [GameRecord]) -> &mut GameRecord {
    games.iter_mut().find(|game| game.end != EndReason::Resignation).unwrap()
}

/// A way to spoil a run, and what must be said about it.
type Damage = (&'static str, fn(&Victim), &'static str);

const DAMAGES: [Damage; 18] = [
    (
        "a file of games is cut off",
        |v| fs::write(v.path("games"), "PAR1").unwrap(),
        "parquet is damaged: it is cut off",
    ),
    ("a byte of the examples", |v| flip_a_byte(&v.path("examples")), "is damaged: its contents are not the ones"),
    ("the examples are gone", |v| fs::remove_file(v.path("examples")).unwrap(), "parquet does not exist"),
    (
        "the examples of other games",
        |v| {
            // Which games share a file depends on timing, so some file has as many examples by chance.
            let rows = |file: &FileRef| v.run.examples().read(file).unwrap().len();
            let own = rows(&v.file);
            let other = v.run.games().files(0).unwrap().into_iter().find(|file| rows(file) != own).unwrap();
            let from = v.store.path().join(format!("tiny/examples/{other}.parquet"));
            fs::copy(from, v.path("examples")).map(drop).unwrap();
        },
        "its games have",
    ),
    (
        "games are published twice",
        |v| {
            let again = FileRef { model: 1, stem: Stem::new("again", 5).unwrap() };
            v.run.games().publish_as(&again, &whole_games(&v.run, &v.file)).unwrap();
        },
        "it is published twice",
    ),
    (
        "a value out of range",
        |v| v.force(|games| games[0].turns[0].root_value = 2.0),
        "value 2 is not between -1 and 1",
    ),
    ("an illegal move", |v| v.force(|games| games[0].turns[2].mv = games[0].turns[0].mv), "turn 2: "),
    (
        "a policy for an occupied point",
        |v| {
            v.change(|games| {
                let size = games[0].size;
                let taken = games[0].turns[0].mv.index(size) as u16;
                let visits: BTreeMap<u16, u32> = games[0].turns[1].visits.iter().copied().chain([(taken, 3)]).collect();
                games[0].turns[1].visits = visits.into_iter().collect();
            });
        },
        "which is illegal",
    ),
    (
        "a policy of too many visits",
        |v| v.change(|games| games[0].turns[1].visits[0].1 = 1_000_000),
        "visits, and a search has no more than",
    ),
    (
        "a flipped result",
        |v| {
            v.change(|games| {
                let game = counted(games);
                game.score = game.score.map(|score| -score);
                game.outcome = Outcome::from_score(game.score.unwrap());
            });
        },
        "the board shows",
    ),
    (
        "a winner's minimum root value",
        |v| v.change(|games| counted(games).winner_min_value = Some(0.123)),
        "winner's minimum root value Some(0.123)",
    ),
    (
        "another configuration",
        |v| v.change(|games| games[0].config_digest = "0123456789abcdef".to_owned()),
        "played with configuration 0123456789abcdef",
    ),
    ("a seed", |v| v.change(|games| games[0].seed += 1), "its id is not that of its players, configuration and seed"),
    ("a game on the wrong side", |v| v.change(|games| games[0].holdout ^= true), "set; the record differs"),
    (
        "games in the folder of another model",
        |v| {
            let moved = FileRef { model: 2, ..v.file.clone() };
            for folder in ["games", "examples", "holdout"] {
                let to = v.store.path().join("tiny").join(folder).join(format!("{moved}.parquet"));
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                drop(fs::rename(v.path(folder), to));
            }
        },
        "played by tiny-1, in the folder of tiny-2",
    ),
    (
        "training on a game of the validation set",
        |v| v.reshuffle(|rows| rows.extend(holdout(&v.run))),
        "trained on, and the game is in the validation set",
    ),
    ("a byte of the weights", |v| flip_a_byte(&weights(v)), "weights.safetensors is damaged: its SHA-256"),
    (
        "a parent that is gone",
        |v| fs::remove_dir_all(v.store.path().join("tiny/models/000001")).unwrap(),
        "its parent 1 is not there",
    ),
];

fn weights(victim: &Victim) -> PathBuf {
    victim.store.path().join("tiny/models/000001/weights.safetensors")
}

fn holdout(run: &Run) -> Vec<Example> {
    let file = run.games().holdout_files(1).unwrap().remove(0);
    run.holdout().read(&file).unwrap().to_examples()
}

/// More of the same in the folders beside the games.
const MORE: [Damage; 4] = [
    (
        "a sampled example that is another",
        |v| v.reshuffle(|rows| rows.iter_mut().for_each(|row| row.root_value = 0.125)),
        "not the same as in",
    ),
    (
        "a byte of a shard",
        |v| flip_a_byte(&v.store.path().join("tiny/shards/000002/part-0000.parquet")),
        "part-0000.parquet",
    ),
    ("a byte of a checkpoint", |v| flip_a_byte(&checkpoint(v)), "checkpoints/"),
    (
        "metadata of a later version",
        |v| {
            let path = v.store.path().join("tiny/models/000002/model.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replacen("format = 1", "format = 2", 1)).unwrap();
        },
        "model.toml has format 2, and this program reads format 1",
    ),
];

/// A file of the oldest checkpoint, not its manifest.
fn checkpoint(victim: &Victim) -> PathBuf {
    let folder = victim.first("checkpoints");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|e| e != "toml")).min().unwrap()
}

#[test]
fn audit_finds_planted_damage_alone() {
    let sound = sound();
    let said = succeed(sound.program("tengen").args(["audit", "tiny"]));
    assert!(said.contains("read 80 games") && said.ends_with(": 0 problems\n"), "{said}");

    for (what, plant, expected) in DAMAGES.into_iter().chain(MORE) {
        let victim = Victim::of(&sound);
        let others = victim.others();
        plant(&victim);
        let output = victim.audit();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{what}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        let line = said.lines().find(|line| line.contains(expected));
        let line = line.unwrap_or_else(|| panic!("{what}: nothing says \"{expected}\":\n{said}"));
        assert!(line.starts_with(&*victim.store.path().to_string_lossy()), "it says where: {line}");
        let of_others = said.lines().find(|line| others.iter().any(|other| line.starts_with(other)));
        assert_eq!(of_others, None, "{what}: it names a sound file");
    }
}

/// Ways to spoil archives.
const ARCHIVED: [Damage; 4] = [
    (
        "the examples of an archive are gone",
        |v| fs::remove_file(v.archive("examples/archive/000001.parquet")).unwrap(),
        "examples/archive/000001.parquet does not exist",
    ),
    (
        "a byte of the games of an archive",
        |v| flip_a_byte(&v.archive("games/archive/000001.parquet")),
        "games/archive/000001.parquet is damaged: its contents are not the ones",
    ),
    (
        "a byte of the readable games of an archive",
        |v| flip_a_byte(&v.archive("sgf/archive/000001.sgf.gz")),
        "sgf/archive/000001.sgf.gz is damaged: its SHA-256",
    ),
    (
        "an archived game is published again",
        |v| {
            let again = FileRef { model: 1, stem: Stem::new("again", 5).unwrap() };
            v.run.games().publish_as(&again, &whole_games(&v.run, &v.file)).unwrap();
        },
        "it is published twice",
    ),
];

#[test]
fn audit_reads_archives() {
    let sound = sound();
    succeed(sound.program("shuffler").args(["--run", "tiny", "--compact=1"]));
    let said = succeed(sound.program("tengen").args(["audit", "tiny"]));
    assert!(
        said.contains("read 80 games in") && said.contains(" 1 archives,") && said.ends_with(": 0 problems\n"),
        "{said}"
    );
    for (what, plant, expected) in ARCHIVED {
        let victim = Victim::of(&sound);
        plant(&victim);
        let output = victim.audit();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(1), "{what}: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.lines().any(|line| line.contains(expected)), "{what}: nothing says \"{expected}\":\n{said}");
    }
}

#[test]
fn run_that_is_not_there_is_a_mistake() {
    let store = TestStore::new();
    let (code, error) = tests::fail(store.program("tengen").args(["audit", "tiny"]));
    assert_eq!(code, 2, "{error}");
    assert!(error.contains("there is no run tiny in"), "{error}");
}
