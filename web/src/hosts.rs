//! Which names of this server a browser may have used: the defence against DNS rebinding.
//!
//! A page from elsewhere can make its own name resolve to this machine, and a browser then counts this server as the
//! page's own. The name is in the request's `Host`, so a name that was not configured is refused. An IP address cannot
//! be made to resolve to another, and localhost is not resolved by DNS.

use std::net::IpAddr;

/// The names that are served.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    /// Whether only this machine can connect; then other IP addresses are no names of the server.
    pub(crate) is_loopback: bool,
    /// In lower case, with a port or without one.
    pub(crate) named: Vec<String>,
}

impl Hosts {
    /// Whether a `Host` header names this server.
    pub(crate) fn admit(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let Some(name) = name_of(&host) else { return false };
        let is_named = || self.named.iter().any(|named| *named == host || named == name);
        match name.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => !self.is_loopback || address.is_loopback() || is_named(),
            Err(_) => name == "localhost" || is_named(),
        }
    }

    /// Whether a page of this origin may send a request that is addressed to `host`: a page of this server.
    pub(crate) fn admit_origin(&self, origin: &str, host: &str, is_tls: bool) -> bool {
        // Behind a proxy pages are encrypted and requests to this server are not.
        let insecure = || origin.strip_prefix("http://").filter(|_| !is_tls);
        let Some(of_page) = origin.strip_prefix("https://").or_else(insecure) else { return false };
        let of_page = of_page.to_ascii_lowercase();
        of_page == host.to_ascii_lowercase() || self.named.contains(&of_page)
    }
}

/// A host without its port.
fn name_of(host: &str) -> Option<&str> {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let (name, rest) = match host.find(']') {
        Some(end) if host.starts_with('[') => host.split_at(end + 1),
        _ => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    Some(name).filter(|name| whole && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(is_loopback: bool, named: &[&str]) -> Hosts {
        Hosts { is_loopback, named: named.iter().map(|&name| name.to_owned()).collect() }
    }

    #[test]
    fn names_that_dns_resolves_need_a_word_of_the_operator() {
        let own = hosts(true, &["go.example.org", "other.example.org:8443"]);
        for host in
            ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "go.example.org:99", "other.example.org:8443"]
        {
            assert!(own.admit(host), "{host}");
        }
        let foreign = [
            "",
            ":8080",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8080",
            "192.168.0.7:8080",
            "localhost:port",
            "localhost:",
            "[::1",
            "[::1]x",
            "other.example.org:1",
            "localhost:80:80",
        ];
        for host in foreign {
            assert!(!own.admit(host), "{host}");
        }
        assert!(hosts(false, &[]).admit("192.168.0.7:8080") && !hosts(false, &[]).admit("evil.example"));
    }

    #[test]
    fn origins_are_those_of_own_pages() {
        let own = hosts(true, &["go.example.org"]);
        assert!(own.admit_origin("http://localhost:8080", "localhost:8080", false));
        assert!(own.admit_origin("https://go.example.org", "10.0.0.3:8080", false), "behind a proxy");
        assert!(!own.admit_origin("http://localhost:8080", "localhost:8080", true), "a page that anybody could change");
        for origin in ["null", "", "http://localhost:9090", "http://evil.example", "file://", "http://127.0.0.1:8080"] {
            assert!(!own.admit_origin(origin, "localhost:8080", false), "{origin}");
        }
    }
}
