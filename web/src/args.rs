//! What was typed: where to serve, and to whom.

use std::path::PathBuf;

use runtime::within;

/// Arguments of `tengen serve`.
#[derive(clap::Args, Clone, Debug)]
pub struct ServeArgs {
    /// Address for browsers, HOST:PORT; port 0 takes a free one. Other addresses than loopback need --token-file, or
    /// --tls-cert and --tls-key, or --read-only
    #[arg(long, env = "TENGEN_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub listen: String,
    /// Host name under which browsers reach the server, besides IP addresses and localhost; may be repeated [default:
    /// none]
    #[arg(long = "allow-host", env = "TENGEN_ALLOW_HOST", value_name = "HOST", value_delimiter = ',', value_parser = host)]
    pub hosts: Vec<String>,
    /// File whose first line is the token that visitors must give: 16 to 4096 printable ASCII characters without blanks
    /// [default: none]
    #[arg(long, env = "TENGEN_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Certificate of the server, PEM [default: none]
    #[arg(long, env = "TENGEN_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of that certificate, PEM [default: none]
    #[arg(long, env = "TENGEN_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Serve the pages of runs, and of a book, without play and analysis; the variable is true or false
    #[arg(long, env = "TENGEN_READ_ONLY")]
    pub read_only: bool,
    /// Opening book of `tengen book` to show at /book, as it is when the server starts [default: none]
    #[arg(long, env = "TENGEN_BOOK", value_name = "FILE")]
    pub book: Option<PathBuf>,
    /// Connections at the same time; others wait. Three quarters of them may stay open, for pages that are kept up to
    /// date and for play
    #[arg(long, env = "TENGEN_CONNECTIONS", default_value = "256", value_name = "N", allow_negative_numbers = true, value_parser = within(4..=65_536_usize))]
    pub connections: usize,
    /// Of the pages for players.
    #[command(flatten)]
    pub play: crate::play::PlayArgs,
}

/// A host as browsers name it in a request. A URL would match none.
fn host(text: &str) -> Result<String, String> {
    let host = text.trim();
    if host.contains(|c: char| c.is_whitespace() || matches!(c, '/' | '@')) {
        return Err("name a host, such as go.example.org, and no URL".to_owned());
    }
    Ok(host.to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        serve: ServeArgs,
    }

    #[test]
    fn host_that_no_request_can_name_is_refused() {
        let parse = |text: &str| Program::try_parse_from(["program", "--allow-host", text]);
        let hosts = |text: &str| parse(text).map(|program| program.serve.hosts);
        let two = hosts("go.example.org, other.example.org:8443").unwrap();
        assert_eq!(two, ["go.example.org", "other.example.org:8443"]);
        for text in ["https://go.example.org/", "go.example.org/play", "me@go.example.org", "a b", "a.example,b c"] {
            let problem = hosts(text).unwrap_err().to_string();
            assert!(problem.contains("name a host, such as go.example.org"), "{problem}");
        }
    }
}
