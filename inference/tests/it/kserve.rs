//! The Open Inference Protocol.

use std::time::Duration;

use bytes::Bytes;
use inference::{Limits, Options, Server};
use remote::Encoding;
use remote::proto::kserve::grpc_inference_service_client::GrpcInferenceServiceClient;
use remote::proto::kserve::infer_parameter::ParameterChoice;
use remote::proto::kserve::model_config::SchedulingChoice;
use remote::proto::kserve::model_infer_request::{InferInputTensor, InferRequestedOutputTensor};
use remote::proto::kserve::{
    DataType, InferParameter, InferTensorContents, ModelConfigRequest, ModelInferRequest, ModelMetadataRequest,
    ModelReadyRequest, ModelTensorReshape, ServerLiveRequest, ServerMetadataRequest, ServerReadyRequest,
};
use testing::PATIENCE;
use tonic::{Code, Request};

use crate::fixture::{KOMI, connect, local, options, planes, runtime, serve, serve_gated, serve_loading, shapes};

fn request(input: &str, shape: &[i64], bytes: Vec<u8>) -> ModelInferRequest {
    let tensor = InferInputTensor {
        name: input.to_owned(),
        datatype: "UINT8".to_owned(),
        shape: shape.to_vec(),
        ..InferInputTensor::default()
    };
    ModelInferRequest {
        model_name: "v1-1".to_owned(),
        id: "seven".to_owned(),
        inputs: vec![tensor],
        raw_input_contents: vec![bytes.into()],
        ..ModelInferRequest::default()
    }
}

#[test]
fn kserve_describes_server_and_models() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        assert!(client.server_live(ServerLiveRequest {}).await.unwrap().into_inner().live);
        assert!(client.server_ready(ServerReadyRequest {}).await.unwrap().into_inner().ready);
        assert_eq!(client.server_metadata(ServerMetadataRequest {}).await.unwrap().into_inner().name, "tengen");
        for (name, expected) in [("v1-1", true), ("v1-9", false), ("uniform", false), ("no model", false)] {
            let asked = ModelReadyRequest { name: name.to_owned(), ..ModelReadyRequest::default() };
            assert_eq!(client.model_ready(asked).await.unwrap().into_inner().ready, expected, "{name}");
        }
        let asked = ModelMetadataRequest { name: "v1-1".to_owned(), version: "1".to_owned() };
        let told = client.model_metadata(asked).await.unwrap().into_inner();
        let tensors = [told.inputs, told.outputs].concat();
        let tensors: Vec<_> =
            tensors.iter().map(|it| (it.name.as_str(), it.datatype.as_str(), &it.shape[..])).collect();
        assert_eq!(
            tensors,
            [("planes", "UINT8", &[-1, 16, 5, 5][..]), ("policy", "FP32", &[-1, 26]), ("value", "FP32", &[-1]),]
        );
    });
}

#[test]
fn kserve_configuration_is_that_of_triton() {
    // Planes of a thousand positions and the rest of a message.
    let limits = Limits { message_bytes: 4096 + 1000 * 16 * 25, ..Limits::default() };
    let server = serve(Options { limits, ..options() });
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        let asked = ModelConfigRequest { name: "v1-1".to_owned(), version: String::new() };
        let config = client.model_config(asked).await.unwrap().into_inner().config.unwrap();
        assert_eq!((config.name.as_str(), config.platform.as_str(), config.max_batch_size), ("v1-1", "tengen", 1000));
        let [input] = &config.input[..] else { panic!("one input: {:?}", config.input) };
        assert_eq!(
            (input.name.as_str(), input.data_type(), &input.dims[..]),
            ("planes", DataType::TypeUint8, &[16, 5, 5][..])
        );
        let outputs: Vec<_> = config.output.iter().map(|it| (it.name.as_str(), it.data_type(), &it.dims[..])).collect();
        let numbers = DataType::TypeFp32;
        assert_eq!(outputs, [("policy", numbers, &[26][..]), ("value", numbers, &[1])]);
        assert_eq!(config.output[1].reshape, Some(ModelTensorReshape::default()));
        let Some(SchedulingChoice::DynamicBatching(batching)) = config.scheduling_choice else { panic!("it batches") };
        assert_eq!((batching.preferred_batch_size, batching.priority_levels), (vec![64], 2));
        let missing = ModelConfigRequest { name: "v1-9".to_owned(), version: String::new() };
        assert_eq!(client.model_config(missing).await.unwrap_err().code(), Code::NotFound);
    });
}

/// Four positions whose komi is a number, by which a gate knows them.
fn marked(mark: u8) -> ModelInferRequest {
    let area = shapes()[0].size.area();
    let mut seen = planes(shapes()[0], 4);
    seen.chunks_exact_mut(16 * area).for_each(|row| row[KOMI * area..][..area].fill(mark));
    request("planes", &[4, 16, 5, 5], seen)
}

fn with(mut asked: ModelInferRequest, name: &str, number: u64) -> ModelInferRequest {
    let parameter = InferParameter { parameter_choice: Some(ParameterChoice::Uint64Param(number)) };
    asked.parameters.insert(name.to_owned(), parameter);
    asked
}

/// Returns when so many positions wait for the device.
async fn wait_for(server: &Server, positions: usize) {
    let waits = async {
        while server.waiting() != positions {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.expect("positions wait");
}

#[test]
fn kserve_calls_of_a_connection_have_one_share_and_people_come_first() {
    let (server, gate) = serve_gated(Limits::default());
    runtime().block_on(async {
        let client = async || GrpcInferenceServiceClient::new(connect(server.address()).await);
        let call = |client: &GrpcInferenceServiceClient<_>, asked| {
            let mut client = client.clone();
            tokio::spawn(async move { client.model_infer(asked).await.unwrap() })
        };
        let (greedy, modest, people) = (client().await, client().await, client().await);
        let mut calls = vec![call(&greedy, marked(1))];
        gate.wait_until_reached();
        for nth in 1..=5 {
            calls.push(call(&greedy, marked(1)));
            wait_for(&server, 4 * nth).await;
        }
        calls.push(call(&modest, marked(2)));
        wait_for(&server, 24).await;
        calls.push(call(&people, with(marked(3), "priority", 1)));
        wait_for(&server, 28).await;
        gate.open();
        for call in calls {
            call.await.unwrap();
        }
        assert_eq!(gate.marks(), [1, 3, 2, 1, 1, 1, 1, 1]);
    });
}

#[test]
fn kserve_full_queue_and_credit_have_a_retry_hint() {
    let full_queue = (Limits { queue: 4, ..Limits::default() }, 1);
    let credit = (Limits { credit: 7, ..Limits::default() }, 0);
    for (limits, waiting) in [full_queue, credit] {
        let (server, gate) = serve_gated(limits);
        runtime().block_on(async {
            let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
            let call = |mut client: GrpcInferenceServiceClient<_>| {
                tokio::spawn(async move { client.model_infer(marked(1)).await.unwrap() })
            };
            let mut calls = vec![call(client.clone())];
            gate.wait_until_reached();
            calls.extend((0..waiting).map(|_| call(client.clone())));
            wait_for(&server, 4 * waiting).await;
            let status = client.model_infer(marked(1)).await.unwrap_err();
            assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
            let hint = status.metadata().get("grpc-retry-pushback-ms").expect("a hint").to_str().unwrap();
            assert!(hint.parse::<u64>().unwrap() > 0, "{hint}");
            gate.open();
            for call in calls {
                call.await.unwrap();
            }
            client.model_infer(marked(1)).await.unwrap();
        });
    }
}

#[test]
fn kserve_calls_past_their_time_leave_the_queue() {
    let (server, gate) = serve_gated(Limits::default());
    runtime().block_on(async {
        let client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        let mut other = client.clone();
        let first = tokio::spawn(async move { other.model_infer(marked(1)).await });
        gate.wait_until_reached();
        let mut late = client.clone();
        let asked = with(marked(2), "timeout", 1);
        let late = tokio::spawn(async move { late.model_infer(asked).await });
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        while !late.is_finished() {
            ticks.tick().await;
            server.tick();
        }
        assert_eq!(late.await.unwrap().unwrap_err().code(), Code::DeadlineExceeded);
        let mut has_waited = false;
        // On a busy machine the time of a call may be over before it arrives.
        while !has_waited {
            let mut timed = Request::new(marked(3));
            timed.set_timeout(Duration::from_millis(20));
            let mut hasty = client.clone();
            let hasty = tokio::spawn(async move { hasty.model_infer(timed).await });
            while !hasty.is_finished() {
                has_waited |= server.waiting() > 0;
                tokio::task::yield_now().await;
            }
            hasty.await.unwrap().expect_err("the time of the call is over");
        }
        wait_for(&server, 0).await;
        gate.open();
        first.await.unwrap().unwrap();
        assert_eq!(gate.marks(), [1]);
    });
}

#[test]
fn kserve_outputs_equal_the_local_network_for_planes_and_packed() {
    let server = serve(options());
    let seen = planes(shapes()[0], 7);
    let expected = local(1, &seen).map(|numbers| {
        let mut bytes = vec![0; 4 * numbers.len()];
        Encoding::F32.write(&numbers, &mut bytes);
        Bytes::from(bytes)
    });
    let (mut bits, mut scalars) = (Vec::new(), Vec::new());
    let packing = shapes()[0].inputs.packing(shapes()[0].size);
    packing.pack(&seen, &mut bits, &mut scalars);
    let rows = bits.chunks(packing.bit_bytes()).zip(scalars.chunks(packing.scalars()));
    let rows: Vec<u8> = rows.flat_map(|(bits, scalars)| [bits, scalars].concat()).collect();
    let mut as_numbers = request("planes", &[7, 16, 5, 5], Vec::new());
    as_numbers.raw_input_contents.clear();
    let uint_contents = seen.iter().map(|&byte| u32::from(byte)).collect();
    as_numbers.inputs[0].contents = Some(InferTensorContents { uint_contents, ..InferTensorContents::default() });
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        let of_row = (rows.len() / 7) as i64;
        for asked in [request("planes", &[7, 16, 5, 5], seen), request("packed", &[7, of_row], rows), as_numbers] {
            let told = client.model_infer(asked.clone()).await.unwrap().into_inner();
            assert_eq!((told.raw_output_contents, told.id.as_str()), (expected.to_vec(), "seven"));
            let outputs = vec![InferRequestedOutputTensor { name: "value".to_owned(), ..Default::default() }];
            let told = client.model_infer(ModelInferRequest { outputs, ..asked }).await.unwrap().into_inner();
            assert_eq!((told.raw_output_contents, &told.outputs[0].shape), (vec![expected[1].clone()], &vec![7]));
        }
    });
}

/// What waits is counted by its positions, so that others would fill the memory.
#[test]
fn kserve_call_of_more_bytes_than_any_network_takes_waits_for_no_model() {
    let (server, store) = serve_loading(Limits::default());
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        let large = client.model_infer(request("planes", &[1, 16, 5, 5], vec![0; 1 << 20]));
        let status = tokio::time::timeout(PATIENCE, large).await.expect("it waits for nothing").unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains("bytes for 1 positions, no network takes as many"), "{status}");
        store.open();
    });
}

#[test]
fn kserve_call_of_too_many_positions_is_refused_with_their_number() {
    let server = serve(Options { limits: Limits { credit: 256, ..Limits::default() }, ..options() });
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        // More bytes than 256 positions have, too: 300 of 19x19.
        let asked = request("planes", &[300, 40, 19, 19], vec![0; 300 * 40 * 361]);
        let status = client.model_infer(asked).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "300 positions, expected 1 to 256"));
    });
}

#[test]
fn kserve_refuses_what_does_not_fit() {
    let server = serve(options());
    let seen = planes(shapes()[0], 2);
    let good = request("planes", &[2, 16, 5, 5], seen.clone());
    let with_input = |change: fn(&mut InferInputTensor)| {
        let mut asked = good.clone();
        change(&mut asked.inputs[0]);
        asked
    };
    let twos = request("planes", &[2, 16, 5, 5], vec![2; seen.len()]);
    let bad = [
        (with_input(|input| input.name = "images".to_owned()), Code::InvalidArgument),
        (with_input(|input| input.datatype = "FP32".to_owned()), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![2, 16, 7, 7]), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![i64::MAX, 16, 5, 5]), Code::InvalidArgument),
        (with_input(|input| input.shape = vec![-1, 16, 5, 5]), Code::InvalidArgument),
        (with_input(|input| input.shape = Vec::new()), Code::InvalidArgument),
        (request("planes", &[2, 16, 5, 5], seen[1..].to_vec()), Code::InvalidArgument),
        (twos, Code::InvalidArgument),
        (ModelInferRequest { inputs: Vec::new(), ..good.clone() }, Code::InvalidArgument),
        (ModelInferRequest { raw_input_contents: Vec::new(), ..good.clone() }, Code::InvalidArgument),
        (
            ModelInferRequest {
                outputs: vec![InferRequestedOutputTensor { name: "x".into(), ..Default::default() }],
                ..good.clone()
            },
            Code::InvalidArgument,
        ),
        (ModelInferRequest { model_name: "v1-9".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_name: "uniform".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_name: "../v1".to_owned(), ..good.clone() }, Code::NotFound),
        (ModelInferRequest { model_version: "2".to_owned(), ..good.clone() }, Code::NotFound),
    ];
    runtime().block_on(async {
        let mut client = GrpcInferenceServiceClient::new(connect(server.address()).await);
        for (asked, code) in bad {
            let status = client.model_infer(asked.clone()).await.expect_err("refused");
            assert_eq!(status.code(), code, "{status}");
        }
        // Decoded, they would take a hundred times the memory of the message.
        let empty = ModelInferRequest { inputs: vec![InferInputTensor::default(); 1000], ..good.clone() };
        let status = client.model_infer(empty).await.expect_err("refused");
        assert_eq!((status.code(), status.message()), (Code::InvalidArgument, "the message has more than 256 fields"));
        client.model_infer(good).await.unwrap();
    });
}
