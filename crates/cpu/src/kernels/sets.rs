//! The loops of the other modules, compiled for each instruction set.

/// The vectors of `$simd` for all loops but one: `$round` are those of transformed inputs. The loops are compiled for
/// the features that `is_available` looks for.
macro_rules! set {
    ($name:ident, $simd:ty, $round:ty $(, [$($feature:tt),+])?) => {
        pub(super) mod $name {
            use crate::board::LANES;
            use crate::kernels::outer::{self, Outer};
            use crate::kernels::panel::{self, Panel};
            use crate::kernels::peak::{self, Repeated};
            use crate::kernels::plain::Plain;
            use crate::kernels::products::{self, Products};
            use crate::kernels::simd::{Element, Floats, Simd};
            use crate::kernels::spread::{self, Spread};
            use crate::kernels::transforms::{self, Gather};

            // The loops go through padded channels and panels by whole vectors.
            const ROUND: usize = <$round as Floats>::LANES;
            const SIMD: usize = <$simd as Floats>::LANES;
            const _: () = assert!(LANES / ROUND * ROUND == LANES && LANES / SIMD * SIMD == LANES);

            /// Whether this processor has the instruction set.
            pub(crate) fn is_available() -> bool {
                true $($(&& is_x86_feature_detected!($feature))+)?
            }

            /// # Safety
            /// The slices are as long as [`Gather::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn gather<T: Element>(job: Gather<'_>, out: &mut [T]) {
                // SAFETY: the caller's promise.
                unsafe { transforms::gather::<$round, T>(job, out) }
            }

            /// # Safety
            /// The slices are as long as [`Products::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn products<T: Element>(job: Products<'_, T>, out: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { products::products::<$simd, T>(job, out) }
            }

            /// # Safety
            /// The slices are as long as [`Panel::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn panel<T: Element>(job: Panel<'_, T>, out: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { panel::panel::<$simd, T>(job, out) }
            }

            /// # Safety
            /// The slices are as long as [`Spread::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn spread(job: Spread<'_>, out: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { spread::spread::<$simd>(job, out) }
            }

            /// # Safety
            /// The slices are as long as [`Outer::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn outer(job: Outer<'_>, out: &mut [f32]) {
                // SAFETY: the caller's promise.
                unsafe { outer::outer::<$simd>(job, out) }
            }

            /// # Safety
            /// The slices are as long as [`Repeated::check`] requires, and the processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn peak<T: Element>(job: Repeated<'_, T>) -> usize {
                // SAFETY: the caller's promise.
                unsafe { peak::peak::<$simd, T>(job) }
            }

            /// # Safety
            /// It is safe, but called as the loops are.
            pub(crate) unsafe fn tiles() -> usize {
                <$simd as Simd>::TILES
            }

            /// # Safety
            /// The processor has the instruction set.
            $(#[target_feature($(enable = $feature),+)])?
            pub(crate) unsafe fn plain(work: impl Plain) {
                work.run();
            }
        }
    };
}

set!(portable, crate::kernels::portable::Portable, crate::kernels::portable::Portable);
#[cfg(target_arch = "x86_64")]
set!(avx2, crate::kernels::x86::Avx2, crate::kernels::x86::Avx2Pair, ["avx2", "fma"]);
#[cfg(target_arch = "x86_64")]
set!(avx_vnni, crate::kernels::x86::AvxVnni, crate::kernels::x86::Avx2Pair, ["avx2", "fma", "avxvnni"]);
#[cfg(target_arch = "x86_64")]
set!(avx512, crate::kernels::x86::Avx512, crate::kernels::x86::Avx512, ["avx512f", "avx512bw", "avx512vl", "avx512dq"]);
#[cfg(target_arch = "x86_64")]
set!(
    vnni,
    crate::kernels::x86::Avx512Vnni,
    crate::kernels::x86::Avx512Vnni,
    ["avx512f", "avx512bw", "avx512vl", "avx512dq", "avx512vnni"]
);
