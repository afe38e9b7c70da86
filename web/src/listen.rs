//! Connections: a bounded number of them, encrypted where there is a certificate, and none that only waits.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;
use tower_http::timeout::TimeoutBody;

use crate::error::WebError;

/// Time for a handshake, for the head of a request, for more of its body, and for a client to take more of a response;
/// an idle connection is closed after it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// Pause after a failed accept: too many open files, which passes.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes of a request's head.
const MOST_HEAD: usize = 32 << 10;

/// The place of a connection among those that there may be. A WebSocket keeps it after the last request.
#[derive(Clone)]
pub(crate) struct Connection(#[expect(dead_code, reason = "it is held, and that is all")] Arc<OwnedSemaphorePermit>);

/// What all connections share.
pub(crate) struct Front {
    pub(crate) router: Router,
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) connections: usize,
    /// [`PATIENCE`].
    pub(crate) patience: Duration,
    pub(crate) stopped: watch::Receiver<bool>,
}

/// A certificate and its key.
pub(crate) fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, WebError> {
    let identity = runtime::read_identity(cert, key)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = builder
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(identity.chain, identity.key));
    let refused = |error: rustls::Error| WebError::Certificate { file: cert.to_owned(), reason: error.to_string() };
    let mut config = config.map_err(refused)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Serves connections until the server stops; returns when the last has ended.
pub(crate) async fn listen(listener: TcpListener, front: Front) {
    let front = Arc::new(front);
    let permits = Arc::new(Semaphore::new(front.connections));
    let mut stopped = front.stopped.clone();
    let mut fails = false;
    loop {
        let accepted = tokio::select! {
            _ = stopped.wait_for(|&stopped| stopped) => break,
            accepted = accept(&listener, &permits) => accepted,
        };
        match accepted {
            Ok((stream, permit)) => {
                fails = false;
                let front = Arc::clone(&front);
                let connection = Connection(Arc::new(permit));
                tokio::spawn(async move { front.welcome(stream, connection).await });
            }
            Err(error) => {
                // Once for all that follow each other.
                if !std::mem::replace(&mut fails, true) {
                    tracing::warn!(%error, "cannot accept connections");
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
    // All places are free when all connections have ended.
    drop(permits.acquire_many(front.connections as u32).await);
}

async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let permit = Arc::clone(permits).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    // Without it small responses wait for others; where it cannot be set the client is gone.
    drop(stream.set_nodelay(true));
    Ok((stream, permit))
}

impl Front {
    async fn welcome(&self, stream: TcpStream, permit: Connection) {
        // A client that does not read what it requested would keep its place for ever.
        let mut stream = Box::pin(TimeoutStream::new(stream));
        stream.as_mut().set_write_timeout_pinned(Some(self.patience));
        match &self.tls {
            None => self.converse(stream, permit).await,
            // A handshake that fails is the client's business.
            Some(tls) => {
                if let Ok(Ok(stream)) = tokio::time::timeout(self.patience, tls.accept(stream)).await {
                    self.converse(stream, permit).await;
                }
            }
        }
    }

    /// Serves the requests of a connection. That it breaks is the client's business.
    async fn converse(&self, stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, permit: Connection) {
        let service = service_fn(|request: Request<Incoming>| {
            let mut request = request.map(|body| Body::new(TimeoutBody::new(self.patience, body)));
            request.extensions_mut().insert(permit.clone());
            let response = self.router.clone().oneshot(request);
            async { Ok::<_, Infallible>(response.await.unwrap_or_else(|never| match never {})) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(self.patience).max_buf_size(MOST_HEAD);
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let mut stopped = self.stopped.clone();
        tokio::select! {
            done = connection.as_mut() => return drop(done),
            _ = stopped.wait_for(|&stopped| stopped) => connection.as_mut().graceful_shutdown(),
        }
        drop(connection.await);
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Bytes;
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::runtime::Runtime;

    use super::*;

    /// More than the buffers of a connection take.
    const LARGE: usize = 64 << 20;

    async fn request(address: SocketAddr, head: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("{head}\r\nhost: localhost\r\n\r\n").as_bytes()).await.unwrap();
        stream
    }

    #[test]
    fn clients_that_read_nothing_or_send_nothing_lose_their_places() {
        let (stop, stopped) = watch::channel(false);
        Runtime::new().unwrap().block_on(async {
            let router = Router::new()
                .route("/large", get(async || vec![b'x'; LARGE]))
                .route("/read", post(|_: Bytes| async {}));
            let front = Front { router, tls: None, connections: 1, patience: Duration::from_millis(200), stopped };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = tokio::spawn(listen(listener, front));
            // Each has the only place, and keeps its side open until the end.
            let unread = request(address, "GET /large HTTP/1.1").await;
            let silent = TcpStream::connect(address).await.unwrap();
            let unfinished = request(address, "POST /read HTTP/1.1\r\ncontent-length: 5").await;
            let mut last = request(address, "GET /large HTTP/1.1").await;
            let mut head = [0; 15];
            last.read_exact(&mut head).await.unwrap();
            assert_eq!(&head, b"HTTP/1.1 200 OK");
            drop((unread, silent, unfinished, last));
            stop.send(true).unwrap();
            server.await.unwrap();
        });
    }
}
