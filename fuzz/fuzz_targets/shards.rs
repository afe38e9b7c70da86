//! A Parquet file of shards, under a manifest that names it with its checksum.
#![no_main]

#[path = "../scratch.rs"]
mod scratch;

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use scratch::Scratch;
use sha2::{Digest, Sha256};
use store::{Part, ShardPart};

static SCRATCH: LazyLock<Scratch> = LazyLock::new(|| Scratch::new("shards"));

fuzz_target!(|bytes: &[u8]| {
    SCRATCH.put("shards/000001/part-0000.parquet", bytes);
    let sha256 = format!("{:x}", Sha256::digest(bytes));
    let part = Part { file: "part-0000.parquet".to_owned(), bytes: bytes.len() as u64, sha256 };
    // An error is a result; rows that are read can be unpacked.
    if let Ok(rows) = SCRATCH.run.shards().read(1, &ShardPart { rows: 1, part }) {
        let _examples = rows.to_examples();
    }
});
