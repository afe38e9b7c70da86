//! What happens to batches that wait.

use std::time::Duration;

use inference::Limits;
use remote::proto::v1::Status;
use remote::{Batch, Priority};
use testing::PATIENCE;
use tonic::transport::Channel;

use crate::fixture::{Client, batch, marked, runtime, serve_gated, serve_gated_on};

#[test]
fn expired_batches_are_dropped_unevaluated() {
    let (server, gate) = serve_gated(Limits::default());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 4)).await;
        gate.wait_until_reached();
        client.send(Batch { deadline: Some(Duration::from_micros(1)), ..batch(2, 1, 4) }).await;
        client.send(Batch { deadline: Some(PATIENCE), ..batch(3, 1, 4) }).await;
        let mut ticks = tokio::time::interval(Duration::from_millis(1));
        // A device that is stuck does not keep clients from learning that their time is up.
        let expired = loop {
            tokio::select! {
                answer = client.answer() => break answer,
                _ = ticks.tick() => server.tick(),
            }
        };
        assert_eq!((expired.id, expired.result.unwrap_err().status), (2, Status::DeadlineExceeded));
        gate.open();
        let served = [client.answer().await.id, client.answer().await.id];
        assert_eq!((served, gate.batches()), ([1, 3], vec![4, 4]));
    });
}

#[test]
fn full_queue_rejects_with_a_retry_hint_and_excess_credit_is_an_error() {
    let (server, gate) = serve_gated(Limits { queue: 8, credit: 19, ..Limits::default() });
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        assert_eq!((client.welcome.credit, client.welcome.max_positions), (19, 8));
        client.send(batch(1, 1, 4)).await;
        gate.wait_until_reached();
        client.send(batch(2, 1, 8)).await;
        let refusal = client.refusal(batch(3, 1, 1)).await;
        assert!(refusal.status == Status::ResourceExhausted && refusal.retry_after.is_some(), "{refusal}");
        let refusal = client.refusal(batch(4, 1, 8)).await;
        assert!(refusal.message.contains("more than 19 positions outstanding"), "{refusal}");
        let refusal = client.refusal(batch(4, 1, 9)).await;
        assert_eq!(refusal.status, Status::Invalid, "{refusal}");
        gate.open();
        assert_eq!([client.answer().await.id, client.answer().await.id], [1, 2]);
        client.send(batch(5, 1, 8)).await;
        assert!(client.answer().await.result.is_ok());
    });
}

#[test]
fn clients_share_the_device_and_gtp_comes_first() {
    let (server, gate) = serve_gated(Limits::default());
    runtime().block_on(async {
        let mut greedy = Client::connect(server.address()).await;
        greedy.send(marked(1, 4)).await;
        gate.wait_until_reached();
        for id in 2..=5 {
            greedy.send(marked(id, 4)).await;
        }
        let mut modest = Client::connect(server.address()).await;
        modest.send(marked(100, 4)).await;
        let mut people = Client::connect(server.address()).await;
        people.send(Batch { priority: Priority::Interactive, ..marked(200, 4) }).await;
        // What was sent has arrived when the server answers what was sent after it.
        for client in [&mut greedy, &mut modest, &mut people] {
            let refusal = client.refusal(Batch { positions: 1, ..batch(300, 1, 2) }).await;
            assert_eq!(refusal.status, Status::Invalid);
        }
        gate.open();
        for (client, count) in [(&mut greedy, 5), (&mut modest, 1), (&mut people, 1)] {
            for _ in 0..count {
                assert!(client.answer().await.result.is_ok());
            }
        }
        assert_eq!(gate.marks(), [1, 200, 100, 2, 3, 4, 5]);
    });
}

#[test]
fn large_batch_is_split_and_returned_whole() {
    let (server, gate) = serve_gated(Limits::default());
    gate.open();
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 10)).await;
        let answer = client.answer().await;
        assert_eq!((answer.id, answer.result.is_ok(), gate.batches()), (1, true, vec![4, 4, 2]));
    });
}

#[test]
fn batches_of_a_client_that_is_gone_are_not_evaluated() {
    let (server, gate) = serve_gated(Limits::default());
    runtime().block_on(async {
        let client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 4)).await;
        gate.wait_until_reached();
        for id in 2..10 {
            client.send(batch(id, 1, 4)).await;
        }
        drop(client);
        let mut other = Client::connect(server.address()).await;
        // The stream of the first client ends some time after the client.
        while server.streams() > 1 {
            tokio::task::yield_now().await;
        }
        other.send(batch(20, 1, 3)).await;
        gate.open();
        assert_eq!((other.answer().await.id, gate.batches()), (20, vec![4, 3]));
    });
}

#[test]
fn drain_evaluates_what_waits_and_closes_the_streams() {
    // No other server takes this port when it is closed.
    let (server, gate) = serve_gated_on("127.0.0.3:0", Limits::default());
    let runtime = runtime();
    let (mut client, address) = runtime.block_on(async {
        let client = Client::connect(server.address()).await;
        client.send(batch(1, 1, 4)).await;
        gate.wait_until_reached();
        client.send(batch(2, 1, 4)).await;
        (client, server.address().to_owned())
    });
    while server.waiting() == 0 {
        std::thread::yield_now();
    }
    let draining = std::thread::spawn(move || server.drain(PATIENCE));
    runtime.block_on(async {
        gate.open();
        assert_eq!([client.answer().await.id, client.answer().await.id], [1, 2]);
        assert_eq!(client.next().await, None);
    });
    assert!(draining.join().unwrap(), "everything was answered");
    runtime.block_on(async {
        assert!(Channel::from_shared(address).unwrap().connect().await.is_err(), "the port is closed");
    });
}
