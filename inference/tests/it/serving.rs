//! Responses, models and addresses.

use inference::{Limits, Listen, Options};
use remote::proto::v1::Status;
use remote::{Batch, Encoding};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::fixture::{Client, batch, connect, key, local, numbers, options, planes, runtime, serve, shapes};

#[test]
fn outputs_equal_the_local_network_bit_for_bit() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        for positions in [1, 3, 64, 200] {
            client.check(1, positions).await;
        }
    });
}

#[test]
fn outputs_in_f16_are_those_of_the_network_rounded() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        client.send(Batch { answers: Encoding::F16, ..batch(5, 1, 9) }).await;
        let answer = client.answer().await;
        let found = numbers(&answer.result.unwrap(), 1, 9, Encoding::F16);
        for (found, exact) in found.iter().zip(local(1, &planes(shapes()[0], 9))) {
            let mut bytes = vec![0; 2 * exact.len()];
            let mut rounded = vec![0.0; exact.len()];
            Encoding::F16.write(&exact, &mut bytes);
            Encoding::F16.read(&bytes, &mut rounded).unwrap();
            assert_eq!(*found, rounded);
        }
    });
}

#[test]
fn two_models_are_served_at_once_over_one_stream() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        for id in 0..20 {
            client.send(batch(id, 1 + (id % 2) as u32, 8)).await;
        }
        let expected = [1, 2].map(|number| local(number, &planes(shapes()[number as usize - 1], 8)));
        let mut ids = Vec::new();
        for _ in 0..20 {
            let answer = client.answer().await;
            let number = 1 + (answer.id % 2) as u32;
            assert_eq!(numbers(&answer.result.unwrap(), number, 8, Encoding::F32), expected[number as usize - 1]);
            ids.push(answer.id);
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn models_that_do_not_fit_into_memory_together_take_turns() {
    // Room for either of the two.
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    let server = serve(Options { limits, ..options() });
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        for number in [1, 2, 1, 2] {
            client.check(number, 4).await;
            assert_eq!(server.models(), 1);
        }
    });
}

#[test]
fn unix_socket_serves_like_a_port() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inference.sock");
    let server = serve(Options { listen: Listen::Unix(path.clone()), ..options() });
    let address = server.address().to_owned();
    assert_eq!(address, format!("unix://{}", path.display()));
    runtime().block_on(async {
        Client::connect(&address).await.check(1, 5).await;
    });
    assert!(server.drain(testing::PATIENCE));
    assert!(!path.exists(), "the socket goes with the server");
}

#[test]
fn server_leaves_the_socket_of_its_successor() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inference.sock");
    let on_socket = || Options { listen: Listen::Unix(path.clone()), ..options() };
    let first = serve(on_socket());
    // As when the first has closed its listener and still finishes batches.
    std::fs::remove_file(&path).unwrap();
    let second = serve(on_socket());
    assert!(first.drain(testing::PATIENCE));
    let address = second.address().to_owned();
    runtime().block_on(async {
        Client::connect(&address).await.check(1, 5).await;
    });
}

#[test]
fn health_and_reflection_respond() {
    let server = serve(options());
    runtime().block_on(async {
        let mut health = HealthClient::new(connect(server.address()).await);
        for service in ["", "tengen.inference.v1.Evaluation", "inference.GRPCInferenceService"] {
            let asked = health.check(HealthCheckRequest { service: service.to_owned() }).await.unwrap();
            assert_eq!(asked.into_inner().status(), ServingStatus::Serving, "{service}");
        }
    });
}

#[test]
fn reflection_lists_the_services() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = ServerReflectionClient::new(connect(server.address()).await);
        let list = MessageRequest::ListServices(String::new());
        let request = ServerReflectionRequest { message_request: Some(list), ..ServerReflectionRequest::default() };
        let mut answers = client.server_reflection_info(futures::stream::iter([request])).await.unwrap().into_inner();
        let answer = answers.message().await.unwrap().and_then(|answer| answer.message_response);
        let Some(MessageResponse::ListServicesResponse(list)) = answer else { panic!("a list: {answer:?}") };
        let names: Vec<&str> = list.service.iter().map(|service| service.name.as_str()).collect();
        for name in ["tengen.inference.v1.Evaluation", "inference.GRPCInferenceService"] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
    });
}

#[test]
fn missing_model_is_a_response() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        let mut missing = batch(1, 1, 2);
        missing.model.number = 9;
        missing.model.digest = None;
        let refusal = client.refusal(missing.clone()).await;
        assert_eq!(refusal.status, Status::NotFound);
        assert!(refusal.message.contains("there is no model v1-9") && refusal.message.contains("v1-2"), "{refusal}");
        missing.model.run = "v2".parse().unwrap();
        assert_eq!(client.refusal(missing).await.status, Status::NotFound);
        let mut other = batch(2, 1, 2);
        other.model.digest = key(2).digest;
        let refusal = client.refusal(other).await;
        assert!(refusal.status == Status::NotFound && refusal.message.contains("has the digest"), "{refusal}");
        client.check(1, 2).await;
    });
}
