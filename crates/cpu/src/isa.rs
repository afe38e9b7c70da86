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
