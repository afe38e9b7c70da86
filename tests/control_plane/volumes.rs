//! Volumes of a pod, as folders below the one of the pod.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::api::{Api, ApiError};

/// Where each mount of a container is on this machine; the longest path of the container first.
pub(crate) type Mounts = Vec<(String, PathBuf)>;

/// Makes the folders and files that a container mounts, of whatever ConfigMaps, Secrets and claims its pod names.
pub(crate) fn mounts(api: &Api, pod: &Value, container: &Value, folder: &Path) -> Result<Mounts, ApiError> {
    let mut mounts = Vec::new();
    for mount in container["volumeMounts"].as_array().into_iter().flatten() {
        let name = mount["name"].as_str().unwrap();
        let volume = pod["spec"]["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == name).unwrap();
        let place = volume_folder(api, pod, volume, &folder.join(name))?;
        mounts.push((mount["mountPath"].as_str().unwrap().to_owned(), place));
    }
    mounts.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    Ok(mounts)
}

fn volume_folder(api: &Api, pod: &Value, volume: &Value, folder: &Path) -> Result<PathBuf, ApiError> {
    let namespace = pod["metadata"]["namespace"].as_str().unwrap();
    if let Some(claim) = volume["persistentVolumeClaim"]["claimName"].as_str() {
        let claim = api.get(&format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims/{claim}"))?;
        let name = claim["spec"]["volumeName"].as_str().unwrap();
        let found = api.get(&format!("/api/v1/persistentvolumes/{name}"))?;
        return Ok(PathBuf::from(found["spec"]["hostPath"]["path"].as_str().unwrap()));
    }
    fs::create_dir_all(folder).unwrap();
    if let Some(name) = volume["configMap"]["name"].as_str() {
        let found = api.get(&format!("/api/v1/namespaces/{namespace}/configmaps/{name}"))?;
        for (key, text) in found["data"].as_object().into_iter().flatten() {
            fs::write(folder.join(key), text.as_str().unwrap()).unwrap();
        }
    } else if let Some(name) = volume["secret"]["secretName"].as_str() {
        let found = api.get(&format!("/api/v1/namespaces/{namespace}/secrets/{name}"))?;
        let data = decoded(&found);
        let items = volume["secret"]["items"].as_array();
        let wanted = |key: &str| items.is_none_or(|items| items.iter().any(|item| item["key"] == key));
        for (key, bytes) in data.into_iter().filter(|(key, _)| wanted(key)) {
            fs::write(folder.join(key), bytes).unwrap();
        }
    } else {
        assert!(volume["emptyDir"].is_object(), "the agent has no volumes like {volume}");
    }
    Ok(folder.to_owned())
}

/// The values of a Secret.
pub(crate) fn decoded(secret: &Value) -> Vec<(String, Vec<u8>)> {
    let data = secret["data"].as_object().into_iter().flatten();
    data.map(|(key, text)| (key.clone(), BASE64_STANDARD.decode(text.as_str().unwrap()).unwrap())).collect()
}
