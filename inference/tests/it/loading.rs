//! What happens to batches whose model is loaded.

use std::time::Duration;

use inference::Limits;
use remote::Batch;
use remote::proto::v1::{self, Status};
use testing::PATIENCE;

use crate::fixture::{Client, batch, runtime, serve_loading};

#[test]
fn positions_that_wait_for_a_model_fill_the_queue() {
    let (server, store) = serve_loading(Limits { queue: 8, ..Limits::default() });
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 4)).await;
        store.wait_until_reached();
        client.send(batch(2, 1, 4)).await;
        let refusal = client.refusal(batch(3, 1, 1)).await;
        assert!(refusal.status == Status::ResourceExhausted && refusal.retry_after.is_some(), "{refusal}");
        store.open();
        assert!([client.answer().await, client.answer().await].iter().all(|answer| answer.result.is_ok()));
        client.send(batch(4, 1, 8)).await;
        assert!(client.answer().await.result.is_ok());
    });
}

#[test]
fn batches_expire_and_clients_leave_while_a_model_is_loaded() {
    let (server, store) = serve_loading(Limits { queue: 8, ..Limits::default() });
    let hasty = |id| Batch { deadline: Some(Duration::from_millis(1)), ..batch(id, 1, 8) };
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        assert_eq!(client.refusal(hasty(1)).await.status, Status::DeadlineExceeded);
        let mut other = Client::connect(server.address()).await;
        other.send(batch(1, 1, 8)).await;
        // What was sent has arrived when the server answers what was sent after it.
        assert_eq!(other.refusal(hasty(2)).await.status, Status::ResourceExhausted);
        drop(other);
        let freed = async {
            while client.refusal(hasty(2)).await.status == Status::ResourceExhausted {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, freed).await.expect("a client that is gone waits for no model");
        store.open();
    });
}

/// What waits is counted by its positions, so that others would fill the memory.
#[test]
fn batch_of_more_bytes_than_any_network_takes_waits_for_no_model() {
    let (server, store) = serve_loading(Limits::default());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        let large = v1::Batch { planes: vec![0; 1 << 20].into(), ..batch(1, 1, 4).into() };
        let refusal = client.refusal(large).await;
        assert_eq!(refusal.status, Status::Invalid);
        assert!(refusal.message.contains("1048576 bytes of planes for 4 positions"), "{refusal}");
        store.open();
    });
}

#[test]
fn client_hears_from_a_server_that_loads_a_model() {
    let (server, store) = serve_loading(Limits::default());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 4)).await;
        for _ in 0..3 {
            client.credit().await;
        }
        store.open();
        assert!(client.answer().await.result.is_ok());
    });
}
