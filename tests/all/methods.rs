//! No type has many public methods.
//!
//! They are counted as the source shows them: in the inherent `impl` blocks of all files of a crate, by the name of the
//! type. Those that a macro writes are counted by the entries of its invocation, as the repositories of `store::Run`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use tests::repository;

use crate::imports::crates;

/// Public methods that a type may have.
const LIMIT: usize = 25;

const STARTS: [&str; 4] = ["pub fn ", "pub const fn ", "pub unsafe fn ", "pub async fn "];

/// How many public methods each type of a crate has.
type Methods = BTreeMap<String, usize>;

fn of_folder(folder: &Path, methods: &mut Methods) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            of_folder(&path, methods);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            of_file(&fs::read_to_string(&path).unwrap(), methods);
        }
    }
}

/// A block reaches to the brace that rustfmt puts below its beginning.
fn of_file(text: &str, methods: &mut Methods) {
    let mut block: Option<(String, String)> = None;
    for line in text.lines() {
        let code = line.trim_start();
        if block.as_ref().is_some_and(|(_, end)| line == end) {
            block = None;
        } else if let Some((name, _)) = &block {
            if STARTS.iter().any(|start| code.starts_with(start)) {
                *methods.entry(name.clone()).or_default() += 1;
            }
        } else {
            let indent = &line[..line.len() - code.len()];
            block = type_of(code).map(|name| (name, format!("{indent}}}")));
        }
    }
    of_macros(text, methods);
}

/// A macro with a block writes its methods for each entry of an invocation: a line with a comma at its end.
fn of_macros(text: &str, methods: &mut Methods) {
    for definition in text.split("\nmacro_rules! ").skip(1) {
        let (name, rest) = definition.split_once(' ').unwrap_or_default();
        let body = rest.split("\n}\n").next().unwrap_or_default();
        let Some(of) = body.lines().find_map(|line| type_of(line.trim_start())) else { continue };
        let entries = |invocation: &str| {
            let lines = invocation.split("\n}").next().unwrap_or_default().lines().map(str::trim);
            lines.filter(|line| line.ends_with(',') && !line.starts_with("//")).count()
        };
        let entries: usize = text.split(&format!("\n{name}! {{\n")).skip(1).map(entries).sum();
        *methods.entry(of).or_default() += entries * body.matches("pub fn $").count();
    }
}

/// The name of the type, if an inherent block begins here.
fn type_of(line: &str) -> Option<String> {
    let header = line.strip_prefix("impl").filter(|header| header.starts_with([' ', '<']))?;
    if header.contains(" for ") || header.ends_with("{}") {
        return None;
    }
    let header = header.replace("->", "");
    let mut depth = 0;
    // The parameters of the block come first.
    let start = header.find(|c: char| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0 && c.is_alphabetic()
    })?;
    let path = header[start..].split(|c: char| !c.is_alphanumeric() && !"_:".contains(c)).next()?;
    path.rsplit("::").next().map(str::to_owned)
}

#[test]
fn types_have_at_most_25_public_methods() {
    for name in crates() {
        let mut methods = Methods::new();
        of_folder(&repository().join(&name).join("src"), &mut methods);
        let large: Vec<_> = methods.into_iter().filter(|(_, count)| *count > LIMIT).collect();
        assert!(large.is_empty(), "{name}: split these types, they have more than {LIMIT} public methods: {large:?}");
    }
}

#[test]
fn methods_are_counted_across_blocks_and_files() {
    let mut methods = Methods::new();
    let file =
        "impl Store {\n    pub fn a() {\n    }\n\n    fn b() {}\n\n    pub(crate) fn c() {}\n}\n\npub fn d() {}\n";
    of_file(file, &mut methods);
    of_file(
        "impl<F: Fn() -> u8> crate::store::Store<F>\nwhere\n    F: Copy,\n{\n    pub const fn e() {}\n}\n",
        &mut methods,
    );
    of_file("mod inner {\n    impl<'a> Run<'a> {\n        pub fn f() {}\n    }\n}\n", &mut methods);
    let start = "\nmacro_rules! parts {\n    ($($name:ident,)*) => {\n        impl Run {\n";
    let end = "            $(pub fn $name() {})*\n        }\n    };\n}\n";
    let invocation = "\nparts! {\n    /// One,\n    one,\n    other,\n}\n";
    of_file(&[start, end, invocation].concat(), &mut methods);
    of_file("impl Display for Run {\n    pub fn g() {}\n}\n\nimpl Mark {}\n\npub fn h() {}\n", &mut methods);
    assert_eq!(methods, Methods::from([("Run".to_owned(), 3), ("Store".to_owned(), 2)]));
}
