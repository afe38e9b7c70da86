//! Models as files of other programs, by the code of `trainer export`.

use bytes::Bytes;
use cpu::Description;
use net::Shape;
#[cfg(feature = "torch")]
use net::{FileKind, Weights};
use store::ModelMetadata;

/// A format of files.
pub(crate) struct ExportFormat {
    /// What follows the name of the model in the name of its file.
    ending: &'static str,
    /// Its name on a page.
    pub(crate) label: &'static str,
    /// What it is for.
    pub(crate) purpose: &'static str,
    /// Whether it can hold a network.
    pub(crate) holds: fn(Shape) -> bool,
    /// The file, from the weights as they are stored. Files of other formats are compared with the network.
    pub(crate) write: fn(Bytes) -> Result<Bytes, String>,
}

/// All of them. Without libtorch a file cannot be compared with the network, and two are missing.
pub(crate) const FORMATS: &[ExportFormat] = &[
    ExportFormat {
        ending: ".safetensors",
        label: "safetensors",
        purpose: "as stored, for Tengen and PyTorch",
        holds: |_| true,
        write: Ok,
    },
    #[cfg(feature = "torch")]
    ExportFormat {
        ending: "-folded.safetensors",
        label: "safetensors, folded",
        purpose: "batch norms folded into convolutions",
        holds: |shape| FileKind::Folded.holds(shape),
        write: |weights| converted(&weights, FileKind::Folded),
    },
    #[cfg(feature = "torch")]
    ExportFormat {
        ending: "-leela-zero.txt",
        label: "Leela Zero",
        purpose: "text, for leelaz",
        holds: |shape| FileKind::LeelaZero.holds(shape),
        write: |weights| converted(&weights, FileKind::LeelaZero),
    },
    ExportFormat {
        ending: ".onnx",
        label: "ONNX",
        purpose: "policy and value, for onnxruntime, OpenVINO and TensorRT",
        // 2 GiB at most, of f32.
        holds: |shape| shape.in_play().parameters() < 1 << 29,
        write: |weights| {
            let network = Description::from_safetensors(&weights).map_err(|error| error.to_string())?;
            Ok(onnx::write_for_others(&network).map_err(|error| error.to_string())?.into())
        },
    },
];

impl ExportFormat {
    /// The name of a model's file.
    pub(crate) fn file(&self, run: &str, number: u32) -> String {
        format!("{run}-{number}{}", self.ending)
    }
}

/// The shape of a model's network.
pub(crate) fn shape(metadata: &ModelMetadata) -> Result<Shape, String> {
    models::shape_of(metadata).map_err(|error| error.to_string())
}

#[cfg(feature = "torch")]
fn converted(weights: &[u8], kind: FileKind) -> Result<Bytes, String> {
    let weights = Weights::from_bytes(weights).map_err(|error| error.to_string())?;
    let (file, _) = kind.write(&weights, &[]).map_err(|error| error.to_string())?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;

    #[test]
    fn networks_above_two_gib_have_no_onnx_file() {
        let onnx = FORMATS.iter().find(|format| format.label == "ONNX").unwrap();
        let shape = Shape { blocks: 20, filters: 1024, ..Shape::plain(Size::new(19).unwrap()) };
        assert!((onnx.holds)(shape));
        assert!(!(onnx.holds)(Shape { blocks: 40, ..shape }));
    }
}
