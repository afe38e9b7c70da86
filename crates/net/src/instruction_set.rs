//! The instruction sets of x86-64 that the kernels of oneDNN, libtorch's library for CPUs, are written for, and the bound
//! that its variable sets for crate `cpu`, too.

use std::env;
use std::fmt;

/// The environment variables that bound the instruction set of oneDNN, the first that is set before the other.
const BOUNDS: [&str; 2] = ["ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"];

/// An instruction set, the smallest first. Names are those of oneDNN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
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

/// What `ONEDNN_MAX_CPU_ISA` asks for, if it is set.
fn asked_for() -> Option<String> {
    BOUNDS.iter().find_map(|name| env::var(name).ok())
}

/// The instruction set of crate `cpu`: the fastest of the processor within the bound of `ONEDNN_MAX_CPU_ISA`, so that one
/// variable makes a larger machine act as a smaller one.
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
        other => InstructionSet::bound(other).map(|bound| {
            if bound < InstructionSet::Avx2 { cpu::InstructionSet::Portable } else { cpu::InstructionSet::Avx2 }
        }),
    }
}

impl InstructionSet {
    /// All of them, the smallest first.
    pub const ALL: [InstructionSet; 6] = [
        InstructionSet::Plain,
        InstructionSet::Sse41,
        InstructionSet::Avx,
        InstructionSet::Avx2,
        InstructionSet::Avx512Core,
        InstructionSet::Avx512CoreBf16,
    ];

    /// The largest that this processor has.
    pub fn of_cpu() -> InstructionSet {
        InstructionSet::ALL.into_iter().take_while(|set| set.is_there()).last().unwrap_or(InstructionSet::Plain)
    }

    /// The one that oneDNN uses: that of the processor, or a smaller one that `ONEDNN_MAX_CPU_ISA` asks for.
    pub fn in_use() -> InstructionSet {
        let bound = asked_for().and_then(|text| InstructionSet::bound(&text));
        bound.map_or(InstructionSet::of_cpu(), |bound| bound.min(InstructionSet::of_cpu()))
    }

    /// The name by which `ONEDNN_MAX_CPU_ISA` asks for it.
    pub fn name(self) -> &'static str {
        match self {
            InstructionSet::Plain => "plain",
            InstructionSet::Sse41 => "sse41",
            InstructionSet::Avx => "avx",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::Avx512Core => "avx512_core",
            InstructionSet::Avx512CoreBf16 => "avx512_core_bf16",
        }
    }

    /// The bound that a value of `ONEDNN_MAX_CPU_ISA` means; `None` for `all` and for what oneDNN ignores. The names between
    /// two of ours have further instructions for other types of number.
    fn bound(text: &str) -> Option<InstructionSet> {
        match text.to_lowercase().as_str() {
            "sse41" => Some(InstructionSet::Sse41),
            "avx" => Some(InstructionSet::Avx),
            "avx2" | "avx2_vnni" | "avx2_vnni_2" => Some(InstructionSet::Avx2),
            "avx512_core" | "avx512_core_vnni" => Some(InstructionSet::Avx512Core),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_there(self) -> bool {
        use std::is_x86_feature_detected as has;
        match self {
            InstructionSet::Plain => true,
            InstructionSet::Sse41 => has!("sse4.1"),
            InstructionSet::Avx => has!("avx"),
            InstructionSet::Avx2 => has!("avx2") && has!("fma"),
            InstructionSet::Avx512Core => has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq"),
            InstructionSet::Avx512CoreBf16 => has!("avx512bf16"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_there(self) -> bool {
        self == InstructionSet::Plain
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_as_onednn_reads_them() {
        for set in InstructionSet::ALL.into_iter().skip(1).take(4) {
            assert_eq!(InstructionSet::bound(set.name()), Some(set));
            assert_eq!(InstructionSet::bound(&set.name().to_uppercase()), Some(set));
        }
        assert_eq!(InstructionSet::bound("AVX2_VNNI_2"), Some(InstructionSet::Avx2));
        for text in ["", "all", "default", "avx512_core_amx", "avx3"] {
            assert_eq!(InstructionSet::bound(text), None, "{text}");
        }
        assert!(InstructionSet::in_use() <= InstructionSet::of_cpu());
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
