//! The server: it checks what was typed, listens, and owns the threads.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use store::Store;
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{oneshot, watch};
use tokio_rustls::TlsAcceptor;

use crate::access::Access;
use crate::app::App;
use crate::args::ServeArgs;
use crate::book_page::Book;
use crate::error::WebError;
use crate::hosts::Hosts;
use crate::listen::{self, Front, PATIENCE};
use crate::play::PlayArgs;
use crate::routes::routes;
use crate::view::Navigation;

/// Threads that talk to browsers; pages are made on others.
const IO_THREADS: usize = 2;
/// Threads on which work blocks: pages, and what the pages for players add.
const BLOCKING_THREADS: usize = 64;

/// Connections that wait for a place. The system allows 4,096 as a rule.
const BACKLOG: u32 = 1024;
/// Connections of this machine at the same time.
pub(crate) const LOCAL_CONNECTIONS: usize = 256;

/// Pages beside those of runs.
struct Pages<'a> {
    play: Option<&'a PlayArgs>,
    book: Option<Book>,
}

/// A server that runs until it is stopped.
pub struct Server {
    app: App,
    runtime: Runtime,
    stop: watch::Sender<bool>,
    ended: oneshot::Receiver<()>,
    address: SocketAddr,
    is_tls: bool,
}

impl Server {
    /// Begins to serve a store.
    ///
    /// # Errors
    /// An address, a token, a certificate or a book that cannot be used; an address that other machines can reach.
    pub fn start(args: &ServeArgs, store: Store) -> Result<Server, WebError> {
        let access = access(args)?;
        let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
        let tls = tls.map(|(cert, key)| listen::acceptor(cert, key)).transpose()?;
        let play = (!access.read_only).then_some(&args.play);
        let book = args.book.as_deref().map(Book::read).transpose()?;
        Server::serve(bind(&args.listen)?, access, tls, args.connections, Pages { play, book }, store)
    }

    /// Begins to serve the pages of runs to this machine alone, at this address, or at any free port where another
    /// process has the address.
    ///
    /// # Errors
    /// An address that cannot be used, or that other machines can reach.
    pub fn start_local(address: &str, store: Store) -> Result<Server, WebError> {
        let unusable = |source| WebError::Address { address: address.to_owned(), source };
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(unusable)?.collect();
        let Some(first) = addresses.first().filter(|_| addresses.iter().all(|address| address.ip().is_loopback()))
        else {
            return Err(WebError::NotLocal { address: address.to_owned() });
        };
        let socket = match bind(address) {
            Err(WebError::Address { source, .. }) if source.kind() == io::ErrorKind::AddrInUse => {
                bind(&SocketAddr::new(first.ip(), 0).to_string())
            }
            bound => bound,
        };
        let access = Access::new(Hosts { is_loopback: true, ..Hosts::default() }).with_runs_alone();
        Server::serve(socket?, access, None, LOCAL_CONNECTIONS, Pages { play: None, book: None }, store)
    }

    fn serve(
        socket: TcpSocket,
        access: Access,
        tls: Option<TlsAcceptor>,
        connections: usize,
        pages: Pages<'_>,
        store: Store,
    ) -> Result<Server, WebError> {
        let address = socket.local_addr().map_err(WebError::Threads)?;
        let threads = Builder::new_multi_thread()
            .worker_threads(IO_THREADS)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("web")
            .enable_all()
            .build();
        let runtime = threads.map_err(WebError::Threads)?;
        let (stop, stopped) = watch::channel(false);
        let is_tls = tls.is_some();
        // The others stay free for requests that end.
        let streams = connections - connections / 4;
        let navigation = Navigation { has_players: pages.play.is_some(), has_book: pages.book.is_some() };
        let app = App::new(store, access, navigation, streams, stopped.clone());
        let router = routes(&app, pages.play, pages.book)?;
        let front = Front { router, tls, connections, patience: PATIENCE, stopped };
        let listener = {
            let _context = runtime.enter();
            socket.listen(BACKLOG).map_err(|source| WebError::Address { address: address.to_string(), source })?
        };
        let (end, ended) = oneshot::channel();
        runtime.spawn(async move {
            listen::listen(listener, front).await;
            // An error means that nothing waits for it.
            let _ = end.send(());
        });
        Ok(Server { app, runtime, stop, ended, address, is_tls })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for a browser.
    pub fn url(&self) -> String {
        format!("{}://{}/", if self.is_tls { "https" } else { "http" }, self.address)
    }

    /// Ends all that is open, waits at most so long for requests, and returns whether all have ended.
    pub fn stop(self, within: Duration) -> bool {
        // An error means that nothing is open.
        let _ = self.stop.send(true);
        let drained = self.runtime.block_on(async { tokio::time::timeout(within, self.ended).await.is_ok() });
        self.runtime.shutdown_background();
        self.app.end();
        drained
    }
}

/// An address that is taken, without connections yet.
fn bind(address: &str) -> Result<TcpSocket, WebError> {
    let bound = || {
        let first = address.to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
        let socket = if first.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        // A server that is started again need not wait for old connections.
        socket.set_reuseaddr(true)?;
        socket.bind(first).map(|()| socket)
    };
    bound().map_err(|source| WebError::Address { address: address.to_owned(), source })
}

/// The rules of access that the arguments state.
fn access(args: &ServeArgs) -> Result<Access, WebError> {
    let unusable = |source| WebError::Address { address: args.listen.clone(), source };
    let addresses: Vec<_> = args.listen.to_socket_addrs().map_err(unusable)?.collect();
    let is_loopback = addresses.iter().all(|address| address.ip().is_loopback());
    let named = args.hosts.iter().map(|host| host.trim().to_ascii_lowercase()).filter(|host| !host.is_empty());
    let mut access = Access::new(Hosts { is_loopback, named: named.collect() });
    if args.read_only {
        access = access.with_runs_alone();
    }
    access.is_tls = args.tls_cert.is_some();
    if let Some(file) = &args.token_file {
        access = access.with_token(file)?;
    }
    if is_loopback || access.needs_token() || access.is_tls || access.read_only {
        Ok(access)
    } else {
        Err(WebError::Open { address: args.listen.clone() })
    }
}
