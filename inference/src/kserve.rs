//! The Open Inference Protocol (KServe, version 2), for clients of other projects.
//!
//! A model is named as everywhere in Tengen (`v15-330`). It takes one input: `planes`, UINT8 of [n, planes, side,
//! side], or `packed`, UINT8 of [n, bytes], the bits and then the scalars of each position. It gives `policy`, FP32 of
//! [n, moves], pass last, and `value`, FP32 of [n], for the side to move.
//!
//! Calls of a connection have one share of the device, and one credit, as a stream has.

mod description;
mod schedule;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::ModelId;
use remote::proto::kserve::grpc_inference_service_server::GrpcInferenceService;
use remote::proto::kserve::model_infer_response::InferOutputTensor;
use remote::proto::kserve::{
    ModelConfigRequest, ModelConfigResponse, ModelInferRequest, ModelInferResponse, ModelMetadataRequest,
    ModelMetadataResponse, ModelReadyRequest, ModelReadyResponse, ServerLiveRequest, ServerLiveResponse,
    ServerMetadataRequest, ServerMetadataResponse, ServerReadyRequest, ServerReadyResponse,
};
use remote::proto::v1;
use remote::{Batch, Encoding, KserveInput, KserveInputError, ModelKey, Refusal};
use tokio::sync::oneshot;
use tonic::{Code, Request, Response, Status, async_trait};

use crate::arrival::Arrival;
use crate::job::{Caller, Outcome};
use crate::network::Network;
use crate::queue::Origin;
use crate::scheduler::{Loading, count_expired, refuse_excess, refuse_expired};
use crate::shared::{Active, Shared, peer};
use description::{NUMBERS, PLATFORM, VERSION};
use schedule::Schedule;

/// Extensions of Triton that the server has.
const EXTENSIONS: [&str; 2] = ["model_configuration", "schedule_policy"];
/// When a call may be tried again, in milliseconds: of trailers that gRPC clients heed (proposal A6, "client retries").
const RETRY: &str = "grpc-retry-pushback-ms";
/// A retry hint for a connection that has its credit outstanding.
const OWN_CREDIT: Duration = Duration::from_millis(5);

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
        let found = match key(&name, &version) {
            Ok(key) => self.0.cache.get(&key).await.map_err(status),
            Err(no_model) => Err(no_model),
        };
        // As in Triton, a name that no model has is no error.
        let ready = match found {
            Ok(_) => true,
            Err(problem) if problem.code() == Code::NotFound => false,
            Err(problem) => return Err(problem),
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
            extensions: EXTENSIONS.map(str::to_owned).to_vec(),
        }))
    }

    async fn model_metadata(
        &self,
        request: Request<ModelMetadataRequest>,
    ) -> Result<Response<ModelMetadataResponse>, Status> {
        let ModelMetadataRequest { name, version } = request.into_inner();
        let network = self.0.cache.get(&key(&name, &version)?).await.map_err(status)?;
        Ok(Response::new(description::metadata(name, &network)))
    }

    async fn model_config(
        &self,
        request: Request<ModelConfigRequest>,
    ) -> Result<Response<ModelConfigResponse>, Status> {
        let ModelConfigRequest { name, version } = request.into_inner();
        let network = self.0.cache.get(&key(&name, &version)?).await.map_err(status)?;
        Ok(Response::new(ModelConfigResponse { config: Some(description::config(name, &network, &self.0.limits)) }))
    }

    async fn model_infer(&self, request: Request<ModelInferRequest>) -> Result<Response<ModelInferResponse>, Status> {
        let (arrived, peer, schedule) = (Instant::now(), peer(&request)?, Schedule::read(&request)?);
        let mut request = request.into_inner();
        let model = key(&request.model_name, &request.model_version)?;
        let limits = &self.0.limits;
        let wrong = |error: KserveInputError| Status::invalid_argument(error.to_string());
        let positions = KserveInput::positions(&request, limits.largest()).map_err(wrong)?;
        let _outstanding =
            peer.admit(positions, limits.credit).ok_or_else(|| status(beyond(limits.credit, positions)))?;
        let origin = self.0.origin(&peer);
        if self.0.cache.in_memory(&model).is_none() {
            detach(&mut request);
        }
        let arrival = Arrival::new(arrived, schedule.timeout);
        let mut call = Call::begin(Arc::clone(&self.0), origin, positions, arrival);
        let network = call.network(&model).await.map_err(status)?;
        let Network { shape, packing, .. } = &*network;
        let input = KserveInput::read(&request, shape.size, packing, limits.largest()).map_err(wrong)?;
        let outputs = wanted_outputs(&request)?;
        // The batch has a copy, and the message is not in memory for as long as the batch waits.
        (request.inputs, request.raw_input_contents) = (Vec::new(), Vec::new());
        let batch = Batch {
            id: 0,
            // The network by which the input was read, whatever the name means when the batch is evaluated.
            model: ModelKey { digest: Some(network.digest), ..model },
            positions,
            deadline: schedule.timeout,
            bits: input.bits.into(),
            scalars: input.scalars.into(),
            answers: Encoding::F32,
            priority: schedule.priority,
        };
        let [policies, values] = call.evaluate(batch).await?.map_err(status)?;
        let moves = shape.size.moves() as i64;
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
    origin: Origin,
    positions: usize,
    arrival: Arrival,
    /// Whether its positions are not in the queue yet.
    is_new: bool,
    _active: Active,
}

impl Call {
    fn begin(shared: Arc<Shared>, origin: Origin, positions: usize, arrival: Arrival) -> Call {
        Call { origin, positions, arrival, is_new: true, _active: shared.enter(), shared }
    }

    /// The network, which is loaded first if it is not in memory. Positions that wait for it have their place in the
    /// queue.
    async fn network(&mut self, key: &ModelKey) -> Result<Arc<Network>, Refusal> {
        if let Some(network) = self.shared.cache.in_memory(key) {
            return Ok(network);
        }
        let _loading: Loading = self.shared.scheduler.wait_for_network(self.positions)?;
        tokio::select! {
            loaded = self.shared.cache.get(key) => loaded,
            () = self.arrival.over() => {
                self.is_new = false;
                Err(refuse_expired(self.positions))
            }
        }
    }

    async fn evaluate(&mut self, batch: Batch) -> Result<Outcome, Status> {
        let (sender, receiver) = oneshot::channel();
        self.is_new = false;
        self.shared.evaluate(self.origin, batch, self.arrival, OfCall(sender));
        receiver.await.map_err(|_| Status::internal("no outcome"))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        // The transport drops a call whose time is up.
        if self.is_new && self.arrival.is_over() {
            count_expired(self.positions);
        }
        self.shared.scheduler.forget(self.origin);
    }
}

/// Waits for the batch of a call.
struct OfCall(oneshot::Sender<Outcome>);

impl Caller for OfCall {
    async fn gone(&mut self) {
        self.0.closed().await;
    }

    fn reply(self, outcome: Outcome) {
        // The client may have gone away.
        drop(self.0.send(outcome));
    }
}

/// Moves the contents of a request into memory of their own. What was read keeps the whole message in memory, in which
/// there may be more, and a request that waits is counted by its positions.
fn detach(request: &mut ModelInferRequest) {
    for contents in &mut request.raw_input_contents {
        *contents = Bytes::copy_from_slice(contents);
    }
    // Planes are never in these.
    for contents in request.inputs.iter_mut().filter_map(|input| input.contents.as_mut()) {
        contents.bytes_contents.clear();
    }
}

fn beyond(credit: usize, positions: usize) -> Refusal {
    refuse_excess(positions, format!("more than {credit} positions of the connection outstanding"), OWN_CREDIT)
}

/// The names of the requested outputs; without any, all.
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

fn status(Refusal { status, message, retry_after }: Refusal) -> Status {
    let mut status = match status {
        v1::Status::ResourceExhausted => Status::resource_exhausted(message),
        v1::Status::DeadlineExceeded => Status::deadline_exceeded(message),
        v1::Status::NotFound => Status::not_found(message),
        v1::Status::Invalid => Status::invalid_argument(message),
        v1::Status::Unavailable => Status::unavailable(message),
        v1::Status::Ok | v1::Status::Internal => Status::internal(message),
    };
    if let Some(time) = retry_after {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        status.metadata_mut().insert(RETRY, millis.into());
    }
    status
}
