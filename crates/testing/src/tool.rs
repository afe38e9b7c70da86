//! Programs and libraries that `make test` installs and some tests need.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::repository;

/// An optional program or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Chromium.
    Chromium,
    /// The Kubernetes control planes and etcd, which scripts/setup-cluster builds.
    ControlPlane,
    /// GNU Go.
    GnuGo,
    /// Leela Zero.
    LeelaZero,
    /// The Prometheus server.
    Prometheus,
    /// Prometheus' checker of rules.
    Promtool,
    /// The Python libraries of `python/requirements.txt`, kubectl included.
    Python,
    /// A Python interpreter with PyTorch.
    PyTorch,
    /// Sabaki's GTP client and SGF reader, and Node.js.
    Sabaki,
    /// TypeScript's compiler and Node.js.
    TypeScript,
}

impl Tool {
    pub(crate) const ALL: [Tool; 10] = [
        Tool::Chromium,
        Tool::ControlPlane,
        Tool::GnuGo,
        Tool::LeelaZero,
        Tool::Prometheus,
        Tool::Promtool,
        Tool::Python,
        Tool::PyTorch,
        Tool::Sabaki,
        Tool::TypeScript,
    ];

    /// Its name in `TENGEN_ALLOW_SKIP`; scripts/setup-tools uses the same names.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Chromium => "chromium",
            Tool::ControlPlane => "control-plane",
            Tool::GnuGo => "gnugo",
            Tool::LeelaZero => "leelaz",
            Tool::Prometheus => "prometheus",
            Tool::Promtool => "promtool",
            Tool::Python => "python",
            Tool::PyTorch => "pytorch",
            Tool::Sabaki => "sabaki",
            Tool::TypeScript => "typescript",
        }
    }

    /// How to install it.
    pub(crate) fn remedy(self) -> &'static str {
        match self {
            Tool::Chromium => "apt-get install chromium",
            Tool::ControlPlane => "scripts/setup-cluster",
            Tool::GnuGo => "apt-get install gnugo",
            Tool::LeelaZero => "apt-get install leela-zero",
            Tool::Prometheus | Tool::Promtool => "scripts/setup-tools, or apt-get install prometheus",
            Tool::Python => "scripts/setup-python",
            Tool::PyTorch => "apt-get install python3-torch",
            Tool::Sabaki | Tool::TypeScript => "scripts/setup-node",
        }
    }

    /// Where it is: the program; for `ControlPlane` the folder that holds both programs' folders, for `Python` the
    /// folder for `PYTHONPATH`, for `PyTorch` the interpreter, for `Sabaki` and `TypeScript` the folder that holds
    /// `node_modules` and, if Node.js is not installed, `bin/node`.
    pub fn find(self) -> Option<PathBuf> {
        match self {
            Tool::Chromium => in_path("chromium", &["/usr/bin"]),
            Tool::ControlPlane => holder(".venv", "etcd/bin/etcd")
                .and(holder(".venv", &format!("kubernetes-{}/control-plane", kubernetes_version()))),
            Tool::GnuGo => in_path("gnugo", &["/usr/games"]),
            Tool::LeelaZero => in_path("leelaz", &["/usr/games"]),
            Tool::Prometheus => in_path("prometheus", &[]),
            Tool::Promtool => in_path("promtool", &[]),
            Tool::Python => holder(".venv/site", "kubernetes_validate"),
            // Debian's interpreter has PyTorch with the package python3-torch; another one may come first in PATH.
            Tool::PyTorch => {
                ["python3", "/usr/bin/python3"].map(PathBuf::from).into_iter().find(|path| has_torch(path))
            }
            // Older installations have the GTP client alone.
            Tool::Sabaki => holder(".venv/node", "node_modules/@sabaki/sgf"),
            Tool::TypeScript => holder(".venv/node", "node_modules/typescript"),
        }
    }
}

/// The version of Kubernetes that tests use, one of scripts/setup-cluster: `make test-cluster` sets each in turn.
pub fn kubernetes_version() -> String {
    std::env::var("TENGEN_TEST_KUBERNETES").unwrap_or_else(|_| "1.37.2".to_owned())
}

/// A program in one of these folders, in what scripts/setup-tools has unpacked, or in `PATH`.
fn in_path(program: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let unpacked = repository().join(".venv/tools/bin");
    let folders = folders.iter().map(PathBuf::from).chain([unpacked]).chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(program)).find(|path| path.is_file())
}

/// A folder of the repository, if it holds something.
fn holder(folder: &str, content: &str) -> Option<PathBuf> {
    let folder = repository().join(folder);
    folder.join(content).exists().then_some(folder)
}

fn has_torch(python: &Path) -> bool {
    let import = Command::new(python).args(["-c", "import torch"]).output();
    import.is_ok_and(|output| output.status.success())
}
