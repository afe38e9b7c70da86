//! Compiles the protocols without `protoc`, and keeps their descriptors for server reflection.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;

const FILES: [&str; 2] = ["tengen/inference/v1/evaluation.proto", "kserve/inference.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=proto");
    // Lets tests find libtorch without `LD_LIBRARY_PATH`. Without the feature `torch` of `net` there is none.
    if let Ok(rpath) = env::var("DEP_TENGEN_NET_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
    }
    let descriptors = protox::compile(FILES, ["proto"])?;
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(folder.join("descriptors.bin"), descriptors.encode_to_vec())?;
    tonic_prost_build::configure().bytes(".").codec_path("crate::codec::BoundedCodec").compile_fds(descriptors)?;
    Ok(())
}
