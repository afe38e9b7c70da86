//! Addresses that programs listen on.

use std::env;
use std::fmt;
use std::io::ErrorKind;
use std::net::TcpListener;

use serde::Serialize;

/// The address of metrics in the documentation.
const METRICS: &str = "127.0.0.1:9464";
/// Where both servers listen unless they are told.
const SERVERS: [(&str, &str); 2] = [("inference", "127.0.0.1:9470"), ("web", "127.0.0.1:8080")];

/// Whether something can listen on an address.
#[derive(Debug, Serialize)]
pub(super) struct Port {
    name: &'static str,
    address: String,
    /// `free`, `in use`, which a running stage explains, or the problem.
    state: String,
}

/// Tries each address once.
pub(super) fn look() -> Vec<Port> {
    let metrics = env::var("TENGEN_METRICS_ADDR").unwrap_or_else(|_| METRICS.to_owned());
    let servers = servers(env::var("TENGEN_LISTEN").ok());
    std::iter::once(("metrics", metrics)).chain(servers).map(|(name, address)| of(name, address)).collect()
}

/// Servers and their addresses. Both have `--listen`, so an address that is given may be meant for either.
fn servers(given: Option<String>) -> Vec<(&'static str, String)> {
    match given {
        Some(address) => vec![("inference or web", address)],
        None => SERVERS.map(|(name, address)| (name, address.to_owned())).into(),
    }
}

fn of(name: &'static str, address: String) -> Port {
    if address.starts_with("unix:") {
        return Port { name, address, state: "not tried".to_owned() };
    }
    let state = match TcpListener::bind(&address) {
        Ok(_) => "free".to_owned(),
        Err(error) if error.kind() == ErrorKind::AddrInUse => "in use".to_owned(),
        Err(error) => error.to_string(),
    };
    Port { name, address, state }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.name, self.address, self.state)
    }
}

#[cfg(test)]
mod tests {
    use testing::wait_until;

    use super::*;

    #[test]
    fn address_is_free_in_use_or_none() {
        // Clients bind to 127.0.0.1, so none gets this port once it is free.
        let taken = TcpListener::bind("127.0.0.2:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        assert_eq!(of("metrics", address.clone()).state, "in use");
        drop(taken);
        // A process that another test starts at this moment has the listener until its program runs.
        let free = format!("metrics {address}: free");
        wait_until("an address that is free", || of("metrics", address.clone()).to_string() == free);
        assert!(of("metrics", "nowhere".to_owned()).state.len() > 5);
        assert_eq!(of("inference", "unix:///run/tengen.sock".to_owned()).state, "not tried");
    }

    #[test]
    fn address_that_is_given_is_tried_once() {
        let names = |given: Option<&str>| servers(given.map(str::to_owned)).into_iter().map(|(name, _)| name);
        assert!(names(None).eq(["inference", "web"]));
        assert!(names(Some("127.0.0.1:1")).eq(["inference or web"]));
    }
}
