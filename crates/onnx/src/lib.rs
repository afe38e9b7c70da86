//! Networks as ONNX files, for onnxruntime, OpenVINO, TensorRT and others.
//!
//! A file has opset 17 and holds what play needs: the tower with its batch norms folded away, policy and value.
//!
//! | name | type | dimensions | contents |
//! |---|---|---|---|
//! | `planes` (input) | uint8 | batch, planes, side, side | what Tengen's examples show: planes of 0 and 1, komi and numbers as bytes |
//! | `policy` (output) | float | batch, side² + 1 | probabilities of the points, row by row, and of the pass |
//! | `value` (output) | float | batch | from −1 (the player to move loses) to 1 |
//!
//! Constants are named after their layers, with `.weight` and `.bias`: `stem`, `blocks.I.first`, `blocks.I.second`,
//! `policy.planes`, `value.hidden`. [`read`] knows them by these names.

mod graph;
mod proto;
mod read;

use cpu::{Block, Description, Input, Policy, PolicyHead};
use graph::{Graph, Value};
use prost::Message;
use proto::{AttributeProto, GraphProto, ModelProto, OperatorSetIdProto, Type, ValueInfoProto};

pub use read::{OnnxError, looks_like, read};

/// The operators that files use are as this version defines them.
pub const OPSET: i64 = 17;
/// The file format that came with the opset.
const IR_VERSION: i64 = 8;

/// Bytes of the largest message that Protocol Buffers read.
const MOST_BYTES: usize = i32::MAX as usize;

/// A network as the bytes of an ONNX file, which only [`read`] reads where it has more than 2 GiB.
pub fn write(network: &Description) -> Vec<u8> {
    model_of(network).encode_to_vec()
}

/// The same for other programs.
///
/// # Errors
/// A network whose file would be larger than they read.
pub fn write_for_others(network: &Description) -> Result<Vec<u8>, OnnxError> {
    let model = model_of(network);
    check_size(model.encoded_len())?;
    Ok(model.encode_to_vec())
}

fn check_size(bytes: usize) -> Result<(), OnnxError> {
    if bytes > MOST_BYTES { Err(OnnxError::TooLarge { bytes }) } else { Ok(()) }
}

fn model_of(network: &Description) -> ModelProto {
    ModelProto {
        ir_version: IR_VERSION,
        producer_name: "tengen".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        doc_string: "planes as bytes; policy: points and pass; value: -1 to 1 for the player to move".to_owned(),
        graph: Some(graph_of(network)),
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: OPSET }],
    }
}

fn graph_of(network: &Description) -> GraphProto {
    let mut graph = Graph::default();
    let planes = inputs(&mut graph, network);
    let trunk = tower(&mut graph, network, &planes);
    policy(&mut graph, &network.policy, &trunk);
    value(&mut graph, network, &trunk);
    let mut graph = graph.finish();
    let side = network.side;
    graph.input.push(ValueInfoProto::batched("planes", Type::Byte, &[network.planes(), side, side]));
    graph.output.push(ValueInfoProto::batched("policy", Type::Float, &[network.moves()]));
    graph.output.push(ValueInfoProto::batched("value", Type::Float, &[]));
    graph
}

/// The input channels of the stem, from the bytes of positions.
fn inputs(graph: &mut Graph, network: &Description) -> Value {
    let all = graph.node("planes.float", "Cast", &["planes"], &[AttributeProto::int("to", Type::Float as i64)]);
    // (x - offset) / divisor; a plane of 0 and 1 that is to be inverted is (x - 1) / -1.
    let channel = |input: &Input| match *input {
        Input::Plane(plane) => (plane, 0.0, 1.0),
        Input::Scaled { plane, offset, divisor } => (plane, offset, divisor),
        Input::Not(plane) => (plane, 1.0, -1.0),
    };
    let channels: Vec<(usize, f32, f32)> = network.inputs.iter().map(channel).collect();
    let chosen: Vec<i64> = channels.iter().map(|&(plane, ..)| plane as i64).collect();
    let planes = if chosen.iter().copied().eq(0..network.planes() as i64) {
        all
    } else {
        let indices = graph.integers("inputs.planes", &chosen);
        graph.node("inputs.chosen", "Gather", &[&all, &indices], &[AttributeProto::int("axis", 1)])
    };
    if channels.iter().all(|&(_, offset, divisor)| (offset, divisor) == (0.0, 1.0)) {
        return planes;
    }
    let (offsets, divisors): (Vec<f32>, Vec<f32>) =
        channels.iter().map(|&(_, offset, divisor)| (offset, divisor)).unzip();
    let dimensions = [channels.len(), 1, 1];
    let offset = graph.floats("inputs.offset", &dimensions, &offsets);
    let divisor = graph.floats("inputs.divisor", &dimensions, &divisors);
    let moved = graph.node("inputs.moved", "Sub", &[&planes, &offset], &[]);
    graph.node("inputs", "Div", &[&moved, &divisor], &[])
}

/// The activations that the heads see.
fn tower(graph: &mut Graph, network: &Description, planes: &str) -> Value {
    let stem = graph.convolution("stem", planes, &network.stem);
    let mut trunk = graph.relu(&stem);
    for (index, block) in network.blocks.iter().enumerate() {
        trunk = residual(graph, &format!("blocks.{index}"), block, &trunk);
    }
    trunk
}

fn residual(graph: &mut Graph, name: &str, block: &Block, trunk: &str) -> Value {
    let part = |part: &str| format!("{name}.{part}");
    let mut first = graph.convolution(&part("first"), trunk, &block.first);
    if let Some((convolution, dense)) = &block.pooled {
        let planes = graph.convolution(&part("pool"), trunk, convolution);
        let planes = graph.relu(&planes);
        let pooled = graph.means_and_maxima(&planes);
        let biases = graph.dense(&part("pool.dense"), &pooled, dense);
        let biases = graph.broadcast(&biases);
        first = graph.node(&part("first.biased"), "Add", &[&first, &biases], &[]);
    }
    let inner = graph.relu(&first);
    let mut second = graph.convolution(&part("second"), &inner, &block.second);
    if let Some([hidden, out]) = &block.squeeze {
        let means = graph.means(&second);
        let hidden = graph.dense(&part("squeeze.hidden"), &means, hidden);
        let hidden = graph.relu(&hidden);
        let gates = graph.dense(&part("squeeze.out"), &hidden, out);
        let filters = (out.bias.len() / 2) as i64;
        let sizes = graph.integers(&part("squeeze.sizes"), &[filters, filters]);
        let halves = [part("squeeze.logits"), part("squeeze.shifts")];
        let axis = [AttributeProto::int("axis", 1)];
        graph.outputs(&part("squeeze.split"), "Split", &[&gates, &sizes], &axis, &[&halves[0], &halves[1]]);
        let scales = graph.node(&part("squeeze.scales"), "Sigmoid", &[&halves[0]], &[]);
        let (scales, shifts) = (graph.broadcast(&scales), graph.broadcast(&halves[1]));
        let scaled = graph.node(&part("squeeze.scaled"), "Mul", &[&second, &scales], &[]);
        second = graph.node(&part("squeeze"), "Add", &[&scaled, &shifts], &[]);
    }
    let sum = graph.node(&part("sum"), "Add", &[trunk, &second], &[]);
    graph.relu(&sum)
}

fn policy(graph: &mut Graph, policy: &Policy, trunk: &str) {
    let planes = graph.convolution("policy.planes", trunk, &policy.planes);
    let planes = graph.relu(&planes);
    let logits = match &policy.head {
        PolicyHead::Dense(dense) => {
            let flat = graph.flatten(&planes);
            graph.dense("policy.dense", &flat, dense)
        }
        PolicyHead::Convolution { board, pass } => {
            let board = cpu::Convolution {
                inputs: board.weight.len(),
                outputs: 1,
                weight: board.weight.clone(),
                bias: board.bias.clone(),
            };
            let points = graph.convolution("policy.board", &planes, &board);
            let points = graph.flatten(&points);
            let pooled = graph.means_and_maxima(&planes);
            let pass = graph.dense("policy.pass", &pooled, pass);
            graph.node("policy.logits", "Concat", &[&points, &pass], &[AttributeProto::int("axis", 1)])
        }
    };
    graph.node("policy", "Softmax", &[&logits], &[AttributeProto::int("axis", 1)]);
}

fn value(graph: &mut Graph, network: &Description, trunk: &str) {
    let head = &network.value;
    let planes = graph.convolution("value.planes", trunk, &head.planes);
    let planes = graph.relu(&planes);
    let seen = if head.pooled { graph.means(&planes) } else { graph.flatten(&planes) };
    let hidden = graph.dense("value.hidden", &seen, &head.hidden);
    let hidden = graph.relu(&hidden);
    let out = graph.dense("value.out", &hidden, &head.out);
    let axis = AttributeProto::int("axis", 1);
    if head.out.bias.len() == 1 {
        let value = graph.node("value.tanh", "Tanh", &[&out], &[]);
        let axes = graph.integers("value.axes", &[1]);
        graph.node("value", "Squeeze", &[&value, &axes], &[]);
        return;
    }
    let chances = graph.node("value.chances", "Softmax", &[&out], std::slice::from_ref(&axis));
    let sizes = graph.integers("value.sizes", &[1, 1, 1]);
    let parts = ["value.win", "value.draw", "value.loss"];
    graph.outputs("value.split", "Split", &[&chances, &sizes], &[axis], &parts);
    let difference = graph.node("value.difference", "Sub", &[parts[0], parts[2]], &[]);
    let axes = graph.integers("value.axes", &[1]);
    graph.node("value", "Squeeze", &[&difference, &axes], &[]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_no_message_holds_are_refused() {
        assert!(check_size((2 << 30) - 1).is_ok());
        let error = check_size(2 << 30).unwrap_err();
        assert_eq!(error.to_string(), "the file would have 2147483648 bytes, and ONNX files have less than 2 GiB");
    }
}
