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
use remote::proto::kserve::model_infer_response::InferOutputTensor;
use remote::proto::kserve::model_metadata_response::TensorMetadata;
use remote::proto::kserve::{
    ModelInferRequest, ModelInferResponse, ModelMetadataRequest, ModelMetadataResponse, ModelReadyRequest,
    ModelReadyResponse, ServerLiveRequest, ServerLiveResponse, ServerMetadataRequest, ServerMetadataResponse,
    ServerReadyRequest, ServerReadyResponse,
};
use remote::proto::v1::{self, Priority};
use remote::{Batch, Encoding, KserveInput, ModelKey, Refusal};
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
                tensor("packed", BYTES, vec![-1, (packing.bits() + packing.scalars()) as i64]),
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
        let Network { shape, packing, .. } = &*network;
        let input = KserveInput::read(&request, shape.size, packing, self.0.limits.largest())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
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
