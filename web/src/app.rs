//! What all requests share.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::response::IntoResponse;
use config::RunName;
use facts::openings::Openings;
use lru::LruCache;
use store::{FileRef, Run, Store};
use tokio::sync::watch::Receiver;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::Access;
use crate::download::keeping;
use crate::error::{Page, PageError};
use crate::live_games::LiveGames;
use crate::run_list::RunList;
use crate::view::{Navigation, Section, View};
use crate::watch::{self, IDLE, MOST_RUNS, OpenRun, Snapshot, Watches};

/// Pages that are made at the same time; others wait.
const READERS: usize = 8;
/// Files of models and of many games that are made at the same time: each takes memory.
const EXPORTERS: usize = 1;
/// Such files in memory, from their beginning until clients have taken them, which may be slow.
const FILES: usize = 8;
/// Models whose openings are kept; each takes some 300 KB.
const MOST_OPENINGS: NonZeroUsize = NonZeroUsize::new(200).expect("above 0");
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all requests share. Cloning is cheap.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

/// Openings by run and model, each with the number of files that the model had, and the newest of them.
type KeptOpenings = LruCache<(RunName, u32), ((usize, Option<FileRef>), Arc<Openings>)>;

struct Shared {
    store: Store,
    access: Access,
    navigation: Navigation,
    readers: Arc<Semaphore>,
    exporters: Arc<Semaphore>,
    files: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    most_streams: usize,
    stopped: Receiver<bool>,
    watches: Watches,
    run_list: RunList,
    /// Runs, as many as are watched, each with its last request. A run remembers its archives, all of which are opened
    /// to find a game.
    runs: Mutex<LruCache<RunName, (Instant, Run)>>,
    openings: Mutex<KeptOpenings>,
    live: LiveGames,
    /// What is done when nothing is served any more.
    last: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

impl App {
    /// An application that reads this store until `stopped` turns true, for so many streams and WebSockets at the same
    /// time.
    pub(crate) fn new(
        store: Store,
        access: Access,
        navigation: Navigation,
        streams: usize,
        stopped: Receiver<bool>,
    ) -> App {
        let (watches, run_list) = (Watches::default(), RunList::default());
        App(Arc::new(Shared {
            store,
            access,
            navigation,
            readers: Arc::new(Semaphore::new(READERS)),
            exporters: Arc::new(Semaphore::new(EXPORTERS)),
            files: Arc::new(Semaphore::new(FILES)),
            streams: Arc::new(Semaphore::new(streams)),
            most_streams: streams,
            stopped,
            watches,
            run_list,
            runs: Mutex::new(LruCache::new(MOST_RUNS)),
            openings: Mutex::new(LruCache::new(MOST_OPENINGS)),
            live: LiveGames::default(),
            last: Mutex::default(),
        }))
    }

    /// An application with an empty store.
    #[cfg(test)]
    pub(crate) fn in_memory() -> App {
        App::of_runs(Store::in_memory().expect("memory"))
    }

    /// An application with the pages of runs alone.
    #[cfg(test)]
    fn of_runs(store: Store) -> App {
        let (_, stopped) = tokio::sync::watch::channel(false);
        let navigation = Navigation { has_players: false, has_book: false };
        App::new(store, Access::new(crate::hosts::Hosts::default()), navigation, 8, stopped)
    }

    /// The store. Its calls block: see [`App::read`].
    pub(crate) fn store(&self) -> &Store {
        &self.0.store
    }

    /// A run of the store, which requests share. Call it in [`App::read`].
    ///
    /// # Errors
    /// There is no such run, or the store cannot be read.
    pub(crate) fn run(&self, name: &str) -> Result<Run, PageError> {
        let absent = || PageError::NotFound(format!("run \"{name}\" in the store {}", self.store().root()));
        let name: RunName = name.parse().map_err(|_| absent())?;
        let run = self.shared(&name).unwrap_or_else(|| self.store().run(&name));
        if !run.exists()? {
            self.runs().pop(&name);
            return Err(absent());
        }
        self.runs().put(name, (Instant::now(), run.clone()));
        Ok(run)
    }

    /// A run that was requested a while ago at most; those that were not are forgotten.
    fn shared(&self, name: &RunName) -> Option<Run> {
        let mut runs = self.runs();
        while runs.peek_lru().is_some_and(|(_, (requested, _))| requested.elapsed() >= IDLE) {
            runs.pop_lru();
        }
        runs.peek(name).map(|(_, run)| run.clone())
    }

    fn runs(&self) -> MutexGuard<'_, LruCache<RunName, (Instant, Run)>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a run, as soon as something is.
    pub(crate) async fn snapshot(&self, name: &str) -> Result<Arc<Snapshot>, PageError> {
        watch::snapshot(self.watch(name).await?).await
    }

    /// What is known of a run, as it changes.
    pub(crate) async fn watch(&self, name: &str) -> Result<OpenRun, PageError> {
        let name = name.to_owned();
        self.read(move |app| app.0.watches.open(&app.run(&name)?)).await
    }

    /// All runs, with what takes few requests.
    pub(crate) fn run_list(&self) -> &RunList {
        &self.0.run_list
    }

    /// The games that are being played.
    pub(crate) fn live(&self) -> &LiveGames {
        &self.0.live
    }

    /// The openings of some models, about so many games of each. They are kept until the model has other files: workers
    /// may publish games of a model after newer ones.
    pub(crate) fn openings(
        &self,
        run: &Run,
        models: &[u32],
        games: u64,
    ) -> Result<BTreeMap<u32, Arc<Openings>>, PageError> {
        let known = || self.0.openings.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = BTreeMap::new();
        for &model in models {
            let key = (run.name().clone(), model);
            let files = run.games().files(model)?;
            let state = (files.len(), files.last().cloned());
            let kept = known().get(&key).filter(|(of, _)| *of == state).cloned();
            let openings = match kept {
                Some((_, openings)) => openings,
                None => {
                    let openings = Arc::new(Openings::of_files(run, &files, games)?);
                    known().put(key, (state, Arc::clone(&openings)));
                    openings
                }
            };
            found.insert(model, openings);
        }
        Ok(found)
    }

    /// The rules of access.
    pub(crate) fn access(&self) -> &Access {
        &self.0.access
    }

    /// The pages beside those of runs.
    pub(crate) fn navigation(&self) -> Navigation {
        self.0.navigation
    }

    /// A page before it has content, with the navigation of the application.
    pub(crate) fn view(&self, title: impl Into<String>, section: Section) -> View {
        View::new(self.navigation(), title, section)
    }

    /// Whether play and analysis are absent.
    pub(crate) fn is_read_only(&self) -> bool {
        self.access().read_only
    }

    /// Runs `work`, which may block, on a thread for that. A few run at a time, and others wait for their turn.
    ///
    /// # Errors
    /// Those of `work`; no turn for a while; a panic.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        self.take_turn(&self.0.readers, work).await
    }

    /// As [`App::read`], for a file that takes memory: one is made at a time, and a few are sent.
    ///
    /// # Errors
    /// As [`App::read`].
    pub(crate) async fn export(&self, work: impl FnOnce(&App) -> Page + Send + 'static) -> Page {
        let permit = turn(&self.0.files).await?;
        let file = self.take_turn(&self.0.exporters, work).await?;
        keeping(file, permit).await.map_err(|error| PageError::Failed(format!("cannot send the file: {error}")))
    }

    /// As [`App::read`], for what takes memory while it is made and little afterwards: one is made at a time.
    ///
    /// # Errors
    /// As [`App::read`].
    pub(crate) async fn make(&self, work: impl FnOnce(&App) -> Page + Send + 'static) -> Page {
        self.take_turn(&self.0.exporters, work).await
    }

    async fn take_turn<T: Send + 'static>(
        &self,
        places: &Arc<Semaphore>,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Result<T, PageError> {
        let turn = turn(places).await?;
        let app = self.clone();
        let work = move || {
            // The work goes on when its request is gone, and takes memory until it ends.
            let _turn = turn;
            work(&app)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|error| Err(PageError::Failed(format!("cannot render the page: {error}"))))
    }

    /// A place for what stays open: a stream of events, or a WebSocket.
    ///
    /// # Errors
    /// All places are taken.
    pub(crate) fn stream(&self) -> Result<OwnedSemaphorePermit, PageError> {
        Arc::clone(&self.0.streams).try_acquire_owned().map_err(|_| PageError::Busy)
    }

    /// Places that are taken.
    pub(crate) fn open_streams(&self) -> usize {
        self.0.most_streams.saturating_sub(self.0.streams.available_permits())
    }

    /// As [`App::read`], for a page.
    ///
    /// # Errors
    /// As [`App::read`].
    pub(crate) async fn page<T: IntoResponse + Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, PageError> + Send + 'static,
    ) -> Page {
        self.read(work).await.map(IntoResponse::into_response)
    }

    /// Does `work` when nothing is served any more, on a thread that may wait.
    pub(crate) fn at_end(&self, work: impl FnOnce() + Send + 'static) {
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(work));
    }

    /// Does all that is to be done at the end.
    pub(crate) fn end(&self) {
        let last = std::mem::take(&mut *self.0.last.lock().unwrap_or_else(PoisonError::into_inner));
        last.into_iter().for_each(|work| work());
    }

    /// Returns when the server stops: what stays open longer than a request ends then.
    pub(crate) async fn stopped(&self) {
        // An error means that the server is gone.
        let _ = self.0.stopped.clone().wait_for(|&stopped| stopped).await;
    }
}

/// One of a few places, as soon as there is one.
async fn turn(places: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, PageError> {
    let turn = tokio::time::timeout(PATIENCE, Arc::clone(places).acquire_owned()).await;
    turn.map_err(|_| PageError::Busy)?.map_err(|_| PageError::Busy)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use axum::response::Response;
    use config::Preset;
    use go::Size;
    use http_body_util::BodyExt;
    use record::synthetic;
    use store::Stem;
    use tokio::runtime::Runtime;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;
    use crate::download::PART;

    #[test]
    fn export_of_a_cancelled_request_holds_its_place_until_it_is_made() {
        let app = App::in_memory();
        Runtime::new().unwrap().block_on(async {
            let (begun, begins) = oneshot::channel();
            let (end, ends) = std::sync::mpsc::channel::<()>();
            let first = app.clone();
            let first = tokio::spawn(async move {
                let work = move |_: &App| {
                    begun.send(()).unwrap();
                    Ok(ends.recv().is_ok().to_string().into_response())
                };
                first.export(work).await
            });
            begins.await.unwrap();
            first.abort();
            assert!(first.await.unwrap_err().is_cancelled());
            let mut second = Box::pin(app.export(|_| Ok(().into_response())));
            assert!(timeout(Duration::from_millis(100), second.as_mut()).await.is_err());
            end.send(()).unwrap();
            second.await.unwrap();
        });
    }

    #[test]
    fn file_has_a_place_until_its_client_has_taken_it() {
        let app = App::in_memory();
        Runtime::new().unwrap().block_on(async {
            let mut unread: Vec<Response> = Vec::new();
            for _ in 0..FILES {
                unread.push(app.export(|_| Ok(vec![0_u8; 3 * PART].into_response())).await.unwrap());
            }
            let mut next = Box::pin(app.export(|_| Ok(().into_response())));
            assert!(timeout(Duration::from_millis(100), next.as_mut()).await.is_err());
            let mut body = unread.remove(0).into_body();
            let part = body.frame().await.unwrap().unwrap().into_data().unwrap();
            assert_eq!(part.len(), PART);
            assert!(timeout(Duration::from_millis(100), next.as_mut()).await.is_err());
            assert_eq!(body.collect().await.unwrap().to_bytes().len(), 2 * PART);
            next.await.unwrap();
        });
    }

    #[test]
    fn openings_have_games_that_an_older_model_gets_later() {
        let app = App::in_memory();
        let run = app.store().run(&"r".parse().unwrap());
        let publish = |model: u32, time: u64| {
            let games: Vec<_> = (10 * time..10 * time + 10)
                .map(|index| synthetic::game(&format!("r-{model}"), "w", index, Size::new(5).unwrap(), 8))
                .collect();
            let stem = Stem::new("w", time).unwrap();
            run.games().publish_as(&FileRef { model, stem }, &games).unwrap();
        };
        let games = || app.openings(&run, &[1, 2], 400).unwrap().values().map(|found| found.games).collect::<Vec<_>>();
        publish(1, 1);
        publish(2, 2);
        assert_eq!(games(), [10, 10]);
        publish(1, 3);
        assert_eq!(games(), [20, 10]);
        let kept = |model| Arc::clone(&app.openings(&run, &[model], 400).unwrap()[&model]);
        assert!(Arc::ptr_eq(&kept(1), &kept(1)));
    }

    #[test]
    fn requests_of_a_run_open_its_archives_once() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_str().unwrap()).unwrap();
        let app = App::of_runs(store);
        assert!(matches!(app.run("r"), Err(PageError::NotFound(_))));
        let run = app.store().run(&"r".parse().unwrap());
        run.create(&Preset::Tiny.config()).unwrap();
        let file = FileRef { model: 1, stem: Stem::new("w", 1).unwrap() };
        let games: Vec<_> = (0..10).map(|index| synthetic::game("r-1", "w", index, Size::new(5).unwrap(), 8)).collect();
        run.games().publish_as(&file, &games).unwrap();
        run.archives().compact(1, 100).unwrap();
        let games = || app.run("r").unwrap().games().read(&file).unwrap().len();
        assert_eq!(games(), 10);
        // A second read of the footer would fail.
        let archive = folder.path().join("r/games/archive/000001.parquet");
        let whole = fs::read(&archive).unwrap();
        fs::write(&archive, &whole[..whole.len() - 8]).unwrap();
        assert_eq!(games(), 10);
        fs::remove_dir_all(folder.path().join("r")).unwrap();
        assert!(matches!(app.run("r"), Err(PageError::NotFound(_))));
    }
}
