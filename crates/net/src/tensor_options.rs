//! Devices and types of numbers of libtorch.

use std::fs;
use std::path::Path;
use std::sync::{Once, OnceLock};

use tch::{Kind, Tensor};

use crate::cuda::{CudaLibrary, load_cuda};
use crate::shim::{forbid_tf32, init_cuda};
use crate::{CudaError, Device, NetError, OnednnIsa, Precision};

/// Where the driver of NVIDIA's GPUs has its version, and the device by which programs speak to it: a container may
/// have either alone.
const DRIVER: [&str; 2] = ["/proc/driver/nvidia/version", "/dev/nvidiactl"];

/// Where numbers are kept, and of which type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorOptions {
    pub(crate) device: tch::Device,
    pub(crate) kind: Kind,
}

impl TensorOptions {
    /// The type of tensors that are not rounded: weights, statistics and outputs in training.
    pub(crate) fn exact(self) -> Kind {
        if self.kind == Kind::Double { Kind::Double } else { Kind::Float }
    }

    /// Planes as a tensor of bytes on the device.
    pub(crate) fn upload(self, planes: &[u8]) -> Result<Tensor, NetError> {
        Ok(Tensor::f_from_slice(planes)?.f_to_device(self.device)?)
    }
}

impl Device {
    /// Whether crate `cpu` evaluates: on a CPU, but for bf16.
    ///
    /// # Errors
    /// The requested GPU cannot be used.
    pub(crate) fn infers_on_cpu(self, precision: Precision) -> Result<bool, NetError> {
        Ok(precision != Precision::Bf16 && self.open()? == tch::Device::Cpu)
    }

    /// The device of libtorch, ready for use.
    ///
    /// # Errors
    /// The requested GPU cannot be used.
    pub(crate) fn open(self) -> Result<tch::Device, NetError> {
        match self {
            Device::Cpu => Ok(tch::Device::Cpu),
            Device::Cuda(number) => open_gpu(number),
            Device::Auto => Ok(open_gpu(0).unwrap_or_else(|error| {
                if is_a_fault(&error, has_driver()) {
                    warn_once(&error);
                }
                tch::Device::Cpu
            })),
        }
    }
}

/// Whether a GPU that cannot be used is one that should be usable: CUDA is installed or a driver is loaded.
pub(crate) fn is_a_fault(error: &NetError, driver: bool) -> bool {
    let without_cuda = matches!(error, NetError::NoCudaLibrary { .. } | NetError::Cuda(CudaError::NoLibtorch));
    driver || !without_cuda
}

/// Whether the driver of an NVIDIA GPU is loaded.
pub(crate) fn has_driver() -> bool {
    DRIVER.iter().any(|path| Path::new(path).exists())
}

/// The first line of the driver's version file; `None` where none is loaded.
pub(crate) fn driver() -> Option<String> {
    let told = fs::read_to_string(DRIVER[0]).ok().and_then(|text| text.lines().next().map(str::to_owned));
    told.or_else(|| has_driver().then(|| "loaded, version unknown".to_owned()))
}

/// A process opens many networks, and each tries the GPU.
fn warn_once(error: &NetError) {
    static SAID: Once = Once::new();
    let error = exit_class::chain(error);
    SAID.call_once(|| tracing::warn!(%error, "the GPU cannot be used; device auto falls back to the CPU"));
}

pub(crate) fn open_gpu(number: usize) -> Result<tch::Device, NetError> {
    if let CudaLibrary::Absent { folder } = load_cuda()? {
        return Err(NetError::NoCudaLibrary { folder });
    }
    let found = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number >= found {
        let reason = if found == 0 { init_cuda().err().map(|error| first_sentence(&error)) } else { None };
        return Err(NetError::NoGpu { wanted: number, found, reason });
    }
    forbid_tf32()?;
    Ok(tch::Device::Cuda(number))
}

/// What is wrong, without the advice of libtorch's.
fn first_sentence(error: &NetError) -> String {
    let text = match error {
        NetError::Torch(message) => message.clone(),
        error => error.to_string(),
    };
    text.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned()
}

impl TensorOptions {
    /// The device and the type of number that are requested.
    ///
    /// # Errors
    /// A device that cannot be used, or bf16 on a CPU for which libtorch has no kernels of it.
    pub(crate) fn open(device: Device, precision: Precision) -> Result<TensorOptions, NetError> {
        let device = device.open()?;
        Ok(TensorOptions { device, kind: precision.kind(device)? })
    }
}

impl Precision {
    /// The type of libtorch to calculate with on a device.
    fn kind(self, device: tch::Device) -> Result<Kind, NetError> {
        let fast = device.is_cuda() || OnednnIsa::in_use() >= OnednnIsa::Avx512CoreBf16 && cpu_has_bf16();
        match self {
            Precision::F32 => Ok(Kind::Float),
            Precision::Int16 => {
                let (place, others) = ("in training and on GPUs", "auto, f32 or bf16");
                Err(NetError::NoPrecision { precision: self, place, others })
            }
            Precision::Bf16 if device.is_cuda() || cpu_has_bf16() => Ok(Kind::BFloat16),
            Precision::Bf16 => Err(NetError::NoBf16 { set: OnednnIsa::in_use() }),
            Precision::Auto => Ok(if fast { Kind::BFloat16 } else { Kind::Float }),
        }
    }
}

/// Whether oneDNN convolves bf16 on this CPU, fast or not. A convolution of one number shows it in microseconds:
/// which processors can is for oneDNN to know, and an environment variable can forbid it.
pub(crate) fn cpu_has_bf16() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    let convolve = || -> Result<Tensor, tch::TchError> {
        let one = Tensor::f_ones([1, 1, 1, 1], (Kind::BFloat16, tch::Device::Cpu))?;
        let [x, weight] = [one.f_to_mkldnn(Kind::BFloat16)?, one.f_to_mkldnn(Kind::BFloat16)?];
        x.f_conv2d(&weight, None::<Tensor>, [1, 1], [0, 0], [1, 1], 1)
    };
    *FOUND.get_or_init(|| convolve().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_is_refused_exactly_where_onednn_cannot_and_auto_never() {
        let kind = |precision: Precision| precision.kind(tch::Device::Cpu);
        assert!(kind(Precision::Auto).is_ok() && matches!(kind(Precision::F32), Ok(Kind::Float)));
        if cpu_has_bf16() {
            assert!(matches!(kind(Precision::Bf16), Ok(Kind::BFloat16)));
        } else {
            let error = kind(Precision::Bf16).unwrap_err();
            assert!(error.to_string().contains("use auto or f32"), "{error}");
            assert!(matches!(kind(Precision::Auto), Ok(Kind::Float)));
        }
        assert!(matches!(kind(Precision::Int16), Err(NetError::NoPrecision { .. })));
        // AVX2 has it where there is AVX-NE-CONVERT.
        assert!(OnednnIsa::in_use() < OnednnIsa::Avx512Core || cpu_has_bf16());
        #[cfg(target_arch = "x86_64")]
        assert!(OnednnIsa::in_use() >= OnednnIsa::Avx2 || !cpu_has_bf16());
    }

    #[test]
    fn falling_back_is_a_fault_where_there_is_something_to_fall_from() {
        let no_cuda = NetError::NoCudaLibrary { folder: "/lib".into() };
        assert!(!is_a_fault(&no_cuda, false) && is_a_fault(&no_cuda, true));
        assert!(is_a_fault(&NetError::NoGpu { wanted: 0, found: 0, reason: None }, false));
    }

    #[test]
    fn gpu_that_is_not_there_is_an_error_unless_any_device_will_do() {
        // No machine has so many.
        assert!(Device::Cuda(1 << 20).open().is_err());
        assert!(Device::Auto.open().is_ok());
    }
}
