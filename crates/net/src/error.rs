//! What can go wrong with a network.

use std::path::PathBuf;

use exit_class::{Classified, ExitClass};
use go::{Size, SizeError};
use mcts::EvaluateError;
use record::ExampleError;

#[cfg(feature = "torch")]
use crate::CudaError;
use crate::{Difference, KEY, OnednnIsa, Precision, Shape};

/// A network that cannot be opened, evaluated or trained.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// Bytes that are no safetensors file, or not all of one.
    #[error("not a whole safetensors file: {0}")]
    NotSafetensors(String),
    /// A safetensors file of another program.
    #[error("the safetensors file lacks the metadata key \"{KEY}\"; use a file of `trainer export`")]
    NoHeader,
    /// Metadata that cannot be read.
    #[error("metadata \"{KEY}\" of the safetensors file: {problem}")]
    Header {
        /// The problem with it.
        problem: String,
    },
    /// A file of another kind, or of a version this program does not know.
    #[error("the file is \"{found}\", expected \"{expected}\"")]
    Version {
        /// What this program reads.
        expected: &'static str,
        /// The kind that the file declares.
        found: String,
    },
    /// A network of another shape than the one requested.
    #[error("the network is {found}, expected {expected}")]
    OtherShape {
        /// The shape requested.
        expected: Box<Shape>,
        /// The shape in the file.
        found: Box<Shape>,
    },
    /// A network that cannot become the one requested by growing.
    #[error(
        "the network is {found}, which does not grow to {expected}: only blocks and filters can become more, and features tactics"
    )]
    NotGrown {
        /// The shape requested.
        expected: Box<Shape>,
        /// The shape in the file.
        found: Box<Shape>,
    },
    /// A tensor that every network of this shape has.
    #[error("tensor {tensor} is missing")]
    MissingTensor {
        /// Its name.
        tensor: String,
    },
    /// A tensor that no network of this shape has.
    #[error("tensor {tensor} does not belong to a network of {shape}")]
    UnknownTensor {
        /// Its name.
        tensor: String,
        /// The shape that the file states.
        shape: Box<Shape>,
    },
    /// Numbers of another type.
    #[error("tensor {tensor} holds {found}, expected F32")]
    TensorType {
        /// Its name.
        tensor: String,
        /// The type in the file.
        found: String,
    },
    /// A tensor with other dimensions than the network's shape requires.
    #[error("tensor {tensor} has dimensions {found:?}, expected {expected:?}")]
    Dimensions {
        /// Its name.
        tensor: String,
        /// The value that the shape of the network requires.
        expected: Vec<usize>,
        /// The value in the file.
        found: Vec<usize>,
    },
    /// A number that no trained network has: not finite, or a negative variance.
    #[error("tensor {tensor}: number {index} is {value}")]
    BadNumber {
        /// Name of the tensor.
        tensor: String,
        /// Index of the number in the tensor, from 0.
        index: usize,
        /// The number.
        value: f32,
    },
    /// A checkpoint of another configuration.
    #[error(
        "the checkpoint was made with configuration {found}, this is configuration {expected}; resume with the former"
    )]
    OtherConfig {
        /// Digest of the configuration in force.
        expected: String,
        /// Digest in the checkpoint.
        found: String,
    },
    /// A position on a board on which the network cannot play.
    #[error("a position on {found}x{found} for a network of {expected}x{expected}")]
    OtherBoard {
        /// The network's board.
        expected: Size,
        /// The position's.
        found: Size,
    },
    /// A board that does not exist.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// An example that cannot be evaluated or trained on.
    #[error(transparent)]
    Example(#[from] ExampleError),
    /// No examples for training or evaluation.
    #[error("no examples for training or evaluation")]
    NoExamples,
    /// Training went astray.
    #[error("step {step}: the loss is {loss}; lower train.learning_rate, or bound gradients by train.clip_norm")]
    Diverged {
        /// The optimiser step, from 0.
        step: u64,
        /// The loss that is no number.
        loss: f32,
    },
    /// An output of the network is not a number.
    #[error("the network output for position {row} of the batch is not a number")]
    BadAnswer {
        /// Index in the batch, from 0.
        row: usize,
    },
    /// No GPU can be used, for libtorch is the one for CPUs.
    #[error("no GPU can be used: {} holds no libtorch_cuda.so", folder.display())]
    NoCudaLibrary {
        /// The folder of libtorch.
        folder: PathBuf,
    },
    /// CUDA was found and cannot be used.
    #[cfg(feature = "torch")]
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// There is no such GPU.
    #[error("there is no GPU {wanted}: CUDA finds {found}{}", reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default())]
    NoGpu {
        /// Number of the GPU, from 0.
        wanted: usize,
        /// How many GPUs there are.
        found: usize,
        /// Why CUDA finds none, in its words.
        reason: Option<String>,
    },
    /// The CPU has no bf16 kernels.
    #[error(
        "precision bf16 cannot be used: oneDNN has no bf16 kernels for {set}, it needs AVX-512 (F, BW, VL, DQ) or AVX-NE-CONVERT; use auto or f32"
    )]
    NoBf16 {
        /// The instruction set in use.
        set: OnednnIsa,
    },
    /// Numbers that this place cannot compute with.
    #[error("precision {precision} cannot be used {place}; use {others}")]
    NoPrecision {
        /// The precision requested.
        precision: Precision,
        /// Where.
        place: &'static str,
        /// Those that can be used there.
        others: &'static str,
    },
    /// A program without libtorch lacks what only libtorch does.
    #[error("this program is built without libtorch, which GPUs and bf16 need; use device auto or cpu")]
    NoTorch,
    /// A network that crate `cpu` cannot evaluate.
    #[error(transparent)]
    Cpu(#[from] cpu::CpuError),
    /// A file of Leela Zero's that cannot be used.
    #[error("line {line}: {problem}")]
    LeelaZero {
        /// The line, from 1.
        line: usize,
        /// The problem with it.
        problem: String,
    },
    /// A file of no kind that is known.
    #[error("neither safetensors nor ONNX nor text of Leela Zero's, which begins with its version")]
    UnknownFile,
    /// An ONNX file, which crate `onnx` reads.
    #[error("an ONNX file cannot be used here; make weights of it with `trainer import FILE --out NAME.safetensors`")]
    Onnx,
    /// A gzipped file that cannot be unpacked.
    #[error("{0}")]
    NotGzip(String),
    /// A network of another architecture than Leela Zero's.
    #[error(
        "Leela Zero's format has no place for {}; it takes history planes, a dense policy, a tanh value, and neither pooling nor squeeze-and-excitation; use another format, such as onnx",
        keys.join(", ")
    )]
    NoPlace {
        /// The keys of the configuration whose choices it does not know.
        keys: Vec<&'static str>,
    },
    /// Numbers that are not those the file was made with.
    #[error("hash of the tensors: {found}, expected {expected}")]
    OtherDigest {
        /// The SHA-256 in the file.
        expected: String,
        /// The SHA-256 of its tensors.
        found: String,
    },
    /// A file that does not play as the network does.
    #[error("the outputs of the file and the network differ by {difference}")]
    Differs {
        /// By how much.
        difference: Difference,
    },
    /// An evaluator that is no device of this machine failed.
    #[error(transparent)]
    Evaluator(#[from] EvaluateError),
    /// The memory of the device does not hold the activations of a batch.
    #[error("the memory of the device does not hold a batch of {batch} positions; {}", advice(*fits))]
    OutOfMemory {
        /// Positions of the batch.
        batch: usize,
        /// Positions of a batch that was tried and fits, if one does.
        fits: Option<usize>,
    },
    /// libtorch refused, as when memory runs out.
    #[error("libtorch: {0}")]
    Torch(String),
}

/// What is to blame for an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device: it failed, or computed what is no number.
    Device,
    /// The device or the precision that was requested, which cannot be used here.
    Place,
    /// The memory of the device; it may suffice for other networks and batches.
    Memory,
    /// Weights, or the file that they are in.
    Weights,
    /// What the network was to evaluate or to be trained on.
    Input,
}

impl NetError {
    /// What is to blame.
    pub fn fault(&self) -> Fault {
        match self {
            NetError::Torch(_) | NetError::BadAnswer { .. } | NetError::Evaluator(_) => Fault::Device,
            NetError::NoCudaLibrary { .. }
            | NetError::NoGpu { .. }
            | NetError::NoBf16 { .. }
            | NetError::NoPrecision { .. }
            | NetError::NoTorch => Fault::Place,
            #[cfg(feature = "torch")]
            NetError::Cuda(_) => Fault::Place,
            NetError::OutOfMemory { .. } => Fault::Memory,
            NetError::NotSafetensors(_)
            | NetError::NoHeader
            | NetError::Header { .. }
            | NetError::Version { .. }
            | NetError::OtherShape { .. }
            | NetError::NotGrown { .. }
            | NetError::MissingTensor { .. }
            | NetError::UnknownTensor { .. }
            | NetError::TensorType { .. }
            | NetError::Dimensions { .. }
            | NetError::BadNumber { .. }
            | NetError::OtherConfig { .. }
            | NetError::Size(_)
            | NetError::Diverged { .. }
            | NetError::Cpu(_)
            | NetError::LeelaZero { .. }
            | NetError::UnknownFile
            | NetError::Onnx
            | NetError::NotGzip(_)
            | NetError::NoPlace { .. }
            | NetError::OtherDigest { .. }
            | NetError::Differs { .. } => Fault::Weights,
            NetError::OtherBoard { .. } | NetError::Example(_) | NetError::NoExamples => Fault::Input,
        }
    }

    /// Whether the device or the precision that was requested cannot be used, which the operator can mend; files are
    /// not to blame.
    pub fn is_of_the_device(&self) -> bool {
        matches!(self.fault(), Fault::Place | Fault::Memory)
    }
}

impl Classified for NetError {
    fn class(&self) -> ExitClass {
        match self {
            NetError::NoCudaLibrary { .. }
            | NetError::NoBf16 { .. }
            | NetError::NoPrecision { .. }
            | NetError::NoTorch
            | NetError::NoPlace { .. }
            | NetError::Onnx => ExitClass::Configuration,
            // A GPU that is absent, broken or full may be that of one machine, and a restart on another one helps.
            _ => ExitClass::Failure,
        }
    }
}

/// What to do when memory runs out.
fn advice(fits: Option<usize>) -> String {
    match fits {
        Some(fits) => format!("batches of {fits} fit (keys selfplay.batch and evaluate.batch, or option --batch)"),
        None => "not even one does, so choose a smaller network or another device".to_owned(),
    }
}

#[cfg(feature = "torch")]
impl NetError {
    /// The message of libtorch without its own stack trace, from an error of `tch` or from its panic with one.
    pub(crate) fn of_libtorch(text: &str) -> NetError {
        let inner = text.strip_prefix("called `Result::unwrap()` on an `Err` value: Torch(\"");
        let text = inner.map_or(text, |inner| inner.strip_suffix("\")").unwrap_or(inner));
        // A panic has the error as code, in which a new line is two characters.
        let ends = ["\n", "\\n"].map(|line| text.find(&format!("{line}Exception raised from")));
        let text = text[..ends.into_iter().flatten().min().unwrap_or(text.len())].trim();
        // The sentences after it are about the allocator of libtorch.
        match text.split_once("out of memory.") {
            Some((before, after)) => {
                let wanted = after.split_once(". ").map_or(after, |(wanted, _)| wanted);
                NetError::Torch(format!("{before}out of memory.{wanted}; smaller batches need less"))
            }
            None => NetError::Torch(text.to_owned()),
        }
    }
}

#[cfg(feature = "torch")]
impl From<tch::TchError> for NetError {
    fn from(error: tch::TchError) -> NetError {
        NetError::of_libtorch(&error.to_string())
    }
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use super::*;

    /// As libtorch wrote it on an H200, without most of its frames.
    const OUT_OF_MEMORY: &str = "CUDA out of memory. Tried to allocate 45.12 GiB. GPU 0 has a total capacity of 139.80 GiB \
        of which 3.72 GiB is free. Including non-PyTorch memory, this process has 136.07 GiB memory in use. If reserved \
        but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid \
        fragmentation.\nException raised from malloc at /pytorch/c10/cuda/CUDACachingAllocator.cpp:1574 (most recent \
        call first):\nframe #0: c10::Error::Error(c10::SourceLocation) + 0x9d (0x7f8c8bf5305d in libc10.so)\n";
    const FAILURE: &str = "CUDA error: an illegal memory access was encountered\nException raised from c10_cuda_check \
        at /pytorch/c10/cuda/CUDAException.cpp:43 (most recent call first):\nframe #0: <unknown function> + 0x4434a\n";

    #[test]
    fn messages_of_libtorch_lose_frames_and_advice_on_its_allocator() {
        for (text, expected) in [
            (OUT_OF_MEMORY, "libtorch: CUDA out of memory. Tried to allocate 45.12 GiB; smaller batches need less"),
            (FAILURE, "libtorch: CUDA error: an illegal memory access was encountered"),
            ("no graphs", "libtorch: no graphs"),
        ] {
            assert_eq!(NetError::of_libtorch(text).to_string(), expected);
            let panic = format!("called `Result::unwrap()` on an `Err` value: Torch({text:?})");
            assert_eq!(NetError::of_libtorch(&panic).to_string(), expected);
        }
    }
}
