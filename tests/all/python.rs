//! What a run writes opens in the tools people have.

use std::path::Path;
use std::process::Command;

use testing::{Tool, require};
use tests::{TestStore, copy, fail, program, repository, succeed};

/// Ratings against `choix` and scipy, on random tables and on those that have no finite solution.
#[test]
fn ratings_agree_with_other_peoples_arithmetic() {
    let Some(site) = require(Tool::Python) else { return };
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_ratings.py"));
    let said = succeed(python.arg(program("evaluator").get_program()));
    assert!(said.contains("10 random tables agree"), "{said}");
}

#[test]
fn python_opens_every_file_of_a_run() {
    let Some(site) = require(Tool::Python) else { return };
    let store = TestStore::new();
    let mut tengen = store.program("tengen");
    tengen.arg("run").arg(repository().join("configs/tiny.toml"));
    // Games of a trained model give a threshold, with this many calibration games.
    let settings = ["loop.models=2", "loop.final_games=2", "resign.calibration_fraction=0.5"];
    succeed(tengen.args(settings.iter().flat_map(|set| ["--set", set])));
    let open_run = |run: &Path| {
        let mut python = Command::new("python3");
        python.env("PYTHONPATH", &site).arg(repository().join("python/open_run.py")).arg(run);
        succeed(&mut python)
    };
    let run = store.path().join("tiny");
    let said = open_run(&run);
    for kind in ["games:", "examples:", "shards:", "matches:", "ratings:", "weights.safetensors:"] {
        assert!(said.contains(kind), "{said}");
    }

    let page = store.path().join("report.html");
    succeed(store.program("evaluator").args(["report", "--run", "tiny"]).arg(&page));
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_report.py"));
    let said = succeed(python.arg(&page).arg(store.path().join("tiny")));
    assert!(said.contains("numbers of the page are those of the store"), "{said}");

    // As after a process that was killed between its weights and the metadata.
    let model = store.path().join("tiny/models/000002");
    let (plain, published) = ("weights.safetensors", "weights-0123456789ab.safetensors");
    std::fs::rename(model.join(plain), model.join(published)).unwrap();
    std::fs::write(model.join(plain), "of the killed process").unwrap();
    let metadata = std::fs::read_to_string(model.join("model.toml")).unwrap();
    std::fs::write(model.join("model.toml"), metadata.replace(plain, published)).unwrap();
    // The name of the folder means something in patterns and in SQL.
    let folder = store.path().join("o'brien [x]");
    std::fs::rename(&run, &folder).unwrap();
    let said = open_run(&folder);
    assert!(said.contains(&format!("{published}: ")) && said.contains("games: "), "{said}");
    // The newest model has a longer name, and then no weights, as after `tengen prune`.
    let [older, newer] = ["999999", "1000000"].map(|number| folder.join("models").join(number));
    std::fs::rename(folder.join("models/000002"), &older).unwrap();
    std::fs::rename(folder.join("models/000001"), &newer).unwrap();
    let said = open_run(&folder);
    assert!(said.contains(&format!("1000000/{plain}: ")), "{said}");
    std::fs::remove_file(newer.join(plain)).unwrap();
    let said = open_run(&folder);
    assert!(said.contains(&format!("999999/{published}: ")), "{said}");
}

/// The package, with a run in a folder and in a bucket, and after a compaction.
#[test]
fn package_opens_runs_of_folders_and_buckets() {
    let Some(site) = require(Tool::Python) else { return };
    let (folder, bucket) = (TestStore::new(), TestStore::on_server());
    let python_path = format!("{}:{}", site.display(), repository().join("python").display());
    let mut tengen = folder.program("tengen");
    tengen.arg("run").arg(repository().join("configs/tiny.toml")).args(["--set", "loop.models=2"]);
    succeed(tengen.args(["--set", "loop.final_games=2"]));
    copy(folder.path(), &bucket.server().expect("a bucket is on a server").objects());
    std::fs::write(folder.path().join("notes.txt"), "no run").unwrap();
    for compact in [false, true] {
        for store in [&folder, &bucket] {
            if compact {
                succeed(store.program("shuffler").args(["--run", "tiny", "--compact=1"]));
            }
            let mut python = Command::new("python3");
            python.env("PYTHONPATH", &python_path).envs(store.server().iter().flat_map(|server| server.env()));
            python.arg(repository().join("tests/python/check_package.py")).arg(format!("{}/tiny", store.place()));
            let objects = store.server().map_or_else(|| store.path().to_owned(), |server| server.objects());
            let said = succeed(python.arg(objects.join("tiny")));
            assert!(said.contains("is what its files are"), "{said}");
        }
    }
    notebook_of_a_young_run(&folder, &python_path);
    notebook_of_an_unrated_run(&folder, &python_path);
    notebook_of_the_tutorial(&folder, &site);
    // A reader's checkout: editors run a notebook in its folder, scripts in that of the store.
    let checkout = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(folder.path(), checkout.path().join("store")).unwrap();
    std::fs::create_dir(checkout.path().join("python")).unwrap();
    for place in ["python", "."] {
        let mut python = Command::new("python3");
        let python = notebook(&mut python, &python_path, &folder).env_remove("TENGEN_NOTEBOOK_RUN");
        let said = succeed(python.current_dir(checkout.path().join(place)));
        assert!(said.contains("3 plots") && said.contains("held-out: 0."), "{place}: {said}");
    }
}

/// The command of the tutorial, with a Jupyter that runs the notebook as Jupyter does: in the folder of the notebook.
fn notebook_of_the_tutorial(store: &TestStore, site: &Path) {
    let checkout = tempfile::tempdir().unwrap();
    std::fs::create_dir(checkout.path().join(".venv")).unwrap();
    std::os::unix::fs::symlink(site, checkout.path().join(".venv/site")).unwrap();
    std::os::unix::fs::symlink(repository().join("python"), checkout.path().join("python")).unwrap();
    let page = std::fs::read_to_string(repository().join("docs/tutorial/notebook.md")).unwrap();
    let command = page.split('`').find(|code| code.contains("jupyter notebook ")).expect("the page has a command");
    let script = repository().join("tests/python/run_notebook.py");
    let jupyter = "jupyter() { cd \"$(dirname \"$2\")\" && python3 \"$SCRIPT\" \"$(basename \"$2\")\"; }";
    let mut shell = Command::new("bash");
    shell.args(["-e", "-c", &format!("{jupyter}\n{command}")]).current_dir(checkout.path()).env("SCRIPT", script);
    shell.env("TENGEN_NOTEBOOK_RUN", store.path().join("tiny")).env("MPLCONFIGDIR", store.path().join("matplotlib"));
    let said = succeed(&mut shell);
    assert!(said.contains("3 plots"), "{said}");
}

/// The notebook of a run that has no games yet says so.
fn notebook_of_a_young_run(store: &TestStore, python_path: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(store.path().join("tiny/run.toml"), folder.path().join("run.toml")).unwrap();
    let mut python = Command::new("python3");
    let (_, said) = fail(notebook(&mut python, python_path, store).env("TENGEN_NOTEBOOK_RUN", folder.path()));
    assert!(said.contains("has no games of its own yet"), "{said}");
}

/// The notebook of a run that has no ratings yet.
fn notebook_of_an_unrated_run(store: &TestStore, python_path: &str) {
    let (ratings, aside) = (store.path().join("tiny/ratings"), store.path().join("ratings"));
    std::fs::rename(&ratings, &aside).unwrap();
    let said = succeed(notebook(&mut Command::new("python3"), python_path, store));
    assert!(said.contains("3 plots"), "{said}");
    std::fs::rename(&aside, &ratings).unwrap();
}

/// The referee, the resuming and the tables of `make peers`.
#[test]
fn peers_pass_their_tests() {
    let Some(site) = require(Tool::Python) else { return };
    let mut python = Command::new("python3");
    succeed(python.env("PYTHONPATH", &site).arg("-B").arg(repository().join("experiments/peers/test_peers.py")));
}

/// The types of the package, for those who use it with a checker.
#[test]
fn package_passes_mypy() {
    let Some(site) = require(Tool::Python) else { return };
    let mut mypy = Command::new("python3");
    mypy.env("PYTHONPATH", &site).current_dir(repository().join("python"));
    let said = succeed(mypy.args(["-B", "-m", "mypy", "--strict", "--cache-dir", "/dev/null", "-p", "tengen"]));
    assert!(said.starts_with("Success: no issues found in 9 source files"), "{said}");
}

/// Models of a run as PyTorch modules, beside ONNX Runtime, and the notebook's head.
#[test]
fn package_opens_models_in_pytorch() {
    let Some(site) = require(Tool::Python) else { return };
    let Some(interpreter) = require(Tool::PyTorch) else { return };
    let store = TestStore::new();
    let python_path = format!("{}:{}", site.display(), repository().join("python").display());
    // The planes of "tactics" have one of bytes, komi, among those of 0 and 1.
    for (run, inputs) in [("tiny", "history"), ("tactics", "tactics")] {
        let mut tengen = store.program("tengen");
        tengen.arg("run").arg(repository().join("configs/tiny.toml")).args(["--run", run, "--set", "loop.models=2"]);
        tengen.args(["--set", "loop.final_games=2", "--set", &format!("network.inputs={inputs}")]);
        succeed(&mut tengen);
        let onnx = store.path().join(format!("{run}-2.onnx"));
        let mut export = store.program("trainer");
        export.args(["export", "--model", &format!("{run}-2"), "--format", "onnx", "--out"]).arg(&onnx);
        succeed(&mut export);
        let mut python = Command::new(&interpreter);
        python.env("PYTHONPATH", &python_path).arg(repository().join("tests/python/check_model.py"));
        let said = succeed(python.arg(store.path().join(run)).arg(&onnx));
        assert!(said.contains("8 positions agree"), "{inputs}: {said}");
    }

    let [script] = &crate::data::blocks("py")[..] else { panic!("one script of docs/DATA.md needs PyTorch") };
    let model = store.path().join("tactics/models/000002").display().to_string();
    let mut python = Command::new(&interpreter);
    python.env("PYTHONPATH", &site).current_dir(repository()).args(["-B", "-c"]);
    let said = succeed(python.arg(script.replace("store/9x9/models/000020", &model)));
    // Five rows of the policy.
    assert!(said.starts_with("tensor([[") && said.lines().count() >= 5 && !said.contains("nan"), "{said}");

    let said = succeed(notebook(&mut Command::new(&interpreter), &python_path, &store));
    assert!(said.contains("with_pytorch") && said.contains("held-out: 0."), "{said}");
}

/// The notebook with the run `tiny` of a folder, in a Python interpreter.
fn notebook<'a>(python: &'a mut Command, python_path: &str, store: &TestStore) -> &'a mut Command {
    python.env("PYTHONPATH", python_path).env("MPLCONFIGDIR", store.path().join("matplotlib"));
    python.env("TENGEN_NOTEBOOK_RUN", store.path().join("tiny"));
    python.arg(repository().join("tests/python/run_notebook.py")).arg(repository().join("python/run.ipynb"))
}
