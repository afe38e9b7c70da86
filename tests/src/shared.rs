//! Where stores lie that a static keeps: nothing drops those.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, process};

/// A folder of this process. The first call deletes those of processes that have ended.
///
/// # Panics
/// When it cannot be made.
pub(crate) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let test = std::env::current_exe().expect("a test knows its path");
        // target/<profile>/deps/<test> → target/tmp, which CARGO_TARGET_TMPDIR tells no library.
        let target = test.ancestors().nth(3).expect("tests lie in the target folder");
        let (all, own) = (target.join("tmp/stores"), process::id().to_string());
        for entry in fs::read_dir(&all).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name == own.as_str() || !Path::new("/proc").join(&name).exists() {
                // Tests that have just been started may delete it, too.
                _ = fs::remove_dir_all(entry.path());
            }
        }
        let folder = all.join(own);
        fs::create_dir_all(&folder).expect("the target folder can be written");
        folder
    })
}
