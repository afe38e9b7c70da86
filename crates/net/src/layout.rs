//! The tensors that follow from a shape.

use config::PolicyHead;
pub(crate) use cpu::EPSILON;

use crate::Shape;

/// A convolution and the batch norm after it.
pub(crate) struct UnitSpec {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Side of the kernel: 3 in the tower, 1 in the heads.
    pub(crate) kernel: usize,
}

/// The use of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
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

/// A tensor of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TensorSpec {
    pub(crate) name: String,
    pub(crate) dimensions: Vec<usize>,
    pub(crate) role: Role,
}

/// A layer with a bias, the same at every point if it is a convolution.
pub(crate) struct DenseSpec {
    pub(crate) name: String,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Whether it is a 1x1 convolution.
    pub(crate) at_every_point: bool,
}

impl Shape {
    /// Multiplications and additions of one evaluation in play, counting each as one; taps that fall off the board count too,
    /// and batch norms, being folded away, do not.
    pub fn operations(&self) -> u64 {
        let shape = self.in_play();
        let area = self.size.area();
        let convolutions: usize =
            shape.units().iter().map(|unit| unit.inputs * unit.outputs * unit.kernel * unit.kernel * area).sum();
        let times = |layer: &DenseSpec| if layer.at_every_point { area } else { 1 };
        let dense: usize = shape.dense_layers().iter().map(|layer| layer.inputs * layer.outputs * times(layer)).sum();
        2 * (convolutions + dense) as u64
    }

    /// Trained parameters.
    pub fn parameters(&self) -> usize {
        let trainable = self.tensors().into_iter().filter(|tensor| tensor.role.is_trainable());
        trainable.map(|tensor| tensor.len()).sum()
    }

    /// Every convolution with its batch norm, from the input on.
    pub(crate) fn units(&self) -> Vec<UnitSpec> {
        let f = self.filters;
        let unit = |name: String, inputs, outputs| UnitSpec { name, inputs, outputs, kernel: 3 };
        let mut units = vec![unit("stem".to_owned(), self.inputs.count(), f)];
        for block in 0..self.blocks {
            units.push(unit(format!("blocks.{block}.first"), f, f));
            if self.pools(block) {
                units.push(unit(format!("blocks.{block}.pool"), f, self.pooled_filters));
            }
            units.push(unit(format!("blocks.{block}.second"), f, f));
        }
        let head = |name: &str, outputs| UnitSpec { name: name.to_owned(), inputs: f, outputs, kernel: 1 };
        units.extend([head("policy", self.policy_planes), head("value", self.value_planes)]);
        units
    }

    /// Every tensor of the network.
    pub(crate) fn tensors(&self) -> Vec<TensorSpec> {
        let mut tensors = Vec::new();
        let mut add = |name: String, dimensions, role| tensors.push(TensorSpec { name, dimensions, role });
        for unit in self.units() {
            add_unit(&unit, &mut add);
        }
        for DenseSpec { name, inputs, outputs, at_every_point } in
            self.dense_layers().into_iter().chain(self.auxiliary_dense_layers())
        {
            let dimensions = if at_every_point { vec![outputs, inputs, 1, 1] } else { vec![outputs, inputs] };
            add(format!("{name}.weight"), dimensions, Role::Weight);
            add(format!("{name}.bias"), vec![outputs], Role::Bias);
        }
        tensors
    }

    /// Every dense layer that plays.
    pub(crate) fn dense_layers(&self) -> Vec<DenseSpec> {
        let mut layers = Vec::new();
        for block in 0..self.blocks {
            if self.pools(block) {
                layers.push(dense(format!("blocks.{block}.pool.dense"), 2 * self.pooled_filters, self.filters));
            }
            if self.se_channels > 0 {
                layers.push(dense(format!("blocks.{block}.squeeze.hidden"), self.filters, self.se_channels));
                layers.push(dense(format!("blocks.{block}.squeeze.out"), self.se_channels, 2 * self.filters));
            }
        }
        layers.extend(self.policy_layers("policy"));
        let of_plane = if self.value_pooled { 1 } else { self.size.area() };
        layers.push(dense("value.hidden".to_owned(), self.value_planes * of_plane, self.value_hidden));
        layers.push(dense("value.out".to_owned(), self.value_hidden, self.value_head.outputs()));
        layers
    }

    /// The layers of the heads that are for training only.
    fn auxiliary_dense_layers(&self) -> Vec<DenseSpec> {
        let mut layers = Vec::new();
        if self.score {
            layers.push(dense("value.score".to_owned(), self.value_hidden, 1));
        }
        if self.ownership {
            layers.push(DenseSpec { at_every_point: true, ..dense("ownership.conv".to_owned(), self.filters, 1) });
        }
        if self.opponent_policy {
            layers.extend(self.policy_layers("opponent_policy"));
        }
        layers
    }

    /// The layers from the planes of the policy head to logits.
    fn policy_layers(&self, name: &str) -> Vec<DenseSpec> {
        let planes = self.policy_planes;
        match self.policy_head {
            PolicyHead::Dense => vec![dense(format!("{name}.dense"), planes * self.size.area(), self.size.moves())],
            PolicyHead::Convolution => vec![
                DenseSpec { at_every_point: true, ..dense(format!("{name}.board"), planes, 1) },
                dense(format!("{name}.pass"), 2 * planes, 1),
            ],
        }
    }
}

fn dense(name: String, inputs: usize, outputs: usize) -> DenseSpec {
    DenseSpec { name, inputs, outputs, at_every_point: false }
}

fn add_unit(unit: &UnitSpec, add: &mut impl FnMut(String, Vec<usize>, Role)) {
    let UnitSpec { name, inputs, outputs, kernel, .. } = unit;
    add(format!("{name}.conv.weight"), vec![*outputs, *inputs, *kernel, *kernel], Role::Weight);
    let mut norm = |part: &str, role| add(format!("{name}.norm.{part}"), vec![*outputs], role);
    if unit.has_scale() {
        norm("weight", Role::Scale);
        norm("bias", Role::Shift);
    }
    norm("running_mean", Role::Mean);
    norm("running_var", Role::Variance);
}

impl UnitSpec {
    /// Whether the batch norm has a scale and a shift. Those of the heads do not, as in Minigo: a head is one or two
    /// planes, whose first values are noise to the layers behind, and training would sooner shift the whole plane below
    /// the ReLU, where all gradients are 0, than fit it.
    pub(crate) fn has_scale(&self) -> bool {
        self.kernel > 1
    }
}

/// The name of the unit whose convolution or batch norm a tensor is, if it has such a name.
pub(crate) fn unit_of(tensor: &str) -> Option<&str> {
    [".conv.", ".norm."].iter().find_map(|part| Some(tensor.split_once(part)?.0))
}

impl Role {
    /// Whether the gradient changes it.
    pub(crate) fn is_trainable(self) -> bool {
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
