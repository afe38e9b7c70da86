//! Tells the crates above where libtorch lies, so that their binaries find it without `LD_LIBRARY_PATH`.
//!
//! torch-sys hands `LIBTORCH_LIB` only to crates that depend on it directly, which `net` alone does. `net` passes
//! a run path on under its own `links` key; a crate with a binary or a test reads it as `DEP_TENGEN_NET_RPATH`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_TORCH").is_none() {
        return;
    }
    let lib = std::env::var("DEP_TCH_LIBTORCH_LIB").expect("torch-sys says where libtorch lies");
    // First the libtorch carried with the binary, if there is one: a whole `libtorch` folder next to it, or `lib`
    // beside its `bin` folder as in an image. Then the one it was linked against.
    let rpath = format!("$ORIGIN/libtorch/lib:$ORIGIN/../lib:{lib}");
    println!("cargo::metadata=RPATH={rpath}");
    // The tests, examples and benches of this crate.
    println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
}
