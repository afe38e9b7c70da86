//! The instruction sets of x86-64 that the kernels of oneDNN, libtorch's library for CPUs, are written for, and the
//! bound that its variable sets for crate `cpu`, too.

use std::env;
use std::fmt;

/// The environment variables that bound the instruction set of oneDNN, the first that is set before the other.
const BOUNDS: [&str; 2] = ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"];

/// An instruction set, the smallest first. Names are those of oneDNN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnednnIsa {
    /// Another processor than an x86-64 with SSE 4.1: kernels in plain C++, or those of another architecture.
    Plain,
    /// SSE 4.1.
    Sse41,
    /// AVX.
    Avx,
    /// AVX2 and FMA.
    Avx2,
    /// AVX-512 F, BW, VL and DQ.
    Avx512Core,
    /// The same and AVX512_BF16: products of bf16 at twice the speed of f32.
    Avx512CoreBf16,
}

/// The value of `ONEDNN_MAX_CPU_ISA`, if it is set.
fn asked_for() -> Option<String> {
    BOUNDS.iter().find_map(|name| env::var(name).ok())
}

/// The instruction set of crate `cpu`: the fastest of the processor within the bound of `ONEDNN_MAX_CPU_ISA`, so that
/// one variable makes a larger machine act as a smaller one.
pub fn of_inference() -> cpu::InstructionSet {
    let bound = asked_for().and_then(|text| inference_bound(&text)).unwrap_or(cpu::InstructionSet::Avx512Vnni);
    cpu::InstructionSet::available().take_while(|&set| set <= bound).last().unwrap_or(cpu::InstructionSet::Portable)
}

/// The bound for crate `cpu` that a value of the variable means.
fn inference_bound(text: &str) -> Option<cpu::InstructionSet> {
    match text.to_lowercase().as_str() {
        "avx2_vnni" | "avx2_vnni_2" => Some(cpu::InstructionSet::AvxVnni),
        "avx512_core" => Some(cpu::InstructionSet::Avx512),
        "avx512_core_vnni" => Some(cpu::InstructionSet::Avx512Vnni),
        other => OnednnIsa::bound(other).map(|bound| {
            if bound < OnednnIsa::Avx2 { cpu::InstructionSet::Portable } else { cpu::InstructionSet::Avx2 }
        }),
    }
}

impl OnednnIsa {
    /// All of them, the smallest first.
    pub const ALL: [OnednnIsa; 6] = [
        OnednnIsa::Plain,
        OnednnIsa::Sse41,
        OnednnIsa::Avx,
        OnednnIsa::Avx2,
        OnednnIsa::Avx512Core,
        OnednnIsa::Avx512CoreBf16,
    ];

    /// The largest that this processor has.
    pub fn of_cpu() -> OnednnIsa {
        OnednnIsa::ALL.into_iter().take_while(|set| set.is_there()).last().unwrap_or(OnednnIsa::Plain)
    }

    /// The one that oneDNN uses: that of the processor, or a smaller one that `ONEDNN_MAX_CPU_ISA` names.
    pub fn in_use() -> OnednnIsa {
        let bound = asked_for().and_then(|text| OnednnIsa::bound(&text));
        bound.map_or(OnednnIsa::of_cpu(), |bound| bound.min(OnednnIsa::of_cpu()))
    }

    /// Its name in `ONEDNN_MAX_CPU_ISA`.
    pub fn name(self) -> &'static str {
        match self {
            OnednnIsa::Plain => "plain",
            OnednnIsa::Sse41 => "sse41",
            OnednnIsa::Avx => "avx",
            OnednnIsa::Avx2 => "avx2",
            OnednnIsa::Avx512Core => "avx512_core",
            OnednnIsa::Avx512CoreBf16 => "avx512_core_bf16",
        }
    }

    /// The bound that a value of `ONEDNN_MAX_CPU_ISA` means; `None` for `all` and for what oneDNN ignores. The names
    /// between two of ours have further instructions for other types of number.
    fn bound(text: &str) -> Option<OnednnIsa> {
        match text.to_lowercase().as_str() {
            "sse41" => Some(OnednnIsa::Sse41),
            "avx" => Some(OnednnIsa::Avx),
            "avx2" | "avx2_vnni" | "avx2_vnni_2" => Some(OnednnIsa::Avx2),
            "avx512_core" | "avx512_core_vnni" => Some(OnednnIsa::Avx512Core),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_there(self) -> bool {
        use std::is_x86_feature_detected as has;
        match self {
            OnednnIsa::Plain => true,
            OnednnIsa::Sse41 => has!("sse4.1"),
            OnednnIsa::Avx => has!("avx"),
            OnednnIsa::Avx2 => has!("avx2") && has!("fma"),
            OnednnIsa::Avx512Core => has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq"),
            OnednnIsa::Avx512CoreBf16 => has!("avx512bf16"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_there(self) -> bool {
        self == OnednnIsa::Plain
    }
}

impl fmt::Display for OnednnIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_onednn_reads_them() {
        for set in OnednnIsa::ALL.into_iter().skip(1).take(4) {
            assert_eq!(OnednnIsa::bound(set.name()), Some(set));
            assert_eq!(OnednnIsa::bound(&set.name().to_uppercase()), Some(set));
        }
        assert_eq!(OnednnIsa::bound("AVX2_VNNI_2"), Some(OnednnIsa::Avx2));
        for text in ["", "all", "default", "avx512_core_amx", "avx3"] {
            assert_eq!(OnednnIsa::bound(text), None, "{text}");
        }
        assert!(OnednnIsa::in_use() <= OnednnIsa::of_cpu());
    }

    #[test]
    fn bounds_hold_for_inference_as_well() {
        use cpu::InstructionSet::{Avx2, Avx512, Avx512Vnni, AvxVnni, Portable};
        let names = [("sse41", Portable), ("AVX", Portable), ("AVX2", Avx2), ("avx2_vnni", AvxVnni)];
        for (text, set) in names.into_iter().chain([("AVX512_CORE", Avx512), ("avx512_core_vnni", Avx512Vnni)]) {
            assert_eq!(inference_bound(text), Some(set), "{text}");
        }
        assert_eq!(inference_bound("default"), None);
        assert!(of_inference().is_available());
    }
}
