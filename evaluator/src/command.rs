//! The command line: what was typed, and what is measured because of it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use clap::{ArgGroup, Parser, ValueEnum};
use cli::{Classify, Stop, within};
use config::{ConfigError, ModelId, ModelRef, PlayerId, PlayerRef, RunName};
use exit_class::{Classifier, classify};
use gtp::engines::{Declarations, Engine};
use net::{Backend, NetError, Precision};
use ratings::pairing::{About, Rule};
use ratings::sprt::{Sprt, SprtError};
use store::{Backoff, Run, Store, StoreError};

use crate::rate::{self, AnchorChoice, PriorChoice, RateError, Report, Wish};
use crate::{Arena, Comparison, EvaluatorError, Place, Progress, Promotion, report};

/// Lets models of a run play each other, and rates them by everything they have played.
///
/// Both sides of a match play each opening once with either colour, with the search settings they were published with.
/// Results are stored as games finish. Stopped and started again with the same arguments, it goes on where it was.
#[derive(Parser, Debug)]
#[command(version, max_term_width = 100, after_help = cli::exit_codes())]
#[command(group(ArgGroup::new("work").required(true)))]
pub struct Args {
    /// Let these two play: a model (v15-330, or v15 for the newest of run v15, or uniform, or random), a model with other
    /// settings (v15-330+visits=400+q_init=loss), or an engine (GnuGo-10, declared with --engines, or Random or Captures,
    /// which are built in)
    #[arg(long, group = "work", num_args = 2, value_names = ["A", "B"])]
    pair: Option<Vec<PlayerRef>>,
    /// Let the two models play whose games are expected to teach the ratings most
    #[arg(long, group = "work")]
    pair_uncertain: bool,
    /// With --pair-uncertain: wait for a run that is not there yet and for two players to pair, instead of giving up
    #[arg(long, requires = "pair_uncertain")]
    wait: bool,
    /// With --pair-uncertain: what is to be found out
    #[arg(long, value_enum, default_value_t, value_name = "QUESTION")]
    about: Question,
    /// With --pair-uncertain: how pairs are chosen
    #[arg(long, value_enum, default_value_t, value_name = "RULE")]
    pairing: Pairing,
    /// Let each two models of the run play
    #[arg(long, group = "work")]
    round_robin: bool,
    /// Let this model play those at Fibonacci's distances before it in its run: 1, 2, 3, 5, 8 and so on
    #[arg(long, group = "work", value_name = "MODEL")]
    new_model: Option<PlayerRef>,
    /// Let these two play until it is decided whether the first is stronger than the second by ELO1 rather than by
    /// ELO0: a sequential test over the pairs of games that share an opening
    #[arg(long, group = "work", num_args = 2, value_names = ["A", "B"], requires_all = ["elo0", "elo1"])]
    sprt: Option<Vec<PlayerRef>>,
    /// Promotion test: let this model of the run play its champion, and make it the champion if it is stronger, by --elo1
    /// rather than by --elo0 [0 and 35]. The first champion is random. Self-play does not depend on it
    #[arg(long, group = "work", value_name = "MODEL")]
    gate: Option<ModelRef>,
    /// With --sprt and --gate: the lead, in Elo, that is not worth having
    #[arg(long, value_name = "ELO0", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo0: Option<f64>,
    /// With --sprt and --gate: the lead, in Elo, that is to be found
    #[arg(long, value_name = "ELO1", allow_negative_numbers = true, value_parser = within(-MOST_ELO..=MOST_ELO))]
    elo1: Option<f64>,
    /// With --sprt and --gate: the share of tests that may find for ELO1 where ELO0 is true
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    alpha: f64,
    /// With --sprt and --gate: the share of tests that may find for ELO0 where ELO1 is true
    #[arg(long, default_value = "0.05", value_name = "SHARE", allow_negative_numbers = true, value_parser = within(1e-9..=0.499))]
    beta: f64,
    /// Let this player meet every engine: those that are built in, and those of --engines
    #[arg(long, group = "work", value_name = "PLAYER")]
    against_anchors: Option<PlayerRef>,
    /// Retire models: one by its name, or all that are surely, with 97.5 %, more than so many Elo behind the best of the run.
    /// Tables, reports, pairings and promotion tests leave them out; their games still count. Never the newest or the champion;
    /// by Elo, none with fewer than 16 games and none that was brought back
    #[arg(long, group = "work", value_name = "ELO|MODEL", allow_negative_numbers = true)]
    retire: Option<Retire>,
    /// Bring a retired model back
    #[arg(long, group = "work", value_name = "MODEL")]
    unretire: Option<ModelId>,
    /// Delete the weights of all retired models, for good. Cards, games and results are kept, and so are weights of champions and
    /// of models that training may continue from
    #[arg(long, group = "work")]
    delete_retired_weights: bool,
    /// Show retired models in tables and reports, pair them, and let them be tested
    #[arg(long, conflicts_with_all = ["rate", "retire", "unretire", "delete_retired_weights"])]
    include_retired: bool,
    /// Only rate what was played, and print the table
    #[arg(long, group = "work")]
    ratings: bool,
    /// Rate what was played, and write everything that is known of the run as one page for a browser
    #[arg(long, group = "work", value_name = "FILE", num_args = 0..=1, default_missing_value = "report.html")]
    report: Option<PathBuf>,
    /// Rate a table of results and print JSON: comma-separated values with the columns game_id, black, white and
    /// result (B, W or D); - for standard input
    #[arg(long, group = "work", value_name = "FILE")]
    rate: Option<PathBuf>,
    /// With --rate: what is believed before the games: none, gauss:SD around the middle of the pool, walk:STEP along
    /// the models of a run, or walk with the step that the results make most probable
    #[arg(long, conflicts_with_all = ["pair", "pair_uncertain", "ratings"], default_value_t, value_name = "PRIOR")]
    prior: PriorChoice,
    /// With --rate: take the colours to be equal
    #[arg(long, conflicts_with_all = ["pair", "pair_uncertain", "ratings"])]
    no_first_move: bool,
    /// Rate together with what was played in this run; may be repeated. Runs are tied by players who have played in both
    #[arg(long, conflicts_with_all = ["sprt", "rate", "report"], value_name = "RUN")]
    with: Vec<RunName>,
    /// A player whose rating is known, as NAME=ELO, or NAME=ELO:SD if only so well; may be repeated. The table is on the
    /// scale of these players then
    #[arg(long, conflicts_with = "sprt", value_name = "NAME=ELO")]
    anchor: Vec<AnchorChoice>,
    /// How ratings are printed [default: table; with --rate json]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,
    /// With --pair, --round-robin, --new-model, --against-anchors, --sprt and --gate: play until two have met in at most so many games, earlier ones
    /// included; an even number [default: for a pair as many more as the run's evaluate.games_per_pair, for each pair of
    /// several that many in all, for a test 20000]
    #[arg(long, value_name = "N", conflicts_with_all = ["pair_uncertain", "ratings", "rate"], allow_negative_numbers = true, value_parser = even)]
    games: Option<u64>,
    /// With --pair-uncertain: choose so many pairs one after the other [default: 1]
    #[arg(long, value_name = "N", conflicts_with_all = ["pair", "ratings", "rate"], allow_negative_numbers = true, value_parser = within(1..=MOST))]
    pairs: Option<u64>,
    /// The run to measure [default: the run of the first model of --pair that has one]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Programs that may play, as [[engine]] tables: each with a name that begins with a capital letter, a command, and what
    /// configs/engines/gnugo.toml shows
    #[arg(long, env = "TENGEN_ENGINES", value_name = "FILE")]
    engines: Option<PathBuf>,
    /// Name of this worker; workers of one run need different ones
    #[arg(long, env = "JOB_COMPLETION_INDEX", default_value = "0", value_name = "NAME")]
    worker: String,
    #[command(flatten)]
    place: cli::PlaceArgs,
    #[command(flatten)]
    times: cli::TimesArgs,
    #[command(flatten)]
    store: cli::StoreArgs,
    #[command(flatten)]
    service: cli::ServiceArgs,
    /// How to log.
    #[command(flatten)]
    pub log: cli::LogArgs,
}

/// How ratings are printed.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Format {
    /// For people
    Table,
    /// Comma-separated values
    Csv,
    /// Everything there is to say
    Json,
}

/// What is to be found out.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Question {
    /// Which model is best
    #[default]
    Best,
    /// All ratings
    Curve,
    /// The newest model against its ancestors
    Newest,
    /// The run's models against everybody else
    Anchors,
    /// Every model against the mean of the models, and the newest against the oldest
    Ladder,
}

/// How pairs are chosen.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Pairing {
    /// By what their games are expected to teach about the question
    #[default]
    Informed,
    /// As Minigo did: the least known against one of near rating
    Minigo,
    /// Any two
    Random,
}

/// Which models are retired.
#[derive(Clone, Debug, PartialEq)]
enum Retire {
    /// Those that are so many Elo behind the best.
    Behind(f64),
    /// This one.
    Model(ModelId),
}

impl FromStr for Retire {
    type Err = String;

    fn from_str(text: &str) -> Result<Retire, String> {
        match (text.parse::<f64>(), text.parse()) {
            (Ok(elo), _) if (0.0..=MOST_ELO).contains(&elo) => Ok(Retire::Behind(elo)),
            (Err(_), Ok(model)) => Ok(Retire::Model(model)),
            _ => Err(format!("{text} is neither Elo in {:?} nor a model such as v15-330", 0.0..=MOST_ELO)),
        }
    }
}

/// Both colours play each opening, so a match has an even number of games.
fn even(text: &str) -> Result<u64, String> {
    match within(2..=MOST)(text)? {
        games if games % 2 == 0 => Ok(games),
        _ => Err("an even number is needed, because each opening is played with either colour".to_owned()),
    }
}

/// Games or pairs of games that a command may ask for.
const MOST: u64 = 1_000_000_000;

/// Elo that players may differ by in a question.
const MOST_ELO: f64 = 10_000.0;

/// Games after which a test without a verdict ends, if nothing else is said: twice what one of 10 Elo is expected to
/// take at its worst.
const MOST_GAMES: u64 = 20_000;

/// How often the store is asked for what is not there yet.
const LOOK: Duration = Duration::from_secs(10);
/// … at most.
const LOOK_LATE: Duration = Duration::from_secs(60);
/// Looks for a new model after which everything is looked at again.
const LOOKS: u32 = 10;

/// The lead, in Elo, for which a new champion is worth having.
const WORTH: f64 = 35.0;

impl Args {
    fn rule(&self) -> Rule {
        match self.pairing {
            Pairing::Informed => Rule::Informed(match self.about {
                Question::Best => About::Best,
                Question::Curve => About::Curve,
                Question::Newest => About::Newest,
                Question::Anchors => About::Anchors,
                Question::Ladder => About::Ladder,
            }),
            Pairing::Minigo => Rule::Minigo,
            Pairing::Random => Rule::Random,
        }
    }
}

/// The errors of libraries that a command may end with, for [`cli::main`].
pub const ERRORS: &[Classifier] = &[
    classify::<EvaluatorError>,
    classify::<StoreError>,
    classify::<ConfigError>,
    classify::<NetError>,
    classify::<RateError>,
    classify::<SprtError>,
];

/// Measures what the arguments ask for, and prints the ratings.
///
/// # Errors
/// Arguments that do not fit the run, or whatever ended the work early.
pub fn run(args: &Args, stop: &Stop) -> anyhow::Result<()> {
    if let Some(file) = &args.rate {
        let report = rate_file(args, file)?;
        return match args.format.unwrap_or(Format::Json) {
            Format::Json => cli::print(report),
            Format::Csv => cli::print(report.to_csv()),
            Format::Table => cli::print(report.to_table()),
        };
    }
    let device = args.place.device.parse().misconfigured()?;
    let place = Place {
        device,
        threads: args.place.threads(),
        cache: args.place.cache(),
        times: args.times.times.unwrap_or(true),
        engines: engines(args)?,
        worker: args.worker.clone(),
    };
    let store = Store::open(&args.store.store)?;
    let name = run_name(args)?;
    args.service.start("evaluator", Some(name.as_str()), stop)?;
    let backend = Backend::open(device, Precision::Auto)?;
    backend.log(args.place.threads());
    cli::metrics::DEVICE.inform(&backend.labels());
    if args.wait && !wait_for_run(&store.run(&name), stop)? {
        return Ok(());
    }
    let mut arena = Arena::open(&store, &name, place)?;
    if args.include_retired {
        arena = arena.including_retired();
    }
    cli::ready();
    if let Some(pair) = &args.pair {
        play_pair(&mut arena, pair, args.games, stop)?;
    } else if args.pair_uncertain {
        play_uncertain(&mut arena, args, stop)?;
    } else if args.round_robin {
        play_round(&mut arena, args.games, stop)?;
    } else if let Some(model) = &args.new_model {
        play_ancestors(&mut arena, model, args.games, stop)?;
    } else if let Some(retire) = &args.retire {
        match retire {
            Retire::Behind(bound) => arena.retire(*bound)?.iter().try_for_each(cli::print)?,
            Retire::Model(model) => {
                arena.retire_model(model)?;
                cli::print(format_args!("{model} is retired"))?;
            }
        }
    } else if let Some(model) = &args.unretire {
        arena.unretire(model)?;
        cli::print(format_args!("{model} is back"))?;
    } else if args.delete_retired_weights {
        return arena.delete_retired_weights()?.iter().try_for_each(cli::print);
    } else if let Some(player) = &args.against_anchors {
        play_anchors(&mut arena, player, args.games, stop)?;
    } else if let Some(pair) = &args.sprt {
        let (elo0, elo1) = (args.elo0.unwrap_or_default(), args.elo1.unwrap_or_default());
        let test = Sprt::new(elo0, elo1, args.alpha, args.beta)?;
        return cli::print(play_test(&mut arena, pair, &test, args.games, stop)?);
    } else if let Some(model) = &args.gate {
        let (elo0, elo1) = (args.elo0.unwrap_or_default(), args.elo1.unwrap_or(WORTH));
        let test = Sprt::new(elo0, elo1, args.alpha, args.beta)?;
        return cli::print(play_gate(&mut arena, model, &test, args.games, stop)?);
    }
    if let Some(file) = &args.report {
        let facts = report::gather(&arena, &args.anchor)?;
        report::write(file, &facts).with_context(|| format!("cannot write {}", file.display())).misconfigured()?;
        return cli::print(format_args!("{}: {facts}", file.display()));
    }
    let stored = arena.rate()?;
    let table = match (&args.with[..], &args.anchor[..]) {
        ([], []) => stored,
        (others, anchors) => arena.rate_with(others, anchors)?,
    };
    match args.format.unwrap_or(Format::Table) {
        Format::Table => cli::print(table),
        Format::Csv => cli::print(table.to_csv()),
        Format::Json => cli::print(format_args!("{:#}", table.to_json())),
    }
}

/// The programs that may play.
fn engines(args: &Args) -> anyhow::Result<Declarations> {
    let Some(path) = &args.engines else { return Ok(Declarations::default()) };
    let read = || -> anyhow::Result<Declarations> { Ok(Declarations::from_toml(&std::fs::read_to_string(path)?)?) };
    read().with_context(|| path.display().to_string()).misconfigured()
}

/// Rates a table of results; no store is needed.
fn rate_file(args: &Args, file: &Path) -> anyhow::Result<Report> {
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().read_to_string(&mut text),
        _ => File::open(file).and_then(|mut file| file.read_to_string(&mut text)),
    };
    let named = || format!("cannot rate {}", file.display());
    read.with_context(named).misconfigured()?;
    let wish = Wish { prior: args.prior, no_first_move: args.no_first_move, anchors: args.anchor.clone() };
    rate::rate(&text, &wish).with_context(named)
}

/// The run to measure.
fn run_name(args: &Args) -> anyhow::Result<RunName> {
    let of_model = |player: &PlayerRef| match player {
        PlayerRef::Exact(PlayerId::Model { id: ModelId::Trained { run, .. }, .. }) | PlayerRef::Newest(run, _) => {
            Some(run.clone())
        }
        PlayerRef::Exact(_) => None,
    };
    let named = || args.pair.iter().chain(&args.sprt).flatten().chain(&args.new_model).chain(&args.against_anchors);
    let of_gate = || match &args.gate {
        Some(ModelRef::Exact(ModelId::Trained { run, .. }) | ModelRef::Newest(run)) => Some(run.clone()),
        _ => None,
    };
    let of_retired = || match (&args.retire, &args.unretire) {
        (Some(Retire::Model(ModelId::Trained { run, .. })), _) | (_, Some(ModelId::Trained { run, .. })) => {
            Some(run.clone())
        }
        _ => None,
    };
    let of_pair = || named().find_map(of_model).or_else(of_gate).or_else(of_retired);
    let nowhere = || anyhow::anyhow!("which run is meant? say it with --run NAME");
    args.run.clone().or_else(of_pair).ok_or_else(nowhere).misconfigured()
}

fn play_pair(arena: &mut Arena, pair: &[PlayerRef], games: Option<u64>, stop: &Stop) -> Result<(), EvaluatorError> {
    let [first, second] = pair else { unreachable!("--pair takes two models") };
    let (first, second) = (arena.resolve(first)?, arena.resolve(second)?);
    play(arena, [&first, &second], games, stop)
}

/// Waits until a run exists; answers whether it does, or the process is to stop.
fn wait_for_run(run: &Run, stop: &Stop) -> Result<bool, StoreError> {
    run.store().reach()?;
    let (mut said, mut pause) = (false, Backoff::new(LOOK, LOOK_LATE));
    while !run.exists()? {
        if !said {
            tracing::info!(run = %run.name(), "waiting for the run to be created");
            said = true;
        }
        cli::alive();
        if stop.wait(pause.pause()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn play_uncertain(arena: &mut Arena, args: &Args, stop: &Stop) -> Result<(), EvaluatorError> {
    let (mut left, mut said) = (args.pairs.unwrap_or(1), false);
    while left > 0 && !stop.requested() {
        let Some(proposal) = arena.propose(args.rule())? else {
            if !args.wait {
                tracing::warn!("there are not two models to pair");
                break;
            }
            if !said {
                tracing::info!("waiting for two models to pair");
                said = true;
            }
            wait_for_model(arena, stop)?;
            continue;
        };
        tracing::info!(first = %proposal.first, second = %proposal.second, "paired: {}", proposal.reason);
        let games = arena.config().evaluate.games_per_pair as u64;
        let bar = cli::Progress::new(format!("{} against {}", proposal.first, proposal.second), Some(games));
        let met = arena.meet_proposed(&proposal, stop, &mut |progress| show(&bar, progress))?;
        bar.finish();
        if met.is_none() {
            tracing::info!("others were quicker with this pair");
            continue;
        }
        left -= 1;
        tell_score(arena, [&proposal.first, &proposal.second])?;
    }
    Ok(())
}

/// Waits until the run has another model, asking for that one only; now and then for nothing, since others may have played with
/// somebody who is no model.
fn wait_for_model(arena: &Arena, stop: &Stop) -> Result<(), StoreError> {
    let mut pause = Backoff::new(LOOK, LOOK_LATE);
    let next = arena.run().models().newest()?.map_or(1, |newest| newest + 1);
    for _ in 0..LOOKS {
        cli::alive();
        if stop.wait(pause.pause()) || arena.run().models().exists(next)? {
            break;
        }
    }
    Ok(())
}

/// Every two models of the run, the newest first.
fn play_round(arena: &mut Arena, games: Option<u64>, stop: &Stop) -> Result<(), EvaluatorError> {
    let models: Vec<PlayerId> = arena.models()?.into_iter().map(PlayerId::from).collect();
    let pairs = (0..models.len()).rev().flat_map(|one| (0..one).rev().map(move |other| (one, other)));
    play_all(arena, pairs.map(|(one, other)| [models[one].clone(), models[other].clone()]), games, stop)
}

fn play_ancestors(arena: &mut Arena, model: &PlayerRef, games: Option<u64>, stop: &Stop) -> Result<(), EvaluatorError> {
    let model = arena.resolve(model)?;
    let ancestors = arena.ancestors(&model)?.into_iter().map(PlayerId::from);
    play_all(arena, ancestors.map(|ancestor| [model.clone(), ancestor]), games, stop)
}

fn play_anchors(arena: &mut Arena, player: &PlayerRef, games: Option<u64>, stop: &Stop) -> Result<(), EvaluatorError> {
    let player = arena.resolve(player)?;
    let engines = Engine::names(arena.engines()).into_iter().map(|name| name.parse().map(PlayerId::Engine));
    let engines: Vec<PlayerId> = engines.collect::<Result<_, _>>().expect("the names of engines were read as such");
    let others = engines.into_iter().filter(|engine| *engine != player);
    play_all(arena, others.map(|engine| [player.clone(), engine]), games, stop)
}

/// Lets pairs play one after the other, each until it has met in so many games.
fn play_all(
    arena: &mut Arena,
    pairs: impl Iterator<Item = [PlayerId; 2]>,
    games: Option<u64>,
    stop: &Stop,
) -> Result<(), EvaluatorError> {
    let games = games.unwrap_or(arena.config().evaluate.games_per_pair as u64);
    for [one, other] in pairs {
        if stop.requested() {
            break;
        }
        play(arena, [&one, &other], Some(games), stop)?;
    }
    Ok(())
}

fn play_test(
    arena: &mut Arena,
    pair: &[PlayerRef],
    test: &Sprt,
    games: Option<u64>,
    stop: &Stop,
) -> Result<Comparison, EvaluatorError> {
    let [first, second] = pair else { unreachable!("--sprt takes two models") };
    let (first, second) = (arena.resolve(first)?, arena.resolve(second)?);
    let most = games.unwrap_or(MOST_GAMES);
    let bar = cli::Progress::new(format!("{first} against {second}"), None);
    let found = arena.compare([&first, &second], test, most, stop, &mut |so_far, progress| {
        show_test(&bar, so_far, progress);
    });
    bar.finish();
    found
}

fn play_gate(
    arena: &mut Arena,
    model: &ModelRef,
    test: &Sprt,
    games: Option<u64>,
    stop: &Stop,
) -> Result<Promotion, EvaluatorError> {
    let candidate = arena.resolve_model(model)?;
    let bar = cli::Progress::new(format!("{candidate} against {}", arena.champion()?), None);
    let most = games.unwrap_or(MOST_GAMES);
    let found = arena.promote(&candidate, test, most, stop, &mut |so_far, progress| show_test(&bar, so_far, progress));
    bar.finish();
    found
}

fn show_test(bar: &cli::Progress, so_far: &Comparison, progress: Progress) {
    bar.set(2 * u64::from(so_far.outcomes.count()) + progress.finished);
    bar.note(format!("log ratio {:.2} of {:.2} to {:.2}", so_far.log_ratio, so_far.bounds[0], so_far.bounds[1]));
}

/// Lets two models play until they have met in `games` games, or else in as many more as the run wants.
fn play(arena: &mut Arena, [a, b]: [&PlayerId; 2], games: Option<u64>, stop: &Stop) -> Result<(), EvaluatorError> {
    let met = arena.score([a, b])?.games;
    let wanted = games.unwrap_or(met + arena.config().evaluate.games_per_pair as u64);
    if met < wanted {
        let bar = cli::Progress::new(format!("{a} against {b}"), Some(arena.left([a, b], wanted)?));
        arena.meet([a, b], wanted, stop, &mut |progress| show(&bar, progress))?;
        bar.finish();
    }
    tell_score(arena, [a, b])
}

fn show(bar: &cli::Progress, progress: Progress) {
    bar.set(progress.finished);
    let void = if progress.void == 0 { String::new() } else { format!(", {} void", progress.void) };
    bar.note(format!("{} : {}{void}", progress.points, progress.finished as f64 - progress.points));
}

fn tell_score(arena: &Arena, [a, b]: [&PlayerId; 2]) -> Result<(), EvaluatorError> {
    let score = arena.score([a, b])?;
    tracing::info!(games = score.games, "{a} has made {} points against {b}", score.points);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("evaluator").chain(text.split_whitespace()))
    }

    #[test]
    fn args_ask_for_exactly_one_kind_of_work() {
        for text in [
            "--pair v1-1 v1-2 --games 40",
            "--pair-uncertain --pairs 3 --run v1",
            "--ratings --run v1",
            "--report --run v1",
            "--report page.html --run v1 --include-retired",
            "--retire 300 --run v1",
            "--retire v1-3",
            "--unretire v1-3",
            "--delete-retired-weights --run v1",
            "--pair-uncertain --run v1 --about ladder --include-retired",
            "--report page.html --run v1 --anchor Random=-1534",
            "--rate f.csv --prior gauss:400 --no-first-move --anchor a=1 --anchor b=2:30",
        ] {
            assert!(args(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "--pair v1-1",
            "--pair v1-1 v1-0",
            "--pair v1-1 v1-2 --games 7",
            "--pair v1-1 v1-2 --ratings",
            "--ratings --pairs 3",
            "--pair-uncertain --games 8",
            "--rate f.csv --ratings",
            "--sprt v1-1 v1-2 --elo0 0",
            "--pair-uncertain --about nothing",
            "--rate f.csv --prior flat",
            "--ratings --no-first-move --run v1",
            "--report --ratings --run v1",
            "--retire -5 --run v1",
            "--retire NaN --run v1",
            "--unretire 3",
            "--retire 300 --include-retired --run v1",
            "--report --with v2 --run v1",
        ] {
            assert!(args(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_run_is_that_of_a_model_unless_it_is_named() {
        let run = |text: &str| run_name(&args(text).expect("the arguments fit")).ok().map(|run| run.to_string());
        assert_eq!(run("--pair random v1-2"), Some("v1".to_owned()));
        assert_eq!(run("--pair v1-2 v2 --run v3"), Some("v3".to_owned()));
        assert_eq!(run("--pair random uniform"), None);
        assert_eq!(run("--ratings"), None);
        assert_eq!(run("--retire v4-3"), Some("v4".to_owned()));
        assert_eq!(run("--unretire v4-3"), Some("v4".to_owned()));
    }
}
