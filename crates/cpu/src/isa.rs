//! The instruction sets that there are loops for.

use std::fmt;

/// An instruction set, the slowest first. Outputs have the same bits with each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Plain Rust, for every processor.
    Portable,
    /// AVX2 and FMA: `vpmaddwd` of 256 bits.
    Avx2,
    /// The same and AVX-VNNI: `vpdpwssd` of 256 bits, of processors without AVX-512.
    AvxVnni,
    /// AVX-512 F, BW, VL and DQ: `vpmaddwd` of 512 bits.
    Avx512,
    /// These and AVX512-VNNI: `vpdpwssd` of 512 bits.
    Avx512Vnni,
}

impl InstructionSet {
    /// All of them, the slowest first.
    pub const ALL: [InstructionSet; 5] = [
        InstructionSet::Portable,
        InstructionSet::Avx2,
        InstructionSet::AvxVnni,
        InstructionSet::Avx512,
        InstructionSet::Avx512Vnni,
    ];

    /// Those that this processor has.
    pub fn available() -> impl Iterator<Item = InstructionSet> {
        InstructionSet::ALL.into_iter().filter(|set| set.is_available())
    }

    /// The fastest that this processor has.
    pub fn best() -> InstructionSet {
        InstructionSet::available().last().unwrap_or(InstructionSet::Portable)
    }

    /// Whether this processor has it.
    #[cfg(target_arch = "x86_64")]
    pub fn is_available(self) -> bool {
        use std::is_x86_feature_detected as has;
        let avx512 = || has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512dq");
        match self {
            InstructionSet::Portable => true,
            InstructionSet::Avx2 => has!("avx2") && has!("fma"),
            InstructionSet::AvxVnni => has!("avx2") && has!("fma") && has!("avxvnni"),
            InstructionSet::Avx512 => avx512(),
            InstructionSet::Avx512Vnni => avx512() && has!("avx512vnni"),
        }
    }

    /// Whether this processor has it.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn is_available(self) -> bool {
        self == InstructionSet::Portable
    }
}

impl fmt::Display for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InstructionSet::Portable => "portable",
            InstructionSet::Avx2 => "avx2",
            InstructionSet::AvxVnni => "avx-vnni",
            InstructionSet::Avx512 => "avx512",
            InstructionSet::Avx512Vnni => "avx512-vnni",
        })
    }
}
