//! ARCHITECTURE.md says which crate may use which; cargo knows which does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::repository;

type Uses = BTreeMap<String, BTreeSet<String>>;

/// The list of crates in ARCHITECTURE.md: "- `name` (uses): contents".
fn documented() -> Uses {
    let text = std::fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let list = text.split("\n## Crates\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let items = list.split("\n- `").skip(1).map(|item| item.split_once("` (").unwrap());
    let names = |uses: &str| uses.split(',').map(|name| name.trim().to_owned()).filter(|name| name != "none").collect();
    items.map(|(name, rest)| (name.to_owned(), names(rest.split_once(')').unwrap().0))).collect()
}

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output =
        Command::new(cargo).args(arguments).args(["--offline", "--locked"]).current_dir(repository()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Direct dependencies of every package, of every kind, by name.
fn dependencies() -> Uses {
    let metadata: serde_json::Value =
        serde_json::from_slice(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap().to_owned();
    packages.iter().map(|p| (name(p), p["dependencies"].as_array().unwrap().iter().map(name).collect())).collect()
}

#[test]
fn crates_use_what_the_architecture_says() {
    let documented = documented();
    let actual = dependencies();
    let crates: BTreeSet<String> = actual.keys().cloned().collect();
    assert_eq!(crates, documented.keys().cloned().collect(), "the crates of the list");
    for (name, uses) in &actual {
        let uses: BTreeSet<String> = uses.intersection(&crates).cloned().collect();
        match documented[name].first().map(String::as_str) {
            Some("every crate") => {}
            _ => assert_eq!(uses, documented[name], "what {name} uses"),
        }
    }
}

#[test]
fn test_support_is_no_part_of_a_program() {
    let metadata: serde_json::Value =
        serde_json::from_slice(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let support = ["testing", "tests", "proptest", "expect-test"];
    let mut found = 0;
    for package in metadata["packages"].as_array().unwrap() {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            if support.contains(&name) && package["name"] != "tests" && package["name"] != "testing" {
                assert_eq!(dependency["kind"], "dev", "{name} is a dependency of {}", package["name"]);
                found += 1;
            }
        }
    }
    assert!(found > 10, "{found}");
}

#[test]
fn few_crates_name_each_heavy_library() {
    for (library, names) in [
        ("metrics-exporter-prometheus", &["runtime"][..]),
        ("axum", &["web"]),
        ("tch", &["net"]),
        ("torch-sys", &["net"]),
        ("libm", &["mcts"]),
        ("object_store", &["store", "testing"]),
        ("parquet", &["store"]),
        ("prost", &["onnx", "remote"]),
        ("s3s", &["testing"]),
        ("tonic", &["inference", "remote"]),
    ] {
        let users = dependencies().into_iter().filter(|(_, uses)| uses.contains(library)).map(|(user, _)| user);
        assert_eq!(users.collect::<Vec<_>>(), names, "who names {library}");
    }
}

/// As `make deny` does, which needs a network for its other checks.
#[test]
fn duplicate_versions_are_those_of_deny_toml() {
    let tree = ["tree", "--workspace", "--duplicates", "--target", "x86_64-unknown-linux-gnu", "--depth", "0"];
    let tree = String::from_utf8(cargo(&[&tree[..], &["--prefix", "none"]].concat())).unwrap();
    let mut versions = Uses::new();
    for (name, rest) in tree.lines().filter_map(|line| line.split_once(" v")) {
        let version = rest.split(' ').next().unwrap();
        versions.entry(name.to_owned()).or_default().insert(version.to_owned());
    }
    let deny: toml::Table = std::fs::read_to_string(repository().join("deny.toml")).unwrap().parse().unwrap();
    let skipped =
        deny["bans"]["skip"].as_array().unwrap().iter().map(|entry| entry.as_str().unwrap().split_once('@').unwrap());
    for (name, version) in skipped {
        let of_crate = versions.get_mut(name).filter(|versions| versions.len() > 1);
        assert!(
            of_crate.is_some_and(|versions| versions.remove(version)),
            "deny.toml: {name} {version} is no duplicate"
        );
    }
    let more: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).collect();
    assert!(more.is_empty(), "decide which of these versions deny.toml skips: {more:?}");
}

#[test]
fn shuffler_ships_without_libtorch() {
    let all = dependencies();
    let mut open = vec!["shuffler".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(name) = open.pop() {
        if seen.insert(name.clone()) {
            open.extend(all.get(&name).into_iter().flatten().cloned());
        }
    }
    assert!(!seen.contains("net") && !seen.contains("tch"), "the shuffler reaches {seen:?}");
}

/// What pure crates must not use: clock, threads, environment, files and global randomness.
const IMPURE: &[&str] = &[
    "std::time::Instant",
    "std::time::Instant::now",
    "std::time::SystemTime",
    "std::time::SystemTime::now",
    "std::thread::spawn",
    "std::thread::scope",
    "std::thread::sleep",
    "std::env::var",
    "std::env::var_os",
    "std::env::vars",
    "std::env::vars_os",
    "std::env::args",
    "std::env::args_os",
    "std::fs::File",
    "std::fs::OpenOptions",
    "std::fs::read",
    "std::fs::read_to_string",
    "std::fs::write",
    "std::collections::hash_map::RandomState",
    "rand::rng",
    "rand::random",
];

#[test]
fn pure_crates_forbid_clock_files_and_global_randomness() {
    let rules = repository().join("crates/pure.clippy.toml").canonicalize().unwrap();
    for name in ["go", "config", "record", "ratings", "evalcache"] {
        let own = repository().join("crates").join(name).join("clippy.toml");
        assert_eq!(own.canonicalize().unwrap(), rules, "{}", own.display());
    }
    let (pure, own) = (clippy_rules("crates/pure.clippy.toml"), clippy_rules("crates/mcts/clippy.toml"));
    for rule in IMPURE {
        assert!(pure.contains(*rule), "pure.clippy.toml lacks {rule}");
    }
    assert_eq!(pure.difference(&own).collect::<Vec<_>>(), Vec::<&String>::new(), "mcts is pure, too");
}

/// The sources of the programs by path, without tests.
fn program_sources() -> BTreeMap<String, String> {
    let mut found = library_sources();
    found.retain(|name, _| !name.starts_with("crates/testing/") && !name.starts_with("tests/"));
    assert!(found.len() > 500, "{}", found.len());
    found
}

/// The same, and those of what tests share.
fn library_sources() -> BTreeMap<String, String> {
    let members = ["crates", "images", "selfplay", "shuffler", "trainer", "evaluator", "inference", "tengen", "web"];
    let mut open: Vec<PathBuf> = members.iter().chain(&["tests/src"]).map(|member| repository().join(member)).collect();
    let mut found = BTreeMap::new();
    while let Some(path) = open.pop() {
        let name = path.strip_prefix(repository()).unwrap().display().to_string();
        if path.is_dir() {
            if !name.ends_with("/tests") {
                open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        } else if name.contains("/src/") && name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let program = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            found.insert(name, program.to_owned());
        }
    }
    found
}

/// `cargo test` reads a crate a second time for the examples in its documentation, even where it has none.
#[test]
fn crates_with_examples_in_their_documentation_test_them() {
    let sources = library_sources();
    let metadata: serde_json::Value =
        serde_json::from_slice(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    for package in metadata["packages"].as_array().unwrap() {
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        let folder = folder.strip_prefix(repository()).unwrap().join("src");
        let mut texts = sources.iter().filter(|(path, _)| Path::new(path).starts_with(&folder)).map(|(_, text)| text);
        let is_tested = package["targets"].as_array().unwrap().iter().any(|target| target["doctest"] == true);
        assert_eq!(is_tested, texts.any(|text| has_examples(text)), "doctest of {}", package["name"]);
    }
}

/// Languages of blocks that are no code of Rust, which all other blocks are.
const OTHER_LANGUAGES: [&str; 4] = ["text", "json", "toml", "console"];

/// Whether documentation has code of Rust: a block without another language, or lines indented by four columns.
fn has_examples(text: &str) -> bool {
    let lines = text.lines().map(str::trim_start);
    let mut block: Option<&str> = None;
    for line in lines.filter_map(|line| line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))) {
        let fence = ["```", "~~~"].into_iter().find_map(|fence| Some((fence, line.trim_start().strip_prefix(fence)?)));
        match (block, fence) {
            (None, Some((_, language))) if !OTHER_LANGUAGES.contains(&language) => return true,
            (None, Some((fence, _))) => block = Some(fence),
            (None, None) if line.starts_with("     ") && !line.trim().is_empty() => return true,
            (Some(open), Some((fence, ""))) if open == fence => block = None,
            _ => {}
        }
    }
    false
}

#[test]
fn examples_are_code_of_rust_in_fences_or_indented() {
    let examples =
        ["/// ```\n", "    //! ```no_run\n", "/// ~~~\n", "/// ```text\n/// ```\n/// ```\n", "//!\n//!     f();\n"];
    for text in examples {
        assert!(has_examples(text), "{text}");
    }
    for text in ["/// ```json\n///     {}\n/// ```\n", "/// ~~~text\n/// ```\n/// ~~~\n", "//     f();\n", "///     \n"]
    {
        assert!(!has_examples(text), "{text}");
    }
}

/// Invariant 10 of ARCHITECTURE.md names them. Options with a variable are read by clap, in `main`.
#[test]
fn environment_is_read_by_few_files() {
    let reads = |text: &str| ["env::var", "from_env("].iter().any(|call| text.contains(call));
    let sources = program_sources();
    let found: Vec<&str> = sources.iter().filter(|(_, text)| reads(text)).map(|(path, _)| path.as_str()).collect();
    let known = [
        "crates/gtp/src/engines/process.rs",
        "crates/net/src/instruction_set.rs",
        "crates/runtime/src/console.rs",
        "crates/store/src/open.rs",
        "tengen/src/doctor/host.rs",
        "tengen/src/doctor/ports.rs",
    ];
    assert_eq!(found, known);
}

/// The paths that a clippy.toml disallows.
fn clippy_rules(file: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(repository().join(file)).unwrap();
    let rules = text.lines().filter_map(|line| line.trim().strip_prefix("{ path = \""));
    rules.map(|rule| rule.split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn crates_of_games_forbid_the_mathematics_of_the_c_library() {
    let [mcts, play] = ["mcts", "play"].map(|name| clippy_rules(&format!("crates/{name}/clippy.toml")));
    assert!(play.contains("f32::exp") && play.contains("f64::powf"), "{play:?}");
    assert!(play.is_subset(&mcts), "{:?} is missing in mcts", play.difference(&mcts).collect::<Vec<_>>());
    let all = dependencies();
    assert!(["mcts", "play"].iter().all(|name| !all[*name].contains("rand_distr")), "rand_distr uses them, too");
}

#[test]
fn fuzz_targets_are_built_and_have_seeds() {
    let read = |file: &str| std::fs::read_to_string(repository().join("fuzz").join(file)).unwrap();
    let (manifest, seeds) = (read("Cargo.toml"), ["seeds.rs", "run_seeds.rs", "text_seeds.rs"].map(read).concat());
    for entry in std::fs::read_dir(repository().join("fuzz/fuzz_targets")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().display().to_string();
        assert!(manifest.contains(&format!("\npath = \"fuzz_targets/{name}.rs\"\n")), "{name} is not built");
        assert!(seeds.contains(&format!("\"{name}\"")), "{name} has no seeds");
    }
    // A test of the seeds would take the whole build of the fuzz targets; `seeds` itself checks what it writes.
    for kind in [
        "5x5.safetensors",
        "leela_zero()",
        "FileKind::folded(",
        "archives().compact(",
        "unfinished::to_batch(",
        "encode_uncompressed(",
        "\"pruned/\"",
        "\"run.toml\"",
        "\"pairings/\"",
        "\"claims/\"",
        "\"leases/\"",
        "\"unfinished/\"",
        "\"engines/\"",
    ] {
        assert!(seeds.contains(kind), "no seeds of {kind}");
    }
}
