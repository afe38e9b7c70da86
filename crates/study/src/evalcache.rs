//! `tengen study evalcache`: how small evaluations of a model become, how near decoded ones are, and how fast that is.

use std::fmt;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use config::RunName;
use evalcache::compression_steps::{self, CompressionStep, Fidelity};
use evalcache::{Key, KomiCoding, Sample, Segment, Set, Steps, Symmetries, Tables, View, segment};
use go::{Game, Size};
use models::{ConfiguredModel, ModelName, Models, SegmentSource};
use play::{game_seed, generator};
use runtime::{Classify, DeviceArgs, Progress, Stop, thread_time};
use serde::Serialize;
use store::{Evaluations, Store};

use crate::batched_search::BATCH;
use crate::positions::recorded;

mod positions;

use positions::{Games, Sampled};

/// Entries of one segment, and bytes of each code, where opening is timed.
const MOST_ENTRIES: u32 = 4_000_000;
const CODE: usize = 24;
/// How long each speed is measured.
const TIME: Duration = Duration::from_secs(1);

/// Arguments of `tengen study evalcache`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), or a file of weights
    #[arg(long, env = "TENGEN_MODEL", value_name = "MODEL|FILE")]
    model: ModelName,
    /// Run whose rules a file plays by [default: those of configs/9x9.toml, on the board size of the file]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Evaluations of the sample
    #[arg(long, default_value = "20000", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(2_u32..))]
    positions: u32,
    /// Games whose positions are evaluated: .sgf or .sgf.gz; may be repeated [default: games drawn from the policy]
    #[arg(long, value_name = "FILE")]
    sgf: Vec<PathBuf>,
    /// Temperature of the policies before they are coded, from 0.1 to 1: below 1 as if the network were surer; may be
    /// repeated, for evaluations in turn [default: 1]
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = runtime::within(0.1..=1.0_f32))]
    temperature: Vec<f32>,
    /// Folder for tables that are fitted to the first half of the sample [default: none]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Random entries of segments whose opening is timed, in a temporary folder: 35 bytes each; 0: none
    #[arg(long, default_value = "0", value_name = "N", allow_negative_numbers = true, value_parser = runtime::within(0..=100_000_000_u32))]
    entries: u32,
    /// Print a JSON object instead of the table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    devices: DeviceArgs,
}

/// What was measured of one kind of evaluations, on the second half of the sample.
#[derive(Serialize)]
struct Case {
    steps: String,
    /// The first half.
    fitted: usize,
    /// The second half.
    measured: usize,
    ladder: Vec<(String, f64)>,
    /// Policy and value, with the built-in tables.
    entry_bytes: f64,
    /// The same with tables fitted to the first half.
    fitted_entry_bytes: f64,
    /// All of a segment that has the whole sample, divided by its evaluations.
    disk_bytes: f64,
    /// Without the tables, which do not grow.
    disk_bytes_without_tables: f64,
    memory_bytes: f64,
    policy_kl: f64,
    /// What of it is due to rounding moves with steps.
    policy_kl_of_rounding: f64,
    /// Probability of all moves without steps together.
    below: f64,
    top_1: f64,
    value_rms: f64,
    encode_ns: f64,
    decode_ns: f64,
    /// Key, view, lookup and decoding, one thread.
    look_ups_per_s: f64,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} steps, {} evaluations, tables of {} others", self.steps, self.measured, self.fitted)?;
        for (name, bytes) in &self.ladder {
            writeln!(f, "  {name:<36} {bytes:>9.2} B a policy")?;
        }
        writeln!(
            f,
            "  policy and value {:.2} B, with fitted tables {:.2} B",
            self.entry_bytes, self.fitted_entry_bytes
        )?;
        writeln!(
            f,
            "  on disk {:.2} B, without tables {:.2} B; in memory {:.2} B",
            self.disk_bytes, self.disk_bytes_without_tables, self.memory_bytes
        )?;
        writeln!(
            f,
            "  policy KL {:.2e} nats, {:.2e} of it rounding, {:.2} % in moves without steps",
            self.policy_kl,
            self.policy_kl_of_rounding,
            100.0 * self.below
        )?;
        writeln!(f, "  same top move {:.3} %, value error {:.5} rms", 100.0 * self.top_1, self.value_rms)?;
        write!(
            f,
            "  encode {:.0} ns, decode {:.0} ns, {:.0} lookups/s",
            self.encode_ns, self.decode_ns, self.look_ups_per_s
        )
    }
}

/// What opening segments costs.
#[derive(Serialize)]
struct Opened {
    entries: u64,
    segments: usize,
    bytes: u64,
    open_ms: f64,
    memory_bytes: f64,
    /// Lookup of a key that no segment has.
    miss_ns: f64,
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Opened { entries, segments, bytes, open_ms, memory_bytes, miss_ns } = self;
        write!(f, "{entries} entries in {segments} segments of {bytes} bytes together: open {open_ms:.1} ms, ")?;
        write!(f, "in memory {memory_bytes:.2} B each, a miss {miss_ns:.0} ns")
    }
}

/// Makes the sample and prints what was found.
///
/// # Errors
/// A model, a file or a configuration that cannot be used, or a device that fails.
pub(crate) fn run(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<()> {
    let Sampled { samples, games } = sample(store, args, stop)?;
    let (fitted, measured) = samples.split_at(samples.len() / 2);
    for steps in Steps::ALL {
        if stop.requested() {
            return Ok(());
        }
        let tables = evalcache::fit(fitted, steps);
        if let Some(folder) = &args.out {
            let path = folder.join(format!("{}-{steps}.tables", samples[0].view.size()));
            std::fs::write(&path, tables.to_bytes()).with_context(|| path.display().to_string())?;
        }
        let case = case(fitted, measured, &samples, &games, steps, &tables)?;
        if args.json { runtime::print(serde_json::to_string(&case)?)? } else { runtime::print(&case)? }
    }
    if args.entries > 0 {
        let opened = opened(args.entries, samples[0].view.size())?;
        if args.json { runtime::print(serde_json::to_string(&opened)?)? } else { runtime::print(&opened)? }
    }
    Ok(())
}

fn sample(store: &str, args: &Args, stop: &Stop) -> anyhow::Result<Sampled> {
    let device: net::Device = args.devices.device.parse().misconfigured()?;
    let place = device.into();
    let models = Models::new(Store::open_or_empty(store)?);
    let model = ConfiguredModel::open(&models, &args.model, args.run.as_ref(), &place, BATCH)?;
    let ConfiguredModel { config, searcher, .. } = model;
    let size = config.game.board();
    let games = if args.sgf.is_empty() {
        Games::Drawn(size)
    } else {
        // The last of a list is taken first.
        Games::Recorded(recorded(&args.sgf, size)?.into_iter().rev().collect())
    };
    let mut evaluator = searcher.evaluator(0);
    let mut rng = generator(game_seed(config.seed, searcher.name(), "evalcache", 0));
    let progress = Progress::new("evaluations", Some(args.positions.into()));
    let sampled =
        positions::samples(&mut *evaluator, games, config.game.komi, args.positions as usize, &mut rng, &mut |done| {
            progress.set(done as u64);
            !stop.requested()
        });
    let mut sampled = sampled.map_err(|error| anyhow::anyhow!(error))?;
    sampled.sharpen(&args.temperature);
    anyhow::ensure!(sampled.samples.len() >= 2, "no positions of a {size}x{size} board; name other games with --sgf");
    Ok(sampled)
}

fn case(
    fitted: &[Sample],
    measured: &[Sample],
    samples: &[Sample],
    games: &[(usize, Game)],
    steps: Steps,
    own: &Tables,
) -> anyhow::Result<Case> {
    let size = samples[0].view.size();
    let tables = Tables::built_in(size, steps);
    let written = compression_steps::measure(fitted, measured, steps, Some(&**tables));
    let Fidelity { kl, kl_of_rounding, below, top_1, value_rms, bytes, .. } =
        compression_steps::fidelity(measured, tables);
    let mut code = Vec::new();
    let encode_ns = nanoseconds(measured.len(), |nth| {
        let Sample { view, policy, value } = &measured[nth];
        code.clear();
        tables.encode(view, policy, *value, &mut code);
    });
    let codes: Vec<Vec<u8>> =
        measured.iter().map(|Sample { view, policy, value }| encoded(tables, view, policy, *value)).collect();
    let mut policy = vec![0.0; size.moves()];
    let decode_ns = nanoseconds(measured.len(), |nth| {
        black_box(tables.decode(&measured[nth].view, &codes[nth], &mut policy));
    });
    let disk = Disk::new(samples, games, tables)?;
    // A search looks up the position where it stands, so the copy of the game is in the processor's caches.
    let copied_ns = nanoseconds(games.len(), |nth| {
        black_box(games[nth].1.clone());
    });
    let mut bytes_read = Vec::new();
    let looked_up_ns = nanoseconds(games.len(), |nth| {
        disk.look_up(&games[nth].1.clone(), tables, &mut policy, &mut bytes_read);
    });
    Ok(Case {
        steps: steps.to_string(),
        fitted: fitted.len(),
        measured: measured.len(),
        ladder: written.into_iter().map(|CompressionStep { name, bytes }| (name.to_owned(), bytes)).collect(),
        entry_bytes: bytes,
        fitted_entry_bytes: compression_steps::fidelity(measured, own).bytes,
        disk_bytes: disk.bytes as f64 / disk.segment.head().entries as f64,
        disk_bytes_without_tables: (disk.bytes as f64 - 2.0 * tables.to_bytes().len() as f64)
            / disk.segment.head().entries as f64,
        memory_bytes: disk.segment.memory() as f64 / disk.segment.head().entries as f64,
        policy_kl: kl,
        policy_kl_of_rounding: kl_of_rounding,
        below,
        top_1,
        value_rms,
        encode_ns,
        decode_ns,
        look_ups_per_s: 1e9 / (looked_up_ns - copied_ns),
    })
}

fn encoded(tables: &Tables, view: &View, policy: &[f32], value: f32) -> Vec<u8> {
    let mut code = Vec::new();
    // An invalid evaluation has an empty code.
    let _ = tables.encode(view, policy, value, &mut code);
    code
}

/// Nanoseconds on a core for one of `count` things, gone through again and again.
fn nanoseconds(count: usize, mut work: impl FnMut(usize)) -> f64 {
    let (began, core, mut done) = (Instant::now(), thread_time(), 0_u64);
    while done == 0 || began.elapsed() < TIME {
        (0..count).for_each(&mut work);
        done += count as u64;
    }
    // Where the system does not tell, the thread is taken to have had its core to itself.
    let spent = core.zip(thread_time()).map_or_else(|| began.elapsed(), |(before, now)| now.saturating_sub(before));
    spent.as_nanos() as f64 / done as f64
}

/// A segment of all samples in a temporary folder.
struct Disk {
    segment: Segment<SegmentSource>,
    bytes: usize,
    _folder: tempfile::TempDir,
}

impl Disk {
    /// The games have their own keys; the other samples have some, as hashes are.
    fn new(samples: &[Sample], games: &[(usize, Game)], tables: &Arc<Tables>) -> anyhow::Result<Disk> {
        let mut rng = generator(1);
        let mut keys: Vec<Key> = samples.iter().map(|_| Key::from_bits(rand::RngExt::random(&mut rng))).collect();
        games.iter().for_each(|(place, game)| keys[*place] = Key::canonical(game, None).1);
        let mut merged = segment::Merged::default();
        for (key, Sample { view, policy, value }) in keys.into_iter().zip(samples) {
            merged.put(key, &encoded(tables, view, policy, *value));
        }
        let bytes = merged.write(set(samples[0].view.size(), tables), tables, &[])?;
        let folder = tempfile::tempdir()?;
        let at = folder.path().to_str().context("a temporary folder whose name is no text")?;
        let segments = Store::open(at)?.evaluations("study", None)?;
        let len = bytes.len();
        let number = segments.publish(&bytes.into())?;
        Ok(Disk { segment: open_segment(&segments, number, tables)?, bytes: len, _folder: folder })
    }

    fn look_up(&self, game: &Game, tables: &Tables, policy: &mut [f32], bytes: &mut Vec<u8>) {
        let (symmetry, key) = Key::canonical(game, None);
        let found = self.segment.get(key, bytes).expect("the file was just written");
        let code = found.expect("the segment has all samples");
        black_box(tables.decode(&View::new(game, symmetry), &bytes[code], policy));
    }
}

/// Opens a segment with the tables of all others, as a cache does.
fn open_segment(segments: &Evaluations, number: u32, tables: &Arc<Tables>) -> anyhow::Result<Segment<SegmentSource>> {
    let mut segment = Segment::open(SegmentSource(segments.open(number)?))?;
    segment.share_tables(tables);
    Ok(segment)
}

/// Times the opening of segments of random entries, which are in the page cache as they were just written.
fn opened(entries: u32, size: Size) -> anyhow::Result<Opened> {
    let tables = Tables::built_in(size, Steps::S2048);
    let folder = tempfile::tempdir()?;
    let at = folder.path().to_str().context("a temporary folder whose name is no text")?;
    let segments = Store::open(at)?.evaluations("study", None)?;
    let mut rng = generator(2);
    let (mut left, mut bytes) = (entries, 0);
    while left > 0 {
        let some = left.min(MOST_ENTRIES);
        let mut merged = segment::Merged::default();
        for _ in 0..some {
            let code: [u8; CODE] = rand::RngExt::random(&mut rng);
            merged.put(Key::from_bits(rand::RngExt::random(&mut rng)), &code);
        }
        let written = merged.write(set(size, tables), tables, &[])?;
        bytes += written.len() as u64;
        segments.publish(&written.into())?;
        left -= some;
    }
    let numbers = segments.numbers()?;
    let began = Instant::now();
    let open = numbers.iter().map(|&number| open_segment(&segments, number, tables));
    let open: Vec<Segment<SegmentSource>> = open.collect::<anyhow::Result<_>>()?;
    let open_ms = 1e3 * began.elapsed().as_secs_f64();
    let (memory, mut bytes_read) = (open.iter().map(Segment::memory).sum::<usize>(), Vec::new());
    let miss_ns = nanoseconds(10_000, |_| {
        let key = Key::from_bits(rand::RngExt::random(&mut rng));
        for one in &open {
            let found = one.get(key, &mut bytes_read).expect("the file was just written");
            assert_eq!(found, None, "a random key of 80 bits is there");
        }
    });
    let entries = u64::from(entries);
    Ok(Opened { entries, segments: open.len(), bytes, open_ms, memory_bytes: memory as f64 / entries as f64, miss_ns })
}

fn set(size: Size, tables: &Tables) -> Set {
    let (komi, symmetries) = (KomiCoding::Unseen, Symmetries::Canonical);
    Set { model: [0; 32], size, komi, symmetries, steps: tables.steps() }
}

#[cfg(test)]
mod tests {
    use mcts::Evaluator;
    use play::RandomModel;

    use super::*;

    fn samples(games: Games, count: usize) -> Sampled {
        let mut model = RandomModel::new();
        assert_eq!(model.capacity(), usize::MAX);
        positions::samples(&mut model, games, 7.0, count, &mut generator(1), &mut |_| true).expect("it cannot fail")
    }

    #[test]
    fn sample_has_positions_of_recorded_games_and_of_moves_beside_them() {
        let size = Size::new(5).expect("a size");
        let mut game = Game::new(size);
        for index in [12, 7, 11, 3, 25, 25] {
            game.play(go::Move::from_index(size, index).expect("a move")).expect("a legal move");
        }
        let Sampled { samples, games } = samples(Games::Recorded(vec![game]), 1000);
        // Six positions with two others each.
        assert_eq!((samples.len(), games.len()), (18, 18));
        assert!(samples.iter().all(|sample| sample.policy.len() == 26));
    }

    #[test]
    fn sharpened_policies_keep_their_order_and_sum() {
        let mut sampled = samples(Games::Drawn(Size::MIN), 8);
        let policies = [[0.1, 0.2, 0.3, 0.4, 0.0], [0.5, 0.5, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1e-30, 0.0]];
        for (sample, policy) in sampled.samples.iter_mut().zip(policies) {
            sample.policy = policy.to_vec();
        }
        sampled.sharpen(&[0.5, 1.0]);
        let expected = [0.01, 0.04, 0.09, 0.16, 0.0].map(|square: f32| square / 0.3);
        for (found, expected) in sampled.samples[0].policy.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        assert_eq!(sampled.samples[1].policy, policies[1]);
        assert_eq!(sampled.samples[2].policy, [0.0, 0.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn opened_segments_have_little_in_memory() {
        let opened = opened(20_000, Size::MIN).expect("a folder for the segments");
        assert_eq!((opened.entries, opened.segments), (20_000, 1));
        assert!(opened.bytes > 20_000 * CODE as u64 && opened.memory_bytes < 1.3, "{opened}");
    }

    #[test]
    fn case_measures_all_of_a_sample() {
        let Sampled { samples, games } = samples(Games::Drawn(Size::new(5).expect("a size")), 400);
        assert!(samples.len() >= 400);
        let (fitted, measured) = samples.split_at(200);
        let own = evalcache::fit(fitted, Steps::S256);
        let case = case(fitted, measured, &samples, &games, Steps::S256, &own).expect("a folder for the segment");
        assert_eq!(case.ladder.len(), 10);
        assert_eq!(case.ladder[0].1, 104.0);
        assert!(case.disk_bytes > case.disk_bytes_without_tables && case.entry_bytes > 1.0);
        assert!(case.to_string().contains("lookups/s"));
    }
}
