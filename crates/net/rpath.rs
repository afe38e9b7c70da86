//! Lets binaries linked here find libtorch without `LD_LIBRARY_PATH`: the build script of the crates above `net`, whose
//! own build script has the path.

fn main() {
    println!("cargo::rerun-if-env-changed=DEP_TENGEN_NET_RPATH");
    // Without the feature `torch` there is none.
    if let Ok(rpath) = std::env::var("DEP_TENGEN_NET_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
    }
}
