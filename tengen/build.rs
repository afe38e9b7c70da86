//! Lets binaries linked here find libtorch without `LD_LIBRARY_PATH`; the path comes from the build script of `net`.
//! Tells a release the commit that it is built from.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Without the feature `torch` there is none.
    if let Ok(rpath) = env::var("DEP_TENGEN_NET_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{rpath}");
    }
    println!("cargo::rerun-if-env-changed=TENGEN_COMMIT");
    // Other builds would be compiled again after each commit.
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") && env::var_os("TENGEN_COMMIT").is_none() {
        commit();
    }
}

/// The commit of the checkout, if it is one.
fn commit() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    let Some(commit) = git(&["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]) else { return };
    println!("cargo::rustc-env=TENGEN_COMMIT={commit}");
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}
