//! The layers of a network and their tensors, as files of weights name them. Writers and readers of files take names
//! and dimensions from here.

use config::PolicyHead;

use crate::header::{Header, pools};

/// The layers of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The first convolution.
    pub stem: UnitSpec,
    /// Residual blocks.
    pub blocks: Vec<BlockSpec>,
    /// The 1x1 convolution of the policy head.
    pub policy: UnitSpec,
    /// From its planes to logits.
    pub policy_head: PolicySpec,
    /// The 1x1 convolution of the value head.
    pub value: UnitSpec,
    /// The hidden layer of the value head.
    pub value_hidden: DenseSpec,
    /// The output of the value head.
    pub value_out: DenseSpec,
    /// The auxiliary score head.
    pub score: Option<DenseSpec>,
    /// The auxiliary ownership head.
    pub ownership: Option<DenseSpec>,
    /// The auxiliary head for the opponent's next move.
    pub opponent_policy: Option<PolicySpec>,
}

/// The layers of a residual block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockSpec {
    /// The first convolution.
    pub first: UnitSpec,
    /// Global pooling: a convolution, and from its means and maxima to the channels of the first.
    pub pooled: Option<(UnitSpec, DenseSpec)>,
    /// The second convolution.
    pub second: UnitSpec,
    /// Squeeze and excitation: the hidden layer and its output.
    pub squeeze: Option<[DenseSpec; 2]>,
}

/// The layers from the planes of a policy head to logits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicySpec {
    /// One for all moves.
    Dense(DenseSpec),
    /// One at every point, and one for the pass.
    Convolution {
        /// From planes to a point.
        board: DenseSpec,
        /// From means and maxima to the pass.
        pass: DenseSpec,
    },
}

/// A convolution and the batch norm after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitSpec {
    /// What the names of its tensors begin with.
    pub name: String,
    /// Input channels.
    pub inputs: usize,
    /// Output channels.
    pub outputs: usize,
    /// Side of the kernel: 3 in the tower, 1 in the heads.
    pub kernel: usize,
}

/// A layer with a bias, the same at every point if it is a convolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenseSpec {
    /// What the names of its tensors begin with.
    pub name: String,
    /// Inputs.
    pub inputs: usize,
    /// Outputs.
    pub outputs: usize,
    /// Whether it is a 1x1 convolution.
    pub at_every_point: bool,
}

/// The tensors of a unit in training.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTensors {
    /// The kernel.
    pub weight: TensorSpec,
    /// Scale and shift of the batch norm, if it has them.
    pub scale_and_shift: Option<[TensorSpec; 2]>,
    /// Running means.
    pub mean: TensorSpec,
    /// Running variances.
    pub variance: TensorSpec,
}

/// A tensor of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSpec {
    /// Its name.
    pub name: String,
    /// Its dimensions, outputs first.
    pub dimensions: Vec<usize>,
    /// Its use.
    pub role: Role,
}

/// The use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Kernel of a convolution or matrix of a dense layer, subject to the L2 penalty.
    Weight,
    /// Bias of a dense layer.
    Bias,
    /// Scale of a batch norm.
    Scale,
    /// Shift of a batch norm.
    Shift,
    /// Running statistics of a batch norm: follows the data, not the gradient.
    Mean,
    /// Running variance of a batch norm.
    Variance,
}

impl Header {
    /// The layers of the network. The header was checked.
    pub fn layout(&self) -> Layout {
        let &Header { filters, policy_planes, value_planes, value_hidden, .. } = self;
        let of_plane = if self.value_pooled { 1 } else { self.size * self.size };
        let head = |name: &str, outputs| UnitSpec { kernel: 1, ..unit(name, filters, outputs) };
        Layout {
            stem: unit("stem", self.planes, filters),
            blocks: (0..self.blocks).map(|index| self.block(index)).collect(),
            policy: head("policy", policy_planes),
            policy_head: self.policy_layers("policy"),
            value: head("value", value_planes),
            value_hidden: dense("value.hidden", value_planes * of_plane, value_hidden),
            value_out: dense("value.out", value_hidden, self.value_head.outputs()),
            score: self.score.then(|| dense("value.score", value_hidden, 1)),
            ownership: self.ownership.then(|| at_every_point("ownership.conv", filters, 1)),
            opponent_policy: self.opponent_policy.then(|| self.policy_layers("opponent_policy")),
        }
    }

    fn block(&self, index: usize) -> BlockSpec {
        let &Header { filters, se_channels, pooled_filters, .. } = self;
        let name = |part: &str| format!("blocks.{index}.{part}");
        let pooled = || {
            let outputs = dense(&name("pool.dense"), 2 * pooled_filters, filters);
            (unit(&name("pool"), filters, pooled_filters), outputs)
        };
        let squeeze = || {
            let hidden = dense(&name("squeeze.hidden"), filters, se_channels);
            [hidden, dense(&name("squeeze.out"), se_channels, 2 * filters)]
        };
        BlockSpec {
            first: unit(&name("first"), filters, filters),
            pooled: pools(pooled_filters, index).then(pooled),
            second: unit(&name("second"), filters, filters),
            squeeze: (se_channels > 0).then(squeeze),
        }
    }

    /// The layers from the planes of the policy head to logits.
    fn policy_layers(&self, name: &str) -> PolicySpec {
        let (planes, area) = (self.policy_planes, self.size * self.size);
        match self.policy_head {
            PolicyHead::Dense => PolicySpec::Dense(dense(&format!("{name}.dense"), planes * area, area + 1)),
            PolicyHead::Convolution => PolicySpec::Convolution {
                board: at_every_point(&format!("{name}.board"), planes, 1),
                pass: dense(&format!("{name}.pass"), 2 * planes, 1),
            },
        }
    }
}

fn unit(name: &str, inputs: usize, outputs: usize) -> UnitSpec {
    UnitSpec { name: name.to_owned(), inputs, outputs, kernel: 3 }
}

fn dense(name: &str, inputs: usize, outputs: usize) -> DenseSpec {
    DenseSpec { name: name.to_owned(), inputs, outputs, at_every_point: false }
}

fn at_every_point(name: &str, inputs: usize, outputs: usize) -> DenseSpec {
    DenseSpec { at_every_point: true, ..dense(name, inputs, outputs) }
}

impl Layout {
    /// Every convolution with its batch norm, from the input on.
    pub fn units(&self) -> impl Iterator<Item = &UnitSpec> {
        let blocks = self.blocks.iter().flat_map(BlockSpec::units);
        [&self.stem].into_iter().chain(blocks).chain([&self.policy, &self.value])
    }

    /// Every dense layer that plays.
    pub fn dense_layers(&self) -> impl Iterator<Item = &DenseSpec> {
        let blocks = self.blocks.iter().flat_map(BlockSpec::dense_layers);
        blocks.chain(self.policy_head.layers()).chain([&self.value_hidden, &self.value_out])
    }

    /// The layers of the heads that are for training only.
    fn auxiliary_layers(&self) -> impl Iterator<Item = &DenseSpec> {
        self.score.iter().chain(&self.ownership).chain(self.opponent_policy.iter().flat_map(PolicySpec::layers))
    }

    /// Every tensor in training, in the order in which initial weights are drawn.
    pub fn tensors(&self) -> Vec<TensorSpec> {
        self.units().flat_map(|unit| unit.tensors().all()).chain(self.dense_tensors()).collect()
    }

    /// Every tensor where batch norms are folded, in the order in which a folded file is hashed. It never changes.
    pub fn folded_tensors(&self) -> Vec<TensorSpec> {
        self.units().flat_map(UnitSpec::folded_tensors).chain(self.dense_tensors()).collect()
    }

    /// The tensors that folding leaves as they are.
    pub fn dense_tensors(&self) -> impl Iterator<Item = TensorSpec> {
        self.dense_layers().chain(self.auxiliary_layers()).flat_map(DenseSpec::tensors)
    }
}

impl BlockSpec {
    fn units(&self) -> impl Iterator<Item = &UnitSpec> {
        [&self.first].into_iter().chain(self.pooled.iter().map(|(unit, _)| unit)).chain([&self.second])
    }

    fn dense_layers(&self) -> impl Iterator<Item = &DenseSpec> {
        self.pooled.iter().map(|(_, dense)| dense).chain(self.squeeze.iter().flatten())
    }
}

impl PolicySpec {
    fn layers(&self) -> impl Iterator<Item = &DenseSpec> {
        let layers = match self {
            PolicySpec::Dense(dense) => [Some(dense), None],
            PolicySpec::Convolution { board, pass } => [Some(board), Some(pass)],
        };
        layers.into_iter().flatten()
    }
}

impl UnitSpec {
    /// Whether the batch norm has a scale and a shift. Those of the heads do not, as in Minigo: a head is one or two
    /// planes, whose first values are noise to the layers behind, and training would sooner shift the whole plane below
    /// the ReLU, where all gradients are 0, than fit it.
    fn has_scale(&self) -> bool {
        self.kernel > 1
    }

    /// Its tensors in training.
    pub fn tensors(&self) -> UnitTensors {
        let norm = |part: &str, role| self.tensor(&format!("norm.{part}"), vec![self.outputs], role);
        UnitTensors {
            weight: self.tensor("conv.weight", self.dimensions(), Role::Weight),
            scale_and_shift: self.has_scale().then(|| [norm("weight", Role::Scale), norm("bias", Role::Shift)]),
            mean: norm("running_mean", Role::Mean),
            variance: norm("running_var", Role::Variance),
        }
    }

    /// Its weight and its bias where the batch norm is folded.
    pub fn folded_tensors(&self) -> [TensorSpec; 2] {
        let bias = self.tensor("bias", vec![self.outputs], Role::Bias);
        [self.tensor("weight", self.dimensions(), Role::Weight), bias]
    }

    fn dimensions(&self) -> Vec<usize> {
        vec![self.outputs, self.inputs, self.kernel, self.kernel]
    }

    fn tensor(&self, part: &str, dimensions: Vec<usize>, role: Role) -> TensorSpec {
        TensorSpec { name: format!("{}.{part}", self.name), dimensions, role }
    }
}

impl UnitTensors {
    fn all(self) -> impl Iterator<Item = TensorSpec> {
        let UnitTensors { weight, scale_and_shift, mean, variance } = self;
        [weight].into_iter().chain(scale_and_shift.into_iter().flatten()).chain([mean, variance])
    }
}

impl DenseSpec {
    /// Its weight and its bias.
    pub fn tensors(&self) -> [TensorSpec; 2] {
        let &DenseSpec { inputs, outputs, .. } = self;
        let weight = if self.at_every_point { vec![outputs, inputs, 1, 1] } else { vec![outputs, inputs] };
        let tensor = |part: &str, dimensions, role| {
            let name = format!("{}.{part}", self.name);
            TensorSpec { name, dimensions, role }
        };
        [tensor("weight", weight, Role::Weight), tensor("bias", vec![outputs], Role::Bias)]
    }
}

impl TensorSpec {
    /// How many numbers it holds.
    pub fn count(&self) -> usize {
        self.dimensions.iter().product()
    }

    /// Inputs to each output of a convolution or dense layer.
    pub fn inputs(&self) -> usize {
        self.dimensions.iter().skip(1).product()
    }
}

impl Role {
    /// Whether the gradient changes it.
    pub fn is_trainable(self) -> bool {
        !matches!(self, Role::Mean | Role::Variance)
    }

    /// Whether a network may have this number in such a tensor.
    pub fn allows(self, number: f32) -> bool {
        number.is_finite() && (self != Role::Variance || number >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use config::ValueHead;

    use super::*;

    const PLAIN: Header = Header {
        size: 5,
        blocks: 1,
        filters: 6,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 8,
        planes: 17,
        ownership: false,
        score: false,
        opponent_policy: false,
        se_channels: 0,
        pooled_filters: 0,
        policy_head: PolicyHead::Dense,
        value_head: ValueHead::Tanh,
        value_pooled: false,
    };

    /// The tensors as lines of a name and dimensions.
    fn lines(tensors: Vec<TensorSpec>) -> Vec<String> {
        tensors.iter().map(|tensor| format!("{} {:?}", tensor.name, tensor.dimensions)).collect()
    }

    /// Files have these names, and initial weights are drawn in this order.
    #[test]
    fn plain_network_has_these_tensors() {
        let found = lines(PLAIN.layout().tensors());
        let norms = ["norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"];
        let unit = |name: &str, dimensions: [usize; 4], norms: &[&str]| {
            let norms = norms.iter().map(|part| format!("{name}.{part} [{}]", dimensions[0]));
            [format!("{name}.conv.weight {dimensions:?}")].into_iter().chain(norms).collect::<Vec<String>>()
        };
        let mut expected = [
            unit("stem", [6, 17, 3, 3], &norms),
            unit("blocks.0.first", [6, 6, 3, 3], &norms),
            unit("blocks.0.second", [6, 6, 3, 3], &norms),
            unit("policy", [2, 6, 1, 1], &norms[2..]),
            unit("value", [1, 6, 1, 1], &norms[2..]),
        ]
        .concat();
        expected.extend(["policy.dense.weight [26, 50]", "policy.dense.bias [26]"].map(str::to_owned));
        expected.extend(["value.hidden.weight [8, 25]", "value.hidden.bias [8]"].map(str::to_owned));
        expected.extend(["value.out.weight [1, 8]", "value.out.bias [1]"].map(str::to_owned));
        assert_eq!(found, expected);
    }

    #[test]
    fn folded_network_with_everything_has_these_tensors() {
        let header = Header {
            blocks: 2,
            ownership: true,
            score: true,
            opponent_policy: true,
            se_channels: 4,
            pooled_filters: 3,
            policy_head: PolicyHead::Convolution,
            value_head: ValueHead::WinDrawLoss,
            value_pooled: true,
            ..PLAIN
        };
        let found = lines(header.layout().folded_tensors());
        let weights: Vec<&str> = found.iter().step_by(2).map(String::as_str).collect();
        let expected = [
            "stem.weight [6, 17, 3, 3]",
            "blocks.0.first.weight [6, 6, 3, 3]",
            "blocks.0.second.weight [6, 6, 3, 3]",
            "blocks.1.first.weight [6, 6, 3, 3]",
            "blocks.1.pool.weight [3, 6, 3, 3]",
            "blocks.1.second.weight [6, 6, 3, 3]",
            "policy.weight [2, 6, 1, 1]",
            "value.weight [1, 6, 1, 1]",
            "blocks.0.squeeze.hidden.weight [4, 6]",
            "blocks.0.squeeze.out.weight [12, 4]",
            "blocks.1.pool.dense.weight [6, 6]",
            "blocks.1.squeeze.hidden.weight [4, 6]",
            "blocks.1.squeeze.out.weight [12, 4]",
            "policy.board.weight [1, 2, 1, 1]",
            "policy.pass.weight [1, 4]",
            "value.hidden.weight [8, 1]",
            "value.out.weight [3, 8]",
            "value.score.weight [1, 8]",
            "ownership.conv.weight [1, 6, 1, 1]",
            "opponent_policy.board.weight [1, 2, 1, 1]",
            "opponent_policy.pass.weight [1, 4]",
        ];
        assert_eq!(weights, expected);
        let biases = found.iter().skip(1).step_by(2);
        for (weight, bias) in expected.iter().zip(biases) {
            let (name, outputs) = weight.split_once(".weight [").unwrap();
            assert_eq!(*bias, format!("{name}.bias [{}]", outputs.split_once(',').unwrap().0));
        }
    }

    #[test]
    fn numbers_are_finite_and_variances_not_negative() {
        for (role, number, allowed) in [
            (Role::Weight, -1.0, true),
            (Role::Weight, f32::NAN, false),
            (Role::Mean, f32::INFINITY, false),
            (Role::Variance, 0.0, true),
            (Role::Variance, -1e-9, false),
            (Role::Variance, f32::NAN, false),
        ] {
            assert_eq!(role.allows(number), allowed, "{role:?} {number}");
        }
    }
}
