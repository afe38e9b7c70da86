use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use exit_class::{Classified, ExitClass};
use testing::s3::{Refusal, Server};
use testing::wait_until;

use super::holder::started;
use super::*;

fn leases() -> Leases {
    Leases { at: RunFolder::in_memory() }
}

fn worker(name: &str) -> LeaseName {
    LeaseName { stage: "selfplay", name: name.to_owned(), remedy: "--worker NAME" }
}

fn never(_: Duration) -> ControlFlow<()> {
    panic!("nothing is waited for")
}

fn acquire(leases: &Leases) -> Result<Option<Lease>, StoreError> {
    leases.acquire(worker("0"), &never, || {})
}

/// Acquires a lease without waiting in reality; returns for how long it would have waited.
fn acquire_waiting(leases: &Leases) -> (Lease, Duration) {
    let waited = Cell::new(Duration::ZERO);
    let wait = |time| {
        waited.set(waited.get() + time);
        ControlFlow::Continue(())
    };
    let lease = leases.acquire(worker("0"), &wait, || {}).unwrap().unwrap();
    (lease, waited.get())
}

/// A lease of another machine, or of a process of this one.
fn leave(leases: &Leases, number: u32, change: impl Fn(&mut Holder)) -> Holder {
    let mut holder = Holder::this(1);
    change(&mut holder);
    let path = lease_path(&leases.folder(&worker("0")), number);
    leases.at.store.publish_toml(&path, &holder).unwrap();
    holder
}

fn elsewhere(holder: &mut Holder) {
    holder.boot = "another machine".to_owned();
    holder.host = "far".to_owned();
}

fn watcher(leases: &Leases, number: u32, me: Holder) -> Watcher {
    let folder = leases.folder(&worker("0"));
    Watcher { leases: leases.clone(), folder, number, me, lost: Arc::default(), unseen: Cell::new(false) }
}

#[test]
fn lease_of_a_living_process_is_refused_and_free_after_its_exit() {
    let leases = leases();
    let lease = acquire(&leases).unwrap().unwrap();
    let error = acquire(&leases).unwrap_err();
    assert!(matches!(error, StoreError::Held { .. }) && error.class() == ExitClass::Configuration);
    let said = error.to_string();
    for words in ["selfplay \"0\" of run run", &format!("process {}", std::process::id()), "--worker NAME"] {
        assert!(said.contains(words), "{said}");
    }
    assert!(leases.acquire(worker("1"), &never, || {}).unwrap().is_some(), "another name");
    lease.release().unwrap();
    assert!(acquire(&leases).unwrap().is_some());
}

#[test]
fn lease_of_a_dead_process_of_this_machine_is_taken_at_once() {
    let mut child = Command::new("true").spawn().unwrap();
    let process = child.id();
    child.wait().unwrap();
    let leases = leases();
    leave(&leases, 1, |holder| holder.process = process);
    let lease = acquire(&leases).unwrap().unwrap();
    assert_eq!(lease.number, 2);
    // Its number may belong to another process by now.
    let other = self::leases();
    leave(&other, 1, |holder| holder.started += 1);
    assert!(acquire(&other).unwrap().is_some());
}

#[test]
fn lease_of_a_process_that_ended_and_was_not_waited_for_is_taken_at_once() {
    // It ends with its input.
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (process, began) = (child.id(), started(child.id()).unwrap());
    let leases = leases();
    leave(&leases, 1, |holder| (holder.process, holder.started) = (process, began));
    assert!(matches!(acquire(&leases), Err(StoreError::Held { .. })), "it is alive");
    drop(child.stdin.take());
    wait_until("the end of the process", || started(process).is_none());
    assert!(fs::exists(format!("/proc/{process}/stat")).unwrap());
    assert_eq!(acquire(&leases).unwrap().unwrap().number, 2);
    child.wait().unwrap();
}

/// Such a file names no process: it is treated as that of a process elsewhere.
#[test]
fn lease_whose_file_is_cut_off_is_taken_after_a_minute() {
    let leases = leases();
    let path = lease_path(&leases.folder(&worker("0")), 1);
    leases.at.store.publish(&path, bytes::Bytes::from_static(b"format = 1\nhost = \"fa")).unwrap();
    let held = leases.observe().unwrap();
    assert_eq!((held.len(), leases.holder_of(&held[0]).unwrap()), (1, None));
    let (lease, waited) = acquire_waiting(&leases);
    assert_eq!((lease.number, waited), (2, RESPONSE));
    assert!(!leases.at.store.exists(&path).unwrap());
}

/// Whether such a process is alive, and how to ask it, is not known.
#[test]
fn lease_of_a_later_version_is_named_and_not_taken() {
    let leases = leases();
    let own = leave(&leases, 1, elsewhere);
    let path = lease_path(&leases.folder(&worker("0")), 2);
    leases.at.store.publish(&path, bytes::Bytes::from_static(b"format = 2\nid = 7\n")).unwrap();
    let held = leases.observe().unwrap();
    for error in [acquire(&leases).unwrap_err(), leases.holder_of(&held[0]).unwrap_err()] {
        assert!(matches!(error, StoreError::OtherVersion { .. }), "{error}");
        assert!(error.class() == ExitClass::Configuration && error.to_string().contains("0/000002.toml"), "{error}");
    }
    assert!(leases.at.store.exists(&path).unwrap());
    // The process before it sees that it was followed.
    let back = watcher(&leases, 1, own);
    back.unseen.set(true);
    assert!(back.is_lost());
}

#[test]
fn lease_of_a_silent_process_elsewhere_is_taken_after_a_minute() {
    let leases = leases();
    let gone = leave(&leases, 4, elsewhere);
    let (lease, waited) = acquire_waiting(&leases);
    assert_eq!((lease.number, waited), (5, RESPONSE));
    // It comes back, and sees what has happened.
    let back = watcher(&leases, 4, gone);
    assert!(back.is_lost());
    assert_eq!(back.lost.get().unwrap().by.as_ref().unwrap().process, std::process::id());
    lease.release().unwrap();
    // It has seen the probe, so no number needs to be remembered.
    assert_eq!(acquire(&leases).unwrap().unwrap().number, 1);
}

/// Process numbers of one container say nothing of the processes of another.
#[test]
fn lease_of_a_silent_process_in_another_container_is_taken_after_a_minute() {
    let leases = leases();
    leave(&leases, 1, |holder| (holder.namespace, holder.started) = ("pid:[1]".to_owned(), 0));
    let (lease, waited) = acquire_waiting(&leases);
    assert_eq!((lease.number, waited), (2, RESPONSE));
}

/// It comes back, responds to the probe, and the store then fails again.
#[test]
fn lease_that_was_taken_over_is_lost_although_the_first_read_of_it_fails() {
    let server = Server::start().unwrap();
    let store = crate::Store::open_with(&server.url(), &server.options()).unwrap();
    let leases = Leases { at: RunFolder { store, name: "run".parse().unwrap() } };
    let gone = leave(&leases, 1, elsewhere);
    let lease = leases.acquire(worker("0"), &|_| ControlFlow::Continue(()), || {}).unwrap().unwrap();
    let back = watcher(&leases, 1, gone);
    server.refuse(Some(Refusal::WriteOnly));
    assert!(!back.is_lost(), "it cannot see it");
    server.refuse(None);
    assert!(!leases.at.store.exists(&probe_path(&leases.folder(&worker("0")), 1)).unwrap());
    assert!(back.is_lost());
    lease.release().unwrap();
}

#[test]
fn lease_of_a_living_process_elsewhere_is_refused_after_its_response() {
    let leases = leases();
    let holder = leave(&leases, 1, elsewhere);
    let alive = watcher(&leases, 1, holder);
    let looks = Cell::new(0);
    let second = 3 + DRAIN.as_secs() / LOOK.as_secs() + 2;
    let wait = |_| {
        looks.set(looks.get() + 1);
        if [3, second].contains(&looks.get()) {
            assert!(!alive.is_lost());
        }
        ControlFlow::Continue(())
    };
    let error = leases.acquire(worker("0"), &wait, || {}).unwrap_err();
    assert!(error.to_string().contains("on far"), "{error}");
    assert_eq!(looks.get(), second, "it may be about to exit");
    assert!(!alive.is_lost(), "it goes on");
    assert!(
        leases.acquire(worker("0"), &|_| ControlFlow::Break(()), || {}).unwrap().is_none(),
        "stopped while it waits"
    );
}

#[test]
fn lease_is_acquired_when_its_holder_exits_meanwhile() {
    let leases = leases();
    leave(&leases, 1, elsewhere);
    let folder = leases.folder(&worker("0"));
    let looks = Cell::new(0);
    // It exits before it polls for the probe.
    let wait = |_| {
        looks.set(looks.get() + 1);
        leases.at.store.delete(&lease_path(&folder, 1)).unwrap();
        ControlFlow::Continue(())
    };
    assert!(leases.acquire(worker("0"), &wait, || {}).unwrap().is_some());
    assert_eq!(looks.get(), 1, "the minute for a dead process is not waited for");
}

/// A pod starts while its predecessor on another node drains.
#[test]
fn lease_is_acquired_when_its_holder_responds_and_then_exits() {
    let leases = leases();
    let holder = leave(&leases, 1, elsewhere);
    let (draining, folder, looks) = (watcher(&leases, 1, holder), leases.folder(&worker("0")), Cell::new(0));
    let wait = |_| {
        looks.set(looks.get() + 1);
        match looks.get() {
            1 => assert!(!draining.is_lost()),
            3 => leases.at.store.delete(&lease_path(&folder, 1)).unwrap(),
            _ => {}
        }
        ControlFlow::Continue(())
    };
    assert!(leases.acquire(worker("0"), &wait, || {}).unwrap().is_some());
    assert_eq!(looks.get(), 3);
}

/// A node fails while the pod on it drains.
#[test]
fn lease_is_acquired_when_its_holder_responds_and_then_dies() {
    let leases = leases();
    let holder = leave(&leases, 1, elsewhere);
    let (dying, waited) = (watcher(&leases, 1, holder), Cell::new(Duration::ZERO));
    let wait = |time| {
        waited.set(waited.get() + time);
        if waited.get() == LOOK {
            assert!(!dying.is_lost());
        }
        ControlFlow::Continue(())
    };
    let lease = leases.acquire(worker("0"), &wait, || {}).unwrap().unwrap();
    assert_eq!((lease.number, waited.get()), (2, LOOK + DRAIN + RESPONSE));
    assert!(dying.is_lost(), "if it comes back");
    lease.release().unwrap();
}

#[test]
fn probes_are_deleted_after_a_day() {
    let place = tempfile::tempdir().unwrap();
    let store = crate::Store::open(place.path().to_str().unwrap()).unwrap();
    let leases = Leases { at: RunFolder { store, name: "run".parse().unwrap() } };
    let folder = leases.folder(&worker("0"));
    for (number, hours) in [(1, 25), (2, 23)] {
        let probe = probe_path(&folder, number);
        leases.at.store.publish(&probe, bytes::Bytes::from_static(b"format = 1\n")).unwrap();
        let file = File::options().write(true).open(place.path().join(probe.as_ref())).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(hours * 3600)).unwrap();
    }
    let lease = acquire(&leases).unwrap().unwrap();
    assert_eq!(lease.number, 3);
    let files = leases.at.store.files(&folder).unwrap();
    assert_eq!(files.into_iter().collect::<Vec<_>>(), ["000002.asked.toml", "000003.toml"]);
}

#[test]
fn lease_is_acquired_by_one_of_several() {
    let leases = leases();
    let taken: Vec<_> = thread::scope(|scope| {
        let acquire = || leases.acquire(worker("0"), &|_| ControlFlow::Continue(()), || {});
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(acquire)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 1);
}
