//! How fast this machine evaluates and learns. Times are of the clock on the wall.

use std::time::{Duration, Instant};

use crate::layers::Place;
use crate::threads::single;
use crate::tower::{Format, Mode, Tower};
use crate::{Model, NetError, Weights, planes};

/// Evaluations before the clock starts: libtorch prepares its kernels in the first.
const WARM_UP: usize = 3;

/// Evaluations a second of `threads` threads, each with a network of its own: the bare network, nobody making moves.
///
/// # Errors
/// The device fails.
pub fn network(model: &Model, threads: usize, time: Duration) -> Result<f64, NetError> {
    std::thread::scope(|scope| {
        let one = || {
            let layers = model.layers();
            single();
            let planes = vec![1; layers.batch() * planes::len(model.shape().size)];
            Ok(layers.batch() as f64 * calls(time, || layers.forward(&planes).map(drop))?)
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a measurement does not panic")).sum()
    })
}

/// Evaluations a second of one thread that does nothing special: f32 on the CPU, batch norms not folded, libtorch's
/// default layout. What [`network`] is to be compared with.
///
/// # Errors
/// Memory runs out.
pub fn plain(weights: &Weights, batch: usize, time: Duration) -> Result<f64, NetError> {
    single();
    let _no_gradients = tch::no_grad_guard();
    let place = Place { device: tch::Device::Cpu, kind: tch::Kind::Float };
    let tower = Tower::new(weights, place, Format::Planes)?;
    let planes = vec![1; batch * planes::len(weights.shape().size)];
    Ok(batch as f64 * calls(time, || tower.forward(&planes, Mode::Playing).map(drop))?)
}

/// Calls a second, for about the given time.
fn calls(time: Duration, mut call: impl FnMut() -> Result<(), NetError>) -> Result<f64, NetError> {
    (0..WARM_UP).try_for_each(|_| call())?;
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < time || count == 0 {
        call()?;
        count += 1;
    }
    Ok(f64::from(count) / began.elapsed().as_secs_f64())
}
