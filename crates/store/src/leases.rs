//! Leases: one process at a time works under a name, without a coordinator and without clocks.
//!
//! ```text
//! leases/selfplay/0/000003.toml          the third process that works as worker "0", and where it runs
//! leases/selfplay/0/000003.asked.toml    another process asks whether the third is alive
//! ```
//!
//! The highest number holds the lease. Its process asks every [`POLL`] for the question, which is one small request, and
//! answers by deleting it. A process that finds a lease decides whether its holder is alive:
//!
//! - The holder ran on this machine: the process table knows. A killed process is followed at once, a living one is named in
//!   the error.
//! - The holder ran elsewhere: the newcomer publishes the question. When the question disappears, the holder is alive. When it
//!   is still there after [`ANSWER`], the holder is dead, and the newcomer publishes the next number. One of several gets it.
//!
//! A holder that was out of reach for so long, and comes back, finds the question and the next number, and stops. The newcomer
//! looks once more for the question after it has published its number, so that of the two one always sees the other.
//!
//! A clean exit deletes the lease. A question that was never answered stays for a day, for a holder that comes back.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use object_store::path::Path;
use serde::{Deserialize, Serialize};

use crate::backoff::jittered;
use crate::names::{self, number_name, parse_number};
use crate::{Run, Stem, StoreError};

const LEASES: &str = "leases";
const TOML: &str = ".toml";
const ASKED: &str = ".asked.toml";

/// How often a holder looks for a question, plus or minus a quarter.
const POLL: Duration = Duration::from_secs(20);
/// How long a newcomer waits for the answer of a holder on another machine.
const ANSWER: Duration = Duration::from_secs(60);
/// How often the newcomer looks for it.
const LOOK: Duration = Duration::from_secs(2);
/// Unanswered questions are deleted after this time, in milliseconds by the clock of the place.
const FORGOTTEN: i64 = 24 * 3600 * 1000;

/// A name that one process at a time works under.
#[derive(Clone, Debug)]
pub struct LeaseName {
    /// The program.
    pub stage: &'static str,
    /// The name, which must be one of a worker.
    pub name: String,
    /// What the operator can do when another process has it.
    pub remedy: &'static str,
}

/// The right to work under a name, until it ends or is dropped.
#[derive(Debug)]
pub struct Lease {
    run: Run,
    name: LeaseName,
    number: u32,
    lost: Arc<OnceLock<Option<Holder>>>,
    _watch: Sender<()>,
}

/// A process, as others can find out whether it is alive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    host: String,
    process: u32,
    /// When the process began, in ticks since the machine started: process numbers are used again.
    started: u64,
    /// The start of the machine, which only that has.
    boot: String,
    /// The namespace of process numbers: containers have their own.
    namespace: String,
    /// When it took the lease, in milliseconds since 1970 by its clock: for people.
    time: u64,
    /// Chance, so that no two leases are the same.
    token: String,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Alive,
    Dead,
    /// It ran on another machine.
    Unknown,
}

impl Run {
    /// Takes the lease of a name. `wait` sleeps and answers whether the process is to stop: then there is none. `lost` is
    /// called when another process has taken the lease over since this one was out of reach.
    ///
    /// # Errors
    /// [`StoreError::Held`] while another process works under the name; a store that cannot be used.
    pub fn lease(
        &self,
        name: LeaseName,
        wait: &dyn Fn(Duration) -> bool,
        lost: impl Fn() + Send + 'static,
    ) -> Result<Option<Lease>, StoreError> {
        // Refuses names that cannot be those of files.
        Stem::new(&name.name, 0)?;
        let me = Holder::this(self.store().now());
        let Some(number) = self.take_lease(&name, &me, wait)? else { return Ok(None) };
        let (watch, ended) = mpsc::channel();
        let lease = Lease { run: self.clone(), name, number, lost: Arc::default(), _watch: watch };
        let watcher = Watcher { run: self.clone(), folder: lease.folder(), number, me, lost: lease.lost.clone() };
        let watched = thread::Builder::new().name("lease".to_owned()).spawn(move || {
            while ended.recv_timeout(jittered(POLL)) == Err(RecvTimeoutError::Timeout) {
                if watcher.look() {
                    lost();
                    return;
                }
            }
        });
        if let Err(error) = watched {
            tracing::warn!(%error, "the lease is not watched: another process may take it over");
        }
        Ok(Some(lease))
    }

    /// Does some work under a lease, as [`Run::lease`] says; `None` when the process is to stop before it has the lease.
    ///
    /// # Errors
    /// As [`Run::lease`] and [`Lease::end`], and those of the work.
    pub fn leased<T, E: From<StoreError>>(
        &self,
        name: LeaseName,
        wait: &dyn Fn(Duration) -> bool,
        lost: impl Fn() + Send + 'static,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        let Some(lease) = self.lease(name, wait, lost)? else { return Ok(None) };
        match work() {
            Ok(done) => lease.end().map(|()| Some(done)).map_err(E::from),
            Err(error) if lease.lost.get().is_none() => {
                // Where the store is out of reach the next process finds this one dead.
                self.store().delete_if_reachable(&lease_path(&lease.folder(), lease.number));
                Err(error)
            }
            Err(_) => lease.end().map(|()| None).map_err(E::from),
        }
    }

    /// The number of the lease that was taken.
    fn take_lease(
        &self,
        name: &LeaseName,
        me: &Holder,
        wait: &dyn Fn(Duration) -> bool,
    ) -> Result<Option<u32>, StoreError> {
        let folder = self.lease_folder(name);
        loop {
            let files = self.store().dated_files(&folder)?;
            let numbers =
                |suffix: &'static str| files.keys().filter_map(move |file| parse_number(file.strip_suffix(suffix)?));
            let (held, highest) = (numbers(TOML).max(), numbers(TOML).chain(numbers(ASKED)).max().unwrap_or(0));
            let mut asked = false;
            if let Some(held) = held {
                let Some(holder) = self.lease_holder(&folder, held)? else { continue };
                match holder.as_ref().map_or(State::Unknown, Holder::state) {
                    State::Alive => return Err(self.held(name, holder.as_ref())),
                    State::Dead => tracing::info!(
                        stage = name.stage,
                        name = name.name,
                        process = holder.map(|holder| holder.process),
                        "the process that had this name is dead; taking over"
                    ),
                    State::Unknown => match self.ask(&folder, held, name, holder.as_ref(), wait)? {
                        Answer::Stop => return Ok(None),
                        Answer::Released => continue,
                        Answer::Alive => return Err(self.held(name, holder.as_ref())),
                        Answer::None => asked = true,
                    },
                }
            }
            let number = highest + 1;
            match self.store().publish_toml(&lease_path(&folder, number), me) {
                Err(StoreError::AlreadyExists { .. }) => continue,
                published => published?,
            }
            if let Some(held) = held {
                if asked && !self.store().exists(&question_path(&folder, held))? {
                    self.store().delete(&lease_path(&folder, number))?;
                    continue;
                }
                self.store().delete(&lease_path(&folder, held))?;
            }
            self.forget_questions(&folder, &files)?;
            return Ok(Some(number));
        }
    }

    /// Asks a holder on another machine whether it is alive.
    fn ask(
        &self,
        folder: &Path,
        held: u32,
        name: &LeaseName,
        holder: Option<&Holder>,
        wait: &dyn Fn(Duration) -> bool,
    ) -> Result<Answer, StoreError> {
        tracing::warn!(
            stage = name.stage,
            name = name.name,
            host = holder.map(|holder| holder.host.as_str()),
            process = holder.map(|holder| holder.process),
            seconds = ANSWER.as_secs(),
            "another process has this name; waiting whether it is alive"
        );
        let question = question_path(folder, held);
        match self.store().publish(&question, bytes::Bytes::from_static(b"format = 1\n")) {
            Ok(()) | Err(StoreError::AlreadyExists { .. }) => {}
            Err(error) => return Err(error),
        }
        let mut waited = Duration::ZERO;
        while waited < ANSWER {
            if wait(LOOK) {
                return Ok(Answer::Stop);
            }
            waited += LOOK;
            if !self.store().exists(&question)? {
                let alive = self.store().exists(&lease_path(folder, held))?;
                return Ok(if alive { Answer::Alive } else { Answer::Released });
            }
        }
        let released = !self.store().exists(&lease_path(folder, held))?;
        Ok(if released { Answer::Released } else { Answer::None })
    }

    /// Deletes questions that no holder will see any more.
    fn forget_questions(
        &self,
        folder: &Path,
        files: &std::collections::BTreeMap<String, i64>,
    ) -> Result<(), StoreError> {
        let now = files.values().max().copied().unwrap_or_default().max(names::now() as i64);
        let old = files.iter().filter(|(file, time)| file.ends_with(ASKED) && now - **time > FORGOTTEN);
        old.map(|(file, _)| folder.clone().join(file.as_str())).try_for_each(|path| self.store().delete(&path))
    }

    /// The holder of a lease; `None` when it was released, and none within when the file is damaged.
    fn lease_holder(&self, folder: &Path, number: u32) -> Result<Option<Option<Holder>>, StoreError> {
        match self.store().find_toml::<Holder>(&lease_path(folder, number)) {
            Ok(found) => Ok(found.map(Some)),
            Err(StoreError::Damaged { .. }) => Ok(Some(None)),
            Err(error) => Err(error),
        }
    }

    fn held(&self, name: &LeaseName, holder: Option<&Holder>) -> StoreError {
        let run = self.name();
        let what = match name.name == name.stage {
            true => format!("the {} of run {run}", name.stage),
            false => format!("{} \"{}\" of run {run}", name.stage, name.name),
        };
        StoreError::Held {
            what,
            holder: holder.map_or_else(|| "another process".to_owned(), Holder::describe),
            remedy: name.remedy,
        }
    }

    fn lease_folder(&self, name: &LeaseName) -> Path {
        self.path([LEASES, name.stage]).join(name.name.as_str())
    }
}

/// What came of a question.
enum Answer {
    Alive,
    Released,
    None,
    Stop,
}

impl Lease {
    /// Ends the lease, so that the next process need not wait.
    ///
    /// # Errors
    /// [`StoreError::Held`] when another process has taken it over; a store that cannot be used.
    pub fn end(self) -> Result<(), StoreError> {
        if let Some(holder) = self.lost.get() {
            return Err(self.run.held(&self.name, holder.as_ref()));
        }
        self.run.store().delete(&lease_path(&self.folder(), self.number))
    }

    fn folder(&self) -> Path {
        self.run.lease_folder(&self.name)
    }
}

/// Looks after a lease while its process works.
struct Watcher {
    run: Run,
    folder: Path,
    number: u32,
    me: Holder,
    lost: Arc<OnceLock<Option<Holder>>>,
}

impl Watcher {
    /// Answers a question, if there is one, and whether the lease is lost.
    fn look(&self) -> bool {
        match self.answer() {
            Ok(Some(by)) => {
                let host = by.as_ref().map(|by| by.host.clone());
                tracing::error!(host, "another process has taken over this name; stopping");
                drop(self.lost.set(by));
                true
            }
            Ok(None) => false,
            // The work meets the same store and says what is wrong with it.
            Err(error) => {
                tracing::debug!(%error, "the lease could not be looked after");
                false
            }
        }
    }

    /// The process that has taken the lease over.
    fn answer(&self) -> Result<Option<Option<Holder>>, StoreError> {
        let question = question_path(&self.folder, self.number);
        if !self.run.store().exists(&question)? {
            return Ok(None);
        }
        self.run.store().delete(&question)?;
        if let Some(next) = self.run.lease_holder(&self.folder, self.number + 1)? {
            return Ok(Some(next));
        }
        let own = self.run.lease_holder(&self.folder, self.number)?;
        Ok(if own == Some(Some(self.me.clone())) { None } else { Some(None) })
    }
}

impl Holder {
    /// This process.
    fn this(time: u64) -> Holder {
        let text = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let process = std::process::id();
        Holder {
            host: text("/proc/sys/kernel/hostname"),
            process,
            started: started(process).unwrap_or_default(),
            boot: text("/proc/sys/kernel/random/boot_id"),
            namespace: namespace(),
            time,
            token: format!("{:016x}", RandomState::new().hash_one(process)),
        }
    }

    /// Whether the process is alive, as far as this one can see.
    fn state(&self) -> State {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if self.boot.is_empty() || self.boot != boot.trim() || self.namespace != namespace() {
            return State::Unknown;
        }
        if started(self.process) == Some(self.started) { State::Alive } else { State::Dead }
    }

    fn describe(&self) -> String {
        format!("process {} on {}", self.process, if self.host.is_empty() { "another machine" } else { &self.host })
    }
}

fn namespace() -> String {
    fs::read_link("/proc/self/ns/pid").map(|path| path.display().to_string()).unwrap_or_default()
}

/// When a process began, in ticks since the machine started (proc(5), field 22); `None` when it is gone, or ended and not
/// waited for.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    fields.nth(18)?.parse().ok().filter(|_| !is_over)
}

fn lease_path(folder: &Path, number: u32) -> Path {
    folder.clone().join(format!("{}{TOML}", number_name(number)))
}

fn question_path(folder: &Path, number: u32) -> Path {
    folder.clone().join(format!("{}{ASKED}", number_name(number)))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::Command;

    use super::*;
    use crate::Store;

    fn run() -> Run {
        Store::in_memory().unwrap().run(&"run".parse().unwrap())
    }

    fn worker(name: &str) -> LeaseName {
        LeaseName { stage: "selfplay", name: name.to_owned(), remedy: "--worker NAME" }
    }

    fn never(_: Duration) -> bool {
        panic!("nothing is waited for")
    }

    fn take(run: &Run) -> Result<Option<Lease>, StoreError> {
        run.lease(worker("0"), &never, || {})
    }

    /// A lease of another machine, or of a process of this one.
    fn leave(run: &Run, number: u32, change: impl Fn(&mut Holder)) -> Holder {
        let mut holder = Holder::this(1);
        change(&mut holder);
        let path = lease_path(&run.lease_folder(&worker("0")), number);
        run.store().publish_toml(&path, &holder).unwrap();
        holder
    }

    fn elsewhere(holder: &mut Holder) {
        holder.boot = "another machine".to_owned();
        holder.host = "far".to_owned();
    }

    fn watcher(run: &Run, number: u32, me: Holder) -> Watcher {
        let folder = run.lease_folder(&worker("0"));
        Watcher { run: run.clone(), folder, number, me, lost: Arc::default() }
    }

    #[test]
    fn lease_held_by_a_living_process_is_refused_and_free_once_it_ends() {
        let run = run();
        let lease = take(&run).unwrap().unwrap();
        let error = take(&run).unwrap_err();
        assert!(matches!(error, StoreError::Held { .. }) && error.is_misconfiguration());
        let said = error.to_string();
        for words in ["selfplay \"0\" of run run", &format!("process {}", std::process::id()), "--worker NAME"] {
            assert!(said.contains(words), "{said}");
        }
        assert!(run.lease(worker("1"), &never, || {}).unwrap().is_some(), "another name");
        lease.end().unwrap();
        assert!(take(&run).unwrap().is_some());
    }

    #[test]
    fn lease_of_a_dead_process_of_this_machine_is_taken_at_once() {
        let mut child = Command::new("true").spawn().unwrap();
        let process = child.id();
        child.wait().unwrap();
        let run = run();
        leave(&run, 1, |holder| holder.process = process);
        let lease = take(&run).unwrap().unwrap();
        assert_eq!(lease.number, 2);
        // Its number may belong to another process by now.
        let other = self::run();
        leave(&other, 1, |holder| holder.started += 1);
        assert!(take(&other).unwrap().is_some());
    }

    #[test]
    fn lease_of_a_process_that_ended_and_was_not_waited_for_is_taken_at_once() {
        let mut child = Command::new("true").spawn().unwrap();
        while started(child.id()).is_some() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(fs::exists(format!("/proc/{}/stat", child.id())).unwrap());
        child.wait().unwrap();
    }

    #[test]
    fn lease_of_a_silent_process_elsewhere_is_taken_after_a_minute() {
        let run = run();
        let gone = leave(&run, 4, elsewhere);
        let waited = Cell::new(Duration::ZERO);
        let wait = |time| {
            waited.set(waited.get() + time);
            false
        };
        let lease = run.lease(worker("0"), &wait, || {}).unwrap().unwrap();
        assert_eq!((lease.number, waited.get()), (5, ANSWER));
        // It comes back, and sees what has happened.
        let back = watcher(&run, 4, gone);
        assert!(back.look());
        assert_eq!(back.lost.get().unwrap().as_ref().unwrap().process, std::process::id());
        lease.end().unwrap();
        // It has seen the question, so no number needs to be remembered.
        assert_eq!(take(&run).unwrap().unwrap().number, 1);
    }

    #[test]
    fn lease_of_a_living_process_elsewhere_is_refused_once_it_answers() {
        let run = run();
        let holder = leave(&run, 1, elsewhere);
        let alive = watcher(&run, 1, holder);
        let looks = Cell::new(0);
        let wait = |_| {
            looks.set(looks.get() + 1);
            if looks.get() == 3 {
                assert!(!alive.look());
            }
            false
        };
        let error = run.lease(worker("0"), &wait, || {}).unwrap_err();
        assert!(error.to_string().contains("on far"), "{error}");
        assert_eq!(looks.get(), 3);
        assert!(!alive.look(), "it goes on");
        assert!(run.lease(worker("0"), &|_| true, || {}).unwrap().is_none(), "told to stop while it waits");
    }

    #[test]
    fn lease_is_taken_when_its_holder_ends_meanwhile() {
        let run = run();
        leave(&run, 1, elsewhere);
        let folder = run.lease_folder(&worker("0"));
        let wait = |_| {
            run.store().delete(&lease_path(&folder, 1)).unwrap();
            run.store().delete(&question_path(&folder, 1)).unwrap();
            false
        };
        assert!(run.lease(worker("0"), &wait, || {}).unwrap().is_some());
    }

    #[test]
    fn lease_goes_to_one_of_several() {
        let run = run();
        let taken: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| take(&run))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|taken| taken.is_ok()).count(), 1);
    }
}
