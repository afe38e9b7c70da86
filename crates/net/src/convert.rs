//! Import and export of networks in several formats.

use std::fmt;
use std::str::FromStr;

use record::Example;

use crate::file::File;
use crate::leela_zero;
#[cfg(feature = "torch")]
use crate::verify::verify;
use crate::{Difference, NetError, Shape, UnknownName, Weights, folded};

/// Kinds of files that a network can be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// [`Weights`], as models are stored.
    Weights,
    /// Batch norms folded away: for programs that only play.
    Folded,
    /// Leela Zero's text, version 1.
    LeelaZero,
}

impl FileKind {
    /// Every kind.
    pub const ALL: [FileKind; 3] = [FileKind::Weights, FileKind::Folded, FileKind::LeelaZero];
    /// Bytes that a gzipped file may hold: a network of 80 blocks and 1,024 filters has 6.0 GB of weights, and one of
    /// 40 and 384 has 1.5 GB of text.
    pub const MOST_BYTES: u64 = 8 << 30;

    /// The kind that a file is, going by how it begins.
    pub(crate) fn of(file: &[u8]) -> Result<FileKind, NetError> {
        // Eight bytes of safetensors are the length of what follows, which is JSON. The length alone may look like
        // text.
        if file.get(8) == Some(&b'{') {
            let is_folded = File::read(file)?.version()? == folded::VERSION;
            return Ok(if is_folded { FileKind::Folded } else { FileKind::Weights });
        }
        if leela_zero::looks_like(file) {
            return Ok(FileKind::LeelaZero);
        }
        // The version of the format, and a field with a length: as crate `onnx` has it, which is not used here.
        let is_onnx = matches!(file, [0x08, 1..=0x7f, tag, ..] if tag & 7 == 2);
        Err(if is_onnx { NetError::Onnx } else { NetError::UnknownFile })
    }

    /// Whether a file of this kind can hold such a network. Kinds for playing omit auxiliary heads.
    pub fn holds(self, shape: Shape) -> bool {
        self != FileKind::LeelaZero || leela_zero::unsupported(shape).is_empty()
    }

    /// Makes a file of this kind, and compares the output of the file and of the training network on positions: random
    /// ones and those given.
    ///
    /// # Errors
    /// [`NetError::Differs`] when their outputs differ, a network that such a file cannot hold, or an example for
    /// another board.
    #[cfg(feature = "torch")]
    pub fn write(self, weights: &Weights, examples: &[Example]) -> Result<(Vec<u8>, Difference), NetError> {
        let file = match self {
            FileKind::Weights => weights.to_bytes(),
            FileKind::Folded => folded::write(weights)?,
            FileKind::LeelaZero => leela_zero::write(&leela_zero::export(weights)?),
        };
        let difference = self.read_as(&file, Some(weights), examples)?.1;
        Ok((file, difference))
    }

    /// Makes a file of kind [`FileKind::Folded`], and compares nothing.
    ///
    /// # Errors
    /// Numbers that are not finite once they are folded.
    #[cfg(any(test, feature = "testing"))]
    pub fn folded(weights: &Weights) -> Result<Vec<u8>, NetError> {
        folded::write(weights)
    }

    /// Reads a file of any kind, plain or gzipped, and returns its kind; compares the output of the file and of the
    /// weights on random positions, where there is libtorch.
    ///
    /// # Errors
    /// A file that is broken or of no kind, or [`NetError::Differs`].
    pub fn read(file: &[u8]) -> Result<(FileKind, Weights, Difference), NetError> {
        let file = record::unpacked(file, FileKind::MOST_BYTES).map_err(NetError::NotGzip)?;
        let kind = FileKind::of(&file)?;
        let (weights, difference) = kind.read_as(&file, None, &[])?;
        Ok((kind, weights, difference))
    }

    /// Reads a file that was made of `original`, or is to become weights of ours.
    fn read_as(
        self,
        file: &[u8],
        original: Option<&Weights>,
        examples: &[Example],
    ) -> Result<(Weights, Difference), NetError> {
        let (found, zero) = match self {
            FileKind::Weights => (Weights::from_bytes(file)?, None),
            FileKind::Folded => (folded::read(file)?, None),
            FileKind::LeelaZero => {
                let zero = leela_zero::read(file)?;
                (leela_zero::import(&zero)?, Some(zero))
            }
        };
        let difference = verify(&found, zero.as_ref(), original, examples)?;
        Ok((found, difference))
    }
}

#[cfg(not(feature = "torch"))]
#[expect(clippy::unnecessary_wraps, reason = "with libtorch it can fail")]
fn verify(
    _: &Weights,
    _: Option<&leela_zero::Zero>,
    _: Option<&Weights>,
    _: &[Example],
) -> Result<Difference, NetError> {
    Ok(Difference::default())
}

impl FromStr for FileKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<FileKind, UnknownName> {
        let found = FileKind::ALL.into_iter().find(|kind| kind.to_string() == text);
        found.ok_or_else(|| UnknownName::new(text, "weights, folded, leela-zero"))
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Weights => "weights",
            FileKind::Folded => "folded",
            FileKind::LeelaZero => "leela-zero",
        })
    }
}

#[cfg(feature = "torch")]
#[cfg(test)]
mod tests {
    use go::Size;

    use super::*;
    use crate::leela_zero::Zero;

    fn weights(seed: u64) -> Weights {
        let plain = Shape::plain(Size::new(5).unwrap());
        let shape = Shape { blocks: 1, filters: 8, value_hidden: 16, ..plain };
        Weights::synthetic(shape, seed)
    }

    #[test]
    fn file_of_another_network_is_refused() {
        for kind in FileKind::ALL {
            let (file, _) = kind.write(&weights(1), &[]).unwrap();
            assert!(kind.read_as(&file, Some(&weights(1)), &[]).is_ok());
            let error = kind.read_as(&file, Some(&weights(2)), &[]).unwrap_err();
            assert!(matches!(error, NetError::Differs { .. }), "{error}");
        }
    }

    #[test]
    fn folded_file_without_comparison_is_the_same() {
        let (file, _) = FileKind::Folded.write(&weights(1), &[]).unwrap();
        assert_eq!(FileKind::folded(&weights(1)).unwrap(), file);
    }

    #[test]
    fn export_check_finds_a_changed_weight() {
        let slips: [fn(&mut Zero); 4] = [
            |zero| zero.dense[0].biases.swap(3, 4),
            |zero| zero.dense[2].biases[0] += 0.002,
            |zero| zero.convolutions[1].means[0] += 0.01,
            |zero| zero.convolutions[0].weights[..18].reverse(),
        ];
        for (number, slip) in slips.into_iter().enumerate() {
            let mut zero = leela_zero::export(&weights(1)).unwrap();
            slip(&mut zero);
            let error = FileKind::LeelaZero.read_as(&leela_zero::write(&zero), Some(&weights(1)), &[]).unwrap_err();
            assert!(matches!(error, NetError::Differs { .. }), "slip {number}: {error}");
        }
    }
}
