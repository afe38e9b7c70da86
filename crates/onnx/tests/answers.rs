//! The output of onnxruntime agrees with that of libtorch for every kind of layer.

use std::path::{Path, PathBuf};
use std::process::Command;

use cpu::Description;
use testing::{Tool, require};

/// Networks of 5x5 with the f32 output of libtorch, which crate `cpu` is tested with too.
const NETWORKS: [&str; 4] = ["plain", "pooled", "features", "all"];

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../cpu/tests/data").join(name)
}

#[test]
fn onnxruntime_agrees_with_libtorch() {
    let Some(site) = require(Tool::Python) else { return };
    let folder = tempfile::tempdir().unwrap();
    for name in NETWORKS {
        let weights = std::fs::read(data(&format!("{name}.safetensors"))).unwrap();
        let file = folder.path().join(format!("{name}.onnx"));
        std::fs::write(&file, onnx::write(&Description::from_safetensors(&weights).unwrap())).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_answers.py");
        let answers = data(&format!("{name}.answers.safetensors"));
        let output = Command::new("python3")
            .env("PYTHONPATH", &site)
            .args(["-B".as_ref(), script.as_os_str(), file.as_os_str(), answers.as_os_str()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
