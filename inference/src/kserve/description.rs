//! What a model takes and gives, for clients that ask.

use net::Shape;
use remote::UINT8;
use remote::proto::kserve::model_config::SchedulingChoice;
use remote::proto::kserve::model_metadata_response::TensorMetadata;
use remote::proto::kserve::{
    DataType, ModelConfig, ModelDynamicBatching, ModelInput, ModelMetadataResponse, ModelOutput, ModelTensorReshape,
};

use super::schedule::{DEFAULT_LEVEL, LEVELS};
use crate::limits::Limits;
use crate::network::Network;

/// The only version of a model: another one has another name.
pub(super) const VERSION: &str = "1";
pub(super) const PLATFORM: &str = "tengen";
pub(super) const NUMBERS: &str = "FP32";
/// Bytes of a message beside its planes at most.
const AROUND: usize = 4096;

/// The input in its plain form. The packed form replaces it, so it is not listed: clients send all inputs that are.
pub(super) fn metadata(name: String, network: &Network) -> ModelMetadataResponse {
    let tensor = |name: &str, datatype: &str, of_one: Vec<i64>| TensorMetadata {
        name: name.to_owned(),
        datatype: datatype.to_owned(),
        shape: [vec![-1], of_one].concat(),
    };
    ModelMetadataResponse {
        name,
        versions: vec![VERSION.to_owned()],
        platform: PLATFORM.to_owned(),
        inputs: vec![tensor("planes", UINT8, planes(network))],
        outputs: vec![tensor("policy", NUMBERS, vec![moves(&network.shape)]), tensor("value", NUMBERS, Vec::new())],
    }
}

/// The same as a configuration of Triton, with the bounds of this server.
pub(super) fn config(name: String, network: &Network, limits: &Limits) -> ModelConfig {
    let bounded = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
    let output = |name: &str, dims: Vec<i64>, reshape| ModelOutput {
        name: name.to_owned(),
        data_type: DataType::TypeFp32.into(),
        dims,
        reshape,
    };
    // All of a call is one message.
    let in_a_message = limits.message_bytes.saturating_sub(AROUND) / network.packing.plane_bytes();
    let most = limits.largest().min(in_a_message).max(1);
    let planes = ModelInput { name: "planes".to_owned(), data_type: DataType::TypeUint8.into(), dims: planes(network) };
    let batching = ModelDynamicBatching {
        preferred_batch_size: vec![bounded(limits.batch.min(most))],
        max_queue_delay_microseconds: limits.wait.as_micros() as u64,
        priority_levels: LEVELS,
        default_priority_level: DEFAULT_LEVEL,
    };
    ModelConfig {
        name,
        platform: PLATFORM.to_owned(),
        backend: PLATFORM.to_owned(),
        max_batch_size: bounded(most),
        input: vec![planes],
        output: vec![
            output("policy", vec![moves(&network.shape)], None),
            output("value", vec![1], Some(ModelTensorReshape { shape: Vec::new() })),
        ],
        scheduling_choice: Some(SchedulingChoice::DynamicBatching(batching)),
    }
}

/// Dimensions of the planes of a position.
fn planes(Network { shape, packing, .. }: &Network) -> Vec<i64> {
    let side = shape.size.side();
    [packing.planes(), side, side].map(|number| number as i64).to_vec()
}

fn moves(shape: &Shape) -> i64 {
    shape.size.moves() as i64
}
