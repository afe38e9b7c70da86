//! Eight bytes of 0 and 1 as the bits of one, and back.

/// The eight bytes of 0 and 1 that the bits of a byte stand for.
pub(super) const SPREAD: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = ((byte >> bit) & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// The bits of eight bytes of 0 and 1.
pub(super) fn gather(eight: [u8; 8]) -> u8 {
    // Each factor moves the lowest bit of one of the eight bytes into the highest byte of the product.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    (u64::from_le_bytes(eight).wrapping_mul(GATHER) >> 56) as u8
}
