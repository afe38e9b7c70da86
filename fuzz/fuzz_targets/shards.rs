//! A Parquet file of shards, under a manifest that names it with its checksum.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};
use store::{Part, Run, ShardPart, Store, with_right_checksums};

static RUN: LazyLock<Run> = LazyLock::new(|| {
    let store = Store::in_memory().expect("memory can be a store");
    store.run(&"fuzz".parse().expect("letters are a name"))
});

fuzz_target!(|bytes: &[u8]| {
    read(bytes);
    // Few inputs pass the checksums by themselves.
    if let Some(bytes) = with_right_checksums(bytes.to_vec()) {
        read(&bytes);
    }
});

fn read(bytes: &[u8]) {
    RUN.store().overwrite("fuzz/shards/000001/part-0000.parquet", bytes.to_vec()).expect("memory can be written");
    let sha256 = format!("{:x}", Sha256::digest(bytes));
    let part = Part { file: "part-0000.parquet".to_owned(), bytes: bytes.len() as u64, sha256 };
    // An error is a result; rows that are read can be unpacked.
    if let Ok(rows) = RUN.shards().read(1, &ShardPart { rows: 1, part }) {
        let _examples = rows.to_examples();
    }
}
