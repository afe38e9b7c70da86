//! Polling cost by the age of a run, with synthetic games on 5x5 and the real store:
//!
//! `cargo bench -p shuffler --bench aging -- [GAMES [GAMES_PER_MODEL]]`
//!
//! After every fifth of the run it prints four times: to poll for a newer model, to detect missing games, to choose the
//! window of 500,000 games, and to recompute the threshold. Each is measured in a process that has just started, and in
//! one that repeats it. At the end it compacts the files of games, and measures again. Results:
//! `experiments/0010-polling-cost-by-run-age`.

use std::env;
use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

use config::{Preset, RunConfig};
use go::Size;
use record::{GameRecord, synthetic};
use shuffler::{Calibrator, Shuffler};
use store::{FileRef, ModelMetadata, Run, Stem, Store};
use tempfile::TempDir;

const GAMES_PER_FILE: u64 = 200;
const WORKERS: u64 = 2;
const VISITS: u32 = 8;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // `cargo bench` adds an argument of its own.
    let mut given = env::args().skip(1).filter(|text| text != "--bench");
    let mut argument = |default: u64| given.next().map_or(Ok(default), |text| text.parse());
    let (games, each) = (argument(1_000_000)?, argument(20_000)?);
    let overrides = [format!("selfplay.games={each}"), format!("selfplay.first_games={each}")];
    let config = Preset::Minigo.with(&overrides)?;
    let folder = TempDir::new()?;
    let run = Store::open(&folder.path().display().to_string())?.run(&"r".parse()?);
    run.create(&config)?;

    println!("games      files  newest model   missing games   window          threshold       (ms, first and again)");
    let mut old = Shuffler::new(&run, &config);
    let models = (games / each) as u32;
    for model in 0..models {
        play(&run, model, each)?;
        if model > 0 {
            old.plan(model)?;
        }
        if (model + 1).is_multiple_of((models / 5).max(1)) {
            measure(&run, &config, &mut old, model)?;
        }
        publish(&run, &config, model + 1)?;
    }
    let began = Instant::now();
    let done = shuffler::compact(&run, 100_000)?;
    let (took, files) = (began.elapsed().as_secs_f64(), files_below(&folder.path().join("r"))?);
    let (archives, games, before) = (done.archives, done.games, done.files);
    println!(
        "compaction: {games} games of {before} files of games in {archives} archives, {took:.0} s; the run has {files} files now"
    );
    measure(&run, &config, &mut Shuffler::new(&run, &config), models - 1)
}

/// Files of every kind in a folder.
fn files_below(folder: &std::path::Path) -> Result<usize, Failure> {
    let mut files = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        files += if path.is_dir() { files_below(&path)? } else { 1 };
    }
    Ok(files)
}

/// Workers play all games of a model.
fn play(run: &Run, model: u32, games: u64) -> Result<(), Failure> {
    let name = if model == 0 { "random".to_owned() } else { format!("r-{model}") };
    let work = |worker: u64| -> Result<(), Failure> {
        let own = games / WORKERS;
        for first in (0..own).step_by(GAMES_PER_FILE as usize) {
            let numbers = first..own.min(first + GAMES_PER_FILE);
            let size = Size::new(5)?;
            let game = |index| synthetic::game(&name, &format!("w{worker}"), index, size, VISITS);
            let made: Vec<GameRecord> = numbers.map(game).collect();
            run.games().publish_as(&FileRef { model, stem: Stem::new(&format!("w{worker}"), first)? }, &made)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}

fn publish(run: &Run, config: &RunConfig, number: u32) -> Result<(), Failure> {
    let metadata = ModelMetadata::new(run.name(), number, number.into(), config);
    Ok(run.models().publish(&metadata, "weights".into())?)
}

fn measure(run: &Run, config: &RunConfig, old: &mut Shuffler, model: u32) -> Result<(), Failure> {
    // As a process that has just started sees it.
    let fresh = run.store().run(run.name());
    let mut young = Shuffler::new(&fresh, config);
    let files = run.games().files_since(0)?.len();
    let newest = twice(time(|| fresh.models().newest())?, time(|| fresh.models().newest())?);
    // One game of the newest model is missing.
    let mut waiting = config.clone();
    waiting.selfplay.games += 1;
    let mut patient = Shuffler::new(&fresh, &waiting);
    let mut missing = || time(|| Ok::<_, Failure>(patient.publish(model + 1).is_err()));
    let poll = twice(missing()?, missing()?);
    let window = twice(time(|| young.plan(model + 1))?, time(|| old.plan(model + 1))?);
    let mut calibrator = Calibrator::new(&fresh, &config.resign);
    let threshold = twice(time(|| calibrator.update())?, time(|| calibrator.update())?);
    let games = u64::from(model + 1) * config.selfplay.games as u64;
    println!("{games:<10} {files:<6} {newest:<14} {poll:<15} {window:<15} {threshold}");
    Ok(())
}

fn time<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, Failure>
where
    Failure: From<E>,
{
    let start = Instant::now();
    drop(work()?);
    Ok(start.elapsed())
}

fn twice(first: Duration, again: Duration) -> impl Display {
    format!("{:.1} {:.1}", first.as_secs_f64() * 1e3, again.as_secs_f64() * 1e3)
}
