//! A folder store for targets that read objects of a run: the fuzzed bytes take the place of a published object.

use std::fs;
use std::path::PathBuf;

use store::{Run, Store};

/// A run whose objects a target replaces.
pub struct Scratch {
    folder: PathBuf,
    pub run: Run,
}

impl Scratch {
    /// An empty run in the folder `scratch/TARGET` of the working directory.
    pub fn new(target: &str) -> Scratch {
        let folder = std::env::current_dir().expect("the working directory exists").join("scratch").join(target);
        let _absent = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the working directory can be written");
        let store = Store::open(&folder.display().to_string()).expect("a folder that can be written is a store");
        Scratch { run: store.run(&"fuzz".parse().expect("letters are a name")), folder: folder.join("fuzz") }
    }

    /// Replaces an object of the run.
    pub fn put(&self, object: &str, bytes: &[u8]) {
        let file = self.folder.join(object);
        fs::create_dir_all(file.parent().expect("an object is in a folder")).expect("the folder can be written");
        fs::write(file, bytes).expect("the folder can be written");
    }
}
