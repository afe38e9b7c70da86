//! Certificates and their private keys in files in PEM format (RFC 7468). They are read here alone: a library that
//! refuses one names neither the file nor a remedy, and one that takes it fails at each connection.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, RootCertStore};

use crate::warn_of_readers;

/// A certificate or a key that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// A file that cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The response of the file system.
        source: io::Error,
    },
    /// A file of another format, or of something else.
    #[error("{} has no {expected} in PEM format; {remedy}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
        /// How to make one of what it may hold.
        remedy: &'static str,
    },
    /// A file whose contents are damaged, or of a kind that TLS does not take.
    #[error("{} cannot be used: {reason}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: &'static str,
    },
    /// A key that is not that of the certificate.
    #[error(
        "the key {} is not that of the certificate {}; name two files that belong together",
        key.display(),
        cert.display()
    )]
    Mismatch {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
}

/// A certificate with those of its issuers, and its private key.
pub struct TlsIdentity {
    /// The file of the certificates.
    pub cert_pem: Vec<u8>,
    /// The file of the key.
    pub key_pem: Vec<u8>,
    /// The certificates, that of this process first.
    pub chain: Vec<CertificateDer<'static>>,
    /// The key.
    pub key: PrivateKeyDer<'static>,
}

/// Reads a certificate and its key. A key that every user can read is warned of.
///
/// # Errors
/// A file that cannot be read or holds something else; a key of another certificate.
pub fn read_identity(cert: &Path, key: &Path) -> Result<TlsIdentity, PemError> {
    let (cert_pem, key_pem) = (read(cert)?, read(key)?);
    let chain = certificates(cert, &cert_pem)?;
    let secret = private_key(key, &key_pem)?;
    CertifiedKey::from_der(chain.clone(), secret.clone_key(), &default_provider()).map_err(|error| match error {
        Error::InconsistentKeys(_) => PemError::Mismatch { cert: cert.to_owned(), key: key.to_owned() },
        Error::InvalidCertificate(_) => unusable(cert, UNREADABLE),
        _ => unusable(key, "TLS takes keys of RSA from 2048 bits on, P-256, P-384 and Ed25519"),
    })?;
    warn_of_readers(key);
    Ok(TlsIdentity { cert_pem, key_pem, chain, key: secret })
}

/// Reads the certificates of authorities: the file, of which one certificate at least can be used.
///
/// # Errors
/// The file cannot be read, or holds something else.
pub fn read_authorities(path: &Path) -> Result<Vec<u8>, PemError> {
    let pem = read(path)?;
    let (used, _) = RootCertStore::empty().add_parsable_certificates(certificates(path, &pem)?);
    if used == 0 {
        return Err(unusable(path, UNREADABLE));
    }
    Ok(pem)
}

/// Why a certificate in PEM format cannot be used.
const UNREADABLE: &str = "its certificate cannot be decoded";

/// Why a file in PEM format cannot be read to its end.
const DAMAGED: &str = "it is cut off or damaged";

/// The header of a key that is encrypted in the old format of OpenSSL.
const ENCRYPTED: &[u8] = b"Proc-Type: 4,ENCRYPTED";

/// The certificates of a file, of which there is one at least.
fn certificates(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|_| unusable(path, DAMAGED))?;
    if found.is_empty() {
        let (expected, remedy) = ("certificate", "`openssl x509 -inform DER` converts one");
        return Err(PemError::Absent { path: path.to_owned(), expected, remedy });
    }
    Ok(found)
}

/// The first key of a file, as libraries take it: what follows does not matter.
fn private_key(path: &Path, pem: &[u8]) -> Result<PrivateKeyDer<'static>, PemError> {
    match PrivateKeyDer::pem_slice_iter(pem).next() {
        Some(Ok(key)) => Ok(key),
        Some(Err(_)) if !pem.windows(ENCRYPTED.len()).any(|part| part == ENCRYPTED) => Err(unusable(path, DAMAGED)),
        _ => {
            let (expected, remedy) = ("unencrypted private key", "`openssl pkey` writes one");
            Err(PemError::Absent { path: path.to_owned(), expected, remedy })
        }
    }
}

fn unusable(path: &Path, reason: &'static str) -> PemError {
    PemError::Unusable { path: path.to_owned(), reason }
}

fn read(path: &Path) -> Result<Vec<u8>, PemError> {
    fs::read(path).map_err(|source| PemError::File { path: path.to_owned(), source })
}
