//! Models as files of other programs, by the code of `trainer export`.

use bytes::Bytes;
use cpu::Description;
#[cfg(feature = "torch")]
use net::{FileKind, Weights};

/// A format of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExportFormat {
    /// As it is stored.
    Weights,
    /// Batch norms folded into convolutions.
    #[cfg(feature = "torch")]
    Folded,
    /// The text of Leela Zero.
    #[cfg(feature = "torch")]
    LeelaZero,
    /// Policy and value.
    Onnx,
}

impl ExportFormat {
    /// All of them. Without libtorch a file cannot be compared with the network, and two are missing.
    #[cfg(feature = "torch")]
    pub(crate) const ALL: [ExportFormat; 4] =
        [ExportFormat::Weights, ExportFormat::Folded, ExportFormat::LeelaZero, ExportFormat::Onnx];
    /// All of them.
    #[cfg(not(feature = "torch"))]
    pub(crate) const ALL: [ExportFormat; 2] = [ExportFormat::Weights, ExportFormat::Onnx];

    /// The name of a model's file.
    pub(crate) fn file(self, run: &str, number: u32) -> String {
        let ending = match self {
            ExportFormat::Weights => ".safetensors",
            #[cfg(feature = "torch")]
            ExportFormat::Folded => "-folded.safetensors",
            #[cfg(feature = "torch")]
            ExportFormat::LeelaZero => "-leela-zero.txt",
            ExportFormat::Onnx => ".onnx",
        };
        format!("{run}-{number}{ending}")
    }

    /// Its name on a page.
    pub(crate) fn label(self) -> &'static str {
        match self {
            ExportFormat::Weights => "safetensors",
            #[cfg(feature = "torch")]
            ExportFormat::Folded => "safetensors, folded",
            #[cfg(feature = "torch")]
            ExportFormat::LeelaZero => "Leela Zero",
            ExportFormat::Onnx => "ONNX",
        }
    }

    /// What it is for.
    pub(crate) fn use_of(self) -> &'static str {
        match self {
            ExportFormat::Weights => "as stored, for Tengen and PyTorch",
            #[cfg(feature = "torch")]
            ExportFormat::Folded => "batch norms folded into convolutions",
            #[cfg(feature = "torch")]
            ExportFormat::LeelaZero => "text, for leelaz",
            ExportFormat::Onnx => "policy and value, for onnxruntime, OpenVINO and TensorRT",
        }
    }

    /// The file, from the weights as they are stored. Files of other formats are compared with the network.
    pub(crate) fn write(self, weights: Bytes) -> Result<Bytes, String> {
        match self {
            ExportFormat::Weights => Ok(weights),
            #[cfg(feature = "torch")]
            ExportFormat::Folded => converted(&weights, FileKind::Folded),
            #[cfg(feature = "torch")]
            ExportFormat::LeelaZero => converted(&weights, FileKind::LeelaZero),
            ExportFormat::Onnx => {
                let network = Description::from_safetensors(&weights).map_err(|error| error.to_string())?;
                Ok(onnx::write(&network).into())
            }
        }
    }
}

#[cfg(feature = "torch")]
fn converted(weights: &[u8], kind: FileKind) -> Result<Bytes, String> {
    let weights = Weights::from_bytes(weights).map_err(|error| error.to_string())?;
    let (file, _) = kind.write(&weights, &[]).map_err(|error| error.to_string())?;
    Ok(file.into())
}
