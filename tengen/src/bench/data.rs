//! The way of examples: from games to shards, and from shards to tensors.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use config::{Preset, RunConfig, RunName};
use go::{MAX_SIDE, Size, Symmetry};
use net::{EncodedBatch, Shape, Targets};
use record::{GameRecord, synthetic};
use runtime::{Classify, Stop, format};
use serde::Serialize;
use shuffler::{Shuffler, memory_bound};
use store::{FileRef, Manifest, Run, Stem, Store, StoreError};
use tempfile::TempDir;

use super::Bench;
use super::clock::Rate;

/// Games that are published together.
const GAMES_PER_FILE: u64 = 200;

/// Examples in a batch.
const BATCH: usize = 256;

/// Visits of made-up searches, and examples sampled, where no argument says.
const VISITS: u32 = 30;
const SAMPLED: u64 = 16_384;

/// Arguments of `tengen bench data`.
#[derive(clap::Args, Debug)]
pub(super) struct Args {
    /// Board size; may be repeated
    #[arg(long, default_values = ["9", "19"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(Size::MIN.side()..=MAX_SIDE))]
    size: Vec<usize>,
    /// Positions in the window; may be repeated
    #[arg(long, default_values = ["100000", "1000000"], value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u64..))]
    window: Vec<u64>,
    /// Examples sampled from the window
    #[arg(long, default_value = "100000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(256_u32..))]
    examples: u32,
    /// Visits per synthetic search
    #[arg(long, default_value = "200", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(1_u32..))]
    visits: u32,
    /// Measure only the bytes of the games of this run [default: measure synthetic data]
    #[arg(long, value_name = "NAME")]
    run: Option<RunName>,
}

/// A sample from a window.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "shuffle")]
struct Shuffle {
    board: usize,
    window_positions: usize,
    examples: usize,
    seconds: f64,
    /// Of all threads of the process.
    cpu_seconds: f64,
    rows_per_cpu_s: f64,
    /// At most, beyond what the process had before there were games: with the memory that generation freed.
    memory_mib: f64,
    /// What the shuffler says that it takes at most.
    bound_mib: f64,
}

/// From shards to tensors.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "load")]
struct Load {
    board: usize,
    batch: usize,
    examples_per_s_per_core: f64,
}

/// Bytes on disk.
#[derive(Serialize)]
#[serde(tag = "bench", rename = "bytes")]
struct Bytes {
    /// Where the games are from.
    games: String,
    board: usize,
    positions: usize,
    games_bytes: f64,
    examples_bytes: f64,
}

impl fmt::Display for Shuffle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Shuffle { board, window_positions, examples, seconds, cpu_seconds, rows_per_cpu_s, memory_mib, bound_mib } =
            self;
        write!(f, "shuffle {board}x{board}, {examples} examples of {window_positions} positions: {seconds:.2} s, ")?;
        write!(f, "{cpu_seconds:.2} s on cores, {rows_per_cpu_s:.0} rows/s on a core, ")?;
        let [memory, bound] = [memory_mib, bound_mib].map(|mib| format::bytes((mib * f64::from(1 << 20)) as u64));
        write!(f, "{memory} of up to {bound}")
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Load { board, batch, examples_per_s_per_core } = self;
        write!(f, "load {board}x{board}, from shards into tensors, batches of {batch}, any symmetry: ")?;
        write!(f, "{examples_per_s_per_core:.0} examples/s on a core")
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bytes { games, board, positions, games_bytes, examples_bytes } = self;
        write!(
            f,
            "bytes for each of {positions} positions on {board}x{board}, {games}: games {games_bytes:.1} + examples "
        )?;
        write!(f, "{examples_bytes:.1} = {:.1}", games_bytes + examples_bytes)
    }
}

pub(super) fn run(bench: &Bench<'_>, args: &Args) -> anyhow::Result<()> {
    if let Some(name) = &args.run {
        let store = Store::open_existing(bench.store)?;
        if !Path::new(store.root()).is_dir() {
            return Err(anyhow!("--run measures files in a folder, and {} is none", store.root())).misconfigured();
        }
        let run = store.run(name);
        let config = runtime::run_config(&run)?;
        return bench.report(&bytes(&run, format!("run {name}"), config.game.size)?);
    }
    let before = status("VmRSS:")?;
    for &board in &args.size {
        let size = Size::new(board).misconfigured()?;
        let mut made = MadeUp::new(size, args.visits, before)?;
        let mut windows = args.window.clone();
        windows.sort_unstable();
        for (i, &window) in windows.iter().enumerate() {
            made.grow(window, bench.stop)?;
            if bench.stop.requested() {
                return Ok(());
            }
            let generation = i as u32 + 1;
            bench.report(&made.shuffle(args.examples as usize, generation)?)?;
            if i == 0 {
                bench.report(&made.load(bench, generation)?)?;
                bench.report(&bytes(&made.run, format!("made up, {} visits", args.visits), board)?)?;
            }
        }
    }
    Ok(())
}

/// Seconds for each example that is sampled for `config`, from a window of as many positions as it may have.
pub(super) fn seconds_per_example(config: &RunConfig, positions: u64) -> anyhow::Result<f64> {
    let mut made = MadeUp::new(config.game.board(), VISITS, 0)?;
    made.grow(positions, &Stop::never())?;
    let shuffled = made.shuffle(positions.min(SAMPLED) as usize, 1)?;
    Ok(shuffled.seconds / shuffled.examples as f64)
}

/// A run of made-up games by the model `random`, in a folder that is gone afterwards.
struct MadeUp {
    _folder: TempDir,
    run: Run,
    size: Size,
    visits: u32,
    games: u64,
    positions: u64,
    /// Memory of the process before it made up any game, in KiB.
    before: u64,
}

impl MadeUp {
    fn new(size: Size, visits: u32, before: u64) -> anyhow::Result<MadeUp> {
        let folder = TempDir::new()?;
        let run = Store::open(&folder.path().display().to_string())?.run(&"bench".parse()?);
        Ok(MadeUp { _folder: folder, run, size, visits, games: 0, positions: 0, before })
    }

    /// Makes up games until there are so many positions, or `stop` is requested.
    fn grow(&mut self, positions: u64, stop: &Stop) -> anyhow::Result<()> {
        while self.positions < positions && !stop.requested() {
            let numbers = self.games..self.games + GAMES_PER_FILE;
            let game = |index| synthetic::game("random", "w", index, self.size, self.visits);
            let games: Vec<GameRecord> = numbers.map(game).collect();
            self.run.games().publish_as(&FileRef { model: 0, stem: Stem::new("w", self.games)? }, &games)?;
            self.games += GAMES_PER_FILE;
            self.positions += games.iter().map(GameRecord::positions).sum::<usize>() as u64;
        }
        Ok(())
    }

    fn config(&self, examples: usize) -> anyhow::Result<RunConfig> {
        let overrides = [
            format!("game.size={}", self.size.side()),
            format!("window.games={}", self.games),
            "selfplay.first_games=1".to_owned(),
            "selfplay.games=1".to_owned(),
            "window.reuse_limit=1000000".to_owned(),
            format!("train.batch={BATCH}"),
            format!("train.steps={}", examples / BATCH),
        ];
        Ok(Preset::NineByNine.with(&overrides)?)
    }

    /// Samples from all that there is.
    fn shuffle(&self, examples: usize, generation: u32) -> anyhow::Result<Shuffle> {
        // A generation wants games of the model before it.
        let latest = synthetic::game("bench-0", "late", generation.into(), self.size, self.visits);
        let file = FileRef { model: generation - 1, stem: Stem::new("late", generation.into())? };
        self.run.games().publish_as(&file, &[latest])?;
        let config = self.config(examples)?;
        forget_peak()?;
        let (watch, cpu) = (Instant::now(), cpu_time()?);
        let manifest = Shuffler::new(&self.run, &config).publish(generation)?;
        let (seconds, cpu_seconds) = (watch.elapsed().as_secs_f64(), (cpu_time()? - cpu).as_secs_f64());
        let memory_mib = peak()?.saturating_sub(self.before) as f64 / 1024.0;
        let examples = manifest.sampled.examples;
        Ok(Shuffle {
            board: self.size.side(),
            window_positions: manifest.window.positions,
            examples,
            seconds,
            cpu_seconds,
            rows_per_cpu_s: examples as f64 / cpu_seconds,
            memory_mib,
            bound_mib: self.bound(&manifest)? as f64 / f64::from(1 << 20),
        })
    }

    /// What the shuffler says that it takes at most, in bytes.
    fn bound(&self, manifest: &Manifest) -> anyhow::Result<usize> {
        let mut rows = 0;
        for part in &manifest.parts {
            rows += self.run.shards().read(manifest.generation, part)?.memory();
        }
        Ok(memory_bound(rows, &manifest.window))
    }

    fn load(&self, bench: &Bench<'_>, generation: u32) -> anyhow::Result<Load> {
        let manifest = self.run.shards().manifest(generation)?.context("the shards were made just now")?;
        let config = self.config(BATCH)?;
        let targets = Targets::new(&config);
        let symmetries: Vec<Symmetry> = Symmetry::ALL.into_iter().cycle().take(BATCH).collect();
        let mut parts = manifest.parts.iter().cycle();
        let rate = Rate::measure(bench.time, bench.stop, || {
            let Some(part) = parts.next() else { return Ok(1.0) };
            let rows = self.run.shards().read(generation, part)?;
            for first in (0..rows.len()).step_by(BATCH) {
                let wanted: Vec<u32> = (first..rows.len().min(first + BATCH)).map(|row| row as u32).collect();
                EncodedBatch::new(Shape::plain(self.size), &rows.take(&wanted).to_examples(), &targets, &symmetries)?;
            }
            Ok(rows.len() as f64)
        })?;
        Ok(Load { board: self.size.side(), batch: BATCH, examples_per_s_per_core: rate.per_core() })
    }
}

/// Positions whose bytes are counted: more tell nothing more.
const COUNTED: usize = 200_000;

/// The bytes of the games of a run, its newest first, and of their examples.
fn bytes(run: &Run, games: String, board: usize) -> anyhow::Result<Bytes> {
    let (mut games_bytes, mut examples_bytes, mut positions) = (0, 0, 0);
    let loose = run.archives().loose_files()?;
    for file in loose.iter().rev() {
        let examples = match run.examples().read(file) {
            Err(StoreError::NotFound { .. }) => continue,
            read => read?,
        };
        // The examples of the validation set are in another folder.
        let summaries = run.games().summaries(file)?;
        let all: u32 = summaries.iter().map(|game| game.positions).sum();
        games_bytes += length(&run.games().name(file))? * examples.len() / (all as usize).max(1);
        examples_bytes += length(&run.examples().name(file))?;
        positions += examples.len();
        if positions >= COUNTED {
            break;
        }
    }
    anyhow::ensure!(positions > 0, "run {} has no games outside of archives", run.name());
    let each = |bytes: usize| bytes as f64 / positions as f64;
    let [games_bytes, examples_bytes] = [games_bytes, examples_bytes].map(each);
    Ok(Bytes { games, board, positions, games_bytes, examples_bytes })
}

fn length(name: &str) -> anyhow::Result<usize> {
    Ok(fs::metadata(Path::new(name)).with_context(|| format!("cannot measure {name}"))?.len() as usize)
}

/// [`peak`] measures from here on. Linux, proc(5).
pub(super) fn forget_peak() -> anyhow::Result<()> {
    fs::write("/proc/self/clear_refs", "5").context("the peak of memory cannot be reset")
}

/// The most memory this process had since then, in KiB.
pub(super) fn peak() -> anyhow::Result<u64> {
    status("VmHWM:")
}

fn status(key: &str) -> anyhow::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(key)).context("the system does not say")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Time on cores of all threads so far; proc(5), `/proc/[pid]/stat`, in the ticks of 10 ms that Linux has on x86.
fn cpu_time() -> anyhow::Result<Duration> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = text.rsplit_once(')').context("the system does not say")?;
    let ticks: u64 = rest.split_whitespace().skip(11).take(2).map(str::parse::<u64>).sum::<Result<_, _>>()?;
    Ok(Duration::from_millis(10 * ticks))
}
