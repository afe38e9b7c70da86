//! Many requests at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::files::FileRef;
use crate::games::Games;
use crate::store::Store;

/// Files of a bucket that are read at once: most of the time they are waited for.
const FROM_A_BUCKET: usize = 8;
/// Files of a folder that are read at once. They are there at once, and what a thread takes up while it reads it keeps.
const FROM_A_FOLDER: usize = 2;

/// Items whose requests are sent before an error of one of them is noticed.
pub(crate) const STRETCH: usize = 64;

impl Store {
    /// How many files are read at once.
    pub(crate) fn at_once(&self) -> usize {
        if self.folder().is_some() { FROM_A_FOLDER } else { FROM_A_BUCKET }
    }

    /// Results of `work` for each item, in their order, several at once. An error of one stops no other, so callers
    /// pass as many items at a time as may fail together.
    pub fn each<I: Sync, T: Send>(&self, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
        if items.len() < 2 {
            return items.iter().map(work).collect();
        }
        self.each_beside(items, work, || ()).0
    }

    /// The same, and the result of what this thread does meanwhile.
    fn each_beside<I: Sync, T: Send, M>(
        &self,
        items: &[I],
        work: impl Fn(&I) -> T + Sync,
        meanwhile: impl FnOnce() -> M,
    ) -> (Vec<T>, M) {
        let next = AtomicUsize::new(0);
        let some = || {
            let mine = || {
                let place = next.fetch_add(1, Ordering::Relaxed);
                items.get(place).map(|item| (place, item))
            };
            std::iter::from_fn(mine).map(|(place, item)| (place, work(item))).collect::<Vec<(usize, T)>>()
        };
        let (mut done, other): (Vec<(usize, T)>, M) = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.at_once().min(items.len())).map(|_| scope.spawn(some)).collect();
            let other = meanwhile();
            let done = threads.into_iter().flat_map(|thread| thread.join().expect("requests do not panic"));
            (done.collect(), other)
        });
        done.sort_unstable_by_key(|(place, _)| *place);
        (done.into_iter().map(|(_, answer)| answer).collect(), other)
    }
}

impl Games {
    /// Results of `read` for each file, in their order. Files outside of archives are read several at once; those in
    /// archives one after the other, since they share the parts that are read.
    pub fn read_each<T: Send>(&self, files: &[FileRef], read: impl Fn(&FileRef) -> T + Sync) -> Vec<T> {
        let is_loose = |&place: &usize| self.archives.known_holding(&files[place]).is_none();
        let (loose, archived): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(is_loose);
        let at = |place: &usize| read(&files[*place]);
        let in_turn = || archived.iter().map(at).collect::<Vec<T>>();
        let (of_loose, of_archived) = self.at.store.each_beside(&loose, at, in_turn);
        let answers = loose.iter().zip(of_loose).chain(archived.iter().zip(of_archived));
        let mut answers: Vec<(usize, T)> = answers.map(|(&place, answer)| (place, answer)).collect();
        answers.sort_unstable_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }
}
