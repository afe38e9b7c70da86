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
        let data = found["data"].as_object().into_iter().flatten();
        let data = data.map(|(key, text)| (key.clone(), text.as_str().unwrap().as_bytes().to_owned()));
        write(folder, data, &volume["configMap"]["items"]);
    } else if let Some(name) = volume["secret"]["secretName"].as_str() {
        let found = api.get(&format!("/api/v1/namespaces/{namespace}/secrets/{name}"))?;
        write(folder, decoded(&found).into_iter(), &volume["secret"]["items"]);
    } else {
        assert!(volume["emptyDir"].is_object(), "the agent has no volumes like {volume}");
    }
    Ok(folder.to_owned())
}

/// Writes each key to a file of its name, or the keys of `items` to their paths.
fn write(folder: &Path, data: impl Iterator<Item = (String, Vec<u8>)>, items: &Value) {
    for (key, bytes) in data {
        let path = match items.as_array() {
            Some(items) => items.iter().find(|item| item["key"] == *key).map(|item| item["path"].as_str().unwrap()),
            None => Some(key.as_str()),
        };
        if let Some(path) = path {
            let file = folder.join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
    }
}

/// The values of a Secret.
pub(crate) fn decoded(secret: &Value) -> Vec<(String, Vec<u8>)> {
    let data = secret["data"].as_object().into_iter().flatten();
    data.map(|(key, text)| (key.clone(), BASE64_STANDARD.decode(text.as_str().unwrap()).unwrap())).collect()
}

#[test]
fn keys_of_a_volume_are_files_of_their_names_or_paths() {
    let folder = tempfile::tempdir().unwrap();
    let data = || ["a", "b"].map(|key| (key.to_owned(), key.as_bytes().to_owned())).into_iter();
    write(folder.path(), data(), &Value::Null);
    write(folder.path(), data(), &serde_json::json!([{"key": "b", "path": "c/d"}]));
    for (path, text) in [("a", "a"), ("b", "b"), ("c/d", "b")] {
        assert_eq!(fs::read_to_string(folder.path().join(path)).unwrap(), text);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}
