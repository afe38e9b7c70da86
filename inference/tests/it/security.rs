//! Who may use the server.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use exit_class::{Classified, ExitClass};
use inference::{Limits, Options, Server, ServerError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use remote::proto::v1::evaluation_client::EvaluationClient;
use remote::{ServerIdentity, Token, client_tls};
use runtime::Health;
use tempfile::TempDir;
use testing::PATIENCE;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::fixture::{Client, Gate, GatedProvider, options, runtime, serve};
use crate::refusing::HTTP2;

/// An authority, and certificates of a server and of a client.
pub(crate) struct Keys {
    folder: TempDir,
}

impl Keys {
    pub(crate) fn new() -> Keys {
        let keys = Keys { folder: tempfile::tempdir().unwrap() };
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        fs::write(keys.path("ca.pem"), authority.pem()).unwrap();
        for name in ["server", "client"] {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
            let cert = params.signed_by(&key, &authority).unwrap();
            fs::write(keys.path(&format!("{name}.pem")), cert.pem()).unwrap();
            fs::write(keys.path(&format!("{name}.key")), key.serialize_pem()).unwrap();
        }
        fs::write(keys.path("token"), "a-secret-of-20-chars\n").unwrap();
        keys
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn identity(&self, name: &str) -> ServerIdentity {
        ServerIdentity { cert: self.path(&format!("{name}.pem")), key: self.path(&format!("{name}.key")) }
    }

    pub(crate) async fn connect(&self, address: &str, own: Option<&str>) -> Result<Channel, tonic::transport::Error> {
        let identity = own.map(|name| self.identity(name));
        let tls = client_tls(Some(&self.path("ca.pem")), identity.as_ref()).unwrap();
        Channel::from_shared(address.to_owned()).unwrap().tls_config(tls).unwrap().connect().await
    }
}

async fn with_token(channel: Channel, token: Option<Token>) -> Result<Client, Status> {
    let add = move |mut request: Request<()>| {
        token.iter().for_each(|token| token.add_to(request.metadata_mut()));
        Ok(request)
    };
    Client::with(EvaluationClient::with_interceptor(channel, add)).await
}

#[test]
fn client_certificate_is_required() {
    let keys = Keys::new();
    let (identity, client_ca) = (Some(keys.identity("server")), Some(keys.path("ca.pem")));
    let server = serve(Options { identity, client_ca, ..options() });
    assert!(server.address().starts_with("https://127.0.0.1:"));
    runtime().block_on(async {
        let channel = keys.connect(server.address(), Some("client")).await.unwrap();
        Client::open(channel).await.unwrap().check(1, 3).await;
        let others = Keys::new();
        // The handshake of TLS 1.3 may end for the client before the server refuses its certificate.
        for channel in
            [keys.connect(server.address(), None).await, others.connect(server.address(), Some("client")).await]
                .into_iter()
                .flatten()
        {
            assert!(Client::open(channel).await.is_err());
        }
        let plain = server.address().replace("https", "http");
        if let Ok(channel) = Channel::from_shared(plain).unwrap().connect().await {
            assert!(Client::open(channel).await.is_err());
        }
        let channel = keys.connect(server.address(), Some("client")).await.unwrap();
        Client::open(channel).await.unwrap().check(1, 3).await;
    });
}

#[test]
fn token_is_required_with_and_without_tls() {
    let keys = Keys::new();
    for identity in [None, Some(keys.identity("server"))] {
        let is_tls = identity.is_some();
        let server = serve(Options { identity, token: Some(keys.path("token")), ..options() });
        runtime().block_on(async {
            let channel = match is_tls {
                true => keys.connect(server.address(), None).await.unwrap(),
                false => Channel::from_shared(server.address().to_owned()).unwrap().connect().await.unwrap(),
            };
            let right = Token::read(&keys.path("token")).unwrap();
            with_token(channel.clone(), Some(right)).await.unwrap().check(1, 3).await;
            for wrong in [None, Token::new("a-secret-of-20-charz"), Token::new("another-secret-that-is-longer")] {
                let status = with_token(channel.clone(), wrong).await.err().expect("no stream");
                assert_eq!(status.code(), Code::Unauthenticated);
            }
        });
    }
}

/// What a stranger has before its first call.
const FIRST_CALL: Duration = Duration::from_millis(100);
/// More than a server can answer in that time: a microsecond for each, and two system calls take longer.
const PINGS: u32 = 100_000;

/// A connection over which frames that are no calls go both ways, until the server closes it.
fn ping_until_closed(address: &str) {
    const PING: [u8; 17] = [0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8];
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(HTTP2).unwrap();
    let mut is_answered = || match stream.write_all(&PING).and_then(|()| stream.read(&mut [0; 1000])) {
        Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("neither an answer nor the end"),
        read => matches!(read, Ok(1..)),
    };
    assert!(!(0..PINGS).all(|_| is_answered()), "the connection is open");
}

#[test]
fn connections_without_a_call_are_closed_and_others_are_not() {
    let keys = Keys::new();
    let limits = Limits { first_call: FIRST_CALL, connections: 3, ..Limits::default() };
    let server = serve(Options { token: Some(keys.path("token")), limits, ..options() });
    let address = server.address().strip_prefix("http://").unwrap().to_owned();
    runtime().block_on(async {
        let channel = || Channel::from_shared(server.address().to_owned()).unwrap().connect_lazy();
        let client = async {
            loop {
                // On a busy machine the first call may come too late.
                match with_token(channel(), Token::read(&keys.path("token")).ok()).await {
                    Ok(client) => break client,
                    Err(status) => assert_ne!(status.code(), Code::Unauthenticated),
                }
            }
        };
        let mut client = tokio::time::timeout(PATIENCE, client).await.expect("a call in time");
        client.check(1, 3).await;
        // Calls without the token do not count. The channel connects again when it is closed.
        let mut stranger = EvaluationClient::new(channel());
        for _ in 0..3 {
            let messages = futures::stream::pending::<remote::proto::v1::ClientMessage>();
            let status = stranger.evaluate(messages).await.expect_err("no stream");
            // The last three are those of a connection that is closed at this moment.
            let expected = [Code::Unauthenticated, Code::Unavailable, Code::Unknown, Code::Cancelled];
            assert!(expected.contains(&status.code()), "{status}");
            // Longer than strangers have.
            ping_until_closed(&address);
        }
        client.check(1, 3).await;
    });
}

#[test]
fn other_addresses_than_loopback_need_certificate_and_client_check() {
    let keys = Keys::new();
    let everywhere = || Options { listen: "0.0.0.0:0".parse().unwrap(), ..options() };
    let start = |options| Server::start(options, Arc::new(GatedProvider::new(Gate::default())), Health::default());
    let (identity, token) = (Some(keys.identity("server")), Some(keys.path("token")));
    for options in [
        everywhere(),
        Options { token: token.clone(), ..everywhere() },
        Options { identity: identity.clone(), ..everywhere() },
    ] {
        let error = start(options).err().expect("no server");
        assert!(
            matches!(error, ServerError::Unprotected { .. }) && error.class() == ExitClass::Configuration,
            "{error}"
        );
    }
    let error = start(Options { client_ca: Some(keys.path("ca.pem")), ..everywhere() }).err().expect("no server");
    assert!(matches!(error, ServerError::NoIdentity), "{error}");
    start(Options { identity: identity.clone(), token, ..everywhere() }).unwrap();
    start(Options { identity, client_ca: Some(keys.path("ca.pem")), ..everywhere() }).unwrap();
}

#[test]
fn files_that_are_no_certificates_or_tokens_are_refused() {
    let keys = Keys::new();
    let start = |options| Server::start(options, Arc::new(GatedProvider::new(Gate::default())), Health::default());
    let missing = Some(Path::new("/no/such/token").to_owned());
    for options in [
        Options { token: missing, ..options() },
        Options {
            identity: Some(ServerIdentity { cert: keys.path("token"), key: keys.path("server.key") }),
            ..options()
        },
        Options {
            identity: Some(ServerIdentity { cert: keys.path("ca.pem"), key: keys.path("server.key") }),
            ..options()
        },
    ] {
        assert_eq!(start(options).err().expect("no server").class(), ExitClass::Configuration);
    }
}
