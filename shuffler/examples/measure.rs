//! Measures the way of examples from games to shards, with made-up games:
//!
//! `cargo run --release -p shuffler --example measure -- [GAMES [SIZE [VISITS]]]`
//!
//! Prints bytes for each position, positions for each second, and the most memory that was used.
//! Results: `experiments/0001-component-throughput`.

use std::env;
use std::fs;
use std::path::Path;
use std::time::Instant;

use config::Preset;
use go::Size;
use record::{GameRecord, synthetic};
use store::{FileRef, Stem, Store};
use tempfile::TempDir;

const GAMES_PER_FILE: u64 = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let argument = |i, default: u64| env::args().nth(i).map_or(Ok(default), |text| text.parse());
    let (games, size, visits) = (argument(1, 10_000)?, Size::new(argument(2, 9)? as usize)?, argument(3, 200)? as u32);
    let folder = TempDir::new()?;
    let run = Store::open(&folder.path().display().to_string())?.run(&"r".parse()?);

    let (mut positions, mut seconds) = (0, 0.0);
    for first in (0..games).step_by(GAMES_PER_FILE as usize) {
        let numbers = first..games.min(first + GAMES_PER_FILE);
        let made: Vec<GameRecord> = numbers.map(|i| synthetic::game("random", "w", i, size, visits)).collect();
        positions += made.iter().map(GameRecord::positions).sum::<usize>();
        let start = Instant::now();
        run.games().publish_as(&FileRef { model: 0, stem: Stem::new("w", first)? }, &made)?;
        seconds += start.elapsed().as_secs_f64();
    }
    println!("{games} games, {positions} positions on {size}x{size}, {visits} visits");
    println!("publish: {:.0} positions/s", positions as f64 / seconds);
    for kind in ["games", "examples", "sgf"] {
        println!(
            "{kind}: {:.1} bytes a position",
            size_of(&folder.path().join("r").join(kind))? as f64 / positions as f64
        );
    }

    let before = peak_memory()?;
    let steps = positions / 64;
    let overrides = [
        format!("window.games={games}"),
        format!("selfplay.first_games={games}"),
        "train.batch=64".to_owned(),
        format!("train.steps={steps}"),
    ];
    let config = Preset::Minigo.with(&overrides)?;
    let start = Instant::now();
    let manifest = shuffler::run(&run, &config, 1)?;
    let rows = manifest.drawn.examples as f64;
    println!("shuffle: {:.0} rows/s", rows / start.elapsed().as_secs_f64());
    println!("shards: {:.1} bytes a row", size_of(&folder.path().join("r/shards"))? as f64 / rows);
    println!("memory: {before} MiB before the shuffle, {} MiB at most", peak_memory()?);

    let start = Instant::now();
    for part in &manifest.parts {
        run.shards().read(1, part)?.to_examples();
    }
    println!("read shards: {:.0} rows/s", rows / start.elapsed().as_secs_f64());
    Ok(())
}

fn size_of(path: &Path) -> std::io::Result<u64> {
    if path.is_file() {
        return Ok(path.metadata()?.len());
    }
    fs::read_dir(path)?.map(|entry| size_of(&entry?.path())).sum()
}

/// The most memory this process has used, in MiB: what Linux says.
fn peak_memory() -> std::io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.and_then(|text| text.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()).unwrap_or_default() / 1024)
}
