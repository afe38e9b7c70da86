//! Which device, numbers and kernels a process computes with, for logs, metrics and bug reports.

use serde::Serialize;

use crate::{Device, Devices, NetError, OnednnIsa, Precision, of_inference};
#[cfg(feature = "torch")]
use crate::{installation::version, tensor_options::TensorOptions};

/// What networks will compute with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Backend {
    /// `cpu`, `cuda:N`, or several of these with commas.
    pub device: String,
    /// `int16`, `f32` or `bf16`.
    pub precision: String,
    /// The instruction set that networks use on the CPU: crate `cpu`'s; oneDNN's for bf16, and for training where crate
    /// `cpu` has no loops for it.
    pub instruction_set: String,
    /// The largest of the CPU by oneDNN.
    pub cpu_instruction_set: String,
    /// The version of libtorch, or `none`.
    pub libtorch: String,
}

impl Backend {
    /// What inference uses when this device and this precision are requested.
    ///
    /// # Errors
    /// A device or a precision that cannot be used.
    pub fn open(device: Device, precision: Precision) -> Result<Backend, NetError> {
        if !device.infers_on_cpu(precision)? {
            return Backend::of_training(device, precision);
        }
        let precision = if precision == Precision::F32 { Precision::F32 } else { Precision::Int16 };
        let set = of_inference().to_string();
        Ok(Backend::new("cpu".to_owned(), precision, set))
    }

    /// The same for devices that share the work. All are tried.
    ///
    /// # Errors
    /// A device or a precision that cannot be used.
    pub fn open_all(devices: &Devices, precision: Precision) -> Result<Backend, NetError> {
        let opened = devices.all().iter().map(|&device| Backend::open(device, precision));
        let mut opened = opened.collect::<Result<Vec<Backend>, NetError>>()?.into_iter();
        let first = opened.next().ok_or(NetError::NoGpu { wanted: 0, found: 0, reason: None })?;
        let device = opened.fold(first.device.clone(), |device, other| format!("{device},{}", other.device));
        Ok(Backend { device, ..first })
    }

    /// What training uses.
    ///
    /// # Errors
    /// A device or a precision that cannot be used.
    #[cfg(feature = "torch")]
    pub fn of_training(device: Device, precision: Precision) -> Result<Backend, NetError> {
        let options = TensorOptions::open(device, precision)?;
        let device = match options.device {
            tch::Device::Cuda(number) => format!("cuda:{number}"),
            _ => "cpu".to_owned(),
        };
        let precision = if options.kind == tch::Kind::BFloat16 { Precision::Bf16 } else { Precision::F32 };
        let has_loops = options.device == tch::Device::Cpu && of_inference() > cpu::InstructionSet::Portable;
        let by_crate_cpu = precision == Precision::F32 && has_loops;
        let set = if by_crate_cpu { of_inference().to_string() } else { OnednnIsa::in_use().to_string() };
        Ok(Backend::new(device, precision, set))
    }

    #[cfg(not(feature = "torch"))]
    fn of_training(_: Device, _: Precision) -> Result<Backend, NetError> {
        Err(NetError::NoTorch)
    }

    fn new(device: String, precision: Precision, instruction_set: String) -> Backend {
        #[cfg(feature = "torch")]
        let libtorch = version().unwrap_or_else(|| "unknown".to_owned());
        #[cfg(not(feature = "torch"))]
        let libtorch = "none".to_owned();
        Backend {
            device,
            precision: precision.to_string(),
            instruction_set,
            cpu_instruction_set: OnednnIsa::of_cpu().to_string(),
            libtorch,
        }
    }

    /// Whether it is a CPU.
    pub fn is_cpu(&self) -> bool {
        self.device == "cpu"
    }

    /// What outputs of a network depend on beside its weights: the precision, and whether it is a GPU, which sums up in
    /// another order.
    pub fn arithmetic(&self) -> String {
        if self.is_cpu() { self.precision.clone() } else { format!("cuda-{}", self.precision) }
    }

    /// Logs it for `work` (inference or training), as a stage does when it starts.
    pub fn log(&self, work: &str, threads: usize) {
        let Backend { device, precision, instruction_set, cpu_instruction_set, libtorch } = self;
        tracing::info!(device, precision, instruction_set, cpu_instruction_set, libtorch, threads, work, "device");
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

#[cfg(not(feature = "torch"))]
impl Device {
    /// Whether crate `cpu` evaluates. All else needs libtorch.
    #[expect(clippy::unnecessary_wraps, reason = "with libtorch a device can fail")]
    pub(crate) fn infers_on_cpu(self, precision: Precision) -> Result<bool, NetError> {
        Ok(!matches!(self, Device::Cuda(_)) && precision != Precision::Bf16)
    }
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_without_gpu_has_a_full_message() {
        let training = Backend::of_training(Device::Cpu, Precision::F32).unwrap();
        assert_eq!((training.device.as_str(), training.precision.as_str()), ("cpu", "f32"));
        let set = of_inference();
        let has_loops = set > cpu::InstructionSet::Portable;
        assert_eq!(training.instruction_set, if has_loops { set.to_string() } else { OnednnIsa::in_use().to_string() });
        let backend = Backend::open(Device::Cpu, Precision::Auto).unwrap();
        assert_eq!((backend.device.as_str(), backend.precision.as_str()), ("cpu", "int16"));
        assert_eq!(backend.instruction_set, of_inference().to_string());
        assert!(backend.libtorch.starts_with("2."), "{backend:?}");
        assert!(backend.labels().iter().all(|(_, value)| !value.is_empty()), "{backend:?}");
        assert!(Backend::open(Device::Cuda(1 << 20), Precision::Auto).unwrap_err().is_of_the_device());
    }

    #[test]
    fn arithmetic_of_gpus_is_another_than_that_of_cpus() {
        let cpu = Backend::open(Device::Cpu, Precision::F32).unwrap();
        let gpus = Backend { device: "cuda:0,cuda:1".to_owned(), ..cpu.clone() };
        assert_eq!([cpu.arithmetic(), gpus.arithmetic()], ["f32", "cuda-f32"]);
    }
}
