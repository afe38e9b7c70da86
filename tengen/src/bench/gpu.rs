//! A GPU: what it computes at most, and how much of that self-play reaches.

use std::ffi::OsStr;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use config::MOST_BATCH;
use net::{Backend, BareNetwork, Device, MatrixProduct, Model, Precision, QueueCounts};
use play::EvaluatorCounts;
use runtime::{Classify, ResourceArgs};
use serde::Serialize;

use super::Bench;
use super::clock::Rate;
use super::network::model;
use super::played::{on_threads, per_second};
use super::selfplay::of_thread;
use super::subject::{Subject, SubjectArgs, Tower};

/// Rows and columns of the matrices, at which a large GPU is as fast as it gets.
const SIDE: usize = 8192;
/// Between two waits for the device there is at least so much work, so that waiting costs nothing.
const STRETCH: Duration = Duration::from_millis(20);
/// How often utilisation is read.
const READING_MS: u32 = 200;

/// Arguments of `tengen bench gpu`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Positions per batch of the bare network; may be repeated
    #[arg(long, default_values = ["256", "512", "1024", "2048", "4096"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1..=MOST_BATCH as u32))]
    batch: Vec<u32>,
    #[command(flatten)]
    resources: ResourceArgs,
}

/// The rate of a matrix product.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "matrix product")]
struct Matrix {
    device: String,
    precision: String,
    side: usize,
    tflop_per_s: f64,
}

impl fmt::Display for Matrix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Matrix { device, precision, side, tflop_per_s } = self;
        write!(f, "matrix product {side}x{side} in {precision} on {device}: {tflop_per_s:.1} Tflop/s")
    }
}

/// The rate of the bare network.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "bare network")]
struct Bare {
    #[serde(flatten)]
    tower: Tower,
    batch: u32,
    evaluations_per_s: f64,
    tflop_per_s: f64,
    /// Of the rate of the matrix product.
    share: f64,
}

impl fmt::Display for Bare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bare { tower, batch, evaluations_per_s, tflop_per_s, share } = self;
        write!(f, "network {tower}, batches of {batch:4}: {evaluations_per_s:9.0} evaluations/s, ")?;
        write!(f, "{tflop_per_s:.1} Tflop/s, {:.1} % of the matrix product", 100.0 * share)
    }
}

/// Self-play.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "selfplay on gpu")]
struct SelfplayOnGpu {
    #[serde(flatten)]
    tower: Tower,
    visits: u32,
    threads: usize,
    batch: usize,
    evaluations_per_s: f64,
    positions_per_s: f64,
    /// Of the rate of the bare network, at its best size of batch.
    share: f64,
    /// Positions of a batch on the device, and the rows that were computed for it.
    positions_per_batch: f64,
    rows_per_batch: f64,
    /// Share of the time in which the device had a batch.
    busy: f64,
    /// Share of the time in which it computed, by `nvidia-smi`.
    utilisation: Option<f64>,
    /// Time on a core for each evaluation, of all threads that search.
    searching_us: f64,
    /// Elapsed time for each evaluation: of the threads that search for making planes bits, and of the device's thread
    /// for starting batches and for copying outputs. Where threads wait for cores, that is in it.
    packing_us: f64,
    launching_us: f64,
    reading_us: f64,
    /// Bytes on the bus for each evaluation, and in a second.
    bytes_up: f64,
    bytes_down: f64,
    gb_per_s: f64,
}

impl fmt::Display for SelfplayOnGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SelfplayOnGpu { tower, visits, threads, batch, .. } = self;
        write!(f, "selfplay {tower}, {visits} visits, {threads} threads with batches of {batch}: ")?;
        write!(f, "{:.0} evaluations/s, {:.0} positions/s, ", self.evaluations_per_s, self.positions_per_s)?;
        writeln!(f, "{:.1} % of the bare network", 100.0 * self.share)?;
        write!(f, "  device: {:.0} positions in {:.0} rows, ", self.positions_per_batch, self.rows_per_batch)?;
        write!(f, "with a batch in {:.1} % of the time, ", 100.0 * self.busy)?;
        match self.utilisation {
            Some(utilisation) => writeln!(f, "utilisation {:.0} %", 100.0 * utilisation)?,
            None => writeln!(f, "utilisation unknown: nvidia-smi is missing or does not tell")?,
        }
        write!(f, "  an evaluation: search {:.2} µs of a core; elapsed, ", self.searching_us)?;
        write!(f, "planes to bits {:.2} µs, starting batches {:.2} µs, ", self.packing_us, self.launching_us)?;
        writeln!(f, "copying outputs {:.2} µs", self.reading_us)?;
        write!(f, "  bus: {:.0} bytes to the device and {:.0} back ", self.bytes_up, self.bytes_down)?;
        write!(f, "for each evaluation, {:.2} GB/s", self.gb_per_s)
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    let device = gpu(args.resources.device().parse().misconfigured()?).misconfigured()?;
    let matrix = matrix(bench, device)?;
    bench.report(&matrix)?;
    for subject in args.subject.subjects(bench.store)? {
        let mut best: f64 = 0.0;
        for &batch in &args.batch {
            if bench.stop.requested() {
                return Ok(());
            }
            let bare = bare(bench, device, &subject, batch, matrix.tflop_per_s)?;
            best = best.max(bare.evaluations_per_s);
            bench.report(&bare)?;
        }
        if !bench.stop.requested() {
            bench.report(&measure_selfplay(bench, &args.resources, device, &subject, best)?)?;
        }
    }
    Ok(())
}

/// The GPU that is meant, or why it cannot be used.
fn gpu(device: Device) -> anyhow::Result<Device> {
    let device = if device == Device::Auto { Device::Cuda(0) } else { device };
    let backend = Backend::open(device, Precision::Auto)?;
    anyhow::ensure!(!backend.is_cpu(), "this benchmark is for GPUs; use bench network and bench selfplay for a CPU");
    Ok(device)
}

/// How often `step` is done in a second, several times between two waits for the device.
fn rate(bench: &Bench<'_>, step: impl Fn(usize) -> Result<(), net::NetError>) -> anyhow::Result<f64> {
    // libtorch prepares its kernels in the first one.
    step(1)?;
    let began = Instant::now();
    step(1)?;
    let stretch = (STRETCH.div_duration_f64(began.elapsed()).ceil() as usize).clamp(1, 1000);
    Ok(Rate::measure(bench.time, bench.stop, || Ok(step(stretch).map(|()| stretch as f64)?))?.per_second())
}

fn matrix(bench: &Bench<'_>, device: Device) -> anyhow::Result<Matrix> {
    let product = MatrixProduct::new(device, Precision::Auto, SIDE).misconfigured()?;
    let per_s = rate(bench, |times| product.multiply(times))?;
    let (precision, tflop_per_s) = (product.precision().to_string(), per_s * product.operations() / 1e12);
    Ok(Matrix { device: device.to_string(), precision, side: SIDE, tflop_per_s })
}

fn bare(
    bench: &Bench<'_>,
    device: Device,
    subject: &Subject,
    batch: u32,
    most_tflop_per_s: f64,
) -> anyhow::Result<Bare> {
    let network = BareNetwork::new(&subject.weights, device, Precision::Auto, batch as usize).misconfigured()?;
    let evaluations_per_s = f64::from(batch) * rate(bench, |times| network.evaluate(times))?;
    let tflop_per_s = evaluations_per_s * subject.weights.shape().operations() as f64 / 1e12;
    Ok(Bare { tower: subject.tower(), batch, evaluations_per_s, tflop_per_s, share: tflop_per_s / most_tflop_per_s })
}

fn measure_selfplay(
    bench: &Bench<'_>,
    place: &ResourceArgs,
    device: Device,
    subject: &Subject,
    bare_evaluations_per_s: f64,
) -> anyhow::Result<SelfplayOnGpu> {
    let config = &subject.config;
    let batch = config.selfplay.batch;
    let model: Model = model(&subject.weights, device, Precision::Auto, batch)?;
    let threads = place.search_threads(true);
    let counts = || model.queue_counts().first().copied().unwrap_or_default();
    let (before, began, readings) = (counts(), Instant::now(), Readings::start(device));
    let played = on_threads(threads, |thread| of_thread(bench, &model, config, place.cache(), thread))?;
    let (wall, utilisation) = (began.elapsed(), readings.and_then(Readings::mean));
    let after: QueueCounts = counts();
    let since = |of: fn(&QueueCounts) -> u64| (of(&after) - of(&before)) as f64;
    let spent = |of: fn(&QueueCounts) -> Duration| (of(&after) - of(&before)).as_secs_f64();
    let positions = since(|counts| counts.positions).max(1.0);
    let batches = since(|counts| counts.batches).max(1.0);
    let us = |seconds: f64| 1e6 * seconds / positions;
    let evaluated = |counts: &EvaluatorCounts| counts.evaluations as f64;
    let core: f64 = played.iter().map(|thread| thread.spent.core.as_secs_f64()).sum();
    let evaluations: f64 = played.iter().map(|thread| evaluated(&thread.counts)).sum();
    let evaluations_per_s = per_second(&played, |thread| evaluated(&thread.counts));
    let (up, down) = (since(|counts| counts.bytes_up), since(|counts| counts.bytes_down));
    Ok(SelfplayOnGpu {
        tower: subject.tower(),
        visits: config.at(0).search.visits,
        threads,
        batch,
        evaluations_per_s,
        positions_per_s: per_second(&played, |thread| thread.moves as f64),
        share: evaluations_per_s / bare_evaluations_per_s,
        positions_per_batch: positions / batches,
        rows_per_batch: since(|counts| counts.rows) / batches,
        busy: spent(|counts| counts.busy) / wall.as_secs_f64(),
        utilisation,
        searching_us: 1e6 * core / evaluations,
        packing_us: us(spent(|counts| counts.packing)),
        launching_us: us(spent(|counts| counts.launching)),
        reading_us: us(spent(|counts| counts.reading)),
        bytes_up: up / positions,
        bytes_down: down / positions,
        gb_per_s: (up + down) / wall.as_secs_f64() / 1e9,
    })
}

/// Readings of utilisation by `nvidia-smi`, which runs as long as this lives.
struct Readings {
    program: Child,
    reader: Option<JoinHandle<Vec<f64>>>,
}

impl Drop for Readings {
    fn drop(&mut self) {
        // A program that has ended by itself is as good.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Readings {
    /// `None` where there is no GPU or no such program.
    fn start(device: Device) -> Option<Readings> {
        let Device::Cuda(number) = device else { return None };
        Readings::of("nvidia-smi", number)
    }

    /// The same of a GPU by its number, with a program that prints a percentage for each reading.
    fn of(program: impl AsRef<OsStr>, number: usize) -> Option<Readings> {
        let mut program = Command::new(program)
            .args(["--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-lms", &READING_MS.to_string()])
            .args(["-i", &number.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let lines = BufReader::new(program.stdout.take()?).lines();
        let numbers = move || lines.map_while(Result::ok).filter_map(|line| line.trim().parse().ok()).collect();
        Some(Readings { program, reader: Some(std::thread::spawn(numbers)) })
    }

    /// The mean share, without the first quarter.
    fn mean(mut self) -> Option<f64> {
        let reader = self.reader.take()?;
        // Without the program, the reader ends.
        drop(self);
        let readings = reader.join().ok()?;
        let late = &readings[readings.len() / 4..];
        (!late.is_empty()).then(|| late.iter().sum::<f64>() / late.len() as f64 / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use config::Preset;

    use super::*;

    /// A program in the shell. Another process writes it: one that is open for writing, if only in a process that
    /// another thread of this test has forked meanwhile, cannot be started.
    fn script(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("nvidia-smi");
        let write = "printf '#!/bin/sh\n%s\n' \"$2\" > \"$1\" && chmod +x \"$1\"";
        let status = Command::new("sh").args(["-c", write, "sh"]).arg(&path).arg(text).status().unwrap();
        assert!(status.success());
        path
    }

    #[test]
    fn utilisation_is_the_mean_of_later_readings_if_there_are_any() {
        let folder = tempfile::tempdir().unwrap();
        let lines = [
            ("echo 0; echo 75; echo 80; echo 85", Some(0.8)),
            ("echo 40", Some(0.4)),
            ("echo '[N/A]'", None),
            ("exit 9", None),
        ];
        for (text, expected) in lines {
            let mut readings = Readings::of(script(folder.path(), text), 0).unwrap();
            readings.program.wait().unwrap();
            assert_eq!(readings.mean(), expected, "{text}");
        }
        let silent = Readings::of(script(folder.path(), "exec sleep 600"), 0).unwrap();
        assert_eq!(silent.mean(), None);
        assert!(Readings::of(folder.path().join("absent"), 0).is_none() && Readings::start(Device::Cpu).is_none());
    }

    fn tower() -> Tower {
        let config = Preset::NineByNine.with(&["network.blocks=1", "network.filters=8", "train.grow=[]"]).unwrap();
        Subject::made_up(config).tower()
    }

    #[test]
    fn bare_network_is_a_line() {
        let (evaluations_per_s, tflop_per_s) = (123_456.7, 12.5);
        let bare = Bare { tower: tower(), batch: 256, evaluations_per_s, tflop_per_s, share: 0.5 };
        let expected =
            "network 9x9 1x8, batches of  256:    123457 evaluations/s, 12.5 Tflop/s, 50.0 % of the matrix product";
        assert_eq!(bare.to_string(), expected);
    }

    #[test]
    fn selfplay_is_four_lines_and_tells_that_utilisation_is_unknown() {
        let played = |utilisation| SelfplayOnGpu {
            tower: tower(),
            visits: 64,
            threads: 32,
            batch: 128,
            evaluations_per_s: 256_000.4,
            positions_per_s: 4000.0,
            share: 0.5,
            positions_per_batch: 911.0,
            rows_per_batch: 1107.0,
            busy: 0.75,
            utilisation,
            searching_us: 1.5,
            packing_us: 0.25,
            launching_us: 0.5,
            reading_us: 0.75,
            bytes_up: 1318.0,
            bytes_down: 328.0,
            gb_per_s: 0.5,
        };
        let expected = "\
            selfplay 9x9 1x8, 64 visits, 32 threads with batches of 128: 256000 evaluations/s, 4000 positions/s, \
            50.0 % of the bare network\n  \
            device: 911 positions in 1107 rows, with a batch in 75.0 % of the time, utilisation 25 %\n  \
            an evaluation: search 1.50 µs of a core; elapsed, planes to bits 0.25 µs, starting batches 0.50 µs, \
            copying outputs 0.75 µs\n  \
            bus: 1318 bytes to the device and 328 back for each evaluation, 0.50 GB/s";
        assert_eq!(played(Some(0.25)).to_string(), expected);
        let unknown =
            expected.replace("utilisation 25 %", "utilisation unknown: nvidia-smi is missing or does not tell");
        assert_eq!(played(None).to_string(), unknown);
    }
}
