//! Units of the tower in training by crate `cpu`, as operations of libtorch: the Rust side of `unit.cpp`.
//!
//! oneDNN convolves directly; crate `cpu` makes less than a third of the multiplications and goes through memory less often
//! (`experiments/0114-training-with-winograd`).
#![expect(unsafe_code, reason = "calls of C++, and slices of tensors")]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cpu::{InstructionSet, TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};
use tch::{Kind, Tensor};

use crate::NetError;
use crate::instruction_set::of_inference;
use crate::shim::check;

/// As in `unit.cpp`: pointers of what there is not, or is not wanted, are null.
#[repr(C)]
struct RawUnit {
    positions: i64,
    side: i64,
    inputs: i64,
    outputs: i64,
    relu: bool,
    weight: *const f32,
    scale: *const f32,
    shift: *const f32,
    input: *const f32,
    residual: *const f32,
    convolved: *mut f32,
    mean: *mut f32,
    variance: *mut f32,
    output: *mut f32,
    of_output: *const f32,
    of_weight: *mut f32,
    of_scale: *mut f32,
    of_shift: *mut f32,
    of_input: *mut f32,
    of_residual: *mut f32,
}

type Work = unsafe extern "C" fn(*const RawUnit) -> bool;

unsafe extern "C" {
    fn tengen_unit(
        input: *const c_void,
        weight: *const c_void,
        scale: *const c_void,
        shift: *const c_void,
        residual: *const c_void,
        relu: bool,
        forward: Work,
        backward: Work,
        results: *mut *mut c_void,
    ) -> *mut c_char;
}

/// What follows the batch norm.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After<'a> {
    Nothing,
    Relu,
    /// ReLU of the sum with these planes.
    SumAndRelu(&'a Tensor),
}

/// Output of a unit.
pub(crate) struct UnitTensors {
    pub(crate) output: Tensor,
    /// Of the convolution's channels. The variance is that of the batch, not an estimate from it.
    pub(crate) mean: Tensor,
    pub(crate) variance: Tensor,
}

/// Whether crate `cpu` trains units of such planes and kernels: 3x3 in f32 on a CPU with instructions for it.
pub(crate) fn is_supported(input: &Tensor, weight: &Tensor) -> bool {
    let is_f32 = |tensor: &Tensor| tensor.kind() == Kind::Float && tensor.device() == tch::Device::Cpu;
    let (of_input, of_weight) = (input.size(), weight.size());
    let is_board = of_input[2] == of_input[3] && (2..=19).contains(&of_input[2]) && of_input[0] > 0;
    is_f32(input) && is_f32(weight) && of_weight[3] == 3 && is_board && of_inference() > InstructionSet::Portable
}

/// Applies a unit that is supported.
///
/// # Errors
/// Tensors that do not fit together.
pub(crate) fn apply(
    input: &Tensor,
    weight: &Tensor,
    [scale, shift]: [&Tensor; 2],
    after: After<'_>,
) -> Result<UnitTensors, NetError> {
    let pointer = |tensor: &Tensor| tensor.as_ptr().cast::<c_void>();
    let (residual, relu) = match after {
        After::Nothing => (null(), false),
        After::Relu => (null(), true),
        After::SumAndRelu(residual) => (pointer(residual), true),
    };
    let mut results = [null_mut(); 3];
    let [of_input, of_weight, of_scale, of_shift] = [input, weight, scale, shift].map(pointer);
    // SAFETY: the tensors live; the function writes three new ones, or a message and nothing. Both functions read and write what
    // a `RawUnit` of `unit.cpp` points to.
    check(unsafe {
        let to = results.as_mut_ptr();
        tengen_unit(of_input, of_weight, of_scale, of_shift, residual, relu, forward, backward, to)
    })?;
    // SAFETY: each is a tensor of C++'s making, which nothing else has.
    let [output, mean, variance] = results.map(|result| unsafe { Tensor::from_ptr(result.cast()) });
    Ok(UnitTensors { output, mean, variance })
}

/// Units that no thread uses at the moment, with their memory.
fn pool() -> MutexGuard<'static, Vec<TrainingUnit>> {
    static POOL: Mutex<Vec<TrainingUnit>> = Mutex::new(Vec::new());
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something with a unit of these sizes. `None` where there is none.
fn with_unit(raw: &RawUnit, work: impl FnOnce(&mut TrainingUnit, Sizes)) -> Option<()> {
    let [positions, side, inputs, outputs] =
        [raw.positions, raw.side, raw.inputs, raw.outputs].map(|number| usize::try_from(number).ok());
    let (positions, side, inputs, outputs) = (positions?, side?, inputs?, outputs?);
    let shape = (side, inputs, outputs);
    let found = {
        let mut pool = pool();
        let place = pool.iter().position(|unit| unit.shape() == shape);
        place.map(|place| pool.swap_remove(place))
    };
    let mut unit = found.map_or_else(|| TrainingUnit::new(side, inputs, outputs, of_inference()).ok(), Some)?;
    let points = positions * side * side;
    let sizes =
        Sizes { channels: outputs, weight: 9 * inputs * outputs, input: points * inputs, output: points * outputs };
    // No panic may reach C++.
    catch_unwind(AssertUnwindSafe(|| work(&mut unit, sizes))).ok()?;
    pool().push(unit);
    Some(())
}

/// Numbers of tensors.
#[derive(Clone, Copy)]
struct Sizes {
    channels: usize,
    weight: usize,
    input: usize,
    output: usize,
}

/// # Safety
/// `raw` points to a unit whose pointers are null or to as many numbers as its sizes say, which nothing else changes or, where
/// they are to be written, reads meanwhile.
unsafe extern "C" fn forward(raw: *const RawUnit) -> bool {
    // SAFETY: the caller's promise.
    let raw = unsafe { &*raw };
    let work = |unit: &mut TrainingUnit, sizes: Sizes| {
        // SAFETY: the same.
        unsafe {
            unit.forward(
                raw.input(sizes),
                UnitOutput {
                    convolved: written(raw.convolved, sizes.output),
                    mean: written(raw.mean, sizes.channels),
                    variance: written(raw.variance, sizes.channels),
                    output: written(raw.output, sizes.output),
                },
            );
        }
    };
    with_unit(raw, work).is_some()
}

/// # Safety
/// As for [`forward`].
unsafe extern "C" fn backward(raw: *const RawUnit) -> bool {
    // SAFETY: the caller's promise.
    let raw = unsafe { &*raw };
    let work = |unit: &mut TrainingUnit, sizes: Sizes| {
        // SAFETY: the same.
        unsafe {
            unit.backward(
                UnitApplied {
                    input: raw.input(sizes),
                    convolved: read(raw.convolved, sizes.output),
                    mean: read(raw.mean, sizes.channels),
                    variance: read(raw.variance, sizes.channels),
                    output: read(raw.output, sizes.output),
                    of_output: read(raw.of_output, sizes.output),
                },
                UnitGradients {
                    weight: written(raw.of_weight, sizes.weight),
                    scale: written(raw.of_scale, sizes.channels),
                    shift: written(raw.of_shift, sizes.channels),
                    input: (!raw.of_input.is_null()).then(|| written(raw.of_input, sizes.input)),
                    residual: (!raw.of_residual.is_null()).then(|| written(raw.of_residual, sizes.output)),
                },
            );
        }
    };
    with_unit(raw, work).is_some()
}

impl RawUnit {
    /// # Safety
    /// As for [`forward`].
    unsafe fn input(&self, sizes: Sizes) -> UnitInput<'_> {
        // SAFETY: the caller's promise.
        unsafe {
            UnitInput {
                weight: read(self.weight, sizes.weight),
                scale: read(self.scale, sizes.channels),
                shift: read(self.shift, sizes.channels),
                input: read(self.input, sizes.input),
                residual: (!self.residual.is_null()).then(|| read(self.residual, sizes.output)),
                relu: self.relu,
            }
        }
    }
}

/// # Safety
/// So many numbers are there, which nothing changes meanwhile.
unsafe fn read<'a>(from: *const f32, count: usize) -> &'a [f32] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(from, count) }
}

/// # Safety
/// So many numbers are there, which nothing else reads or changes meanwhile.
unsafe fn written<'a>(to: *mut f32, count: usize) -> &'a mut [f32] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(to, count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::channels_last;

    const CPU: (Kind, tch::Device) = (Kind::Float, tch::Device::Cpu);

    fn parameter(dimensions: &[i64]) -> Tensor {
        let tensor = Tensor::randn(dimensions, CPU);
        let tensor = if dimensions.len() == 4 { channels_last(&tensor).unwrap() } else { tensor };
        tensor.set_requires_grad(true)
    }

    /// The same by operations of libtorch.
    fn apart(input: &Tensor, weight: &Tensor, [scale, shift]: [&Tensor; 2], after: After<'_>) -> UnitTensors {
        let x = input.conv2d(weight, None::<Tensor>, [1, 1], [1, 1], [1, 1], 1);
        let (y, mean, inverse) =
            x.f_native_batch_norm(Some(scale), Some(shift), None, None, true, 0.1, cpu::EPSILON).unwrap();
        let output = match after {
            After::Nothing => y,
            After::Relu => y.relu(),
            After::SumAndRelu(residual) => (y + residual).relu(),
        };
        UnitTensors { output, mean, variance: inverse.pow_tensor_scalar(-2) - cpu::EPSILON }
    }

    fn assert_close(found: &Tensor, expected: &Tensor, what: &str) {
        let difference = f64::try_from((found - expected).abs().max()).unwrap();
        let size = f64::try_from(expected.abs().max()).unwrap();
        assert!(difference < 1e-4 * (1.0 + size), "{what}: {difference} of {size}");
    }

    #[test]
    fn units_and_their_gradients_are_those_of_libtorch() {
        tch::manual_seed(1);
        let (x, weight, residual) =
            (parameter(&[10, 31, 9, 9]), parameter(&[48, 31, 3, 3]), parameter(&[10, 48, 9, 9]));
        let (scale, shift) = (parameter(&[48]), parameter(&[48]));
        let of_output = Tensor::randn([10, 48, 9, 9], CPU);
        for after in [After::Nothing, After::Relu, After::SumAndRelu(&residual)] {
            let mut leaves = vec![&x, &weight, &scale, &shift];
            if let After::SumAndRelu(residual) = after {
                leaves.push(residual);
            }
            assert!(is_supported(&x, &weight) || of_inference() == InstructionSet::Portable);
            let [found, expected] =
                [apply(&x, &weight, [&scale, &shift], after).unwrap(), apart(&x, &weight, [&scale, &shift], after)];
            for (found, expected, what) in [
                (&found.output, &expected.output, "output"),
                (&found.mean, &expected.mean, "mean"),
                (&found.variance, &expected.variance, "variance"),
            ] {
                assert_close(found, expected, what);
            }
            let [found, expected] = [found, expected].map(|unit| {
                Tensor::run_backward(&[(unit.output * &of_output).sum(Kind::Float)], &leaves, false, false)
            });
            for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_close(found, expected, &format!("{after:?}, gradient {index}"));
            }
        }
    }

    #[test]
    fn input_without_a_gradient_and_planes_in_rows_are_taken() {
        let (x, weight) = (Tensor::randn([3, 4, 5, 5], CPU), parameter(&[6, 4, 3, 3]));
        let (scale, shift) = (parameter(&[6]), Tensor::zeros([6], CPU));
        let found = apply(&x, &weight, [&scale, &shift], After::Relu).unwrap();
        let expected = apart(&x, &weight, [&scale, &shift], After::Relu);
        assert_close(&found.output, &expected.output, "output");
        let [found, expected] = [found, expected].map(|unit| {
            Tensor::run_backward(&[unit.output.square().sum(Kind::Float)], &[&weight, &scale], false, false)
        });
        found.iter().zip(&expected).for_each(|(found, expected)| assert_close(found, expected, "gradient"));
        let _no_gradients = tch::no_grad_guard();
        assert!(!apply(&x, &weight, [&scale, &shift], After::Nothing).unwrap().output.requires_grad());
    }

    #[test]
    fn others_are_not_supported() {
        let tensor = |dimensions: &[i64], kind| Tensor::zeros(dimensions, (kind, tch::Device::Cpu));
        let float = |dimensions: &[i64]| tensor(dimensions, Kind::Float);
        assert!(!is_supported(&float(&[1, 4, 5, 5]), &float(&[4, 4, 1, 1])));
        assert!(!is_supported(&float(&[1, 4, 1, 1]), &float(&[4, 4, 3, 3])));
        assert!(!is_supported(&tensor(&[1, 4, 5, 5], Kind::Double), &tensor(&[4, 4, 3, 3], Kind::Double)));
        // Of another number of channels.
        assert!(
            apply(&float(&[1, 4, 5, 5]), &float(&[4, 4, 3, 3]), [&float(&[3]), &float(&[4])], After::Relu).is_err()
        );
    }
}
