//! The inner loops, for several instruction sets. All unsafe code of this crate is here.
//!
//! Each loop is written once, generic over the vectors of an instruction set ([`simd::Simd`]), and compiled once for
//! each set with its features enabled ([`sets`]). Every output has the same bits with each of them:
//!
//! * integer sums are exact in any order, since packing proves that they do not overflow;
//! * f32 sums run over the inputs of one output, or over the tiles of a gradient, first to last, each step one fused
//!   multiply-add;
//! * everything else is done lane by lane, in the order written here; the only products that are fused elsewhere are
//!   by 0, 2, -2 and 4, which are exact.

#![allow(unsafe_code)]

mod outer;
mod panel;
mod peak;
mod plain;
mod portable;
mod products;
mod sets;
mod simd;
mod slice;
mod spread;
mod transforms;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use outer::Outer;
pub(crate) use panel::Panel;
pub(crate) use peak::{OPERANDS, PRODUCTS, Repeated};
pub(crate) use plain::Plain;
pub(crate) use products::Products;
pub(crate) use simd::{Element, LARGEST_INPUT};
pub(crate) use spread::Spread;
pub(crate) use transforms::{Gather, Scatter};

use crate::{CpuError, InstructionSet};

/// Loops for an instruction set that this processor has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernels(InstructionSet);

/// Runs a loop as it is compiled for the instruction set. Lengths have to be checked before.
macro_rules! run {
    ($kernels:expr, $name:ident($($argument:ident),*)) => {
        match $kernels.0 {
            // SAFETY: lengths, where there are any, were checked. The portable loops need no instruction set.
            InstructionSet::Portable => unsafe { sets::portable::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: lengths were checked. `Kernels::new` found that the processor has the instruction set.
            InstructionSet::Avx2 => unsafe { sets::avx2::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same.
            InstructionSet::AvxVnni => unsafe { sets::avx_vnni::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same.
            InstructionSet::Avx512 => unsafe { sets::avx512::$name($($argument),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the same.
            InstructionSet::Avx512Vnni => unsafe { sets::vnni::$name($($argument),*) },
            #[cfg(not(target_arch = "x86_64"))]
            set => unreachable!("{set} is available on x86-64 alone"),
        }
    };
}

// Here, and not beside the type, since the features of each set are those that its loops are compiled for.
impl InstructionSet {
    /// Those that this processor has.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        InstructionSet::ALL.into_iter().filter(|set| set.is_available())
    }

    /// The fastest that this processor has.
    pub fn best() -> InstructionSet {
        InstructionSet::available().last().unwrap_or(InstructionSet::Portable)
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            InstructionSet::Portable => sets::portable::is_available(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => sets::avx2::is_available(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::AvxVnni => sets::avx_vnni::is_available(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => sets::avx512::is_available(),
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512Vnni => sets::vnni::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

impl Kernels {
    /// # Errors
    /// An instruction set that this processor has not.
    pub(crate) fn new(set: InstructionSet) -> Result<Kernels, CpuError> {
        if set.is_available() { Ok(Kernels(set)) } else { Err(CpuError::InstructionSet { set }) }
    }

    /// Transforms the tiles of some positions.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn gather<T: Element>(self, job: Gather<'_>, out: &mut [T]) {
        job.check(out.len());
        run!(self, gather(job, out));
    }

    /// Multiplies columns by a panel of weights.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn products<T: Element>(self, job: Products<'_, T>, out: &mut [f32]) {
        job.check(out.len());
        run!(self, products(job, out));
    }

    /// Convolves transformed inputs by a panel of weights.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn panel<T: Element>(self, job: Panel<'_, T>, out: &mut [f32]) {
        job.check(out.len());
        run!(self, panel(job, out));
    }

    /// Transforms the tiles of gradients of some positions.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn spread(self, job: Spread<'_>, out: &mut [f32]) {
        job.check(out.len());
        run!(self, spread(job, out));
    }

    /// Adds the outer products of transformed gradients and inputs.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn outer(self, job: Outer<'_>, out: &mut [f32]) {
        job.check(out.len());
        run!(self, outer(job, out));
    }

    /// Multiplies numbers in registers, and gives back the multiply-adds of each of the [`PRODUCTS`] of a round.
    ///
    /// # Panics
    /// When a slice is too short.
    pub(crate) fn peak<T: Element>(self, job: Repeated<'_, T>) -> usize {
        job.check();
        run!(self, peak(job))
    }

    /// Tiles that go through all frequencies together at most.
    pub(crate) fn tiles(self) -> usize {
        run!(self, tiles())
    }

    /// Runs plain Rust.
    pub(crate) fn plain(self, work: impl Plain) {
        run!(self, plain(work));
    }
}
