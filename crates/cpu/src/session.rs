//! A network at work: the memory of one thread, and the way of positions through the tower.

use std::sync::Arc;

use crate::auxiliary::{Auxiliary, Prediction};
use crate::board::{Board, FREQUENCIES, padded};
use crate::description::Description;
use crate::header::Header;
use crate::heads::HeadsMemory;
use crate::inputs::write_inputs;
use crate::model::{Model, Precision};
use crate::scales::Scales;
use crate::tower::{Pass, Tower};
use crate::workspace::{Workspace, group};
use crate::{CpuError, InstructionSet};

/// Evaluates positions for one thread. It allocates nothing after it was made.
pub struct Session {
    model: Arc<Model>,
    workspace: Workspace,
    tower: Tower,
    heads: HeadsMemory,
    /// With calibration: the largest inputs so far.
    observed: Option<Scales>,
}

/// Bytes of an int16 session of a network: activations of a group of positions, their transformed inputs and the planes
/// of the heads, whatever the size of a batch. Buffers of a few hundred KB are not counted.
pub fn session_bytes(network: &Header) -> usize {
    let board = Board::new(network.size);
    let [inputs, filters, pooled] = [network.planes, network.filters, network.pooled_filters].map(padded);
    let widest = inputs.max(filters);
    let activations = board.len(inputs + 2 * filters + pooled) * size_of::<f32>();
    let transformed = FREQUENCIES * board.columns() * widest * size_of::<i16>();
    // Side by side, and apart as the inputs of dense layers.
    let planes = network.policy_planes + network.value_planes;
    let heads = board.area() * (padded(planes) + planes) * size_of::<f32>();
    group(board, widest) * (activations + transformed + heads)
}

impl Model {
    /// Finds the scales of a network from positions, given as their planes one after the other. Scales are the same
    /// bits on every x86-64 CPU.
    ///
    /// # Errors
    /// As [`Model::new`], and activations that are too large for f32.
    ///
    /// # Panics
    /// When `planes` are not those of whole positions, or of none: no scales suit every network.
    pub fn calibrate(description: &Description, planes: &[u8]) -> Result<Scales, CpuError> {
        let model = Model::new(description, Precision::F32, InstructionSet::best())?;
        let len = model.position_len();
        assert!(planes.len().is_multiple_of(len), "a position has {len} bytes of planes");
        assert!(!planes.is_empty(), "scales of no positions");
        let mut session = model.session().observing();
        for planes in planes.chunks(model.group * len) {
            session.tower(planes, planes.len() / len);
        }
        let scales = session.into_scales();
        scales.check(model.layers())?;
        Ok(scales)
    }

    /// Memory of a thread that evaluates positions.
    pub fn session(self: &Arc<Model>) -> Session {
        Session::new(Arc::clone(self))
    }
}

impl Session {
    pub(crate) fn new(model: Arc<Model>) -> Session {
        let (board, group) = (model.board, model.group);
        let [widest, _] = model.widths();
        Session {
            workspace: Workspace::new(model.kernels, board, group, widest, model.factors.is_empty()),
            tower: Tower::new(&model),
            heads: HeadsMemory::new(&model),
            observed: None,
            model,
        }
    }

    /// The network.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Evaluates positions, given as their planes one after the other: a probability for each move, and a value for the
    /// side to move, for each position.
    ///
    /// Where f32 is too small for a number on the way to them, the policy or value of the position is NaN, with the
    /// same bits on every x86-64 CPU. In int16 that cannot happen: [`Model::new`] refuses such networks.
    ///
    /// # Panics
    /// When the lengths do not fit together.
    pub fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) {
        let (len, moves, group) = (self.model.position_len(), self.model.moves(), self.model.group);
        assert_eq!(planes.len(), values.len() * len, "planes of {} positions", values.len());
        assert_eq!(policies.len(), values.len() * moves, "the buffer has the policies of {} positions", values.len());
        let groups = planes.chunks(group * len).zip(policies.chunks_mut(group * moves)).zip(values.chunks_mut(group));
        for ((planes, policies), values) in groups {
            self.tower(planes, values.len());
            self.heads.forward(&self.model, self.tower.output(), policies, values);
        }
    }

    /// What auxiliary heads say of a position, given as its planes. They are those of the file of the network.
    ///
    /// # Panics
    /// When the planes are not those of a position, or the heads are those of a wider or a narrower network.
    pub fn predict(&mut self, planes: &[u8], heads: &Auxiliary) -> Prediction {
        self.evaluate(planes, &mut vec![0.0; self.model.moves()], &mut [0.0]);
        heads.predict(&self.model, self.tower.output(), self.heads.hidden(&self.model))
    }

    /// The same with calibration: [`Session::into_scales`] has the scales that the positions ask for which are
    /// evaluated from now on.
    ///
    /// # Panics
    /// When the network is not in f32.
    pub fn observing(self) -> Session {
        assert!(self.model.factors.is_empty(), "calibration is in f32");
        Session { observed: Some(Scales::none(self.model.layers())), ..self }
    }

    /// The scales that were found.
    pub fn into_scales(self) -> Scales {
        self.observed.unwrap_or_else(|| Scales::none(self.model.layers()))
    }

    /// Takes a group of positions through the tower.
    fn tower(&mut self, planes: &[u8], positions: usize) {
        let Session { model, workspace, tower, observed, .. } = self;
        write_inputs(model, planes, positions, &mut tower.input);
        Pass { model, positions, workspace, tower, observed: observed.as_mut() }.run();
    }
}
