//! Requests to the API server. The documented commands are run with kubectl; this is for the node agent, and for states
//! that tests wait for. Objects are JSON.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use reqwest::{Certificate, Client, Identity, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// A client with the rights of its kubeconfig.
pub(crate) struct Api {
    client: Client,
    runtime: Runtime,
    server: String,
    token: Option<String>,
}

/// A request that the API server refused, or that did not reach it: then the status is 0.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    request: String,
    message: String,
}

impl std::error::Error for ApiError {}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {} {}", self.request, self.status, self.message)
    }
}

impl Api {
    /// Takes server, authority and the token or the certificate of the user from a kubeconfig, in JSON as
    /// scripts/cluster writes it.
    pub(crate) fn new(kubeconfig: &Path) -> Api {
        let config: Value = serde_json::from_slice(&std::fs::read(kubeconfig).unwrap()).unwrap();
        let (cluster, user) = (&config["clusters"][0]["cluster"], &config["users"][0]["user"]);
        let pem = |value: &Value| Some(BASE64_STANDARD.decode(value.as_str()?).unwrap());
        let authority = pem(&cluster["certificate-authority-data"]).unwrap();
        // An error means that one is installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut client = Client::builder()
            .tls_certs_only(Certificate::from_pem_bundle(&authority).unwrap())
            .connect_timeout(Duration::from_secs(10));
        let token = user["token"].as_str().map(str::to_owned);
        if let Some(certificate) = pem(&user["client-certificate-data"]) {
            let key = pem(&user["client-key-data"]).unwrap();
            client = client.identity(Identity::from_pem(&[certificate, key].concat()).unwrap());
        } else {
            assert!(token.is_some(), "the user of the kubeconfig has neither a token nor a certificate");
        }
        Api { client: client.build().unwrap(), runtime, server: cluster["server"].as_str().unwrap().to_owned(), token }
    }

    /// The port of the server, which no other control plane of this machine has.
    pub(crate) fn port(&self) -> u16 {
        self.server.rsplit(':').next().unwrap().parse().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Result<Value, ApiError> {
        self.call(Method::GET, path, None)
    }

    /// The objects of a list.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<Value>, ApiError> {
        Ok(self.get(path)?["items"].as_array().cloned().unwrap_or_default())
    }

    pub(crate) fn create(&self, path: &str, object: &Value) -> Result<Value, ApiError> {
        self.call(Method::POST, path, Some(("application/json", object)))
    }

    /// Changes an object by a merge patch in which lists with keys, such as conditions, are merged by them.
    pub(crate) fn patch(&self, path: &str, change: &Value) -> Result<Value, ApiError> {
        self.call(Method::PATCH, path, Some(("application/strategic-merge-patch+json", change)))
    }

    /// Deletes an object at once; of this name another one, with another UID, stays.
    pub(crate) fn delete(&self, path: &str, uid: &str) -> Result<Value, ApiError> {
        let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": uid}});
        self.call(Method::DELETE, path, Some(("application/json", &options)))
    }

    /// A page that is no JSON, such as the metrics of the server.
    pub(crate) fn text(&self, path: &str) -> Result<String, ApiError> {
        self.send(Method::GET, path, None)
    }

    fn call(&self, method: Method, path: &str, body: Option<(&str, &Value)>) -> Result<Value, ApiError> {
        let text = self.send(method.clone(), path, body)?;
        serde_json::from_str(&text).map_err(|error| refused(&method, path, 0, error.to_string()))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.server));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    fn send(&self, method: Method, path: &str, body: Option<(&str, &Value)>) -> Result<String, ApiError> {
        let mut request = self.request(method.clone(), path).timeout(Duration::from_secs(30));
        if let Some((kind, object)) = body {
            request = request.header("content-type", kind).body(object.to_string());
        }
        let exchange = async {
            let response = request.send().await?;
            Ok((response.status(), response.text().await?))
        };
        match self.runtime.block_on(exchange) {
            Ok((status, text)) if status.is_success() => Ok(text),
            Ok((status, text)) => Err(refused(&method, path, status.as_u16(), text)),
            Err(error) => Err(refused(&method, path, 0, reqwest::Error::to_string(&error))),
        }
    }

    /// Shows each change of a list since this version, as `ADDED`, `MODIFIED` or `DELETED` and the object, until the
    /// server ends it.
    pub(crate) fn watch(
        &self,
        path: &str,
        version: &str,
        mut see: impl FnMut(&str, Value),
    ) -> Result<(), reqwest::Error> {
        let request = self.request(Method::GET, &format!("{path}?watch=true&resourceVersion={version}"));
        let mut response = self.runtime.block_on(request.send())?;
        let mut buffer = Vec::new();
        while let Some(bytes) = self.runtime.block_on(response.chunk())? {
            buffer.extend_from_slice(&bytes);
            while let Some(end) = buffer.iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                let mut event: Value = serde_json::from_slice(&line).expect("an event is JSON");
                let object = event["object"].take();
                see(event["type"].as_str().unwrap_or_default(), object);
            }
        }
        Ok(())
    }
}

fn refused(method: &Method, path: &str, status: u16, text: String) -> ApiError {
    let said: Value = serde_json::from_str(&text).unwrap_or_default();
    let message = said["message"].as_str().map_or(text, str::to_owned);
    ApiError { status, request: format!("{method} {path}"), message }
}
