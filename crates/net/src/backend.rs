//! Which device, numbers and kernels a process computes with, for logs, metrics and bug reports.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use crate::cuda::folder_in_use;
use crate::device::TensorOptions;
use crate::device::{driver, has_driver, is_a_fault, open_gpu};
use crate::{Device, InstructionSet, NetError, Precision, load_cuda};

/// What networks will compute with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Backend {
    /// `cpu`, or `cuda:N`.
    pub device: String,
    /// `int16`, `f32` or `bf16`.
    pub precision: String,
    /// The instruction set that networks use on the CPU: crate `cpu`'s for inference, oneDNN's for training and bf16.
    pub instruction_set: String,
    /// The largest of the CPU by oneDNN.
    pub cpu_instruction_set: String,
    /// The version of libtorch.
    pub libtorch: String,
}

/// libtorch as this process has loaded it, and the GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Installation {
    /// Its version; `None` where the folder does not tell.
    pub version: Option<String>,
    /// The folder of its libraries.
    pub folder: Option<PathBuf>,
    /// Its CUDA library: where it is, that there is none, or why it cannot be loaded.
    pub cuda_library: String,
    /// The driver of NVIDIA's GPUs; `None` where none is loaded.
    pub driver: Option<String>,
    /// GPUs that CUDA finds.
    pub gpus: usize,
    /// Why device `auto` does not use a GPU.
    pub no_gpu: Option<String>,
    /// Whether that should not be so: CUDA or a driver is installed.
    pub fault: bool,
}

impl Backend {
    /// What inference uses when this device and this precision are asked for.
    ///
    /// # Errors
    /// A device or a precision that cannot be used.
    pub fn open(device: Device, precision: Precision) -> Result<Backend, NetError> {
        if precision == Precision::Bf16 || device.open()? != tch::Device::Cpu {
            return Backend::of_training(device, precision);
        }
        let precision = if precision == Precision::F32 { Precision::F32 } else { Precision::Int16 };
        let set = cpu::InstructionSet::best().to_string();
        Ok(Backend::new("cpu".to_owned(), precision, set))
    }

    /// What training uses.
    ///
    /// # Errors
    /// A device or a precision that cannot be used.
    pub fn of_training(device: Device, precision: Precision) -> Result<Backend, NetError> {
        let options = TensorOptions::open(device, precision)?;
        let device = match options.device {
            tch::Device::Cuda(number) => format!("cuda:{number}"),
            _ => "cpu".to_owned(),
        };
        let precision = if options.kind == tch::Kind::BFloat16 { Precision::Bf16 } else { Precision::F32 };
        Ok(Backend::new(device, precision, InstructionSet::in_use().to_string()))
    }

    fn new(device: String, precision: Precision, instruction_set: String) -> Backend {
        Backend {
            device,
            precision: precision.to_string(),
            instruction_set,
            cpu_instruction_set: InstructionSet::of_cpu().to_string(),
            libtorch: version().unwrap_or_else(|| "unknown".to_owned()),
        }
    }

    /// Logs it, as a stage does when it starts.
    pub fn log(&self, threads: usize) {
        let Backend { device, precision, instruction_set, cpu_instruction_set, libtorch } = self;
        tracing::info!(device, precision, instruction_set, cpu_instruction_set, libtorch, threads, "device");
    }

    /// The fields by name, as labels of a metric.
    pub fn labels(&self) -> [(&'static str, &str); 5] {
        [
            ("device", &self.device),
            ("precision", &self.precision),
            ("instruction_set", &self.instruction_set),
            ("cpu_instruction_set", &self.cpu_instruction_set),
            ("libtorch", &self.libtorch),
        ]
    }
}

impl Installation {
    /// Looks at what is there.
    pub fn find() -> Installation {
        let gpu = open_gpu(0);
        let cuda_library = match load_cuda() {
            Ok(crate::CudaLibrary::Loaded { path }) => format!("loaded {}", path.display()),
            Ok(crate::CudaLibrary::Absent { .. }) => "absent: this libtorch is for CPUs".to_owned(),
            Err(error) => said(&error),
        };
        Installation {
            version: version(),
            folder: folder_in_use(),
            cuda_library,
            driver: driver(),
            gpus: usize::try_from(tch::Cuda::device_count()).unwrap_or(0),
            fault: gpu.as_ref().is_err_and(|error| is_a_fault(error, has_driver())),
            no_gpu: gpu.err().map(|error| said(&error)),
        }
    }
}

fn said(error: &dyn std::error::Error) -> String {
    error.source().map_or(error.to_string(), |source| format!("{error}: {source}"))
}

/// libtorch's distributions carry a file of this name beside `lib`, and our images in it.
fn version() -> Option<String> {
    let lib = folder_in_use()?;
    let mut places = [lib.as_path(), lib.parent()?].into_iter().map(|folder| folder.join("build-version"));
    let text = places.find_map(|place| fs::read_to_string(place).ok())?;
    Some(text.trim().to_owned()).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_without_gpu_is_told_in_full() {
        let training = Backend::of_training(Device::Cpu, Precision::F32).unwrap();
        assert_eq!((training.device.as_str(), training.precision.as_str()), ("cpu", "f32"));
        assert_eq!(training.instruction_set, InstructionSet::in_use().name());
        let backend = Backend::open(Device::Cpu, Precision::Auto).unwrap();
        assert_eq!((backend.device.as_str(), backend.precision.as_str()), ("cpu", "int16"));
        assert_eq!(backend.instruction_set, cpu::InstructionSet::best().to_string());
        assert!(backend.libtorch.starts_with("2."), "{backend:?}");
        assert!(backend.labels().iter().all(|(_, value)| !value.is_empty()), "{backend:?}");
        assert!(Backend::open(Device::Cuda(1 << 20), Precision::Auto).unwrap_err().is_of_the_device());
    }

    #[test]
    fn the_installation_is_that_of_this_process() {
        let found = Installation::find();
        assert!(found.folder.is_some_and(|folder| folder.join("libtorch_cpu.so").is_file()));
        assert_eq!(found.no_gpu.is_none(), found.gpus > 0);
    }
}
