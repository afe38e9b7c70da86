//! Lets binaries linked here find libtorch without `LD_LIBRARY_PATH`; the path comes from the build script of `net`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Without the feature `torch` there is none.
    if let Ok(rpath) = std::env::var("DEP_TENGEN_NET_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
    }
}
