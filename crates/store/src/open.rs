//! Where a store is: a folder, a bucket, or memory.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{self, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::PaginatedListStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};
use url::Url;

use crate::error::{Doing, StoreError};

/// The location of a store.
#[derive(Clone)]
pub(crate) struct Location {
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// The same, where names can be listed by how they begin: in buckets.
    pub(crate) pages: Option<Arc<dyn PaginatedListStore>>,
    /// What comes before every path in it.
    pub(crate) prefix: Path,
    /// How errors name it.
    pub(crate) root: String,
    /// The folder, when it is one on this machine.
    pub(crate) folder: Option<PathBuf>,
}

/// A folder that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// It is made.
    Create,
    /// It is an error.
    Refuse,
    /// It counts as a store without runs, in memory.
    Empty,
}

/// Finds the location that a URL or a bare path means. The options are for buckets, and go before the environment.
pub(crate) fn open(place: &str, options: &[(String, String)], absent: Absent) -> Result<Location, StoreError> {
    let shown = without_credentials(place);
    let fail = |reason: String| StoreError::BadUrl { url: shown.clone(), reason };
    let Some((scheme, _)) = place.split_once("://") else {
        return match cut_scheme(place) {
            // Games in a folder of this name would be where no other process looks for them.
            Some(scheme) => Err(fail(format!("a URL begins with {scheme}//; put ./ before the name of a folder"))),
            None => folder(place, PathBuf::from(place), absent),
        };
    };
    if matches!(scheme, "s3" | "gs") && shown != place {
        return Err(fail("it has credentials; give them in the environment instead (AWS_*, GOOGLE_*)".to_owned()));
    }
    let url = Url::parse(place).map_err(|e| fail(e.to_string()))?;
    match scheme {
        "file" => {
            let path = url.to_file_path().map_err(|()| fail("it names no local folder".to_owned()))?;
            folder(place, path, absent)
        }
        "s3" => s3(&url, options),
        "gs" => gs(&url, options),
        _ => Err(fail("a store is a folder, or file://, s3:// or gs://".to_owned())),
    }
}

/// The scheme, with its colon, of a URL that lacks slashes.
fn cut_scheme(place: &str) -> Option<&'static str> {
    let begins = |scheme: &&str| place.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    ["s3:", "gs:", "file:"].into_iter().find(begins).filter(|_| !place.contains("://"))
}

/// A place as errors and logs show it: the URL of a bucket without a key or a secret in it. A secret may have slashes.
pub(crate) fn without_credentials(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://").filter(|(scheme, _)| *scheme != "file") else {
        return match (cut_scheme(place), place.rsplit_once('@')) {
            (Some(scheme @ ("s3:" | "gs:")), Some((_, rest))) => format!("{scheme}{rest}"),
            _ => place.to_owned(),
        };
    };
    let authority = rest.split('/').next().unwrap_or_default();
    match rest.rsplit_once('@').filter(|_| authority.contains(['@', ':'])) {
        Some((_, rest)) => format!("{scheme}://{rest}"),
        None => place.to_owned(),
    }
}

/// Whether a place is a folder that is not there.
pub(crate) fn is_absent_folder(place: &str) -> bool {
    let folder = match place.split_once("://") {
        None if cut_scheme(place).is_some() => None,
        None => Some(PathBuf::from(place)),
        Some(("file", _)) => Url::parse(place).ok().and_then(|url| url.to_file_path().ok()),
        Some(_) => None,
    };
    folder.is_some_and(|folder| !folder.exists())
}

fn folder(place: &str, folder: PathBuf, absent: Absent) -> Result<Location, StoreError> {
    let fail = |reason: String| StoreError::BadUrl { url: place.to_owned(), reason };
    if place.is_empty() {
        return Err(fail("it is empty".to_owned()));
    }
    let folder = path::absolute(&folder).map_err(|e| fail(e.to_string()))?;
    if absent == Absent::Refuse && !folder.exists() {
        return Err(fail("there is no such folder".to_owned()));
    }
    let root = folder.display().to_string();
    // A folder that cannot be looked into is none that is not there.
    if absent == Absent::Empty && matches!(folder.try_exists(), Ok(false)) {
        return Ok(in_memory(root));
    }
    fs::create_dir_all(&folder).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory => fail("it is not a folder".to_owned()),
        _ => StoreError::of_file_system(Doing::Create, &folder, &e),
    })?;
    // A file counts as published when it would survive a loss of power.
    let objects = LocalFileSystem::new_with_prefix(&folder).map_err(|e| fail(e.to_string()))?.with_fsync(true);
    Ok(Location { objects: Arc::new(objects), pages: None, prefix: Path::default(), root, folder: Some(folder) })
}

/// A place in memory, which errors name so.
pub(crate) fn in_memory(root: String) -> Location {
    Location { objects: Arc::new(InMemory::new()), pages: None, prefix: Path::default(), root, folder: None }
}

/// A bucket of S3, with credentials and endpoint from the environment (`AWS_*`) or from the machine's role.
fn s3(url: &Url, options: &[(String, String)]) -> Result<Location, StoreError> {
    bucket(url, || {
        let asked = options.iter().any(|(key, value)| key == "aws_allow_http" && value == "true");
        let plain_http = asked || env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value == "true");
        let builder = AmazonS3Builder::from_env()
            .with_url(url.as_str())
            .with_retry(retries())
            .with_client_options(timeouts().with_allow_http(plain_http));
        let set = |builder: AmazonS3Builder, (key, value): &(String, String)| {
            Ok::<_, object_store::Error>(builder.with_config(key.parse()?, value))
        };
        let builder = options.iter().try_fold(builder, set)?;
        match endpoint_without_tls(&builder).filter(|_| !plain_http) {
            // The HTTP client would only fail at each request, and as if the server were away.
            Some(endpoint) => {
                let endpoint = without_credentials(&endpoint);
                Err(format!("its endpoint {endpoint} has no TLS, which AWS_ALLOW_HTTP=true permits").into())
            }
            None => Ok(Arc::new(builder.build()?)),
        }
    })
}

/// The endpoint that a client of S3 would use, if requests to it are not encrypted.
fn endpoint_without_tls(builder: &AmazonS3Builder) -> Option<String> {
    let keys = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = keys.iter().find_map(|key| builder.get_config_value(key))?;
    Url::parse(&endpoint).is_ok_and(|url| url.scheme() == "http").then_some(endpoint)
}

/// A bucket of Google Cloud Storage, with credentials from the environment (`GOOGLE_*`) or from the machine's role.
fn gs(url: &Url, options: &[(String, String)]) -> Result<Location, StoreError> {
    bucket(url, || {
        let builder = GoogleCloudStorageBuilder::from_env()
            .with_url(url.as_str())
            .with_retry(retries())
            .with_client_options(timeouts());
        let set = |builder: GoogleCloudStorageBuilder, (key, value): &(String, String)| {
            Ok::<_, object_store::Error>(builder.with_config(key.parse()?, value))
        };
        Ok(Arc::new(options.iter().try_fold(builder, set)?.build()?))
    })
}

fn bucket<T: ObjectStore + PaginatedListStore>(
    url: &Url,
    build: impl Fn() -> Result<Arc<T>, Box<dyn Error>>,
) -> Result<Location, StoreError> {
    let fail = |reason: String| StoreError::BadUrl { url: url.to_string(), reason };
    if url.host_str().is_none_or(str::is_empty) {
        return Err(fail("it names no bucket".to_owned()));
    }
    // The HTTP client is built without a provider of cryptography. An error says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let prefix = Path::from_url_path(url.path()).map_err(|e| fail(e.to_string()))?;
    let root = url.as_str().trim_end_matches('/').to_owned();
    let objects = build().map_err(|e| fail(e.to_string()))?;
    Ok(Location { objects: objects.clone(), pages: Some(objects), prefix, root, folder: None })
}

/// Retries of each request, below those of [`crate::retry`] of each call: a list takes many requests, and does not
/// start again when one of them fails.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(200),
            max_backoff: Duration::from_secs(1),
            base: 2.0,
        },
        max_retries: 3,
        retry_timeout: Duration::from_secs(10),
    }
}

/// A request may carry the weights of a large network over a slow line. There is no shorter timeout for reads: that of
/// the HTTP client runs from the beginning of a request to its response, and would end an upload that takes longer.
fn timeouts() -> ClientOptions {
    ClientOptions::new().with_connect_timeout(Duration::from_secs(5)).with_timeout(Duration::from_secs(120))
}
