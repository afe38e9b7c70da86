//! The manifests in k8s/ as a cluster would get them: good for Kubernetes, and good for the programs that they start.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use config::RunConfig;
use serde_json::Value;
use testing::{Tool, require};
use tests::{copy_overlay, fail, program, repository, requested_cpus, succeed};

const OVERLAYS: [&str; 6] = ["cpu", "gpu", "s3", "gcs", "small", "inference"];

/// Ready to render and to check, unless that is skipped.
fn checker() -> Option<Command> {
    let site = require(Tool::Python)?;
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", &site).arg(repository().join("tests/python/check_manifests.py"));
    Some(python)
}

fn overlay(name: &str) -> PathBuf {
    repository().join("k8s/overlays").join(name)
}

/// What check_manifests.py makes of the overlays, once for all tests.
fn checked() -> Option<&'static Value> {
    static CHECKED: OnceLock<Value> = OnceLock::new();
    // Without its tool each test is skipped.
    let mut checker = checker()?;
    Some(CHECKED.get_or_init(|| {
        let answer = succeed(checker.args(OVERLAYS.map(overlay)).arg(repository().join("k8s/monitoring")));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        println!("checked with the schemas of {}", answer["versions"]);
        assert_eq!(answer["versions"].as_array().unwrap().len(), 3);
        answer
    }))
}

/// A list of each overlay: `objects` as they are applied, or `patched` by the commands of
/// docs/operations/kubernetes.md.
fn lists(answer: &Value, key: &str) -> BTreeMap<&'static str, Vec<Value>> {
    let of = |name| answer[key][overlay(name).to_str().unwrap()].as_array().unwrap().clone();
    OVERLAYS.into_iter().map(|name| (name, of(name))).collect()
}

/// The objects of each overlay.
fn rendered() -> Option<BTreeMap<&'static str, Vec<Value>>> {
    Some(lists(checked()?, "objects"))
}

fn named<'a>(objects: &'a [Value], kind: &str, name: &str) -> &'a Value {
    let found = objects.iter().find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

/// The ConfigMap of the configurations. Its name has a hash of them, so that no kubelet mounts old ones.
fn configurations(objects: &[Value]) -> &Value {
    let mut maps = objects.iter().filter(|object| object["kind"] == "ConfigMap");
    maps.find(|map| text(&map["metadata"]["name"]).starts_with("tengen-configs-"))
        .expect("a ConfigMap tengen-configs-HASH")
}

/// The objects that start pods.
fn workloads(objects: &[Value]) -> impl Iterator<Item = &Value> {
    objects.iter().filter(|object| object["spec"]["template"]["spec"]["containers"].is_array())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// What a container is given as its environment, but for secrets.
fn environment(objects: &[Value], container: &Value) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    for source in container["envFrom"].as_array().into_iter().flatten() {
        if let Some(name) = source["configMapRef"]["name"].as_str() {
            let data = named(objects, "ConfigMap", name)["data"].as_object().unwrap();
            environment.extend(data.iter().map(|(key, value)| (key.clone(), text(value).to_owned())));
        }
    }
    for variable in container["env"].as_array().into_iter().flatten() {
        let value = match &variable["valueFrom"] {
            Value::Null => text(&variable["value"]).to_owned(),
            from => {
                assert_eq!(*from, serde_json::json!({"resourceFieldRef": {"resource": "requests.cpu"}}));
                requested_cpus(container).to_string()
            }
        };
        environment.insert(text(&variable["name"]).to_owned(), value);
    }
    environment
}

#[test]
fn every_overlay_is_good_for_kubernetes_and_for_the_programs() {
    let Some(overlays) = rendered() else { return };
    for (overlay, objects) in overlays {
        let data = configurations(&objects)["data"].as_object().unwrap();
        // A mounted ConfigMap is one flat folder: what a file extends has to be in it.
        let mounted = |path: &Path| data.get(path.to_str()?).map(|file| text(file).to_owned());
        for (name, config) in data {
            let read = |path: &Path| mounted(path).ok_or("not in the ConfigMap");
            RunConfig::load(Path::new(name), &[] as &[&str], read).unwrap_or_else(|error| panic!("{overlay}: {error}"));
            assert_eq!(text(config), fs::read_to_string(repository().join("configs").join(name)).unwrap());
        }
        let mut programs = BTreeSet::new();
        for workload in workloads(&objects) {
            let pod = &workload["spec"]["template"]["spec"];
            hardened(pod);
            let labels = &workload["spec"]["template"]["metadata"]["labels"];
            assert_eq!(labels["app.kubernetes.io/part-of"], "tengen", "{overlay}: the policy of base selects the pods");
            for container in pod["containers"].as_array().unwrap() {
                starts(overlay, &objects, workload, container);
                programs.insert(text(&container["command"][0]).to_owned());
            }
        }
        let mut expected = BTreeSet::from(["evaluator", "selfplay", "shuffler", "trainer"].map(str::to_owned));
        expected.extend((overlay == "inference").then(|| "inference".to_owned()));
        expected.extend(["cpu", "s3", "gcs"].contains(&overlay).then(|| "tengen".to_owned()));
        assert_eq!(programs, expected, "{overlay}");
    }
}

/// The program itself says whether its arguments and variables are good: it comes as far as the store, which is none.
fn starts(overlay: &str, objects: &[Value], workload: &Value, container: &Value) {
    let environment = environment(objects, container);
    // A program ignores a variable that is none of its own.
    let options = fs::read_to_string(repository().join("docs/OPTIONS.md")).unwrap();
    for name in environment.keys().filter(|name| name.starts_with("TENGEN_")) {
        assert!(options.contains(&format!("`{name}`")), "{overlay}: no program reads {name}");
    }
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().map(text).collect();
    let mut command = program(text(&container["command"][0]));
    // The files of the Secret for clients of inference servers are not on this machine.
    let given = environment.iter().filter(|(name, _)| !name.starts_with("TENGEN_INFERENCE"));
    command.args(&args).envs(given).env("TENGEN_STORE", "ftp://nowhere");
    command.env("TENGEN_METRICS_ADDR", "127.0.0.1:0");
    if workload["kind"] == "Job" {
        command.env("JOB_COMPLETION_INDEX", "3");
    }
    if let Some(device) = environment.get("TENGEN_DEVICE") {
        // A program opens its GPU before the store, and the machine of the tests may have none.
        assert!(["auto", "cpu", "cuda"].contains(&device.as_str()), "{overlay}: {device}");
        command.env("TENGEN_DEVICE", "cpu");
    }
    let (code, said) = fail(&mut command);
    assert!(code == 2 && said.contains("cannot use ftp://nowhere as a store"), "{overlay}: {args:?}: {said}");

    let store = &environment["TENGEN_STORE"];
    assert!(["s3://", "gs://", "/"].iter().any(|place| store.starts_with(place)), "{store}");
    let configs = configurations(objects);
    for config in args.iter().filter_map(|arg| arg.strip_prefix("--config=")) {
        let mounts = container["volumeMounts"].as_array().unwrap();
        assert!(mounts.iter().any(|mount| mount["name"] == "configs" && mount["mountPath"] == "/etc/tengen"));
        let mut volumes = workload["spec"]["template"]["spec"]["volumes"].as_array().unwrap().iter();
        assert!(
            volumes.any(|volume| volume["configMap"]["name"] == configs["metadata"]["name"]),
            "{overlay}: {config}"
        );
        assert!(configs["data"][config.strip_prefix("/etc/tengen/").unwrap()].is_string(), "{overlay}: {config}");
    }
    assert!(container["resources"]["requests"]["cpu"].is_string(), "{container}");
    assert!(container["resources"]["limits"]["memory"].is_string(), "{container}");
    let gpus = &container["resources"]["limits"]["nvidia.com/gpu"];
    let wants = match overlay {
        "gpu" | "s3" | "gcs" => !["shuffler", "web"].contains(&text(&container["name"])),
        "inference" => container["name"] == "inference" || container["name"] == "trainer",
        _ => false,
    };
    assert_eq!(gpus.as_u64(), wants.then_some(1), "{overlay}: {}", container["name"]);
    // A node of four CPUs, the smallest with a GPU, has less than four for pods.
    assert!(!wants || requested_cpus(container) < 4, "{overlay}: such a node cannot hold {}", container["name"]);
    // A program would count the cores of the node. Half of the threads that search wait for a GPU.
    let threads = match text(&container["name"]) {
        "selfplay" | "evaluator" if wants => Some(2 * requested_cpus(container)),
        "selfplay" | "evaluator" | "trainer" => Some(requested_cpus(container)),
        _ => None,
    };
    assert_eq!(
        environment.get("TENGEN_THREADS"),
        threads.map(|threads| threads.to_string()).as_ref(),
        "{overlay}: {}: threads and requests.cpu",
        container["name"]
    );
    let on_shutdown = (container["name"] == "selfplay").then_some("handoff");
    assert_eq!(
        environment.get("TENGEN_ON_SHUTDOWN").map(String::as_str),
        on_shutdown,
        "{overlay}: {}",
        container["name"]
    );
    assert_eq!(environment.get("TENGEN_DEVICE").map(String::as_str), wants.then_some("cuda"));
    let port = environment["TENGEN_METRICS_ADDR"].rsplit(':').next().unwrap();
    assert_eq!(container["ports"][0]["containerPort"].to_string(), port);

    let drain: u64 = environment["TENGEN_DRAIN_SECONDS"].parse().unwrap();
    let grace = workload["spec"]["template"]["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap();
    assert!(drain < 10 && drain < grace && grace < 25, "{drain} s to end, {grace} s before the kill");
}

/// What a pod may not do.
fn hardened(pod: &Value) {
    assert_eq!(pod["automountServiceAccountToken"], false);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    for container in pod["containers"].as_array().unwrap() {
        let context = &container["securityContext"];
        assert_eq!(context["readOnlyRootFilesystem"], true);
        assert_eq!(context["allowPrivilegeEscalation"], false);
        assert_eq!(context["capabilities"]["drop"][0], "ALL");
    }
}

#[test]
fn web_application_reads_the_store_with_a_key_of_its_own_and_is_behind_a_proxy() {
    let Some(overlays) = rendered() else { return };
    let web = named(&overlays["cpu"], "Deployment", "web");
    let container = &web["spec"]["template"]["spec"]["containers"][0];
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().map(text).collect();
    assert!(args[0] == "serve" && args.contains(&"--read-only"), "{args:?}");
    let sources = container["envFrom"].as_array().unwrap();
    let secrets: Vec<&str> = sources.iter().filter_map(|source| source["secretRef"]["name"].as_str()).collect();
    assert_eq!(secrets, ["tengen-store-read"], "no key that may write");
    for overlay in ["s3", "gcs"] {
        let objects = &overlays[overlay];
        let account = |workload: &Value| text(&workload["spec"]["template"]["spec"]["serviceAccountName"]).to_owned();
        let role = |name: &str| {
            let annotations = named(objects, "ServiceAccount", name)["metadata"]["annotations"].as_object();
            text(annotations.unwrap().values().next().unwrap()).to_owned()
        };
        let reads = role(&account(named(objects, "Deployment", "web")));
        assert!(reads.contains("tengen-read"), "{overlay}: {reads}");
        assert_ne!(reads, role(&account(named(objects, "Job", "selfplay"))), "{overlay}: a role that may write");
    }
    let service = named(&overlays["cpu"], "Service", "web");
    assert_eq!(service["spec"]["selector"], web["spec"]["selector"]["matchLabels"]);
    assert_eq!(service["spec"]["type"], Value::Null, "inside of the cluster");
    let policy = named(&overlays["cpu"], "NetworkPolicy", "web");
    assert_eq!(policy["spec"]["ingress"][0]["from"].as_array().map(Vec::len), Some(1));
}

#[test]
fn clients_of_inference_servers_know_each_by_its_name_and_none_of_their_keys() {
    let Some(overlays) = rendered() else { return };
    let objects = &overlays["inference"];
    let servers = named(objects, "StatefulSet", "inference");
    let sources = servers["spec"]["template"]["spec"]["containers"][0]["envFrom"].as_array().unwrap();
    let secrets: Vec<&str> = sources.iter().filter_map(|source| source["secretRef"]["name"].as_str()).collect();
    assert_eq!(secrets, ["tengen-store-read"], "no key that may write");
    let service = named(objects, "Service", text(&servers["spec"]["serviceName"]));
    assert_eq!(service["spec"]["clusterIP"], "None");
    let port = &service["spec"]["ports"][0]["port"];
    let scaler = &named(objects, "HorizontalPodAutoscaler", "inference")["spec"];
    assert_eq!(
        scaler["scaleTargetRef"],
        serde_json::json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "inference"})
    );
    assert!(servers["spec"]["replicas"].is_null(), "an update of the objects changes no number of servers");
    assert_eq!(scaler["minReplicas"], 2, "clients have one while the other restarts");
    let metric = text(&scaler["metrics"][0]["pods"]["metric"]["name"]);
    assert!(fs::read_to_string(repository().join("docs/METRICS.md")).unwrap().contains(metric), "{metric}");
    assert!(
        fs::read_to_string(repository().join("docs/operations/kubernetes.md")).unwrap().contains(metric),
        "{metric}"
    );
    let addresses = (0..scaler["maxReplicas"].as_u64().unwrap())
        .map(|number| format!("https://inference-{number}.inference.tengen.svc:{port}"));
    let addresses = addresses.collect::<Vec<_>>().join(",");
    let policy = &named(objects, "NetworkPolicy", "inference")["spec"]["ingress"][0];
    assert_eq!(policy["ports"][0]["port"], *port);
    for name in ["selfplay", "evaluator"] {
        let template = &named(objects, "Job", name)["spec"]["template"];
        let pod = &template["spec"];
        let environment = environment(objects, &pod["containers"][0]);
        assert_eq!(environment["TENGEN_INFERENCE"], addresses);
        let secret = pod["volumes"].as_array().unwrap().iter().find(|volume| volume["name"] == "inference").unwrap();
        let keys: Vec<_> =
            secret["secret"]["items"].as_array().unwrap().iter().map(|item| text(&item["key"])).collect();
        assert_eq!(keys, ["ca.crt", "token"]);
        let may = policy["from"][0]["podSelector"]["matchLabels"].as_object().unwrap();
        assert!(may.iter().all(|(key, value)| template["metadata"]["labels"][key] == *value), "{name} may connect");
        assert!(!may.is_empty(), "others may not");
    }
}

/// The objects of an overlay with more components, which a copy of it lists first.
fn with_components(name: &str, components: &[&str]) -> Option<Vec<Value>> {
    let mut checker = checker()?;
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().canonicalize().unwrap();
    copy_overlay(name, components, &from);
    let mut answer: Value = serde_json::from_str(&succeed(checker.arg(&from))).unwrap();
    let objects = answer["objects"][from.to_str().unwrap()].take();
    Some(objects.as_array().unwrap().clone())
}

/// A pod's container has the folder of the store, if it is one.
#[test]
fn components_have_the_volume_of_the_overlay_small() {
    let Some(objects) = with_components("small", &["prune", "web"]) else { return };
    let prune = &named(&objects, "CronJob", "prune")["spec"]["jobTemplate"];
    let pods = workloads(&objects).chain([prune]).map(|template| &template["spec"]["template"]["spec"]);
    let pods: Vec<&Value> = pods.collect();
    assert_eq!(pods.len(), 6, "four stages and two components");
    for pod in pods {
        let container = &pod["containers"][0];
        let environment = environment(&objects, container);
        let place = environment["TENGEN_STORE"].as_str();
        let mut mounts = container["volumeMounts"].as_array().unwrap().iter();
        let mount = mounts.find(|mount| mount["mountPath"] == place);
        let mount = mount.unwrap_or_else(|| panic!("nothing is at {place} in {}", container["name"]));
        let mut volumes = pod["volumes"].as_array().unwrap().iter();
        let volume = volumes.find(|volume| volume["name"] == mount["name"]).unwrap();
        assert_eq!(volume["persistentVolumeClaim"]["claimName"], "store");
        assert_eq!(mount["readOnly"] == true, container["name"] == "web", "{}: {mount}", container["name"]);
    }
}

/// The overlay `gpu` with the component `prune`, as the page on disk retention has it.
#[test]
fn prune_runs_every_night_with_the_store_of_its_overlay() {
    let Some(objects) = with_components("gpu", &["prune"]) else { return };
    let spec = &named(&objects, "CronJob", "prune")["spec"];
    assert_eq!(spec["concurrencyPolicy"], "Forbid");
    let pod = &spec["jobTemplate"]["spec"]["template"]["spec"];
    hardened(pod);
    let container = &pod["containers"][0];
    assert!(text(&container["image"]).starts_with("registry.example/tengen:"), "the registry of the other stages");
    assert_eq!(container["envFrom"][1]["secretRef"]["name"], "tengen-store", "the key of the store");
    let environment = environment(&objects, container);
    let args: Vec<&str> = container["args"].as_array().unwrap().iter().map(text).collect();
    let mut command = program(text(&container["command"][0]));
    let (code, said) = fail(command.args(args).envs(&environment).env("TENGEN_STORE", "ftp://nowhere"));
    assert!(code == 2 && said.contains("cannot use ftp://nowhere as a store"), "{said}");
}

#[test]
fn jobs_resume_after_disruptions_and_fail_on_wrong_configuration() {
    let Some(overlays) = rendered() else { return };
    for objects in overlays.values() {
        let jobs: Vec<&Value> = workloads(objects).filter(|workload| workload["kind"] == "Job").collect();
        assert_eq!(jobs.len(), 3);
        for job in jobs {
            let spec = &job["spec"];
            assert_eq!(spec["completionMode"], "Indexed");
            assert!(spec["backoffLimitPerIndex"].as_u64() > Some(0));
            assert!(spec["maxFailedIndexes"].is_null(), "failed indices end {}", job["metadata"]["name"]);
            let rules = spec["podFailurePolicy"]["rules"].as_array().unwrap();
            let on_codes = |action: &str| -> Vec<u64> {
                let rules = rules.iter().filter(|rule| rule["action"] == action);
                rules
                    .flat_map(|rule| rule["onExitCodes"]["values"].as_array().into_iter().flatten())
                    .filter_map(Value::as_u64)
                    .collect()
            };
            // The exit codes of crates/exit-class/src/lib.rs.
            assert_eq!((on_codes("FailJob"), on_codes("Ignore")), (vec![2], vec![3, 4]));
            // A full or read-only store does not mend itself, so these starts end some day.
            assert_eq!(on_codes("Count"), [5]);
            assert!(
                rules
                    .iter()
                    .any(|rule| rule["action"] == "Ignore" && rule["onPodConditions"][0]["type"] == "DisruptionTarget")
            );
        }
        let trainers = workloads(objects).filter(|workload| workload["metadata"]["name"] == "trainer");
        assert_eq!(
            trainers.map(|trainer| (&trainer["kind"], &trainer["spec"]["replicas"])).collect::<Vec<_>>(),
            [(&Value::from("StatefulSet"), &Value::from(1))]
        );
    }
}

/// With `OrderedReady`, the default, a pod that is never ready blocks its own repair (kubernetes/kubernetes#67250).
#[test]
fn stateful_sets_replace_pods_that_are_not_ready() {
    let Some(overlays) = rendered() else { return };
    for (overlay, objects) in overlays {
        let sets: Vec<&Value> = objects.iter().filter(|object| object["kind"] == "StatefulSet").collect();
        assert!(!sets.is_empty(), "{overlay}: the trainer is one");
        for set in sets {
            assert_eq!(set["spec"]["podManagementPolicy"], "Parallel", "{overlay}: {}", set["metadata"]["name"]);
        }
    }
}

#[test]
fn documented_patches_scale_and_pause_selfplay_in_every_overlay() {
    let Some(answer) = checked() else { return };
    for (overlay, patched) in lists(answer, "patched") {
        let mut numbers = BTreeSet::new();
        for step in &patched {
            let (job, spec) = (&step["object"], &step["object"]["spec"]);
            assert_eq!((&job["kind"], text(&job["metadata"]["name"])), (&Value::from("Job"), "selfplay"));
            assert!(spec["maxFailedIndexes"].is_null(), "{overlay}: {}: failed indices end the Job", step["patch"]);
            numbers.insert((spec["completions"].as_u64().unwrap(), spec["parallelism"].as_u64().unwrap()));
        }
        for workers in [2, 4, 8, 64, 1000] {
            assert!(numbers.contains(&(workers, workers)), "{overlay}: no documented command for {workers} workers");
        }
        assert!(numbers.iter().any(|(_, parallelism)| *parallelism == 0), "{overlay}: no documented pause");
    }
}

/// What the check says about one object, and about the commands of a document if one is given.
fn complaint(object: &str, document: Option<&str>) -> Option<String> {
    let mut checker = checker()?;
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kustomization.yaml"), "resources: [object.yaml]\n").unwrap();
    fs::write(folder.path().join("object.yaml"), object).unwrap();
    if let Some(document) = document {
        fs::write(folder.path().join("README.md"), document).unwrap();
        checker.arg("--document").arg(folder.path().join("README.md"));
    }
    let (code, said) = fail(checker.arg(folder.path()));
    assert_eq!(code, 1, "{said}");
    Some(said)
}

#[test]
fn misspelt_key_of_a_manifest_is_found() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: x, imagge: y}]}}\n";
    let Some(said) = complaint(pod, None) else { return };
    assert!(said.contains("imagge"), "{said}");
}

/// An Indexed Job `selfplay` of four workers with more keys.
fn job(keys: &str) -> String {
    format!(
        "{{apiVersion: batch/v1, kind: Job, metadata: {{name: selfplay, namespace: tengen}}, spec: {{completionMode: Indexed, \
         completions: 4, parallelism: 4, {keys}, template: {{spec: {{restartPolicy: Never, containers: [{{name: x}}]}}}}}}}}\n"
    )
}

#[test]
fn numbers_of_a_job_that_the_api_server_refuses_are_found() {
    let more_than_there_are = job("backoffLimitPerIndex: 20, maxFailedIndexes: 5");
    let Some(said) = complaint(&more_than_there_are, None) else { return };
    assert!(said.contains("maxFailedIndexes: 5 must be less than or equal to completions, which are 4"), "{said}");

    // Good as it is, and refused after the documented command with fewer workers.
    let said = complaint(&job("backoffLimitPerIndex: 20, maxFailedIndexes: 4"), None).unwrap();
    assert!(said.lines().all(|line| line.contains("after kubectl -n tengen patch job selfplay")), "{said}");
    assert!(said.contains("maxFailedIndexes: 4 must be less than or equal to completions, which are 2"), "{said}");
    let said = complaint(&job("maxFailedIndexes: 4"), None).unwrap();
    assert!(said.contains("backoffLimitPerIndex: required"), "{said}");
}

#[test]
fn documented_patches_that_the_api_server_refuses_are_found() {
    let job = job("backoffLimitPerIndex: 20");
    let patch = |patch: &str| format!("Text.\n\n    kubectl -n tengen patch job selfplay --type=merge -p '{patch}'\n");
    for (document, problem) in [
        (
            patch(r#"{"spec":{"completions":64}}"#),
            "spec.completions: 64 can only change together with spec.parallelism",
        ),
        (patch(r#"{"spec":{"completions":null}}"#), "spec.completions: required"),
        (patch(r#"{"spec":{"parallelism":8,"backoffLimitPerIndex":3}}"#), "spec.backoffLimitPerIndex: immutable"),
        (patch(r#"{"spec":{"paralelism":8}}"#), "paralelism"),
        (patch(r#"{"spec":{"parallelism":8}"#), "cannot read"),
        ("Pause with `kubectl patch job selfplay`.\n".to_owned(), "cannot read"),
    ] {
        let Some(said) = complaint(&job, Some(&document)) else { return };
        assert!(said.contains(problem), "{document}: {said}");
    }
}

/// Words of a text that begin like our metrics.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'));
    let ours = words.filter(|word| word.starts_with("tengen_") || word.starts_with("process_"));
    ours.map(str::to_owned).collect()
}

#[test]
fn rules_and_dashboard_ask_for_metrics_that_exist() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let known = metrics_in(&read("docs/METRICS.md"));
    for path in ["k8s/monitoring/alerts.yaml", "k8s/monitoring/alerts_test.yaml", "k8s/monitoring/dashboard.json"] {
        let asked = metrics_in(&read(path));
        assert!(asked.len() > 10, "{path}");
        assert_eq!(asked.difference(&known).collect::<Vec<_>>(), [""; 0], "{path}");
    }
}

/// A squared error of up to 4 read "90 %" beside shares.
#[test]
fn dashboard_has_only_ratios_in_percent() {
    let text = fs::read_to_string(repository().join("k8s/monitoring/dashboard.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let in_percent = panels.iter().filter(|panel| panel["fieldConfig"]["defaults"]["unit"] == "percentunit");
    let mut ratios = 0;
    for panel in in_percent {
        let overrides = panel["fieldConfig"]["overrides"].as_array().unwrap();
        for target in panel["targets"].as_array().unwrap() {
            let query = target["expr"].as_str().unwrap();
            let is_ratio = query.contains(" / ") || metrics_in(query).iter().all(|name| name.ends_with("_ratio"));
            let has_own_unit = overrides
                .iter()
                .any(|own| own["matcher"]["options"] == target["legendFormat"] && own["properties"][0]["id"] == "unit");
            assert!(is_ratio != has_own_unit, "{query}");
            ratios += usize::from(is_ratio);
        }
    }
    assert!(ratios > 4, "{ratios}");
}

#[test]
fn every_alert_fires_on_its_fault() {
    let folder = repository().join("k8s/monitoring");
    let rules = fs::read_to_string(folder.join("alerts.yaml")).unwrap();
    let tests = fs::read_to_string(folder.join("alerts_test.yaml")).unwrap();
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let fires = tests.split("alertname: ").any(|part| part.starts_with(alert) && part.contains("exp_alerts"));
        assert!(fires, "no test lets {alert} fire");
        // In the run in which all is well, and wherever nothing is expected.
        let quiet = tests.contains(&format!("- {{alertname: {alert}, eval_time: 9h}}"));
        assert!(quiet, "no test sees that {alert} is silent in a run in which all is well");
    }
    let Some(promtool) = require(Tool::Promtool) else { return };
    for arguments in [["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]] {
        let said = succeed(Command::new(&promtool).args(arguments).current_dir(&folder));
        assert!(said.contains("SUCCESS"), "{said}");
    }
}

#[test]
fn image_of_the_shuffler_needs_no_libtorch() {
    let names_torch = |name: &str| {
        let binary = fs::read(program(name).get_program()).unwrap();
        binary.windows(b"libtorch_cpu.so".len()).any(|bytes| bytes == b"libtorch_cpu.so")
    };
    assert!(!names_torch("shuffler") && names_torch("trainer"));
    // The programs of the images are those that the manifests start.
    let image = |file: &str| fs::read_to_string(repository().join(format!("images/{file}.Dockerfile"))).unwrap();
    let (all, cpu) = (image("tengen"), image("cpu"));
    let copied: Vec<_> = all.split_whitespace().filter_map(|word| word.strip_prefix("target/release/")).collect();
    assert_eq!(copied, ["selfplay", "trainer", "evaluator", "inference", "tengen"]);
    let installed = all.split(" install -y ").nth(1).and_then(|rest| rest.split("&&").next()).unwrap();
    assert!(installed.contains(" python3-pip "), "setup-libtorch asks pip for the package index: {installed}");
    assert!(!all.contains("NVIDIA_VISIBLE_DEVICES="), "pods that request no GPU would get all of the node");
    // GKE mounts the driver there, where the linker does not search by itself.
    assert!(all.contains("\nENV LD_LIBRARY_PATH=/usr/local/nvidia/lib64\n"));
    assert!(cpu.contains(" target/dist/bundle ") && cpu.contains("ln -s bundle"));
    let links = cpu.split("for name in ").nth(1).and_then(|rest| rest.split(';').next()).unwrap();
    let links: Vec<_> = links.split_whitespace().collect();
    assert_eq!(links, ["selfplay", "evaluator", "shuffler", "inference", "tengen"]);
    let tried = fs::read_to_string(repository().join("scripts/try-images")).unwrap();
    for list in [format!("\nWITH_LIBTORCH = {copied:?}\n"), format!("\nFOR_CPUS = {links:?}\n")] {
        assert!(tried.contains(&list), "{list}");
    }
}

#[test]
fn scraped_metrics_have_the_labels_of_the_autoscalers_rule() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let (document, scrape) = (read("docs/operations/kubernetes.md"), read("k8s/monitoring/prometheus.yml"));
    let (_, rule) = document.split_once("seriesQuery: 'tengen_inference_queue_positions{").unwrap();
    let (matchers, _) = rule.split_once('}').unwrap();
    let labels: Vec<&str> = matchers.split(',').map(|matcher| matcher.split_once("!=").unwrap().0).collect();
    assert_eq!(labels, ["namespace", "pod"]);
    for label in labels {
        assert!(scrape.contains(&format!("target_label: {label}}}")), "{label}");
    }
}
