//! What is loaded, shared and evicted.

use std::sync::atomic::AtomicUsize;

use config::RunName;
use net::{NetError, PlaneEvaluator, Shape};

use super::*;

/// Returns nothing, and counts how often it was found and opened. Model 5 is opened, and its digest read, when it may
/// be.
#[derive(Default)]
struct Made {
    found: Arc<AtomicUsize>,
    opened: Arc<AtomicUsize>,
    may_open: Arc<(Mutex<bool>, Condvar)>,
    is_away: Arc<AtomicBool>,
    /// Whether there are other weights now.
    is_replaced: Arc<AtomicBool>,
}

impl Made {
    fn current(&self, run: &RunName, number: u32) -> Digest {
        let again = if self.is_replaced.load(Ordering::Relaxed) { " again" } else { "" };
        Digest::of(format!("{run}-{number}{again}").as_bytes())
    }
}

fn wait((allowed, changed): &(Mutex<bool>, Condvar), number: u32) {
    drop(changed.wait_while(allowed.lock().unwrap(), |allowed| number == 5 && !*allowed).unwrap());
}

struct Nothing;

impl PlaneEvaluator for Nothing {
    fn evaluate(&mut self, _: &[u8], _: &mut [f32], _: &mut [f32]) -> Result<(), NetError> {
        Ok(())
    }
}

impl ModelProvider for Made {
    fn find(&self, run: &RunName, number: u32) -> Result<Found, ProviderError> {
        if number > 10 {
            return Err(ProviderError::Missing(format!("there is no model {number}")));
        }
        if self.is_away.load(Ordering::Relaxed) {
            return Err(ProviderError::Store("the store is away".to_owned()));
        }
        self.found.fetch_add(1, Ordering::Relaxed);
        let opened = Arc::clone(&self.opened);
        let may_open = Arc::clone(&self.may_open);
        let open = move || {
            opened.fetch_add(1, Ordering::Relaxed);
            wait(&may_open, number);
            let shape = Shape::plain(go::Size::new(5).unwrap());
            Ok(Opened { shape, devices: 1, open: Box::new(|_| Box::new(Nothing)) })
        };
        Ok(Found { digest: self.current(run, number), bytes: 40, open: Box::new(open) })
    }

    fn digest(&self, run: &RunName, number: u32) -> Result<Option<Digest>, ProviderError> {
        wait(&self.may_open, number);
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(ProviderError::Store("the store is away".to_owned())),
            false => Ok(Some(self.current(run, number))),
        }
    }
}

fn key(number: u32) -> ModelKey {
    ModelKey { run: "v1".parse().unwrap(), number, digest: None }
}

fn with_digest(number: u32) -> ModelKey {
    ModelKey { digest: Some(Digest::of(format!("v1-{number}").as_bytes())), ..key(number) }
}

/// A cache in which names mean the same for ever.
fn made(provider: Made, bound: u64) -> Cache {
    let cache = Cache::new(Arc::new(provider), bound, 4);
    cache.lock().names.checks = Checks { every: Duration::MAX, patience: Duration::from_secs(3600) };
    cache
}

fn cache(bound: u64) -> (Arc<Cache>, Arc<AtomicUsize>) {
    let (cache, opened, _) = slow_cache(bound);
    (cache, opened)
}

/// A cache, how often it opened a model, and whether model 5 may be opened.
type Slow = (Arc<Cache>, Arc<AtomicUsize>, Arc<(Mutex<bool>, Condvar)>);

fn slow_cache(bound: u64) -> Slow {
    let opened = Arc::new(AtomicUsize::default());
    let may_open = Arc::new((Mutex::new(false), Condvar::new()));
    let provider = Made { opened: Arc::clone(&opened), may_open: Arc::clone(&may_open), ..Made::default() };
    (Arc::new(made(provider, bound)), opened, may_open)
}

fn allow(may_open: &(Mutex<bool>, Condvar)) {
    *may_open.0.lock().unwrap() = true;
    may_open.1.notify_all();
}

#[tokio::test]
async fn cache_loads_other_models_while_one_takes_long() {
    let (cache, opened, may_open) = slow_cache(100);
    let slow = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move { cache.get(&with_digest(5)).await.map(|network| network.id) }
    });
    while opened.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    cache.get(&key(1)).await.unwrap();
    // The memory of both is taken.
    cache.get(&key(2)).await.unwrap();
    assert!(cache.in_memory(&key(1)).is_none() && cache.in_memory(&key(2)).is_some());
    let held = cache.in_memory(&key(2));
    assert_eq!(cache.get(&key(3)).await.err().unwrap().status, Status::Unavailable);
    drop(held);
    // By its name it is the same model, which is opened once.
    let named = tokio::spawn({
        let cache = Arc::clone(&cache);
        async move { cache.get(&key(5)).await.map(|network| network.id) }
    });
    allow(&may_open);
    assert_eq!(slow.await.unwrap().unwrap(), named.await.unwrap().unwrap());
    assert_eq!((opened.load(Ordering::Relaxed), cache.len()), (3, 2));
}

#[tokio::test]
async fn device_that_makes_a_model_ready_for_too_long_is_stalled() {
    for (limit, is_stalled) in [(Duration::ZERO, true), (Duration::from_secs(3600), false)] {
        let may_open = Arc::new((Mutex::new(false), Condvar::new()));
        let provider = Made { may_open: Arc::clone(&may_open), ..Made::default() };
        let opened = Arc::clone(&provider.opened);
        let cache = Arc::new(Cache::new(Arc::new(provider), 100, 4).with_stalled_after(limit));
        cache.get(&key(1)).await.unwrap();
        assert!(!cache.is_stalled());
        let slow = tokio::spawn({
            let cache = Arc::clone(&cache);
            async move { cache.get(&key(5)).await.map(drop) }
        });
        while opened.load(Ordering::Relaxed) < 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(cache.is_stalled(), is_stalled);
        allow(&may_open);
        slow.await.unwrap().unwrap();
        assert!(!cache.is_stalled());
    }
}

#[tokio::test]
async fn cache_loads_a_model_once_for_all_that_ask() {
    let (cache, opened) = cache(100);
    let (key, same) = (key(1), with_digest(1));
    let asked = futures::future::join_all((0..8).map(|nth| cache.get(if nth % 2 == 0 { &key } else { &same }))).await;
    let ids: Vec<_> = asked.into_iter().map(|loaded| loaded.unwrap().id).collect();
    assert!(ids.iter().all(|id| *id == ids[0]) && opened.load(Ordering::Relaxed) == 1, "{ids:?}");
    assert!(cache.in_memory(&key).is_some() && cache.in_memory(&same).is_some());
}

#[tokio::test]
async fn cache_evicts_the_model_that_was_used_least_recently() {
    let (cache, opened) = cache(100);
    for number in [1, 2, 1, 3] {
        cache.get(&key(number)).await.unwrap();
    }
    assert!(
        cache.in_memory(&key(1)).is_some() && cache.in_memory(&key(2)).is_none() && cache.in_memory(&key(3)).is_some()
    );
    cache.get(&key(2)).await.unwrap();
    assert_eq!(opened.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn cache_keeps_models_of_which_batches_are_under_way() {
    let (cache, _) = cache(100);
    let [one, two] = [cache.get(&key(1)).await.unwrap(), cache.get(&key(2)).await.unwrap()];
    let refusal = cache.get(&key(3)).await.err().unwrap();
    assert_eq!((refusal.status, refusal.retry_after), (Status::Unavailable, Some(FAILED)));
    // Which is no failure for an alert; one that is missing is.
    assert!(matches!(cache.load_blocking(&with_digest(3)), Err(Unready::InUse)));
    assert!(matches!(cache.load_blocking(&key(11)), Err(Unready::Failed(_))));
    drop(one);
    cache.get(&key(4)).await.unwrap();
    assert!(cache.in_memory(&key(1)).is_none() && cache.in_memory(&key(2)).is_some());
    drop(two);
}

/// Without it the clients of a model that is not in memory would wait for as long as others play without pause.
#[tokio::test]
async fn model_in_use_makes_space_after_its_turn() {
    let (found, opened) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let provider = Made { found: Arc::clone(&found), opened: Arc::clone(&opened), ..Made::default() };
    let cache = Arc::new(made(provider, 100));
    cache.lock().memory.turns = Turns { kept: Duration::ZERO, closing: Duration::from_secs(3600) };
    let [one, two] = [cache.get(&key(1)).await.unwrap(), cache.get(&key(2)).await.unwrap()];
    let refused = |key: ModelKey| {
        let cache = Arc::clone(&cache);
        async move { cache.get(&key).await.err().unwrap() }
    };
    assert_eq!(refused(key(3)).await.status, Status::Unavailable);
    // Its size is known then, so that the next attempt does not read its weights again.
    cache.lock().failed.clear();
    assert_eq!(refused(key(3)).await.status, Status::Unavailable);
    assert_eq!(found.load(Ordering::Relaxed), 3);
    // What was loaded first takes no batches, so that those under way come to an end.
    assert!(cache.in_memory(&key(1)).is_none() && cache.in_memory(&key(2)).is_some());
    let refusal = refused(with_digest(1)).await;
    assert_eq!((refusal.status, refusal.retry_after), (Status::Unavailable, Some(FAILED)));
    drop(one);
    // By its digest, because the failure of its name is remembered for a second.
    cache.get(&with_digest(3)).await.unwrap();
    assert!(
        cache.in_memory(&key(1)).is_none() && cache.in_memory(&key(2)).is_some() && cache.in_memory(&key(3)).is_some()
    );
    assert_eq!((opened.load(Ordering::Relaxed), cache.len()), (3, 2));
    drop(two);
}

/// It could not be read again either, and the server would serve nothing.
#[tokio::test]
async fn model_is_kept_when_the_one_that_needs_its_space_cannot_be_read() {
    let is_away = Arc::<AtomicBool>::default();
    let provider = Made { is_away: Arc::clone(&is_away), ..Made::default() };
    let cache = Arc::new(made(provider, 60));
    for number in [2, 1] {
        cache.get(&key(number)).await.unwrap();
    }
    is_away.store(true, Ordering::Relaxed);
    assert_eq!(cache.get(&with_digest(2)).await.err().unwrap().status, Status::Unavailable);
    assert!(cache.in_memory(&key(1)).is_some() && cache.in_memory(&key(2)).is_none());
    // Its space is free for the next attempt.
    is_away.store(false, Ordering::Relaxed);
    cache.lock().failed.clear();
    cache.get(&with_digest(2)).await.unwrap();
    assert!(cache.in_memory(&key(1)).is_none() && cache.len() == 1);
}

#[tokio::test]
async fn request_with_a_wrong_name_fails_alone() {
    let (cache, _) = cache(100);
    let wrong = ModelKey { number: 11, ..with_digest(1) };
    assert!(cache.get(&wrong).await.err().unwrap().message.contains("no model 11"));
    cache.get(&with_digest(1)).await.unwrap();
}

/// As in a run that is deleted and begun again.
#[tokio::test]
async fn name_means_the_model_that_the_store_has_now() {
    let (is_away, is_replaced) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let opened = Arc::<AtomicUsize>::default();
    let (away, replaced) = (Arc::clone(&is_away), Arc::clone(&is_replaced));
    let provider = Made { opened: Arc::clone(&opened), is_away: away, is_replaced: replaced, ..Made::default() };
    let cache = Arc::new(made(provider, 100));
    cache.lock().names.checks.every = Duration::ZERO;
    let found = || async { cache.get(&key(1)).await.unwrap().digest };
    let first = found().await;
    assert!(cache.in_memory(&key(1)).is_none(), "the name is to be checked");
    assert_eq!((found().await, opened.load(Ordering::Relaxed)), (first, 1));
    is_replaced.store(true, Ordering::Relaxed);
    is_away.store(true, Ordering::Relaxed);
    assert_eq!(found().await, first, "what is in memory serves while the store is away");
    is_away.store(false, Ordering::Relaxed);
    assert_ne!(found().await, first);
    assert_eq!(cache.get(&with_digest(1)).await.unwrap().digest, first);
    assert_eq!(opened.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn store_that_is_late_is_not_read_again_for_a_minute() {
    let (may_open, is_replaced) = (Arc::new((Mutex::new(true), Condvar::new())), Arc::<AtomicBool>::default());
    let (gate, replaced) = (Arc::clone(&may_open), Arc::clone(&is_replaced));
    let cache = Arc::new(made(Made { may_open: gate, is_replaced: replaced, ..Made::default() }, 100));
    let every = Duration::from_secs(3600);
    cache.lock().names.checks = Checks { every, patience: Duration::ZERO };
    let first = cache.get(&key(5)).await.unwrap().digest;
    *may_open.0.lock().unwrap() = false;
    is_replaced.store(true, Ordering::Relaxed);
    cache.lock().names.note(&key(5), first, Instant::now() - 2 * every);
    assert!(cache.in_memory(&key(5)).is_none(), "the name is to be checked");
    let before = Instant::now();
    let late = cache.get(&key(5)).await.unwrap().digest;
    let known = cache.lock().names.resolve(&key(5), before + AWAY + every - Duration::from_nanos(1));
    // First, since the test cannot end before the check does.
    allow(&may_open);
    assert_eq!(late, first, "the store is not waited for");
    assert_eq!(known, Some(first), "its check counts from a minute later");
    let is_known = || cache.lock().names.last(&key(5)).is_some();
    while is_known() {
        tokio::task::yield_now().await;
    }
    assert_ne!(cache.get(&key(5)).await.unwrap().digest, first);
}

#[tokio::test]
async fn cache_reports_missing_models() {
    let (cache, _) = cache(30);
    let refused = |key| {
        let cache = Arc::clone(&cache);
        async move { cache.get(&key).await.err().unwrap() }
    };
    assert_eq!(refused(key(11)).await.status, Status::NotFound);
    let large = refused(key(1)).await;
    let message = "v1-1 takes 1 MiB, and --model-mib of this server is 0";
    assert_eq!((large.status, large.message.as_str()), (Status::NotFound, message));
    let other = ModelKey { digest: Some(Digest::of(b"other")), ..key(2) };
    assert!(refused(other).await.message.contains("the client wants"));
}

#[test]
fn failures_of_the_device_are_not_those_of_weights() {
    let status = |error: NetError| refusal(error.into()).status;
    assert_eq!(status(NetError::Torch("CUDA error".to_owned())), Status::Internal);
    assert_eq!(status(NetError::BadAnswer { row: 1 }), Status::Internal);
    assert_eq!(status(NetError::OutOfMemory { batch: 1024, fits: None }), Status::Internal);
    assert_eq!(status(NetError::NoHeader), Status::NotFound);
}
