//! From a container to a process of this build.
//!
//! There is no root folder and no network of its own, so what names one is rewritten in arguments and variables: the
//! path of a mount becomes its folder, 0.0.0.0 the pod's address, and the name that a headless service gives a pod its
//! address.

use std::ffi::{OsStr, OsString};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::api::{Api, ApiError};
use crate::volumes::{Mounts, decoded};

/// The programs of this build; others are the machine's own.
const PROGRAMS: [&str; 6] = ["selfplay", "shuffler", "trainer", "evaluator", "inference", "tengen"];

/// The address of a pod, on loopback. It follows from the names, so that a StatefulSet's pod keeps it; `cluster` tells
/// apart control planes of one machine.
pub(crate) fn address(cluster: u16, namespace: &str, pod: &str) -> Ipv4Addr {
    let bytes = cluster.to_le_bytes().into_iter().chain(namespace.bytes()).chain(*b"/").chain(pod.bytes());
    // FNV-1a.
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [_, b, c, d] = hash.to_be_bytes();
    Ipv4Addr::new(127, b.clamp(1, 254), c, d.clamp(1, 254))
}

/// The address as the control plane has it: it takes none on loopback for the endpoint of a service.
pub(crate) fn reported(address: Ipv4Addr) -> Ipv4Addr {
    let [_, b, c, d] = address.octets();
    Ipv4Addr::new(10, b, c, d)
}

/// A port of a pod on this machine, if the pod has its address.
pub(crate) fn local(pod: &Value, port: u16) -> Option<String> {
    let rest = pod["status"]["podIP"].as_str()?.strip_prefix("10.")?;
    Some(format!("127.{rest}:{port}"))
}

/// The process of a container, which is not started. `folder` is that of its pod.
pub(crate) fn command(
    api: &Api,
    pod: &Value,
    container: &Value,
    mounts: &Mounts,
    folder: &Path,
) -> Result<Command, ApiError> {
    let namespace = pod["metadata"]["namespace"].as_str().unwrap();
    let own = address(api.port(), namespace, pod["metadata"]["name"].as_str().unwrap());
    let rewrite = |text: &str| hosts(&paths(text, mounts).replace("0.0.0.0", &own.to_string()), api.port());
    let list = |key: &str| container[key].as_array().into_iter().flatten().map(|part| part.as_str().unwrap());
    let words: Vec<&str> = list("command").chain(list("args")).collect();
    let program = program_of(words[0]);
    let mut command = bound(&program);
    command.args(words[1..].iter().map(|word| rewrite(word)));
    command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
    assert!(container["workingDir"].is_null(), "the agent has no working folders like that of {container}");
    if let Some((_, folder)) = mounts.iter().find(|(path, _)| path == "/tmp") {
        // The images have it as their working folder.
        command.env("TMPDIR", folder).current_dir(folder);
    } else {
        command.current_dir(folder);
    }
    for (name, value) in environment(api, namespace, pod, container)? {
        command.env(name, rewrite(&value));
    }
    Ok(command)
}

/// A program that the kernel kills when this thread ends, the one of its pod, as it does with a test that is killed.
pub(crate) fn bound(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}

/// The program of this build, or one of the machine.
fn program_of(name: &str) -> OsString {
    if PROGRAMS.contains(&name) { tests::program(name).get_program().to_owned() } else { name.into() }
}

/// The variables of a container, the later ones in force.
fn environment(api: &Api, namespace: &str, pod: &Value, container: &Value) -> Result<Vec<(String, String)>, ApiError> {
    let mut variables = Vec::new();
    for source in container["envFrom"].as_array().into_iter().flatten() {
        if let Some(name) = source["configMapRef"]["name"].as_str() {
            let found = api.get(&format!("/api/v1/namespaces/{namespace}/configmaps/{name}"))?;
            let data = found["data"].as_object().into_iter().flatten();
            variables.extend(data.map(|(key, text)| (key.clone(), text.as_str().unwrap().to_owned())));
        } else if let Some(name) = source["secretRef"]["name"].as_str() {
            let found = api.get(&format!("/api/v1/namespaces/{namespace}/secrets/{name}"))?;
            variables.extend(decoded(&found).into_iter().map(|(key, value)| (key, String::from_utf8(value).unwrap())));
        } else {
            panic!("the agent has no variables like {source}");
        }
    }
    for variable in container["env"].as_array().into_iter().flatten() {
        let from = &variable["valueFrom"];
        let value = if let Some(path) = from["fieldRef"]["fieldPath"].as_str() {
            field(pod, path)
        } else if from["resourceFieldRef"]["resource"] == "requests.cpu" {
            tests::requested_cpus(container).to_string()
        } else {
            assert!(from.is_null(), "the agent has no variables like {variable}");
            variable["value"].as_str().unwrap_or_default().to_owned()
        };
        variables.push((variable["name"].as_str().unwrap().to_owned(), value));
    }
    Ok(variables)
}

/// The value of a path such as `metadata.name` or `metadata.annotations['a/b']`.
fn field(pod: &Value, path: &str) -> String {
    let (path, key) = path.split_once("['").map_or((path, None), |(path, key)| (path, key.strip_suffix("']")));
    let found = pod.pointer(&format!("/{}", path.replace('.', "/"))).unwrap_or(&Value::Null);
    key.map_or(found, |key| &found[key]).as_str().unwrap_or_default().to_owned()
}

/// Replaces paths of mounts, where a path begins and a component of it ends.
fn paths(text: &str, mounts: &Mounts) -> String {
    for (path, folder) in mounts {
        for (at, _) in text.match_indices(path.as_str()) {
            let (before, after) = (&text[..at], &text[at + path.len()..]);
            if (before.is_empty() || before.ends_with('=')) && (after.is_empty() || after.starts_with('/')) {
                return format!("{before}{}{after}", folder.display());
            }
        }
    }
    text.to_owned()
}

/// Replaces `POD.SERVICE.NAMESPACE.svc`.
fn hosts(text: &str, cluster: u16) -> String {
    let is_host = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    let mut result = String::new();
    let mut rest = text;
    while let Some(end) = rest.find(".svc") {
        let begin = rest[..end].rfind(|c| !is_host(c)).map_or(0, |at| at + 1);
        let names: Vec<&str> = rest[begin..end].split('.').collect();
        result += &rest[..begin];
        match names[..] {
            [pod, _, namespace] => result += &address(cluster, namespace, pod).to_string(),
            _ => result += &rest[begin..end + ".svc".len()],
        }
        rest = &rest[end + ".svc".len()..];
    }
    result + rest
}

#[test]
fn paths_and_names_of_a_container_become_those_of_the_machine() {
    let mounts = vec![("/etc/tengen".to_owned(), "/a/configs".into()), ("/tmp".to_owned(), "/a/tmp".into())];
    assert_eq!(paths("--config=/etc/tengen/9x9.toml", &mounts), "--config=/a/configs/9x9.toml");
    assert_eq!(paths("/tmp", &mounts), "/a/tmp");
    assert_eq!(paths("http://127.0.0.1/tmp", &mounts), "http://127.0.0.1/tmp");
    let ip = address(1, "tengen", "inference-0");
    assert_eq!(hosts("https://inference-0.inference.tengen.svc:9470,x", 1), format!("https://{ip}:9470,x"));
    assert_ne!(ip, address(2, "tengen", "inference-0"));
    assert!(ip.is_loopback());
    let pod = serde_json::json!({"status": {"podIP": reported(ip).to_string()}});
    assert_eq!(local(&pod, 9464), Some(format!("{ip}:9464")));
}

#[test]
fn field_references_are_those_of_the_pod() {
    let pod = serde_json::json!({"metadata": {"name": "x", "annotations": {"a.b/c": "3"}}});
    assert_eq!(field(&pod, "metadata.name"), "x");
    assert_eq!(field(&pod, "metadata.annotations['a.b/c']"), "3");
    assert_eq!(field(&pod, "metadata.labels['a']"), "");
}
