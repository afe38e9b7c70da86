//! Who may talk to whom: certificates and tokens.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use runtime::{TokenError, is_token, read_token, reread_token, warn_of_readers};
use subtle::ConstantTimeEq;
use tonic::metadata::MetadataMap;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

/// The scheme of the header `authorization` (RFC 6750).
const SCHEME: &str = "Bearer ";

/// A certificate or a token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// A file that cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The response of the file system.
        source: io::Error,
    },
    /// A file that is no certificate or key.
    #[error("{} has no {expected} in PEM format", path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
    },
    /// A file that has no token.
    #[error(transparent)]
    Token(#[from] TokenError),
}

/// A secret that clients send with each call.
#[derive(Clone)]
pub struct Token {
    header: MetadataValue<Ascii>,
}

/// A token in a file, which may be replaced while the process runs.
pub(crate) struct TokenFile {
    path: PathBuf,
    last: Token,
}

/// The certificate of a server and its key, as files in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerIdentity {
    /// The certificate, and those of its issuers.
    pub cert: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl Token {
    /// Reads the token on the first line of a file.
    ///
    /// # Errors
    /// The file cannot be read or has no token.
    pub fn read(path: &Path) -> Result<Token, SecurityError> {
        let text = read_token(path)?;
        Token::new(&text).ok_or_else(|| TokenError::NoToken { path: path.to_owned() }.into())
    }

    /// A token of 16 to 4096 printable ASCII characters without blanks; `None` for another text.
    pub fn new(text: &str) -> Option<Token> {
        let header = is_token(text).then(|| format!("{SCHEME}{text}").parse().ok())?;
        header.map(|mut header: MetadataValue<Ascii>| {
            header.set_sensitive(true);
            Token { header }
        })
    }

    /// Adds the token to the metadata of a call.
    pub fn add_to(&self, metadata: &mut MetadataMap) {
        metadata.insert("authorization", self.header.clone());
    }

    /// Whether a call has the token. The time of the comparison depends on the token's length alone.
    pub fn is_in(&self, metadata: &MetadataMap) -> bool {
        let Some(found) = metadata.get("authorization") else { return false };
        found.as_encoded_bytes().ct_eq(self.header.as_encoded_bytes()).into()
    }
}

impl TokenFile {
    /// Reads the token on the first line of a file.
    ///
    /// # Errors
    /// As [`Token::read`].
    pub(crate) fn read(path: &Path) -> Result<TokenFile, SecurityError> {
        Ok(TokenFile { path: path.to_owned(), last: Token::read(path)? })
    }

    /// The token that the file has now, or the last one while it has none. A pipe, which has its token once, would block.
    pub(crate) fn token(&mut self) -> Token {
        if fs::metadata(&self.path).is_ok_and(|file| file.is_file())
            && let Some(token) = reread_token(&self.path).ok().and_then(|text| Token::new(&text))
        {
            self.last = token;
        }
        self.last.clone()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// TLS of a server; with `client_ca`, of clients with a certificate of this authority only.
///
/// # Errors
/// A file that cannot be read or holds something else.
pub fn server_tls(identity: &ServerIdentity, client_ca: Option<&Path>) -> Result<ServerTlsConfig, SecurityError> {
    let config = ServerTlsConfig::new().identity(read_identity(identity)?);
    Ok(match client_ca {
        Some(path) => config.client_ca_root(read_certificate(path)?),
        None => config,
    })
}

/// TLS of a client: of servers with a certificate of `ca`, or of an authority that the system trusts; with a certificate of
/// its own where servers require one.
///
/// # Errors
/// A file that cannot be read or holds something else.
pub fn client_tls(ca: Option<&Path>, own: Option<&ServerIdentity>) -> Result<ClientTlsConfig, SecurityError> {
    let config = match ca {
        Some(path) => ClientTlsConfig::new().ca_certificate(read_certificate(path)?),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    Ok(match own {
        Some(identity) => config.identity(read_identity(identity)?),
        None => config,
    })
}

fn read_identity(ServerIdentity { cert, key }: &ServerIdentity) -> Result<Identity, SecurityError> {
    let (cert, secret) = (read_pem(cert, "CERTIFICATE", "certificate")?, read_pem(key, "PRIVATE KEY", "private key")?);
    warn_of_readers(key);
    Ok(Identity::from_pem(cert, secret))
}

fn read_certificate(path: &Path) -> Result<Certificate, SecurityError> {
    Ok(Certificate::from_pem(read_pem(path, "CERTIFICATE", "certificate")?))
}

/// Reads a file with such a part, whose name may have more words before it (`EC PRIVATE KEY`).
fn read_pem(path: &Path, label: &str, expected: &'static str) -> Result<Vec<u8>, SecurityError> {
    let bytes = read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(&format!("{label}-----"));
    if text.lines().any(begins) { Ok(bytes) } else { Err(SecurityError::NotPem { path: path.to_owned(), expected }) }
}

fn read(path: &Path) -> Result<Vec<u8>, SecurityError> {
    fs::read(path).map_err(|source| SecurityError::File { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc::channel;
    use std::thread;

    use testing::PATIENCE;

    use super::*;

    #[test]
    fn token_is_in_calls_that_it_was_added_to() {
        let (token, other) = (Token::new("a-secret-of-20-chars").unwrap(), Token::new("a-secret-of-20-charz").unwrap());
        let mut metadata = MetadataMap::new();
        assert!(!token.is_in(&metadata));
        token.add_to(&mut metadata);
        assert!(token.is_in(&metadata) && !other.is_in(&metadata));
        metadata.insert("authorization", "Bearer a-secret-of-20-char".parse().unwrap());
        assert!(!token.is_in(&metadata));
        assert_eq!(format!("{token:?}"), "Token", "no secret in a log");
    }

    #[test]
    fn token_of_a_file_is_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "a-secret-of-20-chars\nmore\n").unwrap();
        let mut metadata = MetadataMap::new();
        Token::read(&path).unwrap().add_to(&mut metadata);
        assert!(Token::new("a-secret-of-20-chars").unwrap().is_in(&metadata));
        fs::write(&path, "too-short\n").unwrap();
        let error = Token::read(&path).unwrap_err().to_string();
        assert!(error.contains("token has no token of 16 to 4096 printable ASCII characters"), "{error}");
    }

    #[test]
    fn token_of_a_file_is_the_last_that_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let [first, second] = ["a-secret-of-20-chars", "another-secret-of-25-char"];
        fs::write(&path, first).unwrap();
        let mut file = TokenFile::read(&path).unwrap();
        let mut is = |text: &str| {
            let mut metadata = MetadataMap::new();
            file.token().add_to(&mut metadata);
            Token::new(text).unwrap().is_in(&metadata)
        };
        assert!(is(first));
        fs::write(&path, "").unwrap();
        assert!(is(first));
        fs::remove_file(&path).unwrap();
        assert!(is(first));
        fs::write(&path, second).unwrap();
        assert!(is(second));
    }

    /// As of `--inference-token-file <(command)`.
    #[test]
    fn token_of_a_pipe_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let writer = thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, "a-secret-of-20-chars").unwrap()
        });
        let mut file = TokenFile::read(&pipe).unwrap();
        writer.join().unwrap();
        let (sender, read) = channel();
        thread::spawn(move || sender.send(file.token()));
        let mut metadata = MetadataMap::new();
        read.recv_timeout(PATIENCE).expect("nothing is read from the pipe").add_to(&mut metadata);
        assert!(Token::new("a-secret-of-20-chars").unwrap().is_in(&metadata));
    }

    #[test]
    fn other_files_are_no_certificates_or_keys() {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        fs::write(&cert, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        let identity = ServerIdentity { cert: cert.clone(), key: key.clone() };
        server_tls(&identity, Some(&cert)).unwrap();
        client_tls(Some(&cert), Some(&identity)).unwrap();
        let swapped = ServerIdentity { cert: key.clone(), key: cert };
        let error = server_tls(&swapped, None).unwrap_err().to_string();
        assert!(error.ends_with("key.pem has no certificate in PEM format"), "{error}");
        assert!(matches!(client_tls(Some(&key), None), Err(SecurityError::NotPem { .. })));
    }
}
