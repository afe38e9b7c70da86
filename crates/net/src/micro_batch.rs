//! A batch in parts, and the threads that work on them.
//!
//! libtorch can spread each operation over threads, but on a CPU the gradients of convolutions then wait for each other
//! in a busy loop, many times in each: with one other program at work, two threads were seven times slower than one
//! (`experiments/0028-training-throughput`).
//! So a batch is cut into parts that are worked on by threads of ours, each part by one, and no thread waits before the
//! end. Parts do not depend on the number of threads, and their results are summed in their order, so neither does the
//! outcome. Batch norms see a part at a time.

use std::ops::{Deref, Range};
use std::panic::resume_unwind;

use crate::NetError;
use crate::threads::single;
use crate::tower::Tower;

/// Positions in a part whose batch norms are as in play, or a few less: enough for two threads to share a batch of 128.
const ROWS: usize = 64;

/// The parts of a batch: as many as needed for `most` rows each, of nearly equal size; 0: one.
pub(crate) fn parts(rows: usize, most: usize) -> Vec<Range<usize>> {
    let count = if most == 0 { 1 } else { rows.div_ceil(most).max(1) };
    (0..count).map(|part| part * rows / count..(part + 1) * rows / count).collect()
}

/// The parts of a batch that is not trained on. On a GPU, which wants as much work at once as there is, it is one.
pub(crate) fn parts_in_play(rows: usize, device: tch::Device) -> Vec<Range<usize>> {
    parts(rows, if device.is_cuda() { 0 } else { ROWS })
}

/// A tower that is trained, and copies of it for other threads. They hold handles to its numbers, which steps change in
/// place: so they are made once.
pub(crate) struct Towers {
    tower: Tower,
    copies: Vec<Tower>,
}

impl Deref for Towers {
    type Target = Tower;

    fn deref(&self) -> &Tower {
        &self.tower
    }
}

impl Towers {
    pub(crate) fn new(tower: Tower) -> Towers {
        Towers { tower, copies: Vec::new() }
    }

    /// As the function [`each`], with copies that are kept.
    pub(crate) fn each<P: Send, T: Send>(
        &mut self,
        threads: usize,
        parts: Vec<P>,
        work: impl Fn(&Tower, P) -> Result<T, NetError> + Sync,
    ) -> Result<Vec<T>, NetError> {
        let others = other_threads(threads, parts.len());
        while self.copies.len() < others {
            self.copies.push(self.tower.share());
        }
        spread(&self.tower, &mut self.copies[..others], parts, work)
    }
}

/// Works on parts with up to `threads` threads; returns the results in the order of the parts, or the first error. A
/// panic of a thread is one of the caller.
pub(crate) fn each<P: Send, T: Send>(
    tower: &Tower,
    threads: usize,
    parts: Vec<P>,
    work: impl Fn(&Tower, P) -> Result<T, NetError> + Sync,
) -> Result<Vec<T>, NetError> {
    let mut copies: Vec<Tower> = (0..other_threads(threads, parts.len())).map(|_| tower.share()).collect();
    spread(tower, &mut copies, parts, work)
}

/// Threads beside the caller's that work on so many parts.
fn other_threads(threads: usize, parts: usize) -> usize {
    threads.min(parts).saturating_sub(1)
}

/// Works on parts with this thread, and with another for each copy of the tower.
fn spread<P: Send, T: Send>(
    tower: &Tower,
    copies: &mut [Tower],
    parts: Vec<P>,
    work: impl Fn(&Tower, P) -> Result<T, NetError> + Sync,
) -> Result<Vec<T>, NetError> {
    let threads = 1 + copies.len();
    let mut shares: Vec<Vec<P>> = (0..threads).map(|_| Vec::new()).collect();
    for (i, part) in parts.into_iter().enumerate() {
        shares[i % threads].push(part);
    }
    let run = |tower: &Tower, share: Vec<P>| {
        single();
        share.into_iter().map(|part| work(tower, part)).collect::<Vec<_>>()
    };
    let run = &run;
    let mut results: Vec<_> = std::thread::scope(|scope| {
        let mut shares = shares.into_iter();
        let own = shares.next().unwrap_or_default();
        // A tensor may be sent to a thread, but not seen by two: each has a copy to itself.
        let others: Vec<_> = copies
            .iter_mut()
            .zip(shares)
            .map(|(copy, share)| {
                scope.spawn(move || {
                    let copy: &Tower = copy;
                    run(copy, share)
                })
            })
            .collect();
        let own = run(tower, own);
        // A panic of a thread says what libtorch refused, as one of this thread does.
        let others = others.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(others).map(Vec::into_iter).collect()
    });
    let mut order = (0..threads).cycle();
    std::iter::from_fn(|| results[order.next().expect("a cycle does not end")].next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Format;
    use crate::shim::unpanicked;
    use crate::tensor_options::TensorOptions;
    use crate::{Shape, Weights};

    #[test]
    fn parts_are_even_and_cover_the_batch() {
        let sizes = |rows| parts(rows, 64).iter().map(ExactSizeIterator::len).collect::<Vec<_>>();
        assert_eq!(sizes(256), [64; 4]);
        assert_eq!(sizes(65), [32, 33]);
        assert_eq!(sizes(64), [64]);
        assert_eq!(sizes(1), [1]);
        assert_eq!(parts(200, 64), [0..50, 50..100, 100..150, 150..200]);
        assert_eq!(parts(200, 64), parts_in_play(200, tch::Device::Cpu));
        for whole in [parts(4096, 0), parts(4096, 5000), parts_in_play(4096, tch::Device::Cuda(0))] {
            assert_eq!(whole, std::slice::from_ref(&(0..4096)));
        }
    }

    fn tower() -> Tower {
        let shape = Shape {
            blocks: 0,
            filters: 1,
            policy_planes: 2,
            value_planes: 1,
            value_hidden: 1,
            ..Shape::plain(go::Size::MIN)
        };
        let options = TensorOptions { device: tch::Device::Cpu, kind: tch::Kind::Float };
        Tower::new(&Weights::random(shape, 1), options, Format::Points).unwrap()
    }

    #[test]
    fn results_keep_the_order_of_the_parts() {
        let tower = tower();
        for threads in [1, 2, 3, 10] {
            let doubled = each(&tower, threads, (0..7).collect(), |_, part| Ok(2 * part)).unwrap();
            assert_eq!(doubled, [0, 2, 4, 6, 8, 10, 12]);
            let failed = each(&tower, threads, (0..7).collect(), |_, part: usize| match part {
                0..3 => Ok(part),
                step => Err(NetError::Diverged { step: step as u64, loss: f32::NAN }),
            });
            assert!(matches!(failed, Err(NetError::Diverged { step: 3, .. })));
        }
    }

    #[test]
    fn copies_are_made_once_and_follow_the_tower() {
        let mut towers = Towers::new(tower());
        let number = |tower: &Tower, (): ()| Ok(tower.trained().numbers.double_value(&[0]));
        for (threads, value, copies) in [(1, 3.0, 0), (3, 5.0, 2), (2, 7.0, 2), (9, 9.0, 4)] {
            let _no_gradients = tch::no_grad_guard();
            let _ = towers.trained().numbers.shallow_clone().fill_(value);
            assert_eq!(towers.each(threads, vec![(); 5], number).unwrap(), [value; 5]);
            assert_eq!(towers.copies.len(), copies);
        }
    }

    #[test]
    fn panic_of_any_thread_keeps_its_message() {
        let tower = tower();
        for panicking in 0..3 {
            let refuse = |_: &Tower, part: usize| -> Result<usize, NetError> {
                assert!(part != panicking, "CUDA error: part {part}");
                Ok(part)
            };
            let error = unpanicked(|| each(&tower, 3, (0..3).collect(), refuse)).unwrap_err();
            assert_eq!(error.to_string(), format!("libtorch: CUDA error: part {panicking}"));
        }
    }
}
