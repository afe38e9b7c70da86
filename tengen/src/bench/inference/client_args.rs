//! Arguments of clients.

use std::path::PathBuf;

use runtime::InferenceArgs;

/// Arguments of a client of these servers.
pub(super) fn client_args(servers: &str, deadline: u64, ca: Option<PathBuf>) -> InferenceArgs {
    InferenceArgs {
        inference: Some(servers.to_owned()),
        inference_deadline: deadline,
        inference_encoding: "f32".to_owned(),
        inference_ca: ca,
        inference_cert: None,
        inference_key: None,
        inference_token_file: None,
    }
}
