//! The shape of a network, and the tensors that follow from it.

use std::fmt;

use go::Size;
use serde::{Deserialize, Serialize};

use crate::{NetError, TurnPlanes};

/// No network that can be trained has more of anything; keeps a broken file from asking for endless memory.
const MOST: usize = 1 << 14;

/// The shape of a network: the tower of AlphaGo Zero with the heads of Minigo.
///
/// A 3x3 convolution, batch norm and ReLU; `blocks` residual blocks of two such convolutions; a policy head of a 1x1
/// convolution to a few planes, batch norm, ReLU and a dense layer to one number a move; a value head of a 1x1
/// convolution to a few planes, batch norm, ReLU, a dense layer of `value_hidden`, ReLU, a dense layer to one number,
/// tanh. The value is for the side to move. No convolution has a bias, for the batch norm after it has one. The batch norms of the heads
/// learn neither scale nor shift.
///
/// Two more heads may help it learn, and are left out of play: `ownership`, a 1x1 convolution with a bias to the logit of
/// each point's being the mover's in the end; and `score`, a dense layer from the hidden layer of the value head to the
/// mover's margin in points after komi, divided by the side of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The board.
    pub size: Size,
    /// Residual blocks.
    pub blocks: usize,
    /// Channels of the tower.
    pub filters: usize,
    /// Planes of the policy head; 2 in AlphaGo Zero.
    pub policy_planes: usize,
    /// Planes of the value head; 1 in AlphaGo Zero.
    pub value_planes: usize,
    /// Width of the hidden layer in the value head.
    pub value_hidden: usize,
    /// Whether it learns whose each point will be, too.
    pub ownership: bool,
    /// Whether it learns by how many points the game will be won, too.
    pub score: bool,
    /// How it is told whose turn it is. Networks of our own have one plane for that; those of Leela Zero have two.
    pub turn_planes: TurnPlanes,
}

/// A shape as files spell it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct ShapeFields {
    size: usize,
    blocks: usize,
    filters: usize,
    policy_planes: usize,
    value_planes: usize,
    value_hidden: usize,
    planes: usize,
    /// Not in the files of networks that have none, so that these stay what they were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ownership: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    score: bool,
}

/// A convolution and its batch norm.
pub(crate) struct Unit {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Side of the kernel: 3 in the tower, 1 in the heads.
    pub(crate) kernel: usize,
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Kernel of a convolution or matrix of a dense layer: what the L2 penalty is for.
    Weight,
    /// Bias of a dense layer.
    Bias,
    /// Scale of a batch norm.
    Scale,
    /// Shift of a batch norm.
    Shift,
    /// Running mean of a batch norm: follows the data, not the gradient.
    Mean,
    /// Running variance of a batch norm.
    Variance,
}

/// A tensor of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorSpec {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<usize>,
    pub(crate) role: Role,
}

impl Shape {
    /// The shape that a configuration asks for.
    ///
    /// # Errors
    /// A board that does not exist.
    pub fn new(game: &config::Game, network: &config::Network) -> Result<Shape, NetError> {
        let config::Network { blocks, filters, policy_planes, value_planes, value_hidden, ownership, score } = *network;
        let (size, turn_planes) = (Size::new(game.size)?, TurnPlanes::One);
        Ok(Shape { size, blocks, filters, policy_planes, value_planes, value_hidden, ownership, score, turn_planes })
    }

    /// The same network without what only helps it learn.
    pub fn in_play(self) -> Shape {
        Shape { ownership: false, score: false, ..self }
    }

    /// Multiplications and additions of one evaluation in play, counting each as one; taps that fall off the board count too,
    /// and batch norms, being folded away, do not.
    pub fn operations(&self) -> u64 {
        let convolutions: usize = self
            .units()
            .iter()
            .map(|unit| unit.inputs * unit.outputs * unit.kernel * unit.kernel * self.size.area())
            .sum();
        let dense: usize = self.dense_layers().iter().map(|(_, inputs, outputs)| inputs * outputs).sum();
        2 * (convolutions + dense) as u64
    }

    /// Numbers that are learned.
    pub fn parameters(&self) -> usize {
        let learned = self.tensors().into_iter().filter(|tensor| tensor.role.is_learned());
        learned.map(|tensor| tensor.len()).sum()
    }

    /// Every convolution with its batch norm, from the input on.
    pub(crate) fn units(&self) -> Vec<Unit> {
        let unit = |name: String, inputs, outputs, kernel| Unit { name, inputs, outputs, kernel };
        let f = self.filters;
        let mut units = vec![unit("stem".to_owned(), self.turn_planes.count(), f, 3)];
        for block in 0..self.blocks {
            units.extend(["first", "second"].map(|half| unit(format!("blocks.{block}.{half}"), f, f, 3)));
        }
        units.push(unit("policy".to_owned(), f, self.policy_planes, 1));
        units.push(unit("value".to_owned(), f, self.value_planes, 1));
        units
    }

    /// Every tensor of the network.
    pub(crate) fn tensors(&self) -> Vec<TensorSpec> {
        let mut tensors = Vec::new();
        let mut add = |name: String, dimensions, role| tensors.push(TensorSpec { name, dimensions, role });
        for unit in self.units() {
            let has_scale = unit.has_scale();
            let Unit { name, inputs, outputs, kernel } = unit;
            add(format!("{name}.conv.weight"), vec![outputs, inputs, kernel, kernel], Role::Weight);
            if has_scale {
                add(format!("{name}.norm.weight"), vec![outputs], Role::Scale);
                add(format!("{name}.norm.bias"), vec![outputs], Role::Shift);
            }
            add(format!("{name}.norm.running_mean"), vec![outputs], Role::Mean);
            add(format!("{name}.norm.running_var"), vec![outputs], Role::Variance);
        }
        for (name, inputs, outputs) in self.dense_layers() {
            add(format!("{name}.weight"), vec![outputs, inputs], Role::Weight);
            add(format!("{name}.bias"), vec![outputs], Role::Bias);
        }
        if self.score {
            add("value.score.weight".to_owned(), vec![1, self.value_hidden], Role::Weight);
            add("value.score.bias".to_owned(), vec![1], Role::Bias);
        }
        if self.ownership {
            add("ownership.conv.weight".to_owned(), vec![1, self.filters, 1, 1], Role::Weight);
            add("ownership.conv.bias".to_owned(), vec![1], Role::Bias);
        }
        tensors
    }

    /// Name, inputs and outputs of every dense layer that plays.
    pub(crate) fn dense_layers(&self) -> [(&'static str, usize, usize); 3] {
        [
            ("policy.dense", self.policy_planes * self.size.area(), self.size.moves()),
            ("value.hidden", self.value_planes * self.size.area(), self.value_hidden),
            ("value.out", self.value_hidden, 1),
        ]
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { size, blocks, filters, policy_planes, value_planes, value_hidden, ownership, score, turn_planes } =
            self;
        write!(
            f,
            "{blocks} blocks of {filters} filters on {size}x{size}, heads of {policy_planes} and {value_planes} planes, \
             {value_hidden} hidden values"
        )?;
        let more = [(ownership, "ownership"), (score, "score")];
        more.iter().filter(|(has, _)| **has).try_for_each(|(_, name)| write!(f, ", {name}"))?;
        match turn_planes {
            TurnPlanes::One => Ok(()),
            TurnPlanes::Two => write!(f, ", {} planes of input", turn_planes.count()),
        }
    }
}

impl From<Shape> for ShapeFields {
    fn from(shape: Shape) -> ShapeFields {
        let Shape { size, blocks, filters, policy_planes, value_planes, value_hidden, ownership, score, turn_planes } =
            shape;
        let (size, planes) = (size.side(), turn_planes.count());
        ShapeFields { size, blocks, filters, policy_planes, value_planes, value_hidden, planes, ownership, score }
    }
}

impl TryFrom<ShapeFields> for Shape {
    type Error = String;

    fn try_from(fields: ShapeFields) -> Result<Shape, String> {
        let ShapeFields { size, blocks, filters, policy_planes, value_planes, value_hidden, planes, ownership, score } =
            fields;
        let size = Size::new(size).map_err(|e| e.to_string())?;
        let [one, two] = [TurnPlanes::One, TurnPlanes::Two].map(TurnPlanes::count);
        let unknown = || format!("a network for {planes} planes of input, and positions have {one} or {two}");
        let turn_planes = TurnPlanes::of_count(planes).ok_or_else(unknown)?;
        let shape =
            Shape { size, blocks, filters, policy_planes, value_planes, value_hidden, ownership, score, turn_planes };
        let widths = [filters, policy_planes, value_planes, value_hidden];
        if blocks > MOST || widths.iter().any(|width| !(1..=MOST).contains(width)) {
            return Err(format!("{shape} make no network"));
        }
        Ok(shape)
    }
}

impl Unit {
    /// Whether the batch norm learns a scale and a shift. Those of the heads do not, as in Minigo: a head is one or two
    /// planes, whose first values are noise to the layers behind, and training would sooner shift the whole plane below
    /// the ReLU, where nothing is learned any more, than make sense of it.
    pub(crate) fn has_scale(&self) -> bool {
        self.kernel > 1
    }
}

impl Role {
    /// Whether the gradient changes it.
    pub(crate) fn is_learned(self) -> bool {
        !matches!(self, Role::Mean | Role::Variance)
    }
}

impl TensorSpec {
    /// How many numbers it holds.
    pub(crate) fn len(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Inputs to each output of a convolution or dense layer.
    pub(crate) fn inputs(&self) -> usize {
        self.dimensions.iter().skip(1).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(size: usize, blocks: usize, filters: usize, value_hidden: usize) -> Shape {
        Shape {
            size: Size::new(size).unwrap(),
            blocks,
            filters,
            policy_planes: 2,
            value_planes: 1,
            value_hidden,
            ownership: false,
            score: false,
            turn_planes: TurnPlanes::One,
        }
    }

    #[test]
    fn a_small_network_by_hand() {
        let shape = shape(5, 1, 8, 16);
        // Kernels: 17·8·9 + 2·8·8·9 + 8·2 + 8·1; scales and shifts: 2·(8 + 8 + 8);
        // dense: 50·26 + 26, 25·16 + 16, 16 + 1.
        assert_eq!(shape.parameters(), 1224 + 1152 + 24 + 48 + 1326 + 416 + 17);
        assert_eq!(shape.operations(), 2 * (25 * (1224 + 1152 + 24) + 1300 + 400 + 16));
        assert_eq!(shape.tensors().len(), 3 * 5 + 2 * 3 + 2 * 3);
    }

    #[test]
    fn heads_for_learning_cost_nothing_in_play() {
        let plain = shape(5, 1, 8, 16);
        let helped = Shape { ownership: true, score: true, ..plain };
        assert_eq!(helped.parameters() - plain.parameters(), (8 + 1) + (16 + 1));
        assert_eq!((helped.operations(), helped.in_play()), (plain.operations(), plain));
        assert_eq!(helped.to_string(), format!("{plain}, ownership, score"));
        assert_eq!(Shape::try_from(ShapeFields::from(helped)), Ok(helped));
    }

    #[test]
    fn every_tensor_has_a_name_of_its_own() {
        let mut names: Vec<String> = shape(9, 3, 4, 4).tensors().into_iter().map(|tensor| tensor.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn fields_of_no_network_are_refused() {
        let good = ShapeFields::from(shape(9, 4, 32, 64));
        assert_eq!(Shape::try_from(good), Ok(shape(9, 4, 32, 64)));
        for bad in [
            ShapeFields { size: 1, ..good },
            ShapeFields { size: 20, ..good },
            ShapeFields { blocks: usize::MAX, ..good },
            ShapeFields { filters: 0, ..good },
            ShapeFields { value_hidden: 1 << 40, ..good },
            ShapeFields { planes: 16, ..good },
        ] {
            assert!(Shape::try_from(bad).is_err());
        }
    }
}
