//! A graph under construction.

use cpu::{Convolution, Dense};

use crate::proto::{AttributeProto, GraphProto, NodeProto, TensorProto, Type};

/// Nodes and constants so far. A value is named after the node that makes it.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<NodeProto>,
    constants: Vec<TensorProto>,
}

/// Names a value of the graph.
pub(crate) type Value = String;

impl Graph {
    pub(crate) fn finish(self) -> GraphProto {
        GraphProto {
            node: self.nodes,
            initializer: self.constants,
            name: "network".to_owned(),
            ..GraphProto::default()
        }
    }

    pub(crate) fn floats(&mut self, name: &str, dimensions: &[usize], numbers: &[f32]) -> Value {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(name, Type::Float, dimensions, bytes)
    }

    pub(crate) fn integers(&mut self, name: &str, numbers: &[i64]) -> Value {
        let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(name, Type::Long, &[numbers.len()], bytes)
    }

    fn constant(&mut self, name: &str, kind: Type, dimensions: &[usize], raw_data: Vec<u8>) -> Value {
        let dims = dimensions.iter().map(|&dimension| dimension as i64).collect();
        self.constants.push(TensorProto { dims, data_type: kind as i32, name: name.to_owned(), raw_data });
        name.to_owned()
    }

    /// A node with one output.
    pub(crate) fn node(
        &mut self,
        name: &str,
        operation: &str,
        inputs: &[&str],
        attributes: &[AttributeProto],
    ) -> Value {
        self.outputs(name, operation, inputs, attributes, &[name]);
        name.to_owned()
    }

    pub(crate) fn outputs(
        &mut self,
        name: &str,
        operation: &str,
        inputs: &[&str],
        attributes: &[AttributeProto],
        outputs: &[&str],
    ) {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        self.nodes.push(NodeProto {
            input: owned(inputs),
            output: owned(outputs),
            name: name.to_owned(),
            op_type: operation.to_owned(),
            attribute: attributes.to_vec(),
        });
    }

    /// A convolution that keeps the size of the board. Its weights say whether it is 3x3 or 1x1.
    pub(crate) fn convolution(&mut self, name: &str, input: &str, layer: &Convolution) -> Value {
        let side = if layer.weight.len() == layer.inputs * layer.outputs { 1 } else { 3 };
        let dimensions = [layer.outputs, layer.inputs, side, side];
        let weight = self.floats(&format!("{name}.weight"), &dimensions, &layer.weight);
        let bias = self.floats(&format!("{name}.bias"), &[layer.outputs], &layer.bias);
        let (side, padding) = (side as i64, side as i64 / 2);
        let attributes =
            [AttributeProto::ints("kernel_shape", &[side; 2]), AttributeProto::ints("pads", &[padding; 4])];
        self.node(name, "Conv", &[input, &weight, &bias], &attributes)
    }

    /// A dense layer over the last dimension of a matrix.
    pub(crate) fn dense(&mut self, name: &str, input: &str, layer: &Dense) -> Value {
        let outputs = layer.bias.len();
        let dimensions = [outputs, layer.weight.len() / outputs];
        let weight = self.floats(&format!("{name}.weight"), &dimensions, &layer.weight);
        let bias = self.floats(&format!("{name}.bias"), &[outputs], &layer.bias);
        self.node(name, "Gemm", &[input, &weight, &bias], &[AttributeProto::int("transB", 1)])
    }

    pub(crate) fn relu(&mut self, input: &str) -> Value {
        self.node(&format!("{input}.relu"), "Relu", &[input], &[])
    }

    pub(crate) fn flatten(&mut self, input: &str) -> Value {
        self.node(&format!("{input}.flat"), "Flatten", &[input], &[])
    }

    /// The mean of each channel: a matrix.
    pub(crate) fn means(&mut self, input: &str) -> Value {
        self.reduce("ReduceMean", "means", input)
    }

    /// The means of all channels and then their maxima: a matrix.
    pub(crate) fn means_and_maxima(&mut self, input: &str) -> Value {
        let (means, maxima) = (self.means(input), self.reduce("ReduceMax", "maxima", input));
        self.node(&format!("{input}.pooled"), "Concat", &[&means, &maxima], &[AttributeProto::int("axis", 1)])
    }

    fn reduce(&mut self, operation: &str, what: &str, input: &str) -> Value {
        let attributes = [AttributeProto::ints("axes", &[2, 3]), AttributeProto::int("keepdims", 0)];
        self.node(&format!("{input}.{what}"), operation, &[input], &attributes)
    }

    /// A matrix of channels as planes of one point, which broadcast over a board.
    pub(crate) fn broadcast(&mut self, input: &str) -> Value {
        let name = format!("{input}.planes");
        let axes = self.integers(&format!("{name}.axes"), &[2, 3]);
        self.node(&name, "Unsqueeze", &[input, &axes], &[])
    }
}
