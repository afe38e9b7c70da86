//! Imports between the files of a crate run one way.
//!
//! A file imports another if one of its paths (`use` or inline) leads there, re-exports being followed to where an item
//! is defined. Test modules are omitted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use tests::repository;

/// The path of a module from the root of its crate: `["gtp", "session"]`.
type Module = Vec<String>;

/// The files of a crate, without comments and test modules.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Module, File>,
}

#[derive(Default)]
struct File {
    uses: Vec<Use>,
    /// Paths outside of `use`.
    paths: Vec<Module>,
}

#[derive(Clone)]
struct Use {
    path: Module,
    /// The name that it has in this file.
    name: String,
    public: bool,
}

impl Crate {
    fn read(source: &Path) -> Crate {
        let mut found = Crate::default();
        found.add(source, &source.join("lib.rs"), Vec::new());
        found
    }

    /// Adds a file and the files of the modules that it declares.
    fn add(&mut self, source: &Path, path: &Path, module: Module) {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text: String = text.lines().map(|line| format!("{}\n", line.split("//").next().unwrap_or(line))).collect();
        let (text, tests) = text.split_once("#[cfg(test)]\nmod tests {").unwrap_or((&text, ""));
        assert!(!tests.contains("\n}\n\n"), "{}: tests are at the end", path.display());
        let mut hidden = false;
        for line in text.lines().map(str::trim) {
            let declared = line.trim_start_matches("pub ").trim_start_matches("pub(crate) ").strip_prefix("mod ");
            if let Some(name) = declared.and_then(|name| name.strip_suffix(';')).filter(|_| !hidden) {
                let inner: Module = module.iter().cloned().chain([name.to_owned()]).collect();
                self.add(source, &source.join(format!("{}.rs", inner.join("/"))), inner);
            }
            hidden = line == "#[cfg(test)]";
        }
        self.files.insert(module, File::parse(text));
    }

    /// What a path of a module means, from the root; `None` when it leads to another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let (start, rest) = match path.first()?.as_str() {
            "crate" => (&[][..], &path[1..]),
            "self" => (module, &path[1..]),
            "super" => (module.get(..module.len().checked_sub(supers)?)?, &path[supers..]),
            _ if self.files.contains_key(&[module, &path[..1]].concat()) => (module, path),
            _ => return None,
        };
        Some([start, rest].concat())
    }

    /// The file that defines what is at a path.
    fn defining(&self, path: &[String]) -> Module {
        let known = (0..=path.len()).rev().find(|&n| self.files.contains_key(&path[..n])).unwrap_or(0);
        let (module, rest) = path.split_at(known);
        let imported = rest.first().and_then(|name| self.files[module].uses.iter().find(|used| used.name == *name));
        match imported.and_then(|used| self.absolute(module, &used.path)) {
            Some(further) if further != path => self.defining(&[&further, &rest[1..]].concat()),
            _ => module.to_vec(),
        }
    }

    fn imports(&self) -> BTreeMap<&Module, BTreeSet<Module>> {
        let of = |(module, file): (&Module, &File)| -> BTreeSet<Module> {
            let shadowed = |path: &Module| file.uses.iter().any(|used| used.name == path[0]);
            let inline = file.paths.iter().filter(|path| !shadowed(path)).map(|path| (path, false));
            let paths = file.uses.iter().map(|used| (&used.path, used.public)).chain(inline);
            let targets = paths.filter_map(|(path, public)| {
                let target = self.defining(&self.absolute(module, path)?);
                let own_export = public && target.starts_with(module);
                (target != *module && !own_export).then_some(target)
            });
            targets.collect()
        };
        self.files.iter().map(|(module, file)| (module, of((module, file)))).collect()
    }

    /// The files that import themselves by way of others.
    fn circles(&self) -> Vec<String> {
        let imports = self.imports();
        let reaches_itself = |start: &Module| {
            let mut open: Vec<&Module> = imports[start].iter().collect();
            let mut seen = BTreeSet::new();
            while let Some(module) = open.pop() {
                if module == start {
                    return true;
                }
                if seen.insert(module) {
                    open.extend(&imports[module]);
                }
            }
            false
        };
        let circular = self.files.keys().filter(|module| reaches_itself(module));
        circular.map(|module| if module.is_empty() { "lib".to_owned() } else { module.join("/") }).collect()
    }
}

impl File {
    fn parse(text: &str) -> File {
        let mut file = File::default();
        let mut rest = String::new();
        let mut statement = String::new();
        for line in text.lines() {
            let start = line.trim().trim_start_matches("pub ").trim_start_matches("pub(crate) ");
            let start = start.trim_start_matches("pub(super) ");
            if statement.is_empty() && !start.starts_with("use ") {
                rest += &format!("{line}\n");
                continue;
            }
            statement += line.trim();
            if statement.ends_with(';') {
                let (visibility, tree) = statement.split_once("use ").expect("a use statement");
                expand(&[], tree.trim_end_matches(';'), !visibility.is_empty(), &mut file.uses);
                statement.clear();
            }
        }
        let is_path = |c: char| c.is_alphanumeric() || "_:".contains(c);
        let words = rest.split(|c| !is_path(c)).filter(|word| word.contains("::"));
        file.paths = words.map(|word| word.trim_matches(':').split("::").map(str::to_owned).collect()).collect();
        file
    }
}

/// The single paths of a tree such as `crate::{a, b::{C, self}}`.
fn expand(prefix: &[String], tree: &str, public: bool, found: &mut Vec<Use>) {
    if let Some((start, inner)) = tree.split_once('{') {
        let start = start.split("::").filter(|part| !part.is_empty()).map(str::to_owned);
        let prefix: Module = prefix.iter().cloned().chain(start).collect();
        let inner = inner.strip_suffix('}').expect("braces match");
        let mut depth = 0;
        let parts = inner.split(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        parts.map(str::trim).filter(|part| !part.is_empty()).for_each(|part| expand(&prefix, part, public, found));
        return;
    }
    let (path, alias) = tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path: Module = prefix.iter().cloned().chain(path.split("::").map(str::to_owned)).collect();
    if path.last().is_some_and(|name| name == "self") {
        path.pop();
    }
    let name = alias.or(path.last().map(String::as_str)).unwrap_or_default().to_owned();
    found.push(Use { path, name, public });
}

fn path(name: &str) -> Module {
    name.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// The folders of all libraries, from the workspace's list of members.
pub(crate) fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).unwrap();
    let members = manifest.split("members = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list");
    let members = members.split(',').map(|name| name.trim().trim_matches('"').to_owned());
    members.filter(|name| !name.is_empty() && repository().join(name).join("src/lib.rs").exists()).collect()
}

#[test]
fn imports_between_files_of_a_crate_have_no_circles() {
    for name in crates() {
        let circles = Crate::read(&repository().join(&name).join("src")).circles();
        assert_eq!(circles, [""; 0], "{name}: files that import each other in circles");
    }
}

#[test]
fn circles_are_found_through_re_exports_children_and_inline_paths() {
    let circles = |files: &[(&str, &str)]| {
        let files = files.iter().map(|(name, text)| (path(name), File::parse(text))).collect();
        Crate { files }.circles()
    };
    let lib = ("lib", "mod a;\nmod b;\npub use a::A;\n");
    assert_eq!(circles(&[lib, ("a", "use crate::b::B;\n"), ("b", "fn b() {}\n")]), [""; 0]);
    assert_eq!(circles(&[lib, ("a", "use crate::b::B;\n"), ("b", "use crate::A;\n")]), ["a", "b"]);
    assert_eq!(circles(&[lib, ("a", "use crate::b::B;\n"), ("b", "fn b() { crate::a::f(); }\n")]), ["a", "b"]);
    // A part does not use what it is a part of, neither directly nor by way of a third file.
    let files = [lib, ("a", "mod part;\nuse part::P;\n"), ("a/part", "use super::A;\n"), ("b", "")];
    assert_eq!(circles(&files), ["a", "a/part"]);
    let around = ("a/part", "use crate::b::{B, C};\n");
    assert_eq!(circles(&[lib, ("a", "use part::P;\n"), around, ("b", "use crate::A;\n")]), ["a", "a/part", "b"]);
    // Errors are files like others.
    let files =
        [("lib", "mod error;\nmod net;\n"), ("error", "use crate::net::Net;\n"), ("net", "use crate::error::E;\n")];
    assert_eq!(circles(&files), ["error", "net"]);
    // An item of the root that its modules use.
    assert_eq!(circles(&[("lib", "mod a;\nuse a::f;\nstruct Job;\n"), ("a", "use crate::Job;\n")]), ["lib", "a"]);
}
