//! What names the kept evaluations of a model, wherever it is evaluated.

use evalcache::KomiCoding;
use net::Shape;
use sha2::{Digest, Sha256};

/// Names evaluations by the digest of the weights, whose first 8 bytes it begins with, and by the arithmetic that evaluates them.
pub(crate) fn evaluations_digest(weights: [u8; 32], arithmetic: &str) -> [u8; 32] {
    let mut digest = weights;
    let all = Sha256::new_with_prefix(weights).chain_update(arithmetic).finalize();
    digest[8..].copy_from_slice(&all[..24]);
    digest
}

/// Whether a network of this shape sees komi.
pub(crate) fn komi_coding(shape: Shape) -> KomiCoding {
    if shape.inputs.tell_komi() { KomiCoding::Seen } else { KomiCoding::Unseen }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_named_by_weights_and_arithmetic() {
        let digest = |weights: u8, arithmetic| evaluations_digest([weights; 32], arithmetic);
        assert_eq!(digest(7, "int16")[..8], [7; 8], "a run finds the sets of its models by these bytes");
        assert_eq!(digest(7, "bf16")[..8], [7; 8]);
        assert_ne!(digest(7, "int16")[8..12], digest(7, "bf16")[8..12]);
        assert_ne!(digest(7, "int16")[8..12], digest(8, "int16")[8..12]);
    }
}
