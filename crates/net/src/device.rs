//! Where a network runs, and with which numbers.

use std::fmt;
use std::str::FromStr;

use crate::{CudaLibrary, NetError, load_cuda};

/// Where a network runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The first GPU if there is one that works, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// The GPU with this number, from 0.
    Cuda(usize),
}

/// The numbers a network calculates with. Weights are kept as f32 everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// bf16 where the device multiplies it faster than f32: on a GPU, and on a CPU with AVX512_BF16.
    #[default]
    Auto,
    /// 32-bit floats.
    F32,
    /// 16-bit floats with the range of f32 and 8 bits of precision, summed up in f32.
    Bf16,
}

/// Text that names no device, precision or kind of file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is none of {known}")]
pub struct UnknownPlace {
    text: String,
    known: &'static str,
}

impl UnknownPlace {
    pub(crate) fn new(text: &str, known: &'static str) -> UnknownPlace {
        UnknownPlace { text: text.to_owned(), known }
    }
}

impl Device {
    /// The device of libtorch, ready for use.
    ///
    /// # Errors
    /// A GPU is asked for and cannot be used.
    pub(crate) fn open(self) -> Result<tch::Device, NetError> {
        match self {
            Device::Cpu => Ok(tch::Device::Cpu),
            Device::Cuda(number) => open_gpu(number),
            // Any trouble with the GPU means that there is none to be used.
            Device::Auto => Ok(open_gpu(0).unwrap_or(tch::Device::Cpu)),
        }
    }
}

fn open_gpu(number: usize) -> Result<tch::Device, NetError> {
    if let CudaLibrary::Absent { folder } = load_cuda()? {
        return Err(NetError::NoCudaLibrary { folder });
    }
    let found = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if number < found { Ok(tch::Device::Cuda(number)) } else { Err(NetError::NoGpu { wanted: number, found }) }
}

impl Precision {
    /// The type of libtorch to calculate with on a device.
    pub(crate) fn kind(self, device: tch::Device) -> tch::Kind {
        match self {
            Precision::F32 => tch::Kind::Float,
            Precision::Bf16 => tch::Kind::BFloat16,
            Precision::Auto if device.is_cuda() || cpu_multiplies_bf16() => tch::Kind::BFloat16,
            Precision::Auto => tch::Kind::Float,
        }
    }
}

fn cpu_multiplies_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl FromStr for Device {
    type Err = UnknownPlace;

    fn from_str(text: &str) -> Result<Device, UnknownPlace> {
        let unknown = || UnknownPlace { text: text.to_owned(), known: "auto, cpu, cuda, cuda:N" };
        match text {
            "auto" => Ok(Device::Auto),
            "cpu" => Ok(Device::Cpu),
            "cuda" => Ok(Device::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                number.map(Device::Cuda).ok_or_else(unknown)
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Auto => f.write_str("auto"),
            Device::Cpu => f.write_str("cpu"),
            Device::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl FromStr for Precision {
    type Err = UnknownPlace;

    fn from_str(text: &str) -> Result<Precision, UnknownPlace> {
        match text {
            "auto" => Ok(Precision::Auto),
            "f32" => Ok(Precision::F32),
            "bf16" => Ok(Precision::Bf16),
            _ => Err(UnknownPlace { text: text.to_owned(), known: "auto, f32, bf16" }),
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Auto => "auto",
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_precisions_read_and_print() {
        for text in ["auto", "cpu", "cuda:0", "cuda:7"] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for text in ["auto", "f32", "bf16"] {
            assert_eq!(text.parse::<Precision>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_unknown_is_named_with_what_is_known() {
        let error = "cuda:x".parse::<Device>().unwrap_err();
        assert_eq!(error.to_string(), "\"cuda:x\" is none of auto, cpu, cuda, cuda:N");
        assert!("f16".parse::<Precision>().unwrap_err().to_string().contains("bf16"));
    }

    #[test]
    fn a_gpu_that_is_not_there_is_an_error_unless_any_device_will_do() {
        // No machine has so many.
        assert!(Device::Cuda(1 << 20).open().is_err());
        assert!(Device::Auto.open().is_ok());
    }
}
