//! Where clients connect: a TCP port or a Unix socket, with bounds on what a connection may do.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use std::{fmt, fs};

use futures::Stream;
use futures::stream::unfold;
use runtime::metrics;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, UnixListener, UnixSocket};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};
use tonic::transport::server::Connected;

use crate::limits::Limits;
use crate::peer::Peer;
use crate::queue::ClientId;

/// A connection on which nothing arrives for so long is closed. Clients return a ping every third of it.
pub(crate) const IDLE: Duration = Duration::from_secs(30);
/// Connections that the system keeps until they are accepted.
const BACKLOG: u32 = 1024;
/// Pause after a failed accept: too many open files, which passes.
const PAUSE: Duration = Duration::from_millis(100);

/// An address to listen on: `HOST:PORT`, or `unix:/path`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A TCP port; 0 for any that is free.
    Tcp(String),
    /// A Unix socket.
    Unix(PathBuf),
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is neither HOST:PORT nor unix:/path")]
pub struct NoAddress(String);

impl FromStr for Listen {
    type Err = NoAddress;

    fn from_str(text: &str) -> Result<Listen, NoAddress> {
        let no_address = || NoAddress(text.to_owned());
        if text.starts_with("unix:") {
            return remote::unix_path(text).map(|path| Listen::Unix(path.to_owned())).ok_or_else(no_address);
        }
        let is_port = |(host, port): (&str, &str)| !host.is_empty() && port.parse::<u16>().is_ok();
        let is_address = text.rsplit_once(':').is_some_and(is_port);
        if is_address { Ok(Listen::Tcp(text.to_owned())) } else { Err(no_address()) }
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Listen::Tcp(address) => f.write_str(address),
            Listen::Unix(path) => write!(f, "unix://{}", path.display()),
        }
    }
}

impl Listen {
    /// Whether only this machine can connect: a Unix socket, or a host all of whose addresses are loopback.
    pub(crate) fn is_local(&self) -> io::Result<bool> {
        match self {
            Listen::Tcp(address) => Ok(address.to_socket_addrs()?.all(|address| address.ip().is_loopback())),
            Listen::Unix(_) => Ok(true),
        }
    }

    /// Opens the address. To be called within a runtime.
    pub(crate) fn bind(&self) -> io::Result<Bound> {
        match self {
            Listen::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                TcpListener::from_std(listener).map(Bound::Tcp)
            }
            Listen::Unix(path) => bind_unix(path).map(Bound::Unix),
        }
    }

    /// The file of the socket that [`Listen::bind`] made.
    pub(crate) fn socket(&self) -> Option<SocketFile> {
        match self {
            Listen::Tcp(_) => None,
            Listen::Unix(path) => SocketFile::of(path),
        }
    }
}

/// An address that is open.
pub(crate) enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Bound {
    /// The TCP address.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Bound::Tcp(listener) => listener.local_addr().ok(),
            Bound::Unix(_) => None,
        }
    }
}

/// The file of a Unix socket. It is removed with this, unless another server has replaced it.
pub(crate) struct SocketFile {
    path: PathBuf,
    /// Device and inode.
    id: (u64, u64),
}

impl SocketFile {
    fn of(path: &Path) -> Option<SocketFile> {
        id(path).map(|id| SocketFile { path: path.to_owned(), id })
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if id(&self.path) == Some(self.id) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Device and inode of a file.
fn id(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// A socket of this user alone. A socket that a killed server left is replaced. One that is served is not, and neither
/// is any other file.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_socket()) {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the file exists and is not a socket"));
    }
    if std::os::unix::net::UnixStream::connect(path).is_ok() {
        return Err(io::ErrorKind::AddrInUse.into());
    }
    // With a name of its own, for servers that start together.
    let aside = path.with_added_extension(format!("{}.partial", std::process::id()));
    let listener = private_socket(&aside)?.listen(BACKLOG)?;
    fs::rename(&aside, path)?;
    Ok(listener)
}

/// A socket with its mode. Others cannot connect before, because nothing listens.
fn private_socket(path: &Path) -> io::Result<UnixSocket> {
    drop(fs::remove_file(path));
    let socket = UnixSocket::new_stream()?;
    socket.bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// A connection: bytes both ways.
pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// Connections as they come.
pub(crate) type Incoming = Pin<Box<dyn Stream<Item = io::Result<Connection>> + Send>>;

/// The connections to an address, no more than [`Limits::connections`] at a time; others wait.
pub(crate) fn connections(bound: Bound, limits: &Limits) -> Incoming {
    let permits = Arc::new(Semaphore::new(limits.connections));
    let ids = AtomicU64::default();
    let time = limits.first_call;
    let state = Arc::new((bound, permits, ids));
    Box::pin(unfold(state, move |state| async move {
        let (bound, permits, ids) = &*state;
        let permit = Arc::clone(permits).acquire_owned().await.ok()?;
        let io = accept(bound).await;
        let peer = Peer::new(ClientId(ids.fetch_add(1, Ordering::Relaxed)));
        Some((Ok(Connection::new(io, peer, time, permit)), state))
    }))
}

/// The next connection.
async fn accept(bound: &Bound) -> Box<dyn Io> {
    let mut fails = false;
    loop {
        let accepted: io::Result<Box<dyn Io>> = match bound {
            Bound::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                // Without it small answers wait for others; where it cannot be set the client is gone.
                drop(stream.set_nodelay(true));
                Box::new(stream) as Box<dyn Io>
            }),
            Bound::Unix(listener) => listener.accept().await.map(|(stream, _)| Box::new(stream) as Box<dyn Io>),
        };
        match accepted {
            Ok(io) => return io,
            Err(error) => {
                // Once for all that follow each other.
                if !std::mem::replace(&mut fails, true) {
                    tracing::warn!(%error, "cannot accept connections");
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// A connection that is closed when nothing arrives for [`IDLE`], or when its first call does not come in time.
pub(crate) struct Connection {
    inner: Box<dyn Io>,
    peer: Peer,
    last: Instant,
    /// The first call has to come before.
    first_call: Instant,
    timer: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    fn new(inner: Box<dyn Io>, peer: Peer, first_call: Duration, permit: OwnedSemaphorePermit) -> Connection {
        metrics::INFERENCE_CONNECTIONS.add(1);
        let now = Instant::now();
        let timer = Box::pin(tokio::time::sleep(first_call.min(IDLE)));
        Connection { inner, peer, last: now, first_call: now + first_call, timer, _permit: permit }
    }

    /// When it is to be closed.
    fn ends(&self) -> Instant {
        let idle = self.last + IDLE;
        if self.peer.has_called() { idle } else { idle.min(self.first_call) }
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Poll::Ready(read) = Pin::new(&mut self.inner).poll_read(cx, buffer) {
            let now = Instant::now();
            if self.first_call <= now && !self.peer.has_called() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.last = now;
            return Poll::Ready(read);
        }
        // The timer is set anew only when it rings, and not with every read.
        loop {
            ready!(self.timer.as_mut().poll(cx));
            let until = self.ends();
            if until <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.timer.as_mut().reset(until);
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listen_reads_ports_and_sockets() {
        for text in ["127.0.0.1:9470", "[::1]:0", "localhost:1", "0.0.0.0:9470", "unix:///run/x.sock"] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
        }
        assert_eq!("unix:/run/x".parse(), Ok(Listen::Unix("/run/x".into())));
        for text in ["", "9470", ":9470", "host", "host:port", "host:70000", "unix:", "unix:/", "unix:relative"] {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
        for (text, local) in [("127.0.0.1:1", true), ("[::1]:1", true), ("0.0.0.0:1", false), ("unix:/x", true)] {
            assert_eq!(text.parse::<Listen>().unwrap().is_local().unwrap(), local, "{text}");
        }
    }

    #[tokio::test]
    async fn socket_is_private_and_replaces_that_of_a_killed_server() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let first = bind_unix(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(bind_unix(&path).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        bind_unix(&path).unwrap();
    }

    #[tokio::test]
    async fn file_that_is_no_socket_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        fs::write(&path, "text").unwrap();
        assert_eq!(bind_unix(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"text");
    }

    #[tokio::test]
    async fn socket_has_its_mode_before_anybody_can_connect() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let connect = || std::os::unix::net::UnixStream::connect(&path);
        let socket = private_socket(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let _listener = socket.listen(1).unwrap();
        connect().unwrap();
    }
}
