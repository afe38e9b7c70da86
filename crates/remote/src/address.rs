//! The list of servers as it is typed: `--inference http://a:9470,http://b:9470;local`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use url::{Host, Url};

use crate::DEFAULT_PORT;

/// The word for the network of this process, as the last tier.
const LOCAL: &str = "local";

/// Servers by tiers: those of a later tier are used while all of the tiers before it are down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tiers {
    /// Servers with their tiers, ascending from 0.
    pub(crate) servers: Vec<(usize, Address)>,
    /// Whether the last tier is the network of this process.
    pub(crate) local: bool,
}

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Address {
    /// A host with a port.
    Tcp {
        /// A name, an IPv4 address, or an IPv6 address in brackets.
        host: String,
        /// The port.
        port: u16,
        /// Whether the connection is encrypted.
        tls: bool,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// A list of servers that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// A text that is no address.
    #[error("{text:?} is no address of an inference server; write http://HOST:PORT, https://HOST:PORT or unix:///PATH")]
    Unreadable {
        /// The text.
        text: String,
    },
    /// An address with more than a host and a port.
    #[error("{text:?} has more than a host and a port; write http://HOST:PORT or https://HOST:PORT")]
    TooMuch {
        /// The text.
        text: String,
    },
    /// A tier without servers.
    #[error("{text:?} has an empty tier; separate servers by \",\" and tiers by \";\"")]
    EmptyTier {
        /// The list.
        text: String,
    },
    /// `local` somewhere else than alone at the end.
    #[error("{text:?}: \"local\" is the last tier, and alone there: http://HOST:PORT;local")]
    LocalNotLast {
        /// The list.
        text: String,
    },
    /// No server at all.
    #[error("{text:?} names no server; leave --inference out to use the network of this process")]
    NoServer {
        /// The list.
        text: String,
    },
    /// A server that is named twice.
    #[error("{address} is named twice")]
    Twice {
        /// The server.
        address: Address,
    },
}

impl Tiers {
    /// The addresses, in the order of the list.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.servers.iter().map(|(_, address)| address)
    }
}

impl FromStr for Tiers {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Tiers, AddressError> {
        let whole = || without_credentials(text);
        let (list, local) = match text.rsplit_once(';') {
            Some((list, last)) if last.trim() == LOCAL => (list, true),
            _ => (text, false),
        };
        let mut servers: Vec<(usize, Address)> = Vec::new();
        for (tier, list) in list.split(';').enumerate() {
            for name in list.split(',').map(str::trim) {
                match name {
                    "" => return Err(AddressError::EmptyTier { text: whole() }),
                    LOCAL if text.trim() == LOCAL => return Err(AddressError::NoServer { text: whole() }),
                    LOCAL => return Err(AddressError::LocalNotLast { text: whole() }),
                    _ => {}
                }
                let address: Address = name.parse()?;
                if servers.iter().any(|(_, known)| *known == address) {
                    return Err(AddressError::Twice { address });
                }
                servers.push((tier, address));
            }
        }
        Ok(Tiers { servers, local })
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let unreadable = || AddressError::Unreadable { text: without_credentials(text) };
        if text.starts_with("unix:") {
            return unix_path(text).map(|path| Address::Unix(path.to_owned())).ok_or_else(unreadable);
        }
        let url: Url = text.parse().map_err(|_| unreadable())?;
        let too_much = || AddressError::TooMuch { text: without_credentials(text) };
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if !plain || url.fragment().is_some() {
            return Err(too_much());
        }
        match (url.scheme(), url.host()) {
            ("http" | "https", Some(host)) => {
                if !matches!(url.path(), "" | "/") {
                    return Err(too_much());
                }
                let host = match host {
                    Host::Ipv6(address) => format!("[{address}]"),
                    host => host.to_string(),
                };
                // `Url` leaves out the port that is a scheme's own.
                let typed = text.trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
                let port = url.port().or(typed).unwrap_or(DEFAULT_PORT);
                Ok(Address::Tcp { host, port, tls: url.scheme() == "https" })
            }
            _ => Err(unreadable()),
        }
    }
}

/// The path of `unix:/path` or `unix:///path`, for clients and for the server that listens there. A file has the name
/// that was typed; a URL would escape some characters.
pub fn unix_path(text: &str) -> Option<&Path> {
    let path = text.strip_prefix("unix:")?;
    let path = path.strip_prefix("//").unwrap_or(path);
    (path.len() > 1 && path.starts_with('/')).then(|| Path::new(path))
}

/// Addresses as errors show them. A password may have slashes, which end the host of a URL, and a scheme may be
/// missing.
fn without_credentials(text: &str) -> String {
    let shown = |part: &str| match part.rsplit_once('@') {
        Some((before, host)) if !part.trim_start().starts_with("unix:") => {
            let scheme = before.split_once("://").map(|(scheme, _)| format!("{scheme}://"));
            scheme.unwrap_or_default() + host
        }
        _ => part.to_owned(),
    };
    text.split_inclusive([';', ',']).map(shown).collect()
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp { host, port, tls: true } => write!(f, "https://{host}:{port}"),
            Address::Tcp { host, port, tls: false } => write!(f, "http://{host}:{port}"),
            Address::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = 0;
        for (nth, (tier, address)) in self.servers.iter().enumerate() {
            let separator = if nth == 0 {
                ""
            } else if *tier == last {
                ","
            } else {
                ";"
            };
            write!(f, "{separator}{address}")?;
            last = *tier;
        }
        if self.local { write!(f, ";{LOCAL}") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_tiers_of_servers_and_a_local_one_at_the_end() {
        let typed = "http://a:1, https://b.example:2 ;unix:///run/tengen.sock;http://[::1]; local";
        let tiers: Tiers = typed.parse().unwrap();
        let places: Vec<(usize, String)> =
            tiers.servers.iter().map(|(tier, address)| (*tier, address.to_string())).collect();
        let expected = ["http://a:1", "https://b.example:2", "unix:///run/tengen.sock", "http://[::1]:9470"];
        assert_eq!(places, [0, 0, 1, 2].into_iter().zip(expected.map(str::to_owned)).collect::<Vec<_>>());
        assert!(tiers.local);
        assert_eq!(tiers.to_string().parse(), Ok(tiers));
        assert!(!"http://a".parse::<Tiers>().unwrap().local);
    }

    #[test]
    fn sockets_have_the_names_that_were_typed() {
        for (typed, path) in [("unix:///run/my ü?.sock", "/run/my ü?.sock"), ("unix:/run/%20", "/run/%20")] {
            assert_eq!(typed.parse(), Ok(Address::Unix(path.into())));
        }
    }

    #[test]
    fn ports_of_the_scheme_are_kept() {
        for (typed, port) in
            [("http://a:80", 80), ("https://a:443/", 443), ("http://[::1]:80", 80), ("https://a", 9470)]
        {
            let Ok(Address::Tcp { port: found, .. }) = typed.parse() else { panic!("{typed}") };
            assert_eq!(found, port, "{typed}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("", "empty tier"),
            ("http://a:1;", "empty tier"),
            ("http://a:1,,http://b:1", "empty tier"),
            ("local", "names no server"),
            ("local;http://a:1", "is the last tier"),
            ("http://a:1,local", "is the last tier"),
            ("http://a:1;http://b:1,http://a:1/", "http://a:1 is named twice"),
            ("a:9470", "no address"),
            ("a", "no address"),
            ("ftp://a:1", "no address"),
            ("http://a:1/path", "more than a host and a port"),
            ("http://me:secret@a:1", "more than a host and a port"),
            ("http://a:1?x", "more than a host and a port"),
            ("http://a:99999", "no address"),
            ("unix://", "no address"),
            ("unix:///", "no address"),
            ("unix:run", "no address"),
            ("unix://host/path", "no address"),
        ] {
            let error = text.parse::<Tiers>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn errors_do_not_show_passwords() {
        for (text, expected) in [
            ("http://me:secret@a:1", "\"http://a:1\" has more than a host and a port"),
            ("https://me:se/cret@a:1", "\"https://a:1\" is no address"),
            ("unix://me@host/x", "\"unix://me@host/x\" is no address"),
            ("me:secret@a:1", "\"a:1\" is no address"),
            ("http:/me:secret@a:1", "\"a:1\" has more"),
            ("local,http://me:secret@a:1", "\"local,http://a:1\""),
        ] {
            let error = text.parse::<Tiers>().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
