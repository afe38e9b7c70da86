//! libtorch and the GPU as a process finds them, for bug reports.

use std::fs;
use std::path::PathBuf;

use exit_class::chain;
use serde::Serialize;

use crate::cuda::{CudaLibrary, folder_in_use, load_cuda};
use crate::tensor_options::{driver, has_driver, is_a_fault, open_gpu};

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

impl Installation {
    /// Checks the installation.
    pub fn find() -> Installation {
        let gpu = open_gpu(0);
        let cuda_library = match load_cuda() {
            Ok(CudaLibrary::Loaded { path }) => format!("loaded {}", path.display()),
            Ok(CudaLibrary::Absent { .. }) => "absent: this libtorch is for CPUs".to_owned(),
            Err(error) => chain(&error),
        };
        Installation {
            version: version(),
            folder: folder_in_use(),
            cuda_library,
            driver: driver(),
            gpus: usize::try_from(tch::Cuda::device_count()).unwrap_or(0),
            fault: gpu.as_ref().is_err_and(|error| is_a_fault(error, has_driver())),
            no_gpu: gpu.err().map(|error| chain(&error)),
        }
    }
}

/// libtorch's distributions carry a file of this name beside `lib`, our images in it, and `scripts/setup-libtorch
/// --gpu` a folder further up.
pub(crate) fn version() -> Option<String> {
    let lib = folder_in_use()?;
    let mut places = lib.ancestors().take(3).map(|folder| folder.join("build-version"));
    let text = places.find_map(|place| fs::read_to_string(place).ok())?;
    Some(text.trim().to_owned()).filter(|version| !version.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installation_is_that_of_this_process() {
        let found = Installation::find();
        assert!(found.folder.is_some_and(|folder| folder.join("libtorch_cpu.so").is_file()));
        assert_eq!(found.no_gpu.is_none(), found.gpus > 0);
    }
}
