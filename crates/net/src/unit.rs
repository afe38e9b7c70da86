//! Units of the tower in training by crate `cpu`, as operations of libtorch: the Rust side of `unit.cpp`.
//!
//! oneDNN convolves directly. Crate `cpu` makes less than a third of the multiplications on 9x9 and two fifths on
//! 19x19, and reads and writes planes fewer times (`experiments/0114-training-with-winograd`).
#![expect(unsafe_code, reason = "calls of C++, and slices of tensors")]

use std::ffi::{c_char, c_void};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cpu::{InstructionSet, SIDES, TrainingUnit, UnitApplied, UnitGradients, UnitInput, UnitOutput};
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

/// `unit.cpp` asserts the same. Two fields of one type that change places would train wrongly without a fault.
const _: () = {
    assert!(size_of::<RawUnit>() == 160);
    assert!(offset_of!(RawUnit, positions) == 0);
    assert!(offset_of!(RawUnit, side) == 8);
    assert!(offset_of!(RawUnit, inputs) == 16);
    assert!(offset_of!(RawUnit, outputs) == 24);
    assert!(offset_of!(RawUnit, relu) == 32);
    assert!(offset_of!(RawUnit, weight) == 40);
    assert!(offset_of!(RawUnit, scale) == 48);
    assert!(offset_of!(RawUnit, shift) == 56);
    assert!(offset_of!(RawUnit, input) == 64);
    assert!(offset_of!(RawUnit, residual) == 72);
    assert!(offset_of!(RawUnit, convolved) == 80);
    assert!(offset_of!(RawUnit, mean) == 88);
    assert!(offset_of!(RawUnit, variance) == 96);
    assert!(offset_of!(RawUnit, output) == 104);
    assert!(offset_of!(RawUnit, of_output) == 112);
    assert!(offset_of!(RawUnit, of_weight) == 120);
    assert!(offset_of!(RawUnit, of_scale) == 128);
    assert!(offset_of!(RawUnit, of_shift) == 136);
    assert!(offset_of!(RawUnit, of_input) == 144);
    assert!(offset_of!(RawUnit, of_residual) == 152);
};

/// What a function of ours gives back, as in `unit.cpp`.
#[repr(i32)]
#[derive(Clone, Copy)]
enum Done {
    Yes = 0,
    /// A board or a processor that crate `cpu` does not train on.
    Unsupported = 1,
    /// A fault of ours, whose message was printed.
    Panicked = 2,
}

type Work = unsafe extern "C" fn(*const RawUnit) -> Done;

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
    let is_board = of_input[2] == of_input[3] && SIDES.contains(&(of_input[2] as usize)) && of_input[0] > 0;
    is_f32(input) && is_f32(weight) && of_weight[2..] == [3, 3] && is_board && of_inference() > InstructionSet::Portable
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
    // SAFETY: the tensors live; the function writes three new ones, or a message and nothing. Both functions read and
    // write what a `RawUnit` of `unit.cpp` points to.
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

/// Frees the memory of all units that no thread uses at the moment.
pub(crate) fn free_units() {
    pool().clear();
}

/// Does something with a unit of these sizes.
fn with_unit(raw: &RawUnit, work: impl FnOnce(&mut TrainingUnit, Sizes)) -> Done {
    // No panic may reach C++.
    catch_unwind(AssertUnwindSafe(|| {
        let [positions, side, inputs, outputs] = [raw.positions, raw.side, raw.inputs, raw.outputs]
            .map(|number| usize::try_from(number).expect("sizes of tensors are not negative"));
        let shape = (side, inputs, outputs);
        let found = {
            let mut pool = pool();
            let place = pool.iter().position(|unit| unit.shape() == shape);
            place.map(|place| pool.swap_remove(place))
        };
        let new = || TrainingUnit::new(side, inputs, outputs, of_inference()).ok();
        let Some(mut unit) = found.or_else(new) else { return Done::Unsupported };
        let points = positions * side * side;
        let sizes =
            Sizes { channels: outputs, weight: 9 * inputs * outputs, input: points * inputs, output: points * outputs };
        work(&mut unit, sizes);
        pool().push(unit);
        Done::Yes
    }))
    .unwrap_or(Done::Panicked)
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
/// `raw` points to a unit whose pointers are null or to as many numbers as its sizes say, which nothing else changes
/// or, where they are to be written, reads meanwhile. Planes to be written may be uninitialised: crate `cpu` reads no
/// number of them before it writes it.
unsafe extern "C" fn forward(raw: *const RawUnit) -> Done {
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
    with_unit(raw, work)
}

/// # Safety
/// As for [`forward`].
unsafe extern "C" fn backward(raw: *const RawUnit) -> Done {
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
    with_unit(raw, work)
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
/// So many numbers are there, which nothing else reads or changes meanwhile. Where they are uninitialised, as new
/// planes of libtorch's are, the caller writes each number before it is read.
unsafe fn written<'a>(to: *mut f32, count: usize) -> &'a mut [f32] {
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts_mut(to, count) }
}

#[cfg(test)]
mod tests {
    use testing::Noise;

    use super::*;
    use crate::layers::channels_last;

    const CPU: (Kind, tch::Device) = (Kind::Float, tch::Device::Cpu);

    /// Numbers from -2 to 2 of a seed. That of libtorch is one for all tests of the process.
    fn numbers(dimensions: &[i64], seed: u64) -> Tensor {
        let numbers = Noise(seed).numbers(dimensions.iter().product::<i64>() as usize);
        Tensor::from_slice(&numbers.into_iter().map(|number| 2.0 * number).collect::<Vec<f32>>()).view(dimensions)
    }

    fn parameter(dimensions: &[i64], seed: u64) -> Tensor {
        let tensor = numbers(dimensions, seed);
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

    /// Numbers by which outputs are weighed in a loss: 0 where rounding decides whether a ReLU lets the sum pass.
    fn of_output(sum: &Tensor, seed: u64) -> Tensor {
        numbers(&sum.size(), seed) * sum.abs().gt(1e-3).to_kind(Kind::Float)
    }

    /// The gradients of the leaves.
    fn gradients(output: &Tensor, of_output: &Tensor, leaves: &[&Tensor]) -> Vec<Tensor> {
        Tensor::run_backward(&[(output * of_output).sum(Kind::Float)], leaves, true, false)
    }

    #[test]
    fn units_and_their_gradients_are_those_of_libtorch() {
        for positions in [1, 10] {
            let planes = [positions, 48, 9, 9];
            let (x, weight) = (parameter(&[positions, 48, 9, 9], 1), parameter(&[48, 48, 3, 3], 2));
            let (residual, of_shape) = (parameter(&planes, 3), [parameter(&[48], 4), parameter(&[48], 5)]);
            let norm = of_shape.each_ref();
            let fixed = numbers(&planes, 6);
            // Planes of its own, those that it convolves, and others without a gradient.
            let sums = [&residual, &x, &fixed].map(After::SumAndRelu);
            for after in [After::Nothing, After::Relu].into_iter().chain(sums) {
                let mut leaves = vec![&x, &weight, norm[0], norm[1]];
                if let After::SumAndRelu(planes) = after
                    && planes.as_ptr() == residual.as_ptr()
                {
                    leaves.push(&residual);
                }
                assert!(is_supported(&x, &weight) || of_inference() == InstructionSet::Portable);
                let found = apply(&x, &weight, norm, after).unwrap();
                let expected = apart(&x, &weight, norm, after);
                assert_close(&found.output, &expected.output, "output");
                assert_close(&found.mean, &expected.mean, "mean");
                assert_close(&found.variance, &expected.variance, "variance");
                let sum = match after {
                    After::SumAndRelu(planes) => apart(&x, &weight, norm, After::Nothing).output + planes,
                    _ => apart(&x, &weight, norm, After::Nothing).output,
                };
                let of_output = of_output(&sum, 7);
                let [found, expected] = [found, expected].map(|unit| gradients(&unit.output, &of_output, &leaves));
                for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    assert_close(found, expected, &format!("{positions} positions, {after:?}, gradient {index}"));
                }
            }
        }
    }

    #[test]
    fn input_without_a_gradient_and_planes_in_rows_are_taken() {
        let (x, weight) = (numbers(&[3, 4, 5, 5], 1), parameter(&[6, 4, 3, 3], 2));
        let norm = [&parameter(&[6], 3), &Tensor::zeros([6], CPU)];
        let [found, expected] =
            [apply(&x, &weight, norm, After::Nothing).unwrap(), apart(&x, &weight, norm, After::Nothing)];
        assert_close(&found.output, &expected.output, "output");
        let of_output = numbers(&[3, 6, 5, 5], 4);
        let [found, expected] = [found, expected].map(|unit| gradients(&unit.output, &of_output, &[&weight, norm[0]]));
        found.iter().zip(&expected).for_each(|(found, expected)| assert_close(found, expected, "gradient"));
        let _no_gradients = tch::no_grad_guard();
        assert!(!apply(&x, &weight, norm, After::Nothing).unwrap().output.requires_grad());
    }

    #[test]
    fn others_are_not_supported() {
        let tensor = |dimensions: &[i64], kind| Tensor::zeros(dimensions, (kind, tch::Device::Cpu));
        let float = |dimensions: &[i64]| tensor(dimensions, Kind::Float);
        assert!(!is_supported(&float(&[1, 4, 5, 5]), &float(&[4, 4, 1, 1])));
        assert!(!is_supported(&float(&[1, 4, 1, 1]), &float(&[4, 4, 3, 3])));
        assert!(!is_supported(&tensor(&[1, 4, 5, 5], Kind::Double), &tensor(&[4, 4, 3, 3], Kind::Double)));
        assert!(!is_supported(&float(&[1, 4, 5, 5]), &float(&[4, 4, 1, 3])));
        let has_loops = of_inference() > InstructionSet::Portable;
        assert_eq!(is_supported(&float(&[1, 4, 5, 5]), &float(&[4, 4, 3, 3])), has_loops);
        let too_large =
            apply(&float(&[1, 4, 20, 20]), &float(&[4, 4, 3, 3]), [&float(&[4]), &float(&[4])], After::Relu);
        let message = too_large.map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("does not train on this board"), "{message}");
        // Of another number of channels.
        assert!(
            apply(&float(&[1, 4, 5, 5]), &float(&[4, 4, 3, 3]), [&float(&[3]), &float(&[4])], After::Relu).is_err()
        );
    }
}
