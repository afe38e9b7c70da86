//! Two inference servers as processes of their own, which a benchmark kills and stops.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use go::Size;
use inference::{Options, Server};
use net::{Inputs, NetError, PlaneEvaluator, Shape};
use runtime::Health;

use super::one_network::OneNetwork;

/// Values of a server's network, by which its output is known.
pub(super) const VALUES: [f32; 2] = [0.25, 0.5];

/// The shape of the network.
pub(super) fn shape() -> Shape {
    Shape::plain(Size::new(9).expect("9 is a size"))
}

/// Policies that follow from the planes, so that a wrong one is noticed, and one value for all positions.
pub(super) struct KnownNetwork {
    pub(super) value: f32,
}

impl PlaneEvaluator for KnownNetwork {
    fn evaluate(&mut self, planes: &[u8], policies: &mut [f32], values: &mut [f32]) -> Result<(), NetError> {
        let (len, moves) = (Inputs::History.len(shape().size), shape().size.moves());
        for (planes, policy) in planes.chunks_exact(len).zip(policies.chunks_exact_mut(moves)) {
            let hash = planes.iter().fold(7_u32, |hash, &byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
            (0..).zip(policy).for_each(|(mv, to)| *to = (hash.wrapping_add(mv) % 1000) as f32 / 1000.0);
        }
        values.fill(self.value);
        Ok(())
    }
}

/// Serves the network of a value until standard input ends: the process of [`Process::start`].
pub(super) fn serve(address: &str, value: f32) -> anyhow::Result<()> {
    let network = OneNetwork { shape: shape(), open: Arc::new(move || Box::new(KnownNetwork { value })) };
    let server = Server::start(Options::local(address.parse()?, 1), Arc::new(network), Health::default())?;
    runtime::print(server.address())?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    server.drain(Duration::from_secs(1));
    Ok(())
}

/// A server, which can be started again where it was.
pub(super) struct Process {
    address: String,
    value: f32,
    child: Child,
    /// The server ends with it.
    _input: ChildStdin,
}

impl Process {
    pub(super) fn start(value: f32) -> anyhow::Result<Process> {
        // Clients bind to 127.0.0.1, so none gets this port while nothing listens there.
        let address = TcpListener::bind("127.0.0.2:0")?.local_addr()?.to_string();
        let (child, input) = launch(&address, value)?;
        Ok(Process { address, value, child, _input: input })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `kill -9`.
    pub(super) fn kill(&mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Starts it again after [`Process::kill`].
    pub(super) fn restart(&mut self) -> anyhow::Result<()> {
        (self.child, self._input) = launch(&self.address, self.value)?;
        Ok(())
    }

    /// Sends it a signal by name: the shell's own `kill` is on every machine.
    pub(super) fn signal(&self, signal: &str) -> anyhow::Result<()> {
        let kill = format!("kill -{signal} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status().context("cannot start sh")?;
        ensure!(status.success(), "{kill}: {status}");
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have been killed before.
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

/// Starts a process and returns when it serves.
fn launch(address: &str, value: f32) -> anyhow::Result<(Child, ChildStdin)> {
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut command = Command::new(program);
    command.args(["bench", "inference", "--serve", address, &value.to_string()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start a server")?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let mut line = String::new();
    BufReader::new(output.context("standard output is a pipe")?).read_line(&mut line)?;
    ensure!(line.contains(address), "the server at {address} does not start: {line:?}");
    Ok((child, input.context("standard input is a pipe")?))
}
