//! Whatever comes over a connection is refused, and others are served on.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

use bytes::Bytes;
use inference::Options;
use remote::proto::v1::client_message::Message as FromClient;
use remote::proto::v1::evaluation_client::EvaluationClient;
use remote::proto::v1::{self, ClientMessage, Hello, Status};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use testing::PATIENCE;
use tonic::Code;

use crate::fixture::{Client, batch, connect, options, runtime, serve};
use crate::security::Keys;

/// The beginning of an HTTP/2 connection with empty settings.
pub(crate) const HTTP2: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

/// What scanners and broken clients send.
fn garbage() -> Vec<Vec<u8>> {
    let frame = |len: [u8; 3], kind: u8, flags: u8, stream: u8| [&len[..], &[kind, flags, 0, 0, 0, stream]].concat();
    let noise: Vec<u8> = (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        vec![0; 10_000],
        noise.clone(),
        HTTP2[..20].to_vec(),
        // A frame that is cut off, one of 16 MiB, and one of an unknown kind.
        [HTTP2, &frame([0, 1, 0], 0, 0, 1), b"ab"].concat(),
        [HTTP2, &frame([255, 255, 255], 0, 0, 1)].concat(),
        [HTTP2, &frame([0, 0, 4], 99, 255, 7), b"abcd"].concat(),
        [HTTP2, &frame([0, 0, 5], 1, 4, 1), &noise[..5]].concat(),
        [HTTP2, &noise].concat(),
    ]
}

/// Sends bytes and reads until the server closes the connection.
fn send_garbage(address: &str, bytes: &[u8]) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // The server may have closed the connection already.
    drop(stream.write_all(bytes));
    drop(stream.shutdown(Shutdown::Write));
    assert_closed(stream.read_to_end(&mut Vec::new()));
}

fn assert_closed(read: io::Result<usize>) {
    assert!(read.as_ref().err().is_none_or(|error| error.kind() != io::ErrorKind::WouldBlock), "{read:?}");
}

#[test]
fn garbage_on_the_port_closes_its_connection_and_no_other() {
    let server = serve(options());
    let address = server.address().strip_prefix("http://").unwrap().to_owned();
    let runtime = runtime();
    let mut client = runtime.block_on(Client::connect(server.address()));
    for bytes in garbage() {
        send_garbage(&address, &bytes);
        runtime.block_on(client.check(1, 2));
    }
    runtime.block_on(async { Client::connect(server.address()).await.check(1, 2).await });
}

/// Garbage instead of a handshake, within one, and after it.
#[test]
fn garbage_on_a_port_with_tls_closes_its_connection_and_no_other() {
    let keys = Keys::new();
    let server = serve(Options { identity: Some(keys.identity("server")), ..options() });
    let address = server.address().strip_prefix("https://").unwrap().to_owned();
    let runtime = runtime();
    let connect = || async { Client::open(keys.connect(server.address(), None).await.unwrap()).await };
    let mut client = runtime.block_on(connect()).unwrap();
    for bytes in garbage() {
        send_garbage(&address, &bytes);
        send_within_tls(&keys, &address, &bytes);
        send_garbage(&address, &client_hello(&keys, &bytes));
        runtime.block_on(client.check(1, 2));
    }
    runtime.block_on(async { connect().await.unwrap().check(1, 2).await });
}

fn tls(keys: &Keys) -> ClientConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(keys.path("ca.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = config.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
}

fn send_within_tls(keys: &Keys, address: &str, bytes: &[u8]) {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(tls(keys), stream);
    drop(stream.write_all(bytes));
    assert!(!stream.conn.is_handshaking(), "the garbage comes after the handshake");
    stream.conn.send_close_notify();
    drop(stream.flush());
    drop(stream.sock.shutdown(Shutdown::Write));
    assert_closed(stream.read_to_end(&mut Vec::new()));
}

/// A good beginning of a handshake, and then garbage.
fn client_hello(keys: &Keys, bytes: &[u8]) -> Vec<u8> {
    let mut hello = Vec::new();
    tls(keys).write_tls(&mut hello).unwrap();
    hello.extend_from_slice(bytes);
    hello
}

/// Reads frames until one of stream 1 ends it.
fn read_until_end(stream: &mut TcpStream) {
    const END_STREAM: u8 = 1;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("the server ends the stream, not the connection");
        let len = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; len as usize]).unwrap();
        let [kind, flags, number] = [head[3], head[4], head[8]];
        if kind == 1 && flags & END_STREAM != 0 && number == 1 {
            return;
        }
    }
}

/// A message begins with its length: here with four gigabytes, of which four bytes follow.
#[test]
fn message_of_four_gigabytes_is_refused_by_its_length() {
    let server = serve(options());
    let address = server.address().strip_prefix("http://").unwrap().to_owned();
    let literal = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    // Header fields of RFC 7541: POST and http by their numbers, the others as they are.
    let headers = [
        &[0x83, 0x86, 0x04][..],
        &literal("/tengen.inference.v1.Evaluation/Evaluate"),
        &[0x01],
        &literal("localhost"),
        &[0x00],
        &literal("content-type"),
        &literal("application/grpc"),
        &[0x00],
        &literal("te"),
        &literal("trailers"),
    ]
    .concat();
    let data = b"\x00\xff\xff\xff\xffabcd";
    let frames = [
        HTTP2,
        &[0, 0, headers.len() as u8, 1, 4, 0, 0, 0, 1],
        &headers,
        &[0, 0, data.len() as u8, 0, 0, 0, 0, 0, 1],
        data,
    ];
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(&frames.concat()).unwrap();
    read_until_end(&mut stream);
    runtime().block_on(async { Client::connect(server.address()).await.check(1, 2).await });
}

#[test]
fn batches_that_do_not_fit_are_refused_one_by_one() {
    let server = serve(options());
    runtime().block_on(async {
        let mut client = Client::connect(server.address()).await;
        let good = v1::Batch::from(batch(1, 1, 2));
        let other_board = v1::Batch { planes: v1::Batch::from(batch(1, 2, 2)).planes, ..good.clone() };
        for (bad, part) in [
            (other_board, "board or inputs differ"),
            (v1::Batch { positions: 0, ..good.clone() }, "0 positions"),
            (v1::Batch { positions: u32::MAX, ..good.clone() }, "at most 2048"),
            (v1::Batch { positions: 2000, ..good.clone() }, "2000 positions"),
            (v1::Batch { planes: Bytes::new(), ..good.clone() }, "0 bytes of planes"),
            (v1::Batch { scalars: Bytes::from_static(&[1; 3]), ..good.clone() }, "3 bytes of scalars"),
            (v1::Batch { scalars: vec![1; 4097].into(), ..good.clone() }, "no network takes as many"),
            (v1::Batch { answers: 7, ..good.clone() }, "encoding 7"),
            (v1::Batch { model: None, ..good }, "names no model"),
        ] {
            let refusal = client.refusal(bad).await;
            assert_eq!(refusal.status, Status::Invalid, "{refusal}");
            assert!(refusal.message.contains(part), "{refusal}");
        }
        client.check(1, 2).await;
    });
}

#[test]
fn streams_that_break_the_protocol_end_with_a_reason() {
    let server = serve(options());
    let hello = |protocol| FromClient::Hello(Hello { protocol, ..Hello::default() });
    let batch = || FromClient::Batch(batch(1, 1, 1).into());
    runtime().block_on(async {
        for (messages, code) in [
            (vec![Some(batch())], Code::FailedPrecondition),
            (vec![Some(hello(2))], Code::FailedPrecondition),
            (vec![None], Code::FailedPrecondition),
            (vec![Some(hello(1)), Some(hello(1))], Code::InvalidArgument),
            (vec![Some(hello(1)), None], Code::InvalidArgument),
            (vec![], Code::Ok),
        ] {
            let mut client = EvaluationClient::new(connect(server.address()).await);
            let messages = messages.into_iter().map(|message| ClientMessage { message });
            let mut answers = client.evaluate(futures::stream::iter(messages)).await.unwrap().into_inner();
            let end = loop {
                match answers.message().await {
                    Ok(Some(_)) => {}
                    Ok(None) => break Code::Ok,
                    Err(status) => break status.code(),
                }
            };
            assert_eq!(end, code);
        }
        Client::connect(server.address()).await.check(1, 2).await;
    });
}
