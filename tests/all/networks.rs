//! Networks exported, imported and bootstrapped, by the program.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::path::Path;
use std::process::Command;

use net::{FileKind, Inputs, Shape, Weights};
use store::SourceKind;
use tests::{TestStore, fail, repository, succeed};

/// Weights of the shape of `configs/tiny.toml`.
fn weights(inputs: Inputs) -> Weights {
    let size = go::Size::new(5).unwrap();
    Weights::synthetic(Shape { inputs, blocks: 1, filters: 8, value_hidden: 16, ..Shape::plain(size) }, 4)
}

fn config() -> String {
    repository().join("configs/tiny.toml").to_string_lossy().into_owned()
}

fn trainer(store: &TestStore, words: &[&str]) -> Command {
    let mut command = store.program("trainer");
    command.args(words);
    command
}

fn study(store: &TestStore, words: &[&str]) -> Command {
    let mut command = store.program("tengen");
    command.arg("study").args(words);
    command
}

/// A place for a file beside the store.
fn beside(store: &TestStore, name: &str) -> String {
    store.path().join(name).to_string_lossy().into_owned()
}

/// A store with a run `old` whose model 1 is a network of Leela Zero's format, and games of it.
fn with_model() -> TestStore {
    with_model_in(TestStore::new())
}

fn with_model_in(store: TestStore) -> TestStore {
    let file = beside(&store, "net.txt");
    fs::write(&file, FileKind::LeelaZero.write(&weights(Inputs::LeelaZero), &[]).unwrap().0).unwrap();
    let said = succeed(&mut trainer(&store, &["import", &file, "--run", "old", "--config", &config()]));
    assert!(said.contains("net.txt is now old-1: 1 block of 8 filters on 5x5"), "{said}");
    store
}

fn first_model(store: &TestStore, run: &str) -> Weights {
    Weights::from_bytes(&store.run(run).models().get(1).unwrap().1).unwrap()
}

#[test]
fn model_is_imported_into_other_runs_from_every_kind_of_file() {
    let store = with_model();
    succeed(store.program("selfplay").args(["--model", "old-1", "--games", "4", "--threads", "1"]));
    for (kind, name) in [("weights", "a.safetensors.gz"), ("folded", "b.safetensors"), ("leela-zero", "c.txt.gz")] {
        let file = beside(&store, name);
        let said = succeed(&mut trainer(&store, &["export", "--model", "old", "--format", kind, "--out", &file]));
        assert!(said.contains(&format!("old-1 is now {file}, {kind}; largest differences of its output: ")), "{said}");
        // Made-up positions and those of the games.
        let positions: usize = said.trim().rsplit(' ').nth(1).unwrap().parse().unwrap();
        assert!(positions > 30, "{said}");
        let bytes = fs::read(&file).unwrap();
        assert_eq!(bytes.starts_with(&[0x1f, 0x8b]), name.ends_with(".gz"));
        assert_eq!(FileKind::read(&bytes).unwrap().0.to_string(), kind);

        let back = beside(&store, "back.safetensors");
        succeed(&mut trainer(&store, &["import", &file, "--out", &back]));
        let imported = Weights::from_bytes(&fs::read(&back).unwrap()).unwrap();
        assert!(imported.shape() == weights(Inputs::LeelaZero).shape() && imported.has_scales());

        succeed(&mut trainer(&store, &["bootstrap", "--from", &file, "--run", kind, "--config", &config()]));
        let metadata = store.run(kind).models().metadata(1).unwrap();
        assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Weights, name));
        assert!(first_model(&store, kind).has_scales(), "{kind}");
        let said = succeed(store.program("tengen").args(["audit", kind]));
        assert!(said.contains(": 0 problems"), "{said}");
    }
    assert!(!Path::new(&beside(&store, "b.safetensors.partial")).exists());
}

#[test]
fn run_with_the_model_of_another_run_continues_alone() {
    let store = with_model();
    succeed(&mut trainer(&store, &["bootstrap", "--from", "old-1", "--run", "new", "--config", &config()]));
    let metadata = store.run("new").models().metadata(1).unwrap();
    assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Model, "old-1"));
    succeed(store.program("selfplay").args(["--model", "new-1", "--games", "40", "--threads", "2"]));
    succeed(store.program("shuffler").args(["--run", "new", "--once"]));
    succeed(&mut trainer(&store, &["--run", "new", "--once"]));
    assert_eq!(store.run("new").models().metadata(2).unwrap().parent, Some(1));
    let said = succeed(store.program("tengen").args(["audit", "new"]));
    assert!(said.contains(": 0 problems"), "{said}");
    // A Job that is run again is complete, although a trainer has gone on; other weights are refused.
    succeed(&mut trainer(&store, &["--run", "new", "bootstrap", "--from", "old-1"]));
    assert_eq!(store.run("new").models().list().unwrap(), [1, 2]);
    let file = beside(&store, "net.txt");
    let (code, said) = fail(&mut trainer(&store, &["--run", "new", "bootstrap", "--from", &file]));
    assert!(code == 2 && said.contains("new-2 exists; only a run without models can start"), "{said}");
}

#[test]
fn run_begins_with_the_model_that_comes_with_the_program_or_with_the_newest_of_a_run() {
    let store = with_model();
    let further = repository().join("configs/9x9-further.toml").to_string_lossy().into_owned();
    let on =
        trainer(&store, &["bootstrap", "--from", "9x9-demo", "--run", "on", "--config", &further]).output().unwrap();
    let said = String::from_utf8_lossy(&on.stderr);
    assert!(on.status.success() && said.contains("the learning rate rises from 0.002 to 0.02 in one step"), "{said}");
    let words = ["bootstrap", "--from", "old", "--run", "new", "--config", &config()];
    succeed(&mut trainer(&store, &words));
    let again = trainer(&store, &words).output().unwrap();
    assert!(again.status.success(), "a Job may be run again: {}", String::from_utf8_lossy(&again.stderr));
    for (run, beginning) in [("on", "9x9-demo-1"), ("new", "old-1")] {
        let metadata = store.run(run).models().metadata(1).unwrap();
        assert_eq!((metadata.origin[0].kind, metadata.origin[0].name.as_str()), (SourceKind::Model, beginning));
    }
}

#[test]
fn model_grows_on_request() {
    let store = with_model();
    let words =
        ["bootstrap", "--from", "old-1", "--run", "large", "--config", &config(), "--set", "network.filters=12"];
    let (_, said) = fail(&mut trainer(&store, &words));
    assert!(said.contains("the network is 1 block of 8 filters"), "{said}");
    assert!(!store.run("large").exists().unwrap(), "it would keep its configuration");
    succeed(&mut trainer(&store, &[&words[..], &["--grow"]].concat()));
    assert_eq!(store.run("large").models().metadata(1).unwrap().network.filters, 12);
    assert!(first_model(&store, "large").has_scales());
    succeed(store.program("selfplay").args(["--model", "large-1", "--games", "2", "--threads", "1"]));
}

#[test]
fn human_games_make_a_first_model() {
    let store = TestStore::new();
    let file = beside(&store, "config.toml");
    fs::write(&file, format!("extends = {:?}\n[game]\nsize = 19\n[selfplay]\nholdout_fraction = 0.5\n", config()))
        .unwrap();
    let sample = repository().join("crates/go/tests/data/human-9d-sample.sgf");
    let mut bootstrap = trainer(&store, &["bootstrap", "--run", "people", "--config", &file, "--eval-interval", "2"]);
    let output = bootstrap.args(["--steps", "4", "--sgf"]).arg(&sample).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    for words in
        ["human games step=0 ", "human games step=2 ", "human games step=4 ", "losses=\"top move ", "(a constant has "]
    {
        assert!(said.contains(words), "{words}: {said}");
    }
    let metadata = store.run("people").models().metadata(1).unwrap();
    assert_eq!((metadata.step, metadata.origin[0].name.as_str()), (4, "human-9d-sample.sgf"));
    // The same command is complete, and another one is refused.
    succeed(&mut bootstrap);
    assert_eq!(store.run("people").models().list().unwrap(), [1]);
    let mut longer = trainer(&store, &["bootstrap", "--run", "people", "--steps", "5", "--sgf"]);
    let (code, said) = fail(longer.arg(&sample));
    assert!(code == 2 && said.contains("people-1 exists; only a run without models can start"), "{code}: {said}");
    let said = succeed(store.program("tengen").args(["audit", "people"]));
    assert!(said.contains(": 0 problems"), "{said}");
}

#[test]
fn run_is_validated_on_human_games() {
    let store = TestStore::new();
    let games: String = (0..9).map(|n| format!("(;SZ[5]KM[{n}.5]RE[W+R];B[cc];W[bb];B[dd];W[bd])\n")).collect();
    let file = beside(&store, "people.sgf");
    fs::write(&file, games + "(;SZ[5];B[cc])").unwrap();
    let mut tengen = store.program("tengen");
    tengen.args(["run", &config(), "--eval-sgf", &file, "--set", "loop.models=1", "--set", "loop.final_games=0"]);
    let output = tengen.args(["--set", "evaluate.pairs_per_model=0"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    for words in ["human games for evaluation", "positions=36", "left_out=1", "losses=\"top move "] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let logs = store.run("tiny").logs().list().unwrap();
    let read = |name: &String| String::from_utf8_lossy(&store.run("tiny").logs().read(name).unwrap()).into_owned();
    let lines: String = logs.iter().filter(|name| name.ends_with(".jsonl")).map(read).collect();
    assert_eq!(lines.matches("\"set\":\"human\"").count(), 1, "{lines}");
}

#[test]
fn page_shows_what_is_in_a_network() {
    let store = with_model();
    succeed(&mut trainer(&store, &["bootstrap", "--from", "old-1", "--run", "new", "--config", &config()]));
    let (file, page) = (beside(&store, "net.txt"), beside(&store, "page.html"));
    let said = succeed(&mut study(&store, &["inspect", "new", "--against", &file, "--out", &page]));
    assert!(said.starts_with(&format!("{page}: 27 tensors of ")) && said.contains("27 tensors compared"), "{said}");
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("\"origin\":[{\"kind\":\"model\",\"name\":\"old-1\""));
    let mut in_place = study(&store, &["inspect", "9x9-demo", "--against", "new-1"]);
    let said = succeed(in_place.current_dir(store.path()));
    assert!(said.contains("not compared: stem.conv.weight is [64, 31, 3, 3] here and [8, 18, 3, 3] there"), "{said}");
    assert!(store.path().join("9x9-demo-1.html").exists());
    // Several side by side: by name, and the models of a run.
    let mut in_place = study(&store, &["inspect", "9x9-demo", "new-1", "old-1"]);
    let said = succeed(in_place.current_dir(store.path()));
    assert!(said.starts_with("9x9-demo-1-to-old-1.html: 3 networks, "), "{said}");
    assert!(fs::read_to_string(store.path().join("9x9-demo-1-to-old-1.html")).unwrap().starts_with("<!DOCTYPE html>"));
    let mut in_place = study(&store, &["inspect", "new", "old", "--every", "10"]);
    let said = succeed(in_place.current_dir(store.path()));
    assert!(said.starts_with("new-1-to-old-1.html: 2 networks, "), "{said}");
}

/// Runs `trainer` with arguments that it must refuse as a mistake of the user's, for these reasons.
fn assert_refused(store: &TestStore, cases: &[(&[&str], &str)]) {
    assert_refused_by(&|words| trainer(store, words), cases);
}

fn assert_refused_by(program: &dyn Fn(&[&str]) -> Command, cases: &[(&[&str], &str)]) {
    for (words, problem) in cases {
        let (code, said) = fail(&mut program(words));
        assert!(code == 2 && said.contains(problem), "{words:?}: {code} {said}");
    }
    assert!(!Path::new("never").exists());
}

/// A file in the text format of Leela Zero whose second line is broken.
fn broken(store: &TestStore) -> String {
    let path = beside(store, "broken.txt");
    fs::write(&path, "1\n0.5 0.25 x\n").unwrap();
    path
}

#[test]
fn import_of_an_unusable_file_is_refused() {
    let store = TestStore::new();
    let (broken, other, config) = (broken(&store), beside(&store, "other.txt"), config());
    let wide = Weights::synthetic(Shape { filters: 9, ..weights(Inputs::History).shape() }, 4);
    fs::write(&other, FileKind::LeelaZero.write(&wide, &[]).unwrap().0).unwrap();
    assert_refused(
        &store,
        &[
            (&["import", &broken, "--out", "never"], "broken.txt cannot be used: line 2: number 3 is \"x\""),
            (&["import", "absent.txt", "--out", "never"], "cannot read absent.txt"),
            (
                &["import", &other, "--run", "b", "--config", &config],
                "other.txt cannot be used: the network is 1 block of 9 filters",
            ),
            (&["import", &other, "--run", "c"], "there is no run c in "),
        ],
    );
    assert!(!store.run("b").exists().unwrap(), "it would keep its configuration");
}

/// The outputs of onnxruntime are checked in crate `onnx`.
#[test]
fn model_becomes_an_onnx_file() {
    let store = with_model_in(TestStore::on_server());
    let file = beside(&store, "a.onnx");
    let said = succeed(&mut trainer(&store, &["export", "--model", "old", "--format", "onnx", "--out", &file]));
    assert_eq!(said.trim(), format!("old-1 is now {file}, onnx with opset 17: policy and value"));
    let bytes = store.run("old").models().get(1).unwrap().1;
    let network = cpu::Description::from_safetensors(&bytes).unwrap();
    assert_eq!(fs::read(&file).unwrap(), onnx::write(&network));

    // And comes back, as a file and as a run.
    let back = beside(&store, "back.safetensors");
    let said = succeed(&mut trainer(&store, &["import", &file, "--out", &back]));
    assert!(said.contains("a.onnx is now ") && said.contains("1 block of 8 filters on 5x5"), "{said}");
    let found = cpu::Description::from_safetensors(&fs::read(&back).unwrap()).unwrap();
    let near = |one: &[f32], other: &[f32]| {
        one.len() == other.len() && one.iter().zip(other).all(|(a, b)| (a - b).abs() <= 2e-7 * a.abs())
    };
    assert!(
        near(&network.stem.weight, &found.stem.weight) && near(&network.policy.planes.bias, &found.policy.planes.bias)
    );
    assert_eq!((network.value.out, network.inputs), (found.value.out, found.inputs));
    let said = succeed(&mut trainer(&store, &["import", &file, "--run", "again", "--config", &config()]));
    assert!(said.contains("a.onnx is now again-1: "), "{said}");

    // A run that trains auxiliary heads begins with new ones, and one without drops them; the network plays the same.
    let heads = ["--set", "network.ownership=true", "--set", "network.opponent_policy=true"];
    let words = ["import", &file, "--run", "heads", "--config", &config()];
    let said = succeed(&mut trainer(&store, &[&words[..], &heads].concat()));
    assert!(said.contains("is now heads-1: ") && said.contains(", ownership, the opponent's next move"), "{said}");
    assert_eq!(first_model(&store, "heads").in_play(), first_model(&store, "again"));
    succeed(&mut trainer(&store, &["bootstrap", "--from", "heads", "--run", "bare", "--config", &config()]));
    assert_eq!(first_model(&store, "bare"), first_model(&store, "again"));
    let words = ["bootstrap", "--from", &file, "--run", "both", "--config", &config()];
    succeed(&mut trainer(&store, &[&words[..], &heads].concat()));
    assert_eq!(first_model(&store, "both"), first_model(&store, "heads"));
    let problem = "an ONNX file cannot be used here; make weights of it with `trainer import FILE --out ";
    assert_refused(&store, &[(&["export", "--model", &file, "--out", "never"], problem)]);
    let of_others = beside(&store, "other.onnx");
    let bytes = fs::read(&file).unwrap();
    fs::write(&of_others, bytes.iter().map(|&byte| if byte == b't' { b'x' } else { byte }).collect::<Vec<u8>>())
        .unwrap();
    let empty = beside(&store, "empty.onnx");
    fs::write(&empty, "").unwrap();
    assert_refused(&store, &[(&["import", &empty, "--out", "never"], "neither safetensors nor ONNX nor text")]);
    let problem = "other.onnx cannot be used: found producer \"xengen\"";
    assert_refused(&store, &[(&["import", &of_others, "--out", "never"], problem)]);
}

#[test]
fn export_without_a_model_with_weights_is_refused() {
    assert_refused(
        &with_model(),
        &[
            (&["export", "--model", "old-7", "--out", "never"], "; the newest of run old is old-1"),
            (&["export", "--model", "random", "--out", "never"], "random has no weights"),
            (
                &["export", "--model", "old", "--format", "tflite", "--out", "never"],
                "weights, folded, leela-zero, onnx",
            ),
            (&["--once", "export", "--model", "old", "--out", "never"], "--once is for training shards"),
        ],
    );
}

#[test]
fn options_without_effect_are_named_where_a_file_is_written() {
    let store = with_model();
    let (file, config) = (beside(&store, "net.txt"), config());
    let problem = "leave out --config and --set";
    assert_refused(
        &store,
        &[
            (&["export", "--model", "old", "--out", "never", "--config", &config], problem),
            (&["import", &file, "--out", "never", "--set", "seed=2"], problem),
        ],
    );
    let out = beside(&store, "out.onnx");
    let words = ["--eval-sgf", "absent.sgf", "export", "--model", "old", "--out", &out];
    let output = trainer(&store, &words).output().unwrap();
    let (said, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && log.contains("--eval-sgf and --eval-positions have no effect"), "{log}");
    assert!(said.contains("out.onnx, onnx with opset"), "the format is that of the name: {said}");
}

#[test]
fn export_of_a_network_that_leela_zero_cannot_have_is_refused() {
    let store = TestStore::new();
    let file = beside(&store, "features.safetensors");
    fs::write(&file, weights(Inputs::Features).to_bytes()).unwrap();
    let words = ["export", "--model", &file, "--format", "leela-zero", "--out", "never"];
    assert_refused(&store, &[(&words, "as leela-zero: Leela Zero's format has no place for network.inputs; ")]);
}

#[test]
fn file_becomes_a_file_without_a_store() {
    let store = with_model();
    let (file, out, absent) = (beside(&store, "net.txt"), beside(&store, "out.safetensors"), beside(&store, "absent"));
    succeed(store.program_at("trainer", &absent).args(["import", &file, "--out", &out]));
    assert!(Path::new(&out).exists() && !Path::new(&absent).exists());
}

#[test]
fn file_that_cannot_be_written_leaves_nothing_behind() {
    let store = with_model();
    let taken = beside(&store, "taken");
    fs::create_dir(&taken).unwrap();
    let (code, said) = fail(&mut trainer(&store, &["export", "--model", "old", "--out", &taken]));
    assert!(code == 2 && said.contains("cannot write ") && said.contains("taken"), "{code}: {said}");
    assert!(!Path::new(&beside(&store, "taken.partial")).exists());
}

#[test]
fn export_writes_to_a_pipe_and_keeps_it() {
    let store = with_model();
    let (file, pipe) = (beside(&store, "plain"), beside(&store, "pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    succeed(&mut trainer(&store, &["export", "--model", "old", "--out", &file]));
    let expected = fs::read(file).unwrap();
    // The capacity of a pipe: nothing reads before the program has exited.
    assert!(expected.len() < 1 << 16, "{} bytes", expected.len());
    // Open for both, so that neither this nor the program waits for the other end.
    let both = OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
    let mut reader = File::open(&pipe).unwrap();
    succeed(&mut trainer(&store, &["export", "--model", "old", "--out", &pipe]));
    drop(both);
    let mut sent = Vec::new();
    reader.read_to_end(&mut sent).unwrap();
    assert!(sent == expected, "{} bytes instead of {}", sent.len(), expected.len());
}

#[test]
fn training_without_games_or_shards_is_refused() {
    let sample = repository().join("crates/go/tests/data/human-9d-sample.sgf").to_string_lossy().into_owned();
    let (store, config) = (with_model(), config());
    assert_refused(
        &store,
        &[
            (&[], "no run is named; name one with --run NAME"),
            (&["bootstrap", "--run", "d", "--config", &config, "--sgf", &sample], "for how long?"),
            (&["bootstrap", "--run", "d", "--config", &config, "--from", "absent"], "there is no run absent"),
            (
                &["bootstrap", "--run", "d", "--config", &config, "--sgf", "absent.sgf", "--steps", "1"],
                "cannot read absent.sgf",
            ),
            (
                &["bootstrap", "--run", "d", "--config", &config, "--sgf", &sample, "--steps", "1"],
                "no game to train on: 20 unusable",
            ),
            (&["--run", "d", "--config", &config, "--eval-sgf", "absent.sgf"], "cannot read absent.sgf"),
            (&["--run", "old", "--eval-sgf", "absent.sgf"], "cannot read absent.sgf"),
            (
                &["--run", "old", "--eval-sgf", &sample],
                "human-9d-sample.sgf: no game to measure models on; unusable records: 20, the first because it is on 19x19",
            ),
        ],
    );
    let mut tengen = store.program("tengen");
    let (code, said) = fail(tengen.args(["run", &config, "--run", "d", "--eval-sgf", "absent.sgf"]));
    assert!(code == 2 && said.contains("cannot read absent.sgf"), "{code}: {said}");
    assert!(!store.run("d").exists().unwrap(), "it would keep its configuration");
}

#[test]
fn inspect_of_an_unreadable_network_or_an_unwritable_page_is_refused() {
    let store = with_model();
    let broken = broken(&store);
    assert_refused_by(
        &|words| study(&store, words),
        &[
            (&["inspect", "none"], "there is no run none in "),
            (&["inspect", "old", "old", "--against", "old"], "--against compares a single network; 2 are named"),
            (&["inspect", "none", "--every", "2"], "there is no run none in "),
            (&["inspect", "none.safetensors"], "cannot read none.safetensors"),
            (&["inspect", "old", "--against", &broken], "broken.txt cannot be used: line 2: number 3 is \"x\""),
            (&["inspect", "old", "--out", "absent/page.html"], "cannot write absent/page.html"),
        ],
    );
}
