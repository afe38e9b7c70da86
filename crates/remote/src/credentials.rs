//! What a client shows to servers, and what it wants to see of them.

use std::net::IpAddr;
use std::path::PathBuf;

use runtime::InferenceArgs;
use tonic::transport::{ClientTlsConfig, Endpoint};

use crate::address::Tiers;
use crate::security::TokenFile;
use crate::{Address, RemoteError, ServerIdentity, client_tls};

/// Certificates and a token.
pub(crate) struct Credentials {
    /// `None` where nothing is encrypted.
    tls: Option<ClientTlsConfig>,
    pub(crate) token: Option<TokenFile>,
}

impl Credentials {
    /// Reads the files that the arguments name.
    pub(crate) fn read(args: &InferenceArgs, tiers: &Tiers) -> Result<Credentials, RemoteError> {
        let identity = identity(&args.inference_cert, &args.inference_key)?;
        let encrypts = tiers.addresses().any(|address| matches!(address, Address::Tcp { tls: true, .. }));
        if !encrypts && (args.inference_ca.is_some() || identity.is_some()) {
            let option = if identity.is_some() { "--inference-cert" } else { "--inference-ca" };
            return Err(RemoteError::NotEncrypted { option });
        }
        let tls = encrypts.then(|| client_tls(args.inference_ca.as_deref(), identity.as_ref())).transpose()?;
        let token = args.inference_token_file.as_deref().map(TokenFile::read).transpose()?;
        match tiers.addresses().find(|address| !is_private(address)) {
            Some(bare) if token.is_some() => Err(RemoteError::BareToken { server: bare.to_string() }),
            _ => Ok(Credentials { tls, token }),
        }
    }

    /// Where to connect.
    pub(crate) fn endpoint(&self, address: &Address) -> Result<Endpoint, RemoteError> {
        let server = address.to_string();
        let wrong = |error: tonic::transport::Error| {
            let problem = std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            RemoteError::Endpoint { server: server.clone(), problem }
        };
        let endpoint = Endpoint::from_shared(server.clone()).map_err(wrong)?;
        match (address, &self.tls) {
            (Address::Tcp { tls: true, .. }, Some(tls)) => endpoint.tls_config(tls.clone()).map_err(wrong),
            _ => Ok(endpoint),
        }
    }
}

/// The certificate of the client and its key.
fn identity(cert: &Option<PathBuf>, key: &Option<PathBuf>) -> Result<Option<ServerIdentity>, RemoteError> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some(ServerIdentity { cert: cert.clone(), key: key.clone() })),
        (None, None) => Ok(None),
        _ => Err(RemoteError::HalfIdentity),
    }
}

/// Whether no other machine can read what is sent there.
fn is_private(address: &Address) -> bool {
    match address {
        Address::Unix(_) | Address::Tcp { tls: true, .. } => true,
        Address::Tcp { host, .. } => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(typed: &str, change: impl FnOnce(&mut InferenceArgs)) -> Result<Credentials, String> {
        let mut args = InferenceArgs {
            inference: None,
            inference_deadline: 250,
            inference_encoding: "f32".to_owned(),
            inference_ca: None,
            inference_cert: None,
            inference_key: None,
            inference_token_file: None,
        };
        change(&mut args);
        Credentials::read(&args, &typed.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn tokens_are_sent_only_where_others_cannot_read_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "a-secret-of-20-chars\n").unwrap();
        let with_token = |typed: &str| read(typed, |args| args.inference_token_file = Some(path.clone()));
        for typed in
            ["https://gpu:9470", "http://127.0.0.1:1,http://localhost:2;http://[::1]:3;unix:///run/tengen.sock"]
        {
            assert!(with_token(typed).unwrap().token.is_some(), "{typed}");
        }
        for typed in ["http://gpu:9470", "https://gpu:9470;http://10.0.0.1", "http://127.0.0.1.example.org"] {
            let error = with_token(typed).err().unwrap();
            assert!(error.contains("is not encrypted"), "{typed}: {error}");
            assert!(read(typed, |_| {}).unwrap().token.is_none());
        }
    }

    #[test]
    fn options_that_do_not_go_together_are_refused() {
        let [ca, cert, key] = ["ca", "cert", "key"].map(|name| Some(PathBuf::from(name)));
        let error = read("http://a", |args| args.inference_ca = ca).err().unwrap();
        assert!(error.starts_with("--inference-ca needs a server with https"), "{error}");
        let error = read("https://a", |args| args.inference_cert = cert.clone()).err().unwrap();
        assert!(error.contains("belong together"), "{error}");
        let error = read("http://a", |args| (args.inference_cert, args.inference_key) = (cert, key)).err().unwrap();
        assert!(error.starts_with("--inference-cert needs a server with https"), "{error}");
    }

    #[test]
    fn endpoints_are_made_of_every_kind_of_address() {
        let credentials = read("http://a", |_| {}).unwrap();
        for typed in ["http://gpu:9470", "http://[::1]:9470", "unix:///run/tengen.sock"] {
            credentials.endpoint(&typed.parse().unwrap()).unwrap();
        }
    }
}
