//! Who may use the server.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exit_class::{Classified, ExitClass};
use inference::{Options, Server, ServerError};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use remote::proto::v1::Priority;
use remote::proto::v1::evaluation_client::EvaluationClient;
use remote::{ServerIdentity, Token, client_tls};
use runtime::Health;
use tempfile::TempDir;
use tonic::transport::Channel;
use tonic::{Code, Request, Status};

use crate::fixture::{Client, Gate, GatedSource, options, runtime, serve};

/// An authority, and certificates of a server and of a client.
struct Keys {
    folder: TempDir,
}

impl Keys {
    fn new() -> Keys {
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

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn identity(&self, name: &str) -> ServerIdentity {
        ServerIdentity { cert: self.path(&format!("{name}.pem")), key: self.path(&format!("{name}.key")) }
    }

    async fn connect(&self, address: &str, own: Option<&str>) -> Result<Channel, tonic::transport::Error> {
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
    Client::with(EvaluationClient::with_interceptor(channel, add), Priority::Selfplay).await
}

#[test]
fn client_certificate_is_required() {
    let keys = Keys::new();
    let (identity, client_ca) = (Some(keys.identity("server")), Some(keys.path("ca.pem")));
    let server = serve(Options { identity, client_ca, ..options() });
    assert!(server.address().starts_with("https://127.0.0.1:"));
    runtime().block_on(async {
        let channel = keys.connect(server.address(), Some("client")).await.unwrap();
        Client::open(channel, Priority::Selfplay).await.unwrap().check(1, 3).await;
        let others = Keys::new();
        // The handshake of TLS 1.3 may end for the client before the server refuses its certificate.
        for channel in
            [keys.connect(server.address(), None).await, others.connect(server.address(), Some("client")).await]
                .into_iter()
                .flatten()
        {
            assert!(Client::open(channel, Priority::Selfplay).await.is_err());
        }
        let plain = server.address().replace("https", "http");
        if let Ok(channel) = Channel::from_shared(plain).unwrap().connect().await {
            assert!(Client::open(channel, Priority::Selfplay).await.is_err());
        }
        let channel = keys.connect(server.address(), Some("client")).await.unwrap();
        Client::open(channel, Priority::Selfplay).await.unwrap().check(1, 3).await;
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

#[test]
fn other_addresses_than_loopback_need_certificate_and_client_check() {
    let keys = Keys::new();
    let everywhere = || Options { listen: "0.0.0.0:0".parse().unwrap(), ..options() };
    let start = |options| Server::start(options, Arc::new(GatedSource(Gate::default())), Health::default());
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
    let start = |options| Server::start(options, Arc::new(GatedSource(Gate::default())), Health::default());
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
