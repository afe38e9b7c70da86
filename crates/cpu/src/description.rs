//! The layers of a network, with all batch norms folded.

use crate::CpuError;
use crate::board::SIDES;

/// A network of Tengen as it plays: a stem, residual blocks, a policy head and a value head.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Side of the board.
    pub side: usize,
    /// The input channels, made of the bytes of a position.
    pub inputs: Vec<Input>,
    /// The first convolution, 3x3, which ReLU follows.
    pub stem: Convolution,
    /// Residual blocks.
    pub blocks: Vec<Block>,
    /// The policy head.
    pub policy: Policy,
    /// The value head.
    pub value: Value,
}

/// An input channel. Planes are the bytes of a position, one a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// A plane as it is.
    Plane(usize),
    /// A plane less `offset`, divided by `divisor`.
    Scaled {
        /// The plane.
        plane: usize,
        /// The subtrahend.
        offset: f32,
        /// The divisor of the difference.
        divisor: f32,
    },
    /// 1 where a plane is 0, else 0.
    Not(usize),
}

/// A convolution with a bias, 3x3 or 1x1.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Outputs, inputs, rows, columns.
    pub weight: Vec<f32>,
    /// One number an output.
    pub bias: Vec<f32>,
}

/// A dense layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// Outputs, inputs.
    pub weight: Vec<f32>,
    /// One number an output.
    pub bias: Vec<f32>,
}

/// A residual block: convolution, ReLU, convolution, sum, ReLU.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The first convolution.
    pub first: Convolution,
    /// Global pooling (Wu 2019): a convolution beside the first, ReLU, and a dense layer from the means and then the
    /// maxima of its planes to an offset of the channels of the first.
    pub pooled: Option<(Convolution, Dense)>,
    /// The second convolution.
    pub second: Convolution,
    /// Squeeze and excitation: from the means of the second's channels to a hidden layer with ReLU, and from it to the
    /// logits of scales and then to shifts.
    pub squeeze: Option<[Dense; 2]>,
}

/// From the tower to logits.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The 1x1 convolution, which ReLU follows.
    pub planes: Convolution,
    /// From its planes to logits.
    pub head: PolicyHead,
}

/// From the planes of the policy head to logits.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyHead {
    /// A dense layer from all points of all planes to all moves, the pass last.
    Dense(Dense),
    /// A 1x1 convolution to the logits of the points, and a dense layer from means and then maxima of the planes to
    /// that of the pass.
    Convolution {
        /// From planes to a point.
        board: Dense,
        /// From means and maxima to the pass.
        pass: Dense,
    },
}

/// From the tower to a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// The 1x1 convolution, which ReLU follows.
    pub planes: Convolution,
    /// Whether the hidden layer sees the mean of each plane instead of all its points.
    pub pooled: bool,
    /// The hidden layer, which ReLU follows.
    pub hidden: Dense,
    /// To one number, of which tanh is taken, or to the logits of winning, drawing and losing.
    pub out: Dense,
}

impl Description {
    /// Points of the board.
    pub fn area(&self) -> usize {
        self.side * self.side
    }

    /// Moves, the pass included.
    pub fn moves(&self) -> usize {
        self.area() + 1
    }

    /// Planes of a position.
    pub fn planes(&self) -> usize {
        let plane = |input: &Input| match *input {
            Input::Plane(plane) | Input::Scaled { plane, .. } | Input::Not(plane) => plane + 1,
        };
        self.inputs.iter().map(plane).max().unwrap_or(0)
    }

    /// Channels of the tower.
    pub fn filters(&self) -> usize {
        self.stem.outputs
    }

    /// Checks that the parts fit together and that all numbers are finite.
    ///
    /// # Errors
    /// Names the first part that does not fit, or the first number that is not finite.
    pub fn check(&self) -> Result<(), CpuError> {
        if !SIDES.contains(&self.side) {
            return Err(CpuError::Side(self.side));
        }
        count("inputs", self.inputs.len().max(1), self.inputs.len())?;
        let filters = self.filters();
        for (index, input) in self.inputs.iter().enumerate() {
            if let Input::Scaled { offset, divisor, .. } = input {
                let factor = if *divisor == 0.0 { f32::NAN } else { 1.0 / divisor };
                finite(&format!("inputs.{index}"), &[*offset, factor])?;
            }
        }
        self.stem.check("stem", self.inputs.len(), filters, 3)?;
        for (index, block) in self.blocks.iter().enumerate() {
            block.check(index, filters)?;
        }
        let Policy { planes, head } = &self.policy;
        planes.check("policy", filters, planes.outputs, 1)?;
        match head {
            PolicyHead::Dense(dense) => dense.check("policy.dense", planes.outputs * self.area(), self.moves())?,
            PolicyHead::Convolution { board, pass } => {
                board.check("policy.board", planes.outputs, 1)?;
                pass.check("policy.pass", 2 * planes.outputs, 1)?;
            }
        }
        let Value { planes, pooled, hidden, out } = &self.value;
        planes.check("value", filters, planes.outputs, 1)?;
        let seen = if *pooled { planes.outputs } else { planes.outputs * self.area() };
        hidden.check("value.hidden", seen, hidden.bias.len())?;
        out.check("value.out", hidden.bias.len(), if out.bias.len() == 1 { 1 } else { 3 })
    }
}

impl Block {
    fn check(&self, index: usize, filters: usize) -> Result<(), CpuError> {
        let name = |part: &str| format!("blocks.{index}.{part}");
        self.first.check(&name("first"), filters, filters, 3)?;
        self.second.check(&name("second"), filters, filters, 3)?;
        if let Some((conv, dense)) = &self.pooled {
            conv.check(&name("pool"), filters, conv.outputs, 3)?;
            dense.check(&name("pool.dense"), 2 * conv.outputs, filters)?;
        }
        if let Some([hidden, out]) = &self.squeeze {
            hidden.check(&name("squeeze.hidden"), filters, hidden.bias.len())?;
            out.check(&name("squeeze.out"), hidden.bias.len(), 2 * filters)?;
        }
        Ok(())
    }
}

impl Convolution {
    pub(crate) fn check(&self, name: &str, inputs: usize, outputs: usize, side: usize) -> Result<(), CpuError> {
        count(&format!("{name}: input channels"), inputs.max(1), self.inputs)?;
        count(&format!("{name}: output channels"), outputs.max(1), self.outputs)?;
        // What wraps would fit fewer weights.
        let weights = inputs.saturating_mul(outputs).saturating_mul(side * side);
        count(&format!("{name}.weight"), weights, self.weight.len())?;
        count(&format!("{name}.bias"), outputs, self.bias.len())?;
        finite(&format!("{name}.weight"), &self.weight)?;
        finite(&format!("{name}.bias"), &self.bias)
    }
}

impl Dense {
    fn check(&self, name: &str, inputs: usize, outputs: usize) -> Result<(), CpuError> {
        count(&format!("{name}.bias"), outputs.max(1), self.bias.len())?;
        count(&format!("{name}.weight"), inputs.saturating_mul(outputs), self.weight.len())?;
        finite(&format!("{name}.weight"), &self.weight)?;
        finite(&format!("{name}.bias"), &self.bias)
    }
}

/// Finite weights with a tiny variance can be infinite after folding.
pub(crate) fn finite(part: &str, numbers: &[f32]) -> Result<(), CpuError> {
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(index) => Err(CpuError::Number { tensor: part.to_owned(), index, value: numbers[index] }),
        None => Ok(()),
    }
}

fn count(part: &str, expected: usize, found: usize) -> Result<(), CpuError> {
    if expected == found {
        return Ok(());
    }
    Err(CpuError::Description { part: part.to_owned(), expected, found })
}
