//! What all requests share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use config::RunName;
use store::{Run, Store};
use tokio::sync::{Semaphore, watch};

use crate::Access;
use crate::error::{Page, PageError};

/// Pages that are made at the same time; others wait.
const READERS: usize = 8;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The address of the client, an extension of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// What all requests share. Cloning is cheap.
#[derive(Clone)]
pub struct App(Arc<Shared>);

struct Shared {
    store: Store,
    access: Access,
    readers: Semaphore,
    stopped: watch::Receiver<bool>,
}

impl App {
    /// An application that reads this store until `stopped` turns true.
    pub fn new(store: Store, access: Access, stopped: watch::Receiver<bool>) -> App {
        App(Arc::new(Shared { store, access, readers: Semaphore::new(READERS), stopped }))
    }

    /// The store. Its calls block: see [`App::read`].
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// A run of the store. Call it in [`App::read`].
    ///
    /// # Errors
    /// There is no such run, or the store cannot be read.
    pub fn run(&self, name: &str) -> Result<Run, PageError> {
        let absent = || PageError::NotFound(format!("run \"{name}\" in the store {}", self.store().root()));
        let name: RunName = name.parse().map_err(|_| absent())?;
        let run = self.store().run(&name);
        if run.exists()? { Ok(run) } else { Err(absent()) }
    }

    /// The rules of access.
    pub fn access(&self) -> &Access {
        &self.0.access
    }

    /// Whether play and analysis are absent.
    pub fn is_read_only(&self) -> bool {
        self.access().read_only
    }

    /// Runs `work`, which may block, on a thread for that. A few run at a time, and others wait for their turn.
    ///
    /// # Errors
    /// Those of `work`; no turn for a while; a panic.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let turn = tokio::time::timeout(PATIENCE, self.0.readers.acquire()).await;
        let _turn = turn.map_err(|_| PageError::Busy)?.map_err(|_| PageError::Busy)?;
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&app)).await;
        done.unwrap_or_else(|error| Err(PageError::Failed(format!("the page was not made: {error}"))))
    }

    /// As [`App::read`], for a page.
    ///
    /// # Errors
    /// As [`App::read`].
    pub async fn page<T: IntoResponse + Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Page {
        self.read(work).await.map(IntoResponse::into_response)
    }

    /// Returns when the server stops: what stays open longer than a request ends then.
    pub async fn stopped(&self) {
        // An error means that the server is gone.
        let _ = self.0.stopped.clone().wait_for(|&stopped| stopped).await;
    }
}
