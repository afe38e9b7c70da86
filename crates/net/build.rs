//! Builds the C++ of this crate, and tells the crates above where libtorch lies, so that their binaries find it without
//! `LD_LIBRARY_PATH`.
//!
//! torch-sys hands `LIBTORCH_LIB` only to crates that depend on it directly, which `net` alone does. `net` passes
//! a run path on under its own `links` key; a crate with a binary or a test reads it as `DEP_TENGEN_NET_RPATH`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "torch")]
    with_libtorch();
}

#[cfg(feature = "torch")]
fn with_libtorch() {
    let lib = std::env::var("DEP_TCH_LIBTORCH_LIB").expect("torch-sys says where libtorch lies");
    // First the libtorch carried with the binary, if there is one: a whole `libtorch` folder next to it, as in an
    // image. Then the one it was linked against.
    let rpath = format!("$ORIGIN/libtorch/lib:{lib}");
    println!("cargo::metadata=RPATH={rpath}");
    // The tests, examples and benches of this crate.
    println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
    build_shim(&lib);
}

/// The headers lie beside the libraries, unless the variable of torch-sys names another folder.
#[cfg(feature = "torch")]
fn build_shim(lib: &str) {
    const FILES: [&str; 2] = ["src/shim.cpp", "src/unit.cpp"];
    for file in FILES.into_iter().chain(["src/message.h"]) {
        println!("cargo::rerun-if-changed={file}");
    }
    println!("cargo::rerun-if-env-changed=LIBTORCH_INCLUDE");
    let beside = || std::path::Path::new(lib).with_file_name("include");
    let include = std::env::var_os("LIBTORCH_INCLUDE")
        .map_or_else(beside, |folder| std::path::Path::new(&folder).join("include"));
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .pic(true)
        .warnings(false)
        .include(include)
        .files(FILES)
        .compile("tengen_shim");
}
