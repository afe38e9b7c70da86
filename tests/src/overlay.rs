//! Kustomizations in folders of a test, on top of the overlays of the repository.

use std::fs;
use std::path::Path;

use testing::repository;

/// Copies one of `k8s/overlays` to a folder, with more components, which the copy lists first. The path of the folder
/// is absolute and has no links.
///
/// # Panics
/// There is no such overlay, or no such folder.
pub fn copy_overlay(name: &str, components: &[&str], folder: &Path) {
    let overlay = repository().join("k8s/overlays").join(name);
    for file in fs::read_dir(overlay).expect("there is such an overlay") {
        let file = file.expect("the overlay can be read");
        fs::copy(file.path(), folder.join(file.file_name())).expect("the folder can be written");
    }
    let kustomization = folder.join("kustomization.yaml");
    let own = fs::read_to_string(&kustomization).expect("an overlay has a kustomization");
    let more: Vec<String> = components.iter().map(|component| format!("../../components/{component}")).collect();
    let more = format!("components: [{}", more.join(", "));
    let with = match own.split_once("components: [") {
        Some((before, after)) => format!("{before}{more}, {after}"),
        None => format!("{own}{more}]\n"),
    };
    let here = format!("{}/", path_from(folder, "k8s"));
    fs::write(kustomization, with.replace("../../", &here)).expect("the folder can be written");
}

/// A path of the repository as a kustomization in another folder names it: relative.
///
/// # Panics
/// The repository is in no folder that exists.
pub fn path_from(folder: &Path, path: &str) -> String {
    let repository = repository().canonicalize().expect("the repository exists");
    let up = "../".repeat(folder.components().count() - 1);
    format!("{up}{}/{path}", repository.strip_prefix("/").expect("its path is absolute").display())
}
