//! Matches: of a pair, of the pairs that are most informative, of all models.

use clap::ValueEnum;
use config::{EngineName, MOST_GAMES_PER_PAIR, ModelId, PlayerId, PlayerRef};
use gtp::engines::{Engine, EngineSpecs};
use ratings::pairing::Objective;
use runtime::{Driver, Step, Stop, Waiting, drive, within};
use store::{Backoff, Run};

use super::args::{CommonArgs, arena, run_of_any};
use super::table::TableArgs;
use crate::driver::{Schedule, pauses};
use crate::schedule::{Pairs, Uncertain};
use crate::{Arena, Console, EvaluatorError, Matches, RatedRun, RunSchedule, WhenIdle};

/// Pairs of a command at most.
const MOST_PAIRS: u64 = 1_000_000_000;

/// Matches whose pairs are given, not chosen.
const GIVEN: [&str; 4] = ["pair", "round_robin", "new_model", "against_anchors"];

/// Matches whose number of games the run decides.
const DECIDED: [&str; 2] = ["pair_uncertain", "schedule"];

/// All matches but those whose pairs are the most informative.
const CERTAIN: [&str; 5] = ["pair", "round_robin", "new_model", "against_anchors", "schedule"];

/// Players of a match.
#[derive(clap::Args, Clone, Debug, Default, PartialEq)]
pub(super) struct MatchArgs {
    /// Play two players: models (v15-330, v15 for the newest of run v15, 9x9-demo, uniform, random), models with other
    /// settings (v15-330+visits=400+q_init=loss), or engines (GnuGo-10, Random, Captures, those of --engines)
    #[arg(long, group = "match", num_args = 2, value_names = ["A", "B"], value_parser = models::player_with_id)]
    pair: Option<Vec<PlayerRef>>,
    /// Play the pair whose games are most informative for the ratings
    #[arg(long, group = "match")]
    pair_uncertain: bool,
    /// Play the matches of `tengen run`: of each evaluated model, by evaluate.pairing, and those of the finished run.
    /// One evaluator of a run at a time
    #[arg(long, group = "match")]
    schedule: bool,
    /// With --pair-uncertain or --schedule: wait for the run and its models instead of failing or ending
    #[arg(long, conflicts_with_all = GIVEN)]
    wait: bool,
    /// With --pair-uncertain: objective of the pairing
    #[arg(long, value_enum, default_value_t, value_name = "OBJECTIVE", conflicts_with_all = CERTAIN)]
    objective: Goal,
    /// Play all pairs of models of the run
    #[arg(long, group = "match")]
    round_robin: bool,
    /// Play this model against its ancestors at Fibonacci distances: 1, 2, 3, 5, 8, ... evaluated models before it
    #[arg(long, group = "match", value_name = "MODEL", value_parser = models::player_with_id)]
    new_model: Option<PlayerRef>,
    /// Play this player against every engine, built in or from --engines
    #[arg(long, group = "match", value_name = "PLAYER", value_parser = models::player_with_id)]
    against_anchors: Option<PlayerRef>,
    /// Maximum games of a pair, earlier ones included; even [default: evaluate.games_per_pair of the run; for --pair
    /// that many more]
    #[arg(long, value_name = "N", conflicts_with_all = DECIDED, allow_negative_numbers = true, value_parser = even)]
    games: Option<u64>,
    /// With --pair-uncertain: number of pairs, chosen one after the other [default: 1]
    #[arg(long, value_name = "N", requires = "pair_uncertain", conflicts_with_all = CERTAIN, allow_negative_numbers = true, value_parser = within(1..=MOST_PAIRS))]
    pairs: Option<u64>,
}

/// Objective of the pairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
enum Goal {
    /// The best model
    #[default]
    Best,
    /// All ratings
    Curve,
    /// The newest model relative to its ancestors
    Newest,
    /// The models of the run relative to other players
    Anchors,
    /// Every model relative to the mean of the models, and the newest to the oldest
    Ladder,
}

/// Both colours play each opening, so a match has an even number of games.
pub(super) fn even(text: &str) -> Result<u64, String> {
    match within(2..=MOST_GAMES_PER_PAIR)(text)? {
        games if games % 2 == 0 => Ok(games),
        _ => Err("an even number is needed, because each opening is played with either colour".to_owned()),
    }
}

impl MatchArgs {
    fn objective(&self) -> Objective {
        match self.objective {
            Goal::Best => Objective::Best,
            Goal::Curve => Objective::Curve,
            Goal::Newest => Objective::Newest,
            Goal::Anchors => Objective::Anchors,
            Goal::Ladder => Objective::Ladder,
        }
    }

    /// The players that are named.
    pub(super) fn players(&self) -> impl Iterator<Item = &PlayerRef> {
        self.pair.iter().flatten().chain(&self.new_model).chain(&self.against_anchors)
    }

    /// Players of the matches: those of a pair, and otherwise all whom the other matches choose from.
    fn playing(&self, arena: &Arena) -> Result<Vec<PlayerId>, EvaluatorError> {
        let rated = arena.rated();
        let named: Result<Vec<PlayerId>, EvaluatorError> = self.players().map(|player| rated.resolve(player)).collect();
        let mut playing = named?;
        // The older models of another run, which are no models of this one.
        if let Some(model) = &self.new_model {
            playing.extend(rated.ancestors(&rated.resolve(model)?)?.into_iter().map(PlayerId::from));
        }
        if self.pair.is_none() {
            playing.extend(Engine::names(arena.engines()).into_iter().map(PlayerId::Engine));
            playing.extend(rated.paired_models()?.into_iter().chain([ModelId::Random]).map(PlayerId::from));
        }
        Ok(playing)
    }

    /// The matches that are requested.
    fn schedule(&self, arena: &Arena) -> Result<Box<dyn Schedule>, EvaluatorError> {
        let (rated, games) = (arena.rated(), self.games);
        let when_idle = if self.wait { WhenIdle::Wait } else { WhenIdle::End };
        Ok(if self.pair_uncertain {
            warn_of_missing(arena.engines());
            Box::new(Uncertain::new(self.objective(), self.pairs.unwrap_or(1), when_idle))
        } else if self.schedule {
            Box::new(RunSchedule::new(when_idle))
        } else if self.round_robin {
            Box::new(Pairs::round_robin(rated, games)?)
        } else if let Some(model) = &self.new_model {
            let model = rated.resolve(model)?;
            let ancestors = rated.ancestors(&model)?.into_iter().map(PlayerId::from);
            Box::new(Pairs::against(rated, &model, ancestors, games))
        } else if let Some(player) = &self.against_anchors {
            let engines = Engine::names(arena.engines()).into_iter().map(PlayerId::Engine);
            Box::new(Pairs::against(rated, &rated.resolve(player)?, engines, games))
        } else if let Some([first, second]) = self.pair.as_deref() {
            Box::new(Pairs::of([rated.resolve(first)?, rated.resolve(second)?], games))
        } else {
            unreachable!("clap requires one of the group, and two players of --pair")
        })
    }
}

/// Plays the matches, and prints the ratings.
pub(super) fn run(common: &CommonArgs, args: &MatchArgs, table: &TableArgs, stop: &Stop) -> anyhow::Result<()> {
    let own = run_of_any(args.players());
    let (name, models) = if args.wait { common.open_to_wait(own, stop)? } else { common.open(own, stop)? };
    let resources = common.resources(stop)?;
    if args.wait {
        let run = models.store().run(&name);
        run.store().reach()?;
        drive(&mut WaitForRun(run), stop)?;
        if stop.requested() {
            return Ok(());
        }
    }
    let rated = table.of(RatedRun::open(models, &name)?);
    table.check(&rated)?;
    let arena = arena(rated, resources, stop)?;
    let schedule = args.schedule(&arena)?;
    // With --wait there are models later that do not exist yet.
    if !args.wait {
        table.check_anchors(arena.rated(), || args.playing(&arena))?;
    }
    let mut matches = Matches::new(arena, schedule, Console::new(stop.health().clone()), stop);
    drive(&mut matches, stop)?;
    let rated = matches.arena().rated();
    table.print(rated, rated.rate()?)
}

/// Warns of declared engines that are not paired: a path may be mistyped.
fn warn_of_missing(engines: &EngineSpecs) {
    let is_missing = |name: &&EngineName| !Engine::is_available(name, engines);
    let missing: Vec<&str> =
        engines.engine.iter().map(|engine| &engine.name).filter(is_missing).map(EngineName::as_str).collect();
    if !missing.is_empty() {
        tracing::warn!(engines = missing.join(", "), "engines are not installed here, and not paired");
    }
}

/// Waits until a run exists.
struct WaitForRun(Run);

impl Driver for WaitForRun {
    type Error = EvaluatorError;

    fn step(&mut self) -> Result<Step, EvaluatorError> {
        let WaitForRun(run) = self;
        Ok(if run.exists()? {
            Step::Finished
        } else {
            Step::Waiting(Waiting::new(format!("run {} to be created", run.name())))
        })
    }

    fn pause(&self) -> Backoff {
        pauses()
    }
}
