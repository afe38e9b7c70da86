//! Who may talk to whom: certificates and tokens.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use runtime::{PemError, TokenError, is_token, read_authorities, read_identity, read_token, reread_token};
use subtle::ConstantTimeEq;
use tonic::metadata::MetadataMap;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig};

/// The scheme of the header `authorization` (RFC 6750).
const SCHEME: &str = "Bearer ";

/// A certificate or a token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecurityError {
    /// A file that has no certificate or key.
    #[error(transparent)]
    Pem(#[from] PemError),
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

    /// The token that the file has now, or the last one while it has none. A pipe, which has its token once, would
    /// block.
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
    let config = ServerTlsConfig::new().identity(certified(identity)?);
    Ok(match client_ca {
        Some(path) => config.client_ca_root(Certificate::from_pem(read_authorities(path)?)),
        None => config,
    })
}

/// TLS of a client: of servers with a certificate of `ca`, or of an authority that the system trusts; with a
/// certificate of its own where servers require one.
///
/// # Errors
/// A file that cannot be read or holds something else.
pub fn client_tls(ca: Option<&Path>, own: Option<&ServerIdentity>) -> Result<ClientTlsConfig, SecurityError> {
    let config = match ca {
        Some(path) => ClientTlsConfig::new().ca_certificate(Certificate::from_pem(read_authorities(path)?)),
        None => ClientTlsConfig::new().with_native_roots(),
    };
    Ok(match own {
        Some(identity) => config.identity(certified(identity)?),
        None => config,
    })
}

fn certified(ServerIdentity { cert, key }: &ServerIdentity) -> Result<Identity, SecurityError> {
    let read = read_identity(cert, key)?;
    Ok(Identity::from_pem(read.cert_pem, read.key_pem))
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
        let [made, other] = [(); 2].map(|()| rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap());
        let (cert, key) = (made.cert.pem(), made.signing_key.serialize_pem());
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        let good = ServerIdentity { cert: write("cert.pem", cert.as_bytes()), key: write("key.pem", key.as_bytes()) };
        server_tls(&good, Some(&good.cert)).unwrap();
        client_tls(Some(&good.cert), Some(&good)).unwrap();

        let der: &[u8] = made.cert.der().as_ref();
        let absent = "has no certificate in PEM format; `openssl x509 -inform DER` converts one";
        let junk = b"-----BEGIN CERTIFICATE-----\nanVuaw==\n-----END CERTIFICATE-----\n";
        let certs: [(&[u8], &str); 5] = [
            (b"", absent),
            (der, absent),
            (key.as_bytes(), absent),
            (&cert.as_bytes()[..cert.len() / 2], "cannot be used: it is cut off or damaged"),
            (junk, "cannot be used: its certificate cannot be decoded"),
        ];
        for (bytes, expected) in certs {
            let file = write("other.pem", bytes);
            let bad = ServerIdentity { cert: file.clone(), key: good.key.clone() };
            let errors = [
                server_tls(&bad, None).err(),
                server_tls(&good, Some(&file)).err(),
                client_tls(None, Some(&bad)).err(),
                client_tls(Some(&file), None).err(),
            ];
            let expected = format!("{} {expected}", file.display());
            assert_eq!(errors.map(|error| error.unwrap().to_string()), [(); 4].map(|()| expected.clone()));
        }

        let absent = "has no unencrypted private key in PEM format; `openssl pkey` writes one";
        let encrypted = key.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let header = "PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";
        let of_old_format = key.replacen("PRIVATE KEY-----\n", header, 1);
        let keys: [(&[u8], &str); 4] = [
            (cert.as_bytes(), absent),
            (encrypted.as_bytes(), absent),
            (of_old_format.as_bytes(), absent),
            (&key.as_bytes()[..key.len() / 2], "cannot be used: it is cut off or damaged"),
        ];
        let refused = |bytes: &[u8]| {
            let file = write("other.key", bytes);
            let bad = ServerIdentity { cert: good.cert.clone(), key: file.clone() };
            (server_tls(&bad, None).unwrap_err().to_string(), file.display().to_string())
        };
        for (bytes, expected) in keys {
            let (error, file) = refused(bytes);
            assert_eq!(error, format!("{file} {expected}"));
        }
        let (error, file) = refused(other.signing_key.serialize_pem().as_bytes());
        assert!(error.starts_with(&format!("the key {file} is not that of the certificate ")), "{error}");
    }
}
