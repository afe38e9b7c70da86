//! The Open Inference Protocol (KServe, version 2), for clients of other projects.
//!
//! A model is named as everywhere in Tengen (`v15-330`). It takes one input: `planes`, UINT8 of [n, planes, side, side], or
//! `packed`, UINT8 of [n, bytes], the bits and then the scalars of each position. It gives `policy`, FP32 of [n, moves], pass
//! last, and `value`, FP32 of [n], for the side to move.

use std::sync::Arc;

use bytes::Bytes;
use config::ModelId;
use net::{Packing, Shape};
use remote::proto::kserve::grpc_inference_service_server::GrpcInferenceService;
use remote::proto::kserve::model_infer_request::InferInputTensor;
use remote::proto::kserve::model_infer_response::InferOutputTensor;
use remote::proto::kserve::model_metadata_response::TensorMetadata;
use remote::proto::kserve::{
    ModelInferRequest, ModelInferResponse, ModelMetadataRequest, ModelMetadataResponse, ModelReadyRequest,
    ModelReadyResponse, ServerLiveRequest, ServerLiveResponse, ServerMetadataRequest, ServerMetadataResponse,
    ServerReadyRequest, ServerReadyResponse,
};
use remote::proto::v1::{self, Priority};
use remote::{Batch, Encoding, ModelKey, Refusal};
use tokio::sync::oneshot;
use tonic::{Request, Response, Status, async_trait};

use crate::network::Network;
use crate::shared::Shared;

/// The only version of a model: another one has another name.
const VERSION: &str = "1";
const PLATFORM: &str = "tengen";
const BYTES: &str = "UINT8";
const NUMBERS: &str = "FP32";

/// The service.
pub(crate) struct KserveService(pub(crate) Arc<Shared>);

#[async_trait]
impl GrpcInferenceService for KserveService {
    async fn server_live(&self, _: Request<ServerLiveRequest>) -> Result<Response<ServerLiveResponse>, Status> {
        Ok(Response::new(ServerLiveResponse { live: true }))
    }

    async fn server_ready(&self, _: Request<ServerReadyRequest>) -> Result<Response<ServerReadyResponse>, Status> {
        Ok(Response::new(ServerReadyResponse { ready: !*self.0.draining.borrow() }))
    }

    async fn model_ready(&self, request: Request<ModelReadyRequest>) -> Result<Response<ModelReadyResponse>, Status> {
        let ModelReadyRequest { name, version } = request.into_inner();
        let ready = match self.network(&key(&name, &version)?).await {
            Ok(_) => true,
            Err(refusal) if refusal.status == v1::Status::NotFound => false,
            Err(refusal) => return Err(status(refusal)),
        };
        Ok(Response::new(ModelReadyResponse { ready }))
    }

    async fn server_metadata(
        &self,
        _: Request<ServerMetadataRequest>,
    ) -> Result<Response<ServerMetadataResponse>, Status> {
        Ok(Response::new(ServerMetadataResponse {
            name: PLATFORM.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            extensions: Vec::new(),
        }))
    }

    async fn model_metadata(
        &self,
        request: Request<ModelMetadataRequest>,
    ) -> Result<Response<ModelMetadataResponse>, Status> {
        let ModelMetadataRequest { name, version } = request.into_inner();
        let network = self.network(&key(&name, &version)?).await.map_err(status)?;
        let tensor = |name: &str, datatype: &str, shape: Vec<i64>| TensorMetadata {
            name: name.to_owned(),
            datatype: datatype.to_owned(),
            shape,
        };
        let Network { shape, packing, .. } = &*network;
        let [planes, side] = board(packing, shape);
        Ok(Response::new(ModelMetadataResponse {
            name,
            versions: vec![VERSION.to_owned()],
            platform: PLATFORM.to_owned(),
            inputs: vec![
                tensor("planes", BYTES, vec![-1, planes, side, side]),
                tensor("packed", BYTES, vec![-1, packed_len(packing) as i64]),
            ],
            outputs: vec![
                tensor("policy", NUMBERS, vec![-1, shape.size.moves() as i64]),
                tensor("value", NUMBERS, vec![-1]),
            ],
        }))
    }

    async fn model_infer(&self, request: Request<ModelInferRequest>) -> Result<Response<ModelInferResponse>, Status> {
        let request = request.into_inner();
        let model = key(&request.model_name, &request.model_version)?;
        let network = self.network(&model).await.map_err(status)?;
        let input = Input::read(&request, &network, self.0.limits.max_positions)?;
        let outputs = wanted_outputs(&request)?;
        let positions = input.positions;
        let batch = Batch {
            id: 0,
            model,
            positions,
            deadline: None,
            bits: input.bits.into(),
            scalars: input.scalars.into(),
            answers: Encoding::F32,
        };
        let (sender, receiver) = oneshot::channel();
        let shared = &self.0;
        let call = Call { shared: Arc::clone(shared), client: shared.client(), _active: shared.enter() };
        // The client may have gone away.
        let reply = move |outcome| drop(sender.send(outcome));
        shared.evaluate(call.client, Priority::Selfplay, batch, Box::new(reply));
        let [policies, values] = receiver.await.map_err(|_| Status::internal("no outcome"))?.map_err(status)?;
        let moves = network.shape.size.moves() as i64;
        let all = [("policy", vec![positions as i64, moves], policies), ("value", vec![positions as i64], values)];
        let (tensors, bytes) = all.into_iter().filter(|(name, ..)| outputs.contains(name)).map(output).unzip();
        Ok(Response::new(ModelInferResponse {
            model_name: request.model_name,
            model_version: VERSION.to_owned(),
            id: request.id,
            outputs: tensors,
            raw_output_contents: bytes,
            ..ModelInferResponse::default()
        }))
    }
}

/// A call under way. A client that is gone leaves nothing in the queue.
struct Call {
    shared: Arc<Shared>,
    client: crate::queue::ClientId,
    _active: crate::shared::Active,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.shared.scheduler.forget(self.client);
    }
}

impl KserveService {
    async fn network(&self, key: &ModelKey) -> Result<Arc<Network>, Refusal> {
        match self.0.cache.ready(key) {
            Some(network) => Ok(network),
            None => self.0.cache.get(key).await,
        }
    }
}

/// Positions of a request, packed.
struct Input {
    positions: usize,
    bits: Vec<u8>,
    scalars: Vec<u8>,
}

impl Input {
    fn read(request: &ModelInferRequest, network: &Network, most: usize) -> Result<Input, Status> {
        let [tensor] = request.inputs.as_slice() else {
            return Err(Status::invalid_argument("expected one input: planes or packed"));
        };
        let Network { shape, packing, .. } = network;
        let [planes, side] = board(packing, shape);
        let of_one = match tensor.name.as_str() {
            "planes" => vec![planes, side, side],
            "packed" => vec![packed_len(packing) as i64],
            _ => return Err(Status::invalid_argument("the input is neither planes nor packed")),
        };
        let fits = tensor.datatype == BYTES && tensor.shape.get(1..) == Some(&of_one);
        if !fits {
            let expected = format!("{} is {BYTES} of [n, {of_one:?}] for a network of {shape}", tensor.name);
            return Err(Status::invalid_argument(expected));
        }
        let positions = usize::try_from(tensor.shape[0]).unwrap_or_default();
        if !(1..=most).contains(&positions) {
            return Err(Status::invalid_argument(format!("{} positions, expected 1 to {most}", tensor.shape[0])));
        }
        let bytes = contents(request, tensor)?;
        let len = if tensor.name == "planes" { packing.planes() } else { packed_len(packing) };
        if bytes.len() != positions * len {
            let lengths = format!("{} bytes, expected {} for {positions} positions", bytes.len(), positions * len);
            return Err(Status::invalid_argument(lengths));
        }
        if tensor.name == "planes" { Input::of_planes(packing, &bytes) } else { Ok(Input::of_packed(packing, &bytes)) }
    }

    /// Planes that would not survive packing are none of a position.
    fn of_planes(packing: &Packing, planes: &[u8]) -> Result<Input, Status> {
        if !packing.can_pack(planes) {
            return Err(Status::invalid_argument("planes are 0 or 1, and constant where the model's are"));
        }
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        packing.pack(planes, &mut bits, &mut scalars);
        Ok(Input { positions: planes.len() / packing.planes(), bits, scalars })
    }

    fn of_packed(packing: &Packing, bytes: &[u8]) -> Input {
        let (mut bits, mut scalars) = (Vec::new(), Vec::new());
        let rows = bytes.chunks_exact(packed_len(packing));
        let positions = rows.len();
        for row in rows {
            let (of_bits, of_scalars) = row.split_at(packing.bits());
            bits.extend_from_slice(of_bits);
            scalars.extend_from_slice(of_scalars);
        }
        Input { positions, bits, scalars }
    }
}

/// The bytes of the only input, as raw contents or as numbers.
fn contents(request: &ModelInferRequest, tensor: &InferInputTensor) -> Result<Bytes, Status> {
    match (request.raw_input_contents.as_slice(), &tensor.contents) {
        ([bytes], _) => Ok(bytes.clone()),
        ([], Some(contents)) => {
            let bytes: Result<Vec<u8>, _> = contents.uint_contents.iter().map(|&number| u8::try_from(number)).collect();
            Ok(bytes.map_err(|_| Status::invalid_argument("UINT8 contents are 0 to 255"))?.into())
        }
        _ => Err(Status::invalid_argument("the input has no contents, or those of several inputs")),
    }
}

/// The names of the outputs that are asked for; without any, all.
fn wanted_outputs(request: &ModelInferRequest) -> Result<Vec<&'static str>, Status> {
    let all = ["policy", "value"];
    if request.outputs.is_empty() {
        return Ok(all.to_vec());
    }
    let known = |name: &str| all.into_iter().find(|known| *known == name);
    let names: Option<Vec<_>> = request.outputs.iter().map(|output| known(&output.name)).collect();
    names.ok_or_else(|| Status::invalid_argument("outputs are policy and value"))
}

fn output((name, shape, bytes): (&str, Vec<i64>, Vec<u8>)) -> (InferOutputTensor, Bytes) {
    let tensor = InferOutputTensor {
        name: name.to_owned(),
        datatype: NUMBERS.to_owned(),
        shape,
        ..InferOutputTensor::default()
    };
    (tensor, bytes.into())
}

fn packed_len(packing: &Packing) -> usize {
    packing.bits() + packing.scalars()
}

/// Planes that are written, and the side of the board.
fn board(packing: &Packing, shape: &Shape) -> [i64; 2] {
    [packing.planes() / shape.size.area(), shape.size.side()].map(|number| number as i64)
}

fn key(name: &str, version: &str) -> Result<ModelKey, Status> {
    if !["", VERSION].contains(&version) {
        return Err(Status::not_found(format!("the only version of a model is {VERSION}")));
    }
    let name: String = name.chars().take(160).collect();
    match name.parse::<ModelId>() {
        Ok(ModelId::Trained { run, number }) => Ok(ModelKey { run, number, digest: None }),
        Ok(built_in) => {
            Err(Status::not_found(format!("{built_in} has no weights; name a trained model, such as v15-330")))
        }
        Err(error) => Err(Status::not_found(error.to_string())),
    }
}

fn status(Refusal { status, message, .. }: Refusal) -> Status {
    match status {
        v1::Status::ResourceExhausted => Status::resource_exhausted(message),
        v1::Status::DeadlineExceeded => Status::deadline_exceeded(message),
        v1::Status::NotFound => Status::not_found(message),
        v1::Status::Invalid => Status::invalid_argument(message),
        v1::Status::Unavailable => Status::unavailable(message),
        v1::Status::Ok | v1::Status::Internal => Status::internal(message),
    }
}
