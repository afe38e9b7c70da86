//! `trainer export` and `trainer import`: networks as files of their own.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Context;
use config::ModelId;
use cpu::Description;
use flate2::Compression;
use flate2::write::GzEncoder;
use models::{ModelName, ModelSource, Models, NamedWeights};
use net::{FileKind, Shape, UnknownName, Weights};
use record::Example;
use runtime::{Classify, ConfigArgs, RunError, Stop};
use store::{Run, StoreError};

use crate::init::refuse_begun;
use crate::lease::lease;
use crate::{InitialWeights, TrainerError};

/// Positions of the run's own games that a file is tried on.
const POSITIONS: usize = 32;

/// Arguments of `trainer export`.
#[derive(clap::Args, Debug)]
pub(crate) struct Export {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or a file of weights
    #[arg(long, value_name = "MODEL|FILE")]
    model: ModelName,
    /// File format: weights (safetensors, as stored), folded (safetensors, batch norms folded), leela-zero (text) or
    /// onnx [default: by the name of --out: onnx for .onnx, leela-zero for .txt, weights for others]
    #[arg(long, value_name = "KIND")]
    format: Option<Format>,
    /// Output file; gzipped if its name ends in .gz
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Kinds of files that a model can be exported to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    /// One that is read back, too.
    Network(FileKind),
    /// ONNX, for inference by other libraries.
    Onnx,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        match text {
            "onnx" => Ok(Format::Onnx),
            _ => text.parse().map(Format::Network).map_err(|error: UnknownName| format!("{error}, onnx")),
        }
    }
}

impl Format {
    /// The format of files with this name, plain or gzipped.
    fn of(out: &Path) -> Format {
        let is_packed = out.extension().is_some_and(|extension| extension == "gz");
        let plain = if is_packed { out.with_extension("") } else { out.to_owned() };
        match plain.extension().and_then(OsStr::to_str) {
            Some("onnx") => Format::Onnx,
            Some("txt") => Format::Network(FileKind::LeelaZero),
            _ => Format::Network(FileKind::Weights),
        }
    }
}

/// Arguments of `trainer import`.
#[derive(clap::Args, Debug)]
pub(crate) struct Import {
    /// Network file of `trainer export`, ONNX included, or of Leela Zero, plain or .gz
    file: PathBuf,
    /// Write the weights to this file as safetensors instead of beginning a run [default: begin a run]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Import {
    /// Whether the network becomes a file, and no run begins.
    pub(crate) fn writes_file(&self) -> bool {
        self.out.is_some()
    }
}

/// Writes a model to a file.
pub(crate) fn export(models: &Models, args: &Export) -> anyhow::Result<()> {
    runtime::check_distinct([&args.out], args.model.file())?;
    let model = models.find(&args.model)?;
    let bytes = model.weights(models)?;
    let weights = Weights::from_bytes(&bytes).with_context(|| format!("cannot open {model}"))?;
    let out = args.out.display();
    let kind = match args.format.unwrap_or_else(|| Format::of(&args.out)) {
        Format::Network(kind) => kind,
        Format::Onnx => {
            let network = Description::from_safetensors(&bytes).with_context(|| format!("{model} as onnx"))?;
            let file = onnx::write_for_others(&network).with_context(|| format!("{model} as onnx")).misconfigured()?;
            write(&args.out, &file)?;
            return runtime::print(format!("{model} is now {out}, onnx with opset {}: policy and value", onnx::OPSET));
        }
    };
    let positions = match &model {
        ModelSource::Id(ModelId::Trained { run, .. }) => positions(&models.run(run)?)?,
        _ => Vec::new(),
    };
    let (file, difference) = kind.write(&weights, &positions).with_context(|| format!("{model} as {kind}"))?;
    write(&args.out, &file)?;
    runtime::print(format!("{model} is now {out}, {kind}; largest differences of its output: {difference}"))?;
    if kind == FileKind::LeelaZero && !is_common(weights.shape()) {
        tracing::warn!(
            "leelaz is made for 19x19, heads of 2 and 1 planes and 256 hidden values unless it is built otherwise"
        );
    }
    Ok(())
}

/// Takes a network over: as a file of weights, or as the first model of `run`, which begins with `config` if it is new.
/// No trainer may work on the run meanwhile.
pub(crate) fn import(
    args: &Import,
    run: impl FnOnce() -> Result<Run, RunError>,
    config: &ConfigArgs,
    stop: &Stop,
) -> anyhow::Result<()> {
    runtime::check_distinct(&args.out, [&args.file])?;
    let beginning = InitialWeights::new(NamedWeights::of_file(&args.file)?)?.calibrated()?;
    match &args.out {
        Some(out) => {
            write(out, &beginning.weights.to_bytes())?;
            let shape = beginning.weights.shape();
            runtime::print(format!("{} is now {}: {shape}", args.file.display(), out.display()))
        }
        None => {
            let run = run()?;
            // Before the run begins: it would keep its configuration.
            let expected = config.peek(&run)?;
            let beginning = beginning.with_heads_of(&expected)?;
            beginning.check(&expected)?;
            refuse_begun(&run)?;
            let config = config.open(&run)?;
            let published = runtime::with_lease(&run, lease(), stop, || beginning.publish(&run, &config))?;
            let Some(metadata) = published else { return Ok(()) }; // It was stopped.
            let shape = beginning.weights.shape();
            runtime::print(format!("{} is now {}: {shape}", args.file.display(), metadata.id()))
        }
    }
}

/// The name of a file without its folder, and its contents.
pub(crate) fn read(path: &Path) -> Result<(String, Vec<u8>), TrainerError> {
    let bytes = fs::read(path).map_err(|source| TrainerError::File { path: path.to_owned(), source })?;
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes))
}

/// What leelaz reads as Leela Zero's makers and Debian built it.
fn is_common(shape: Shape) -> bool {
    let Shape { policy_planes, value_planes, value_hidden, .. } = shape;
    (shape.size.side(), policy_planes, value_planes, value_hidden) == (19, 2, 1, 256)
}

/// Some positions of the newest games of a run, if it has any. A file that cannot be read is passed over: made-up
/// positions are evaluated in any case.
fn positions(run: &Run) -> Result<Vec<Example>, StoreError> {
    let newest = run.models().newest()?.unwrap_or(0);
    let Some(file) = run.games().files_since(newest.saturating_sub(1))?.pop() else { return Ok(Vec::new()) };
    let examples = match run.examples().read(&file) {
        Err(error) if error.is_skippable() => {
            tracing::warn!(%error, "skipped a file of examples");
            return Ok(Vec::new());
        }
        examples => examples?.to_examples(),
    };
    let every = examples.len().div_ceil(POSITIONS).max(1);
    Ok(examples.into_iter().step_by(every | 1).collect())
}

/// Writes a temporary file and renames it, so that readers see it complete.
fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let put = || -> io::Result<()> {
        let bytes = if path.extension().is_some_and(|extension| extension == "gz") {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(bytes)?;
            Cow::Owned(packed.finish()?)
        } else {
            Cow::Borrowed(bytes)
        };
        runtime::write_whole(path, &bytes)
    };
    put().with_context(|| format!("cannot write {}", path.display())).misconfigured()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_file_means_a_format() {
        let weights = Format::Network(FileKind::Weights);
        for (name, format) in [
            ("net.onnx", Format::Onnx),
            ("a/b.x.onnx.gz", Format::Onnx),
            ("best.txt", Format::Network(FileKind::LeelaZero)),
            ("best.txt.gz", Format::Network(FileKind::LeelaZero)),
            ("net.safetensors", weights),
            ("net.gz", weights),
            ("onnx", weights),
        ] {
            assert_eq!(Format::of(Path::new(name)), format, "{name}");
        }
    }
}
