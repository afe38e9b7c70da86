//! The lines of a file.
//!
//! The first says `1`, the version. Each other holds the numbers of one tensor, four lines a convolution (weights,
//! biases, means, variances) and two a dense layer (weights, biases): the input convolution, two convolutions a block,
//! the policy head's convolution and dense layer, the value head's convolution and two dense layers. The shape is
//! nowhere written; it follows from how many lines there are and how many numbers they hold.

use go::Size;

use super::numbers::{Convolution, DENSE, Dense, Zero};
use crate::layout::DenseSpec;
use crate::{Inputs, NetError, Shape};

/// The version whose value is for the side to move. Version 2 is that of ELF OpenGo's networks, whose value is Black's.
const VERSION: &str = "1";
/// Lines besides those of the blocks: the version, the input convolution, the heads.
const LINES: usize = 1 + 4 + HEADS;
const HEADS: usize = 14;
const LINES_A_BLOCK: usize = 8;
/// Whether a file may be meant as one of this format.
pub(crate) fn looks_like(bytes: &[u8]) -> bool {
    let first: Vec<u8> = bytes.iter().copied().take_while(|byte| !byte.is_ascii_whitespace()).take(4).collect();
    (1..4).contains(&first.len()) && first.iter().all(u8::is_ascii_digit)
}

/// Reads a file.
///
/// # Errors
/// A file that is none of a network of this format; the error says in which line.
pub(crate) fn read(text: &[u8]) -> Result<Zero, NetError> {
    let mut lines = text.trim_ascii_end().split(|&byte| byte == b'\n').zip(1..);
    let version = lines.next().map(|(line, _)| String::from_utf8_lossy(line.trim_ascii())).unwrap_or_default();
    if version != VERSION {
        let problem = format!("version \"{}\", expected \"{VERSION}\"", shortened(&version));
        return Err(NetError::LeelaZero { line: 1, problem });
    }
    let lines = lines.map(|(line, number)| Ok((number, numbers(line, number)?)));
    assemble(lines.collect::<Result<Vec<_>, NetError>>()?)
}

/// Numbers of a line, and which it is in the file, from 1.
type Line = (usize, Vec<f32>);

fn numbers(line: &[u8], number: usize) -> Result<Vec<f32>, NetError> {
    let fail = |problem: String| NetError::LeelaZero { line: number, problem };
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let parse = |(word, place): (&[u8], usize)| {
        let found = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f32>().ok());
        let bad = || format!("number {place} is \"{}\"", shortened(&String::from_utf8_lossy(word)));
        found.filter(|found| found.is_finite()).ok_or_else(|| fail(bad()))
    };
    words.zip(1..).map(parse).collect()
}

fn shortened(text: &str) -> String {
    text.chars().take(20).collect()
}

/// Finds the shape, and takes the lines in their order.
fn assemble(lines: Vec<Line>) -> Result<Zero, NetError> {
    let count = lines.len() + 1;
    let blocks = count.checked_sub(LINES).filter(|rest| rest.is_multiple_of(LINES_A_BLOCK));
    let Some(blocks) = blocks.map(|rest| rest / LINES_A_BLOCK) else {
        let problem = format!("truncated file: a whole one has {LINES} lines, and {LINES_A_BLOCK} more per block");
        return Err(NetError::LeelaZero { line: count, problem });
    };
    let shape = shape(&lines, blocks)?;
    let mut rest = Lines { lines: lines.into_iter() };
    let mut convolutions = Vec::new();
    let mut dense = Vec::new();
    for unit in shape.units() {
        let inputs = unit.inputs * unit.kernel * unit.kernel;
        convolutions.push(rest.convolution(&unit.name, inputs, unit.outputs)?);
        // The dense layers of a head come behind its convolution.
        let of_head = |layer: &DenseSpec| layer.name.split('.').next() == Some(&unit.name);
        for layer in shape.dense_layers().into_iter().filter(of_head) {
            dense.push(rest.dense(&layer.name, layer.inputs, layer.outputs)?);
        }
    }
    let dense = dense.try_into().unwrap_or_else(|_| unreachable!("every dense layer is one of a head"));
    Ok(Zero { shape, convolutions, dense })
}

/// The shape that the lengths of some lines tell.
fn shape(lines: &[Line], blocks: usize) -> Result<Shape, NetError> {
    let heads = lines.len() - HEADS;
    let length = |line: usize| lines[line].1.len();
    // Biases of the input, and from the heads those of the policy's planes and moves, the value's planes and hidden
    // layer.
    let [filters, policy_planes, moves, value_planes, value_hidden] =
        [1, heads + 1, heads + 5, heads + 7, heads + 11].map(length);
    let fail = |line: usize, problem: String| NetError::LeelaZero { line: lines[line].0, problem };
    let side = (2..=Size::MAX.side()).find(|side| side * side + 1 == moves);
    let side = side
        .ok_or_else(|| fail(heads + 5, format!("a policy of {moves} moves, which no board from 2x2 to 19x19 has")))?;
    let size = Size::new(side)?;
    let heads = Shape { policy_planes, value_planes, value_hidden, ..Shape::plain(size) };
    let shape = Shape { inputs: Inputs::LeelaZero, blocks, filters, ..heads };
    Shape::try_from(cpu::Header::from(shape)).map_err(|problem| fail(1, problem))
}

/// The lines that have not been taken.
struct Lines {
    lines: std::vec::IntoIter<Line>,
}

impl Lines {
    fn convolution(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Convolution, NetError> {
        let weights = self.take(name, "weights", inputs * outputs)?;
        let biases = self.take(name, "biases", outputs)?;
        let means = self.take(name, "means", outputs)?;
        let line = self.lines.as_slice().first().map_or(0, |(line, _)| *line);
        let variances = self.take(name, "variances", outputs)?;
        match variances.iter().position(|&variance| variance < 0.0) {
            None => Ok(Convolution { weights, biases, means, variances }),
            Some(place) => {
                let problem = format!("variance {} of {name} is {}", place + 1, variances[place]);
                Err(NetError::LeelaZero { line, problem })
            }
        }
    }

    fn dense(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Dense, NetError> {
        let weights = self.take(name, "weights", inputs * outputs)?;
        Ok(Dense { weights, biases: self.take(name, "biases", outputs)? })
    }

    /// The next line, which must have so many numbers.
    fn take(&mut self, name: &str, what: &str, expected: usize) -> Result<Vec<f32>, NetError> {
        let (line, numbers) = self.lines.next().expect("the lines were counted");
        if numbers.len() == expected {
            return Ok(numbers);
        }
        let problem = format!("{} {what} of {name}, expected {expected}", numbers.len());
        Err(NetError::LeelaZero { line, problem })
    }
}

/// Makes a file.
pub(crate) fn write(zero: &Zero) -> Vec<u8> {
    let mut text = format!("{VERSION}\n");
    for (unit, convolution) in zero.shape.units().iter().zip(&zero.convolutions) {
        let Convolution { weights, biases, means, variances } = convolution;
        [weights, biases, means, variances].into_iter().for_each(|numbers| put(&mut text, numbers));
        let of_head = |name: &str| name.split('.').next() == Some(&unit.name);
        for (_, dense) in DENSE.iter().zip(&zero.dense).filter(|(name, _)| of_head(name)) {
            [&dense.weights, &dense.biases].into_iter().for_each(|numbers| put(&mut text, numbers));
        }
    }
    text.into_bytes()
}

/// A line, each number by the fewest digits that name it among the f32.
fn put(text: &mut String, numbers: &[f32]) {
    for (place, number) in numbers.iter().enumerate() {
        let (plain, scientific) = (number.to_string(), format!("{number:e}"));
        text.push_str(if place == 0 { "" } else { " " });
        text.push_str(if plain.len() <= scientific.len() { &plain } else { &scientific });
    }
    text.push('\n');
}
