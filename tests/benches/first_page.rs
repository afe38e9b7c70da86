//! Time to the first page of a run of a million games, from a folder and from an S3 server, with synthetic games on
//! 5x5:
//!
//! `cargo bench -p tests --bench first_page -- FOLDER [GAMES [MODELS]]`
//!
//! The run is made in FOLDER, if it is not there yet, and compacted. Then servers that have just started are requested
//! for its page: from the folder, and from an S3 server that has the same objects. It prints the time to the first page
//! and to the second, the time until everything is counted, and resident memory. Last comes the share of a core that 20
//! open pages take, which for S3 is without the work of that server. Results: `experiments/0081-first-page-of-a-run`.

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use config::{Preset, RunConfig};
use go::Size;
use record::{GameId, GameRecord, RatingRow, synthetic};
use store::{FileRef, ModelMetadata, ResignThreshold, Run, Stem, Store};
use testing::{s3, wait_for};
use web::Server;

const GAMES_PER_FILE: u64 = 200;
const WORKERS: u64 = 2;
/// Games of a pair of neighbours.
const MATCH_GAMES: u64 = 20;
/// Lines of the log of a model.
const LINES: u64 = 20;
/// Pages that are open.
const OPEN: usize = 20;
/// How long they are.
const WATCHED: Duration = Duration::from_secs(60);

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    // `cargo bench` adds an argument of its own.
    let mut given = env::args().skip(1).filter(|text| text != "--bench");
    let folder = given.next().ok_or("usage: first_page FOLDER [GAMES [MODELS]]")?;
    let mut argument = |default: u64| given.next().map_or(Ok(default), |text| text.parse());
    let (games, models) = (argument(1_000_000)?, argument(1000)?);
    let run = Store::open(&folder)?.run(&"r".parse()?);
    if !run.exists()? {
        make(&run, games, models)?;
    }
    println!("store   first page  again   bytes    all counted  resident  {OPEN} open pages");
    measure("folder", Store::open(&folder)?)?;
    let server = s3::Server::start()?;
    link(&Path::new(&folder).join("r"), &server.objects().join("r"))?;
    measure("S3", Store::open_with(&server.url(), &server.options())?)
}

/// Games, models, matches, ratings, thresholds and logs of a run, compacted.
fn make(run: &Run, games: u64, models: u64) -> Result<(), Failure> {
    let each = games / models;
    let keys =
        [format!("selfplay.games={each}"), format!("selfplay.first_games={each}"), format!("loop.models={models}")];
    let config = Preset::Minigo.with(&keys)?;
    run.create(&config)?;
    let began = Instant::now();
    for model in 0..models as u32 {
        play(run, model, each)?;
        publish(run, &config, model + 1)?;
    }
    let rows: Vec<RatingRow> = (0..=models as u32).map(rating).collect();
    run.ratings().publish(&rows)?;
    let done = shuffler::compact(run, 100_000)?;
    println!("{} games in {} archives, made in {:.0} s", done.games, done.archives, began.elapsed().as_secs_f64());
    Ok(())
}

fn name(model: u32) -> String {
    if model == 0 { "random".to_owned() } else { format!("r-{model}") }
}

/// Workers play all games of a model.
fn play(run: &Run, model: u32, games: u64) -> Result<(), Failure> {
    let work = |worker: u64| -> Result<(), Failure> {
        let own = games / WORKERS;
        for first in (0..own).step_by(GAMES_PER_FILE as usize) {
            let size = Size::new(5)?;
            let game = |index| synthetic::game(&name(model), &format!("w{worker}"), index, size, 8);
            let made: Vec<GameRecord> = (first..own.min(first + GAMES_PER_FILE)).map(game).collect();
            run.games().publish_as(&FileRef { model, stem: Stem::new(&format!("w{worker}"), first)? }, &made)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|worker| scope.spawn(move || work(worker))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })
}

/// A model with its log, its threshold, and its match with the model before.
fn publish(run: &Run, config: &RunConfig, number: u32) -> Result<(), Failure> {
    let metadata = ModelMetadata::new(run.name(), number, LINES * 10 * u64::from(number), config);
    run.models().publish(&metadata, "weights".into())?;
    let line = |at: u64| {
        let step = LINES * 10 * u64::from(number - 1) + 10 * at;
        let loss = 3.0 / (1.0 + step as f64 / 2e4) + 0.5;
        let set = if at == LINES { "holdout" } else { "train" };
        format!(
            "{{\"set\":\"{set}\",\"generation\":{number},\"step\":{step},\"time\":{},\"policy\":{loss},\"value\":0.5,\
             \"accuracy\":0.4,\"learning_rate\":0.01,\"value_error\":0.7,\"constant_error\":1.0,\"output_entropy\":2.0,\
             \"target_entropy\":1.9,\"gradient_norm\":1.0}}\n",
            1e9 + step as f64
        )
    };
    run.logs()
        .publish(&format!("{number:06}-0000000000001.jsonl"), Bytes::from((1..=LINES).map(line).collect::<String>()))?;
    let threshold = ResignThreshold {
        threshold: -0.9 + 0.0001 * number as f32,
        quantile: 0.05,
        games: 1000,
        from_model: number.saturating_sub(10),
        to_model: number,
        in_force_games: 900,
        in_force_wrong: 45,
        false_positive_rate: 0.05,
        rate_low: 0.03,
        rate_high: 0.07,
    };
    run.resign().publish(&threshold)?;
    let (black, white) = (name(number), name(number - 1));
    let made = |index| {
        let game = synthetic::game("made", "up", index, Size::new(5).expect("a size"), 1);
        GameRecord { id: GameId::of(&black, &white, "", index), black: black.clone(), white: white.clone(), ..game }
    };
    run.matches().publish("e", &(0..MATCH_GAMES).map(made).collect::<Vec<_>>())?;
    Ok(())
}

fn rating(model: u32) -> RatingRow {
    let elo = 400.0 * f64::from(model + 1).ln();
    let games = 2 * MATCH_GAMES as u32;
    RatingRow {
        player: name(model),
        elo,
        error: 40.0,
        above_pool: elo - 2000.0,
        above_pool_error: 25.0,
        games,
        points: 20.0,
    }
}

/// The same files under other names.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() { link(&entry.path(), &target)? } else { fs::hard_link(entry.path(), &target)? }
    }
    Ok(())
}

fn measure(what: &str, store: Store) -> Result<(), Failure> {
    let server = Server::start_local("127.0.0.1:0", store)?;
    let began = Instant::now();
    let (first, page) = timed(server.address())?;
    let (again, _) = timed(server.address())?;
    wait_for("all games", || {
        let page = get(server.address(), "/runs/r");
        (!page.as_ref().is_ok_and(|page| page.contains("Reading the run"))).then_some(page)
    })?;
    let complete = began.elapsed();
    let open: Vec<TcpStream> =
        (0..OPEN).map(|_| send(server.address(), "/runs/r/events?version=0")).collect::<io::Result<_>>()?;
    // What they are told at first is not what open pages cost.
    thread::sleep(Duration::from_secs(5));
    let before = processor_time()?;
    thread::sleep(WATCHED);
    let share = (processor_time()? - before) / WATCHED.as_secs_f64();
    drop(open);
    println!(
        "{what:7} {:7.0} ms {:6.0} ms {:7} {:9.1} s {:7.0} MB {:6.2} % of a core",
        1e3 * first.as_secs_f64(),
        1e3 * again.as_secs_f64(),
        page.len(),
        complete.as_secs_f64(),
        resident()? / 1e6,
        100.0 * share
    );
    server.stop(Duration::from_secs(5));
    Ok(())
}

fn timed(address: SocketAddr) -> io::Result<(Duration, String)> {
    let began = Instant::now();
    let page = get(address, "/runs/r")?;
    Ok((began.elapsed(), page))
}

fn get(address: SocketAddr, path: &str) -> io::Result<String> {
    let mut page = String::new();
    send(address, path)?.read_to_string(&mut page)?;
    if page.starts_with("HTTP/1.1 200") { Ok(page) } else { Err(io::Error::other(page)) }
}

fn send(address: SocketAddr, path: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    Ok(stream)
}

/// Bytes of memory of this process.
fn resident() -> io::Result<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    Ok(line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) * 1024.0)
}

/// Seconds that this process has computed, without the threads of the S3 server.
fn processor_time() -> io::Result<f64> {
    let mut seconds = computed("/proc/self/stat")?;
    for task in fs::read_dir("/proc/self/task")? {
        let folder = task?.path();
        // A thread that has ended since is none of the S3 server.
        if fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == s3::Server::THREADS) {
            seconds -= computed(folder.join("stat"))?;
        }
    }
    Ok(seconds)
}

/// Seconds in a statistic of Linux.
fn computed(file: impl AsRef<Path>) -> io::Result<f64> {
    let stat = fs::read_to_string(file)?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = |place: usize| {
        after.split_whitespace().nth(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN)
    };
    // Hundredths of a second on Linux.
    Ok((ticks(11) + ticks(12)) / 100.0)
}
