//! Other inference libraries, measured beside ours in the same run.
//!
//! A library runs in a Python process of its own, which has one thread and waits while others are measured. It gets the
//! network as an ONNX file, and the same positions.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use cpu::Description;
use runtime::Classify;
use tempfile::TempDir;

use super::clock::{Rate, Spent};

const SCRIPT: &str = include_str!("peers.py");

/// A library that a user may have instead of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Peer {
    /// libtorch, f32
    Libtorch,
    /// libtorch, bf16
    LibtorchBf16,
    /// ONNX Runtime, f32
    Onnxruntime,
    /// OpenVINO, f32
    Openvino,
    /// OpenVINO, bf16
    OpenvinoBf16,
}

/// A library that has loaded a network.
pub(super) struct Loaded {
    pub(super) peer: Peer,
    pub(super) version: String,
    batch: u32,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Has the network and the positions.
    _folder: TempDir,
}

impl Peer {
    /// Whether it runs in Python.
    pub(super) fn is_python(self) -> bool {
        !matches!(self, Peer::Libtorch | Peer::LibtorchBf16)
    }

    /// Starts the library with a network, in the Python interpreter `python`. `planes` are those of a batch of
    /// positions.
    pub(super) fn load(
        self,
        python: &Path,
        network: &Description,
        planes: &[u8],
        batch: u32,
    ) -> anyhow::Result<Loaded> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let [model, positions] = ["network.onnx", "positions"].map(|name| folder.path().join(name));
        let file = onnx::write_for_others(network).context("cannot write the network")?;
        std::fs::write(&model, file).context("cannot write the network")?;
        std::fs::write(&positions, planes).context("cannot write the positions")?;
        let mut child = Command::new(python)
            .args(["-c", SCRIPT, &self.to_string()])
            .arg(&model)
            .arg(format!("{}x{1}x{1}", network.planes(), network.side))
            .arg(batch.to_string())
            .arg(&positions)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", python.display()))
            .misconfigured()?;
        let input = child.stdin.take().ok_or_else(|| anyhow!("the process has no input"))?;
        let output = BufReader::new(child.stdout.take().ok_or_else(|| anyhow!("the process has no output"))?);
        let mut loaded = Loaded { peer: self, version: String::new(), batch, child, input, output, _folder: folder };
        loaded.version = loaded.line().with_context(|| {
            let python = python.display();
            format!("{python} cannot run {self}, for the reason above; {python} -m pip install onnxruntime openvino")
        })?;
        Ok(loaded)
    }
}

impl Loaded {
    /// Evaluates for about `time`.
    pub(super) fn measure(&mut self, time: Duration) -> anyhow::Result<Rate> {
        writeln!(self.input, "{}", time.as_secs_f64()).with_context(|| format!("{} has ended", self.peer))?;
        let line = self.line()?;
        rate(&line, self.batch)
            .ok_or_else(|| anyhow!("{} printed {line:?} instead of batches, seconds and seconds on a core", self.peer))
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).with_context(|| format!("{} does not respond", self.peer))?;
        if line.is_empty() {
            bail!("{} has ended", self.peer);
        }
        Ok(line.trim().to_owned())
    }
}

/// The rate that a line of the script states: batches, seconds, and seconds of the process on a core, which our rates
/// are by, too. On a busy machine a rate by the wall would make a library seem slower than it is.
fn rate(line: &str, batch: u32) -> Option<Rate> {
    let number = |word: &str| word.parse::<f64>().ok().filter(|&number| number.is_finite() && number > 0.0);
    let numbers = line.split(' ').map(number).collect::<Option<Vec<_>>>()?;
    let [batches, wall, core] = numbers[..] else { return None };
    let time = |seconds| Duration::try_from_secs_f64(seconds).ok();
    Some(Rate { count: batches * f64::from(batch), spent: Spent { wall: time(wall)?, core: time(core)? } })
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // It may be in the middle of a batch; there is nothing that it must finish.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Peer::Libtorch => "libtorch",
            Peer::LibtorchBf16 => "libtorch-bf16",
            Peer::Onnxruntime => "onnxruntime",
            Peer::Openvino => "openvino",
            Peer::OpenvinoBf16 => "openvino-bf16",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_of_a_library_on_a_core_is_by_the_time_of_its_process() {
        let rate = rate("10 4.0 2.5", 8).unwrap();
        assert_eq!((rate.per_second(), rate.per_core()), (20.0, 32.0));
    }

    #[test]
    fn line_without_three_positive_numbers_is_no_rate() {
        for line in ["", "10 4.0", "10 4.0 2.5 1", "10 4.0 x", "10 inf 2.5", "10 4.0 NaN", "10 4.0 0", "-1 4.0 2.5"] {
            assert!(rate(line, 8).is_none(), "{line:?}");
        }
    }
}
