//! One binary for machines with and without a GPU.
//!
//! The binaries are linked against the CPU libraries of libtorch. Its CUDA half registers itself when it is loaded,
//! so a GPU is put to use by loading `libtorch_cuda.so` at start, where it lies beside the `libtorch_cpu.so` that
//! this process runs with. That folder may be another one than at build time: the run path decides at start.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

/// The library that every binary is linked against.
const CPU_LIBRARY: &str = "libtorch_cpu.so";
/// The library that adds GPUs to it.
const CUDA_LIBRARY: &str = "libtorch_cuda.so";
/// The files that this process has in memory, one line for each mapped part (proc(5)).
const MAPS: &str = "/proc/self/maps";

/// What [`load_cuda`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CudaLibrary {
    /// This libtorch is for CPUs only.
    Absent {
        /// The folder of libtorch, where no CUDA library lies.
        folder: PathBuf,
    },
    /// The CUDA library is in memory. A GPU with a driver may still be missing: `tch::Cuda::is_available` says so.
    Loaded {
        /// The CUDA library.
        path: PathBuf,
    },
}

/// Why CUDA could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum CudaError {
    /// The list of loaded libraries could not be read.
    #[error("cannot read {MAPS} to find the folder of libtorch")]
    Maps(#[source] io::Error),
    /// This process runs without `libtorch_cpu.so`, as with a static libtorch.
    #[error("{CPU_LIBRARY} is not loaded, so the folder of {CUDA_LIBRARY} is unknown")]
    NoLibtorch,
    /// The CUDA library is there, and one of the libraries it needs is not, or is of another version.
    #[error("cannot load {}", path.display())]
    Load {
        /// The CUDA library.
        path: PathBuf,
        /// The error of the dynamic linker.
        #[source]
        source: libloading::Error,
    },
}

/// Loads the CUDA half of libtorch, if this machine's libtorch has one.
///
/// It comes before all that asks `tch` for GPUs: libtorch queries CUDA at first use and caches the result. A second
/// call finds the library loaded and does no harm. It costs a second or so where the library exists, so it is left out
/// when the device is the CPU.
///
/// # Errors
/// The CUDA library exists and cannot be loaded, or the folder of libtorch cannot be found. A libtorch without a CUDA
/// library is no error.
pub(crate) fn load_cuda() -> Result<CudaLibrary, CudaError> {
    let maps = fs::read_to_string(MAPS).map_err(CudaError::Maps)?;
    load_from(libtorch_folder(&maps).ok_or(CudaError::NoLibtorch)?)
}

/// The folder of the libtorch that this process runs with.
pub(crate) fn folder_in_use() -> Option<PathBuf> {
    libtorch_folder(&fs::read_to_string(MAPS).ok()?).map(Path::to_path_buf)
}

/// The folder of the `libtorch_cpu.so` listed in `maps`. A line is five fields, then spaces, then a path that may
/// itself hold spaces.
fn libtorch_folder(maps: &str) -> Option<&Path> {
    maps.lines()
        .filter_map(|line| line.find('/').map(|start| Path::new(&line[start..])))
        .find(|path| path.file_name().is_some_and(|name| name == CPU_LIBRARY))
        .and_then(Path::parent)
}

fn load_from(folder: &Path) -> Result<CudaLibrary, CudaError> {
    let path = folder.join(CUDA_LIBRARY);
    if !path.exists() {
        return Ok(CudaLibrary::Absent { folder: folder.to_path_buf() });
    }
    open_for_good(&path).map_err(|source| CudaError::Load { path: path.clone(), source })?;
    Ok(CudaLibrary::Loaded { path })
}

/// Loads a library with its symbols visible to all, now and not lazily, so that missing symbols are found here.
#[expect(unsafe_code, reason = "loading a library runs its initialisers, which the compiler cannot check")]
fn open_for_good(path: &Path) -> Result<(), libloading::Error> {
    // SAFETY: the initialisers are those of the libtorch that this process already runs with; they register kernels
    // and may run from any thread. Nothing of the library is called through the handle.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }?;
    // libtorch keeps pointers into the library, so it must never be unloaded.
    std::mem::forget(library);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Makes the linker keep libtorch, as any use of it does.
    fn use_libtorch() {
        assert_eq!(i64::try_from(tch::Tensor::from(1.0f32)).expect("one number"), 1);
    }

    #[test]
    fn folder_is_read_from_the_memory_map() {
        let maps = "55d0c0000000-55d0c0001000 r--p 00000000 fe:00 11 /usr/bin/tengen\n\
                    7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n\
                    7f0000001000-7f0000002000 r--p 00000000 fe:00 12 /opt/my torch/lib/libtorch_cpu.so\n\
                    7f0000002000-7f0000003000 r--p 00000000 fe:00 13 /elsewhere/libtorch_cpu.so\n";
        assert_eq!(libtorch_folder(maps), Some(Path::new("/opt/my torch/lib")));
    }

    #[test]
    fn process_without_libtorch_has_no_folder() {
        let maps = "55d0c0000000-55d0c0001000 r--p 00000000 fe:00 11 /usr/lib/not-libtorch_cpu.so\n\
                    7ffc00000000-7ffc00001000 rw-p 00000000 00:00 0 [stack]\n";
        assert_eq!(libtorch_folder(maps), None);
    }

    #[test]
    fn folder_of_this_process_holds_libtorch() {
        use_libtorch();
        let maps = fs::read_to_string(MAPS).expect("Linux lists what is mapped");
        let folder = libtorch_folder(&maps).expect("libtorch is mapped");
        assert!(folder.join(CPU_LIBRARY).is_file());
    }

    #[test]
    fn libtorch_without_cuda_is_no_error() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let found = load_from(folder.path()).expect("nothing to load");
        assert_eq!(found, CudaLibrary::Absent { folder: folder.path().to_path_buf() });
    }

    #[test]
    fn library_that_lies_there_is_loaded_once_or_twice() {
        use_libtorch();
        let maps = fs::read_to_string(MAPS).expect("Linux lists what is mapped");
        let library = libtorch_folder(&maps).expect("libtorch is mapped").join("libc10.so");
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join(CUDA_LIBRARY);
        symlink(library, &path).expect("link");
        for _ in 0..2 {
            let found = load_from(folder.path()).expect("a library that loads");
            assert_eq!(found, CudaLibrary::Loaded { path: path.clone() });
        }
    }

    #[test]
    fn broken_library_is_named() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join(CUDA_LIBRARY);
        fs::write(&path, "not a library").expect("write");
        let error = load_from(folder.path()).expect_err("no library");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
}
