//! The probes of a container: HTTP requests, the only kind that the manifests have.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A probe, and how its requests went so far.
pub(crate) struct Probe {
    address: SocketAddr,
    path: String,
    period: Duration,
    patience: Duration,
    limit: u32,
    next: Instant,
    failing_since: Option<Instant>,
    succeeded: bool,
}

impl Probe {
    /// A probe of a container, if it has this one.
    pub(crate) fn new(container: &Value, kind: &str, ip: Ipv4Addr) -> Option<Probe> {
        let probe = container[kind].as_object()?;
        let request = &probe.get("httpGet").unwrap_or_else(|| panic!("the agent has no probes like {probe:?}"));
        let port = match request["port"].as_u64() {
            Some(port) => port,
            None => {
                let ports = container["ports"].as_array().unwrap();
                ports.iter().find(|port| port["name"] == request["port"]).unwrap()["containerPort"].as_u64().unwrap()
            }
        };
        let number = |key: &str, default: u64| probe.get(key).and_then(Value::as_u64).unwrap_or(default);
        Some(Probe {
            address: SocketAddr::from((ip, u16::try_from(port).unwrap())),
            path: request["path"].as_str().unwrap().to_owned(),
            period: Duration::from_secs(number("periodSeconds", 10)),
            patience: Duration::from_secs(number("timeoutSeconds", 1)),
            limit: u32::try_from(number("failureThreshold", 3)).unwrap(),
            next: Instant::now() + Duration::from_secs(number("initialDelaySeconds", 0)),
            failing_since: None,
            succeeded: false,
        })
    }

    /// Requests the page if it is time to.
    pub(crate) fn poll(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        self.succeeded = self.request().is_some_and(|status| (200..400).contains(&status));
        let now = Instant::now();
        self.failing_since = if self.succeeded { None } else { self.failing_since.or(Some(now)) };
        // A container that starts is not waited for longer than it takes.
        self.next = now + if self.succeeded { self.period } else { self.period.min(Duration::from_secs(1)) };
    }

    /// Whether the last request succeeded.
    pub(crate) fn succeeded(&self) -> bool {
        self.succeeded
    }

    /// Whether it has failed for as long as that many failures in sequence take.
    pub(crate) fn failed(&self) -> bool {
        self.failing_since.is_some_and(|since| since.elapsed() >= self.period * self.limit)
    }

    fn request(&self) -> Option<u16> {
        let mut stream = TcpStream::connect_timeout(&self.address, self.patience).ok()?;
        stream.set_read_timeout(Some(self.patience)).ok()?;
        write!(stream, "GET {} HTTP/1.0\r\nHost: {}\r\n\r\n", self.path, self.address).ok()?;
        let mut head = [0; 12];
        stream.read_exact(&mut head).ok()?;
        std::str::from_utf8(&head[9..]).ok()?.parse().ok()
    }
}
