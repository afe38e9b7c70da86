//! Addresses that programs listen on.

use std::env;
use std::fmt;
use std::io::ErrorKind;
use std::net::TcpListener;

use serde::Serialize;

/// What listens, the variable with its address, and the address where that is not set: for metrics the one of the documentation.
/// Both servers have `--listen`; an address that is given may be meant for either.
const LISTENERS: [(&str, &str, &str); 3] = [
    ("metrics", "TENGEN_METRICS_ADDR", "127.0.0.1:9464"),
    ("inference", "TENGEN_LISTEN", "127.0.0.1:9470"),
    ("web", "TENGEN_LISTEN", "127.0.0.1:8080"),
];

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
    let given = |variable: &str, usual: &str| env::var(variable).unwrap_or_else(|_| usual.to_owned());
    LISTENERS.map(|(name, variable, usual)| of(name, given(variable, usual))).into()
}

fn of(name: &'static str, address: String) -> Port {
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
    use super::*;

    #[test]
    fn address_is_free_in_use_or_none() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        assert_eq!(of("metrics", address.clone()).state, "in use");
        drop(taken);
        assert_eq!(of("metrics", address.clone()).to_string(), format!("metrics {address}: free"));
        assert!(of("metrics", "nowhere".to_owned()).state.len() > 5);
    }
}
