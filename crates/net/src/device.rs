//! Where a network runs, and with which numbers.

use std::fmt;
use std::str::FromStr;

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

/// Where the batches of a network are evaluated: on a device, or on several GPUs that share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Devices(Vec<Device>);

/// The numbers a network computes with. Weights are kept as f32 everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// For inference int16 on a CPU and bf16 on a GPU. For training bf16 on a GPU, and on a CPU with AVX512_BF16: with
    /// AMX it is faster than f32, without AMX it was slower on a processor of Intel
    /// (`experiments/0114-training-with-winograd`).
    #[default]
    Auto,
    /// 16-bit integers inside of convolutions, f32 elsewhere, by crate `cpu`: the same bits on every x86-64 CPU. Not
    /// for training.
    Int16,
    /// 32-bit floats. Inference on a CPU is by crate `cpu`: the same bits on every x86-64 CPU.
    F32,
    /// 16-bit floats with the range of f32 and 8 bits of precision, summed up in f32, by libtorch.
    Bf16,
}

/// Text that names no device, precision or kind of file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}\"{text}\" is none of {known}")]
pub struct UnknownName {
    /// `device `, which an option is not always there to say; nothing for others.
    what: &'static str,
    text: String,
    known: &'static str,
}

impl UnknownName {
    pub(crate) fn new(text: &str, known: &'static str) -> UnknownName {
        UnknownName { what: "", text: text.to_owned(), known }
    }

    fn device(text: &str, known: &'static str) -> UnknownName {
        UnknownName { what: "device ", ..UnknownName::new(text, known) }
    }
}

impl Device {
    /// Whether it is a GPU that works. Networks are opened on it, which says what is wrong where one does not.
    pub fn is_gpu(self) -> bool {
        #[cfg(feature = "torch")]
        return self.open().is_ok_and(tch::Device::is_cuda);
        #[cfg(not(feature = "torch"))]
        false
    }
}

impl FromStr for Device {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Device, UnknownName> {
        let unknown = || UnknownName::device(text, "auto, cpu, cuda, cuda:N");
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

impl Devices {
    /// The only one, or the first.
    pub fn first(&self) -> Device {
        self.0.first().copied().unwrap_or(Device::Auto)
    }

    /// All of them, at least one.
    pub fn all(&self) -> &[Device] {
        &self.0
    }
}

impl From<Device> for Devices {
    fn from(device: Device) -> Devices {
        Devices(vec![device])
    }
}

impl FromStr for Devices {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Devices, UnknownName> {
        const KNOWN: &str = "auto, cpu, cuda, cuda:N, cuda:N,cuda:M,...";
        let devices: Result<Vec<Device>, UnknownName> = text.split(',').map(|one| one.trim().parse()).collect();
        let devices = devices.map_err(|_| UnknownName::device(text, KNOWN))?;
        let is_new_gpu =
            |place: usize| matches!(devices[place], Device::Cuda(_)) && !devices[..place].contains(&devices[place]);
        let is_fine = devices.len() == 1 || (0..devices.len()).all(is_new_gpu);
        if is_fine { Ok(Devices(devices)) } else { Err(UnknownName::device(text, KNOWN)) }
    }
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Device::to_string).collect::<Vec<_>>().join(","))
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
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Precision, UnknownName> {
        match text {
            "auto" => Ok(Precision::Auto),
            "int16" => Ok(Precision::Int16),
            "f32" => Ok(Precision::F32),
            "bf16" => Ok(Precision::Bf16),
            _ => Err(UnknownName::new(text, "auto, int16, f32, bf16")),
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Precision::Auto => "auto",
            Precision::Int16 => "int16",
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
        for text in ["auto", "int16", "f32", "bf16"] {
            assert_eq!(text.parse::<Precision>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn several_gpus_are_devices_and_nothing_else_is() {
        for text in ["auto", "cpu", "cuda:1", "cuda:0,cuda:1", "cuda:3,cuda:0,cuda:1"] {
            assert_eq!(text.parse::<Devices>().unwrap().to_string(), text);
        }
        let two: Devices = "cuda, cuda:2".parse().unwrap();
        assert_eq!((two.first(), two.all()), (Device::Cuda(0), &[Device::Cuda(0), Device::Cuda(2)][..]));
        for text in ["", "cuda:0,", "cuda:0,cuda:0", "cuda:0,cpu", "auto,cuda:1", "cuda:0;cuda:1"] {
            assert!(text.parse::<Devices>().is_err(), "{text}");
        }
    }

    #[test]
    fn unknown_device_error_lists_known_ones() {
        let error = "cuda:x".parse::<Device>().unwrap_err();
        assert_eq!(error.to_string(), "device \"cuda:x\" is none of auto, cpu, cuda, cuda:N");
        assert!("f16".parse::<Precision>().unwrap_err().to_string().contains("bf16"));
    }
}
