//! What the control plane makes of the services.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plane::ControlPlane;
use crate::setup::is_ready;

/// Waits until the endpoints of a service are the ready pods of its stage, at this port.
pub(crate) fn lists_ready_pods(plane: &ControlPlane, service: &str, port: u16) {
    let path = "/apis/discovery.k8s.io/v1/namespaces/tengen/endpointslices";
    plane.wait(&format!("the endpoints of {service}"), |api| {
        let slices = api.list(&format!("{path}?labelSelector=kubernetes.io/service-name%3D{service}")).unwrap();
        let [slice] = &slices[..] else { return None };
        let endpoints = slice["endpoints"].as_array()?.iter().filter(|end| end["conditions"]["ready"] == true);
        let listed: BTreeSet<&str> = endpoints.filter_map(|end| end["addresses"][0].as_str()).collect();
        let pods: Vec<Value> = plane.pods(service).into_iter().filter(is_ready).collect();
        let ready: BTreeSet<&str> = pods.iter().filter_map(|pod| pod["status"]["podIP"].as_str()).collect();
        (!ready.is_empty() && listed == ready && slice["ports"][0]["port"] == port).then_some(())
    });
}
