//! Reads what a run has published. What does not change is read once, so that watching costs little.

use std::collections::{BTreeSet, HashMap};

use config::{RunConfig, RunName};
use exit_class::{Classified, ExitClass};
use facts::{Activity, Curves, Progress, own_model};
use record::{GameSummary, RatingRow};
use store::{CLAIM_LASTS, Claim, FileRef, HeldLease, LogName, Manifest, ResignThreshold, Run, StoreError};

use super::report::{Process, Rating, RunStatus, Stage, State};

const HOUR: i64 = 3_600_000;
/// Models that the rate of models is over.
const RECENT: u32 = 5;
/// Leases of a stage that are read; a run may have thousands of workers.
const READ_LEASES: usize = 16;
/// Files of games that alarms name; the others are counted.
const NAMED_FILES: usize = 4;
/// A holder responds to a question within half a minute, and counts as dead after a minute.
const UNANSWERED: i64 = 60_000;
/// Clocks of workers may differ from this one by so much. A later time is that of a wrong clock, and tells nothing.
const AHEAD: i64 = 60_000;
/// A run with living processes that publishes nothing for so long.
const STALLED: i64 = HOUR / 2;
/// A threshold from models that are further behind: the alert TengenResignThresholdStale.
const THRESHOLD_BEHIND: u32 = 2;
/// Calibration games whose winner would have resigned: the alert TengenResignThresholdWrong.
const WRONG_RESIGNATIONS: f64 = 0.1;

/// Observes a run.
pub(super) struct Observer {
    run: Run,
    /// Games of each file, and whether they were imported in the hour before it was found.
    counts: HashMap<FileRef, (usize, bool)>,
}

impl Observer {
    pub(super) fn new(run: Run) -> Observer {
        Observer { run, counts: HashMap::new() }
    }

    pub(super) fn name(&self) -> &RunName {
        self.run.name()
    }

    /// The state of the run at a time in milliseconds since 1970.
    ///
    /// # Errors
    /// A store that cannot be reached. A file that cannot be used is part of the state.
    pub(super) fn look(&mut self, now: i64) -> Result<RunStatus, StoreError> {
        let state = match self.state(now) {
            Err(error) if error.class() == ExitClass::StoreUnreachable => return Err(error),
            state => state.map_err(|error| error.to_string()),
        };
        Ok(RunStatus { run: self.name().clone(), state })
    }

    fn state(&mut self, now: i64) -> Result<State, StoreError> {
        let Some(config) = self.run.config()? else {
            return Err(StoreError::NotFound { path: format!("{}/{}/run.toml", self.run.store().root(), self.name()) });
        };
        Look { run: &self.run, counts: &mut self.counts, config, now, alarms: Vec::new() }.state()
    }
}

/// One look at a run.
struct Look<'a> {
    run: &'a Run,
    /// Those of the [`Observer`].
    counts: &'a mut HashMap<FileRef, (usize, bool)>,
    config: RunConfig,
    /// Milliseconds since 1970.
    now: i64,
    /// In the order of the output.
    alarms: Vec<String>,
}

/// Games of the newest model and of the one before it.
struct RecentGames {
    /// Games of the newest model.
    of_newest: u64,
    /// Games per hour over the last hour, without imported ones.
    per_hour: Option<f64>,
    /// When the last ones were published.
    last: Option<i64>,
}

impl Look<'_> {
    fn state(mut self) -> Result<State, StoreError> {
        let model = self.run.models().newest()?.unwrap_or(0);
        let played = self.count_recent(model)?;
        let ratings = self.ratings()?;
        let claims = self.run.claims().observe()?;
        let next = self.or_alarm(self.run.shards().manifest(model + 1))?;
        let progress = Progress {
            run: self.run.name().clone(),
            model,
            models: self.config.run_loop.models,
            games: played.of_newest,
            wanted: self.config.selfplay.games_of(model) as u64,
            // Shards that cannot be read are there: the trainer stops at them.
            shards: next.as_ref().is_none_or(Option::is_some),
            rated: ratings.keys().copied().max().unwrap_or(0),
            to_rate: self.config.last_evaluated(model),
            matches: self.matches(&claims),
        };
        let leases = self.run.leases().observe()?;
        let newest = self.last_published(model, &played, &claims)?;
        let steps_per_second = self.training(model)?;
        let stages = self.stages(&progress, &leases)?;
        let newest_shards = match next {
            Some(None) => self.or_alarm(self.run.shards().manifest(model))?,
            next => next,
        };
        self.add_alarms(&progress, newest_shards.flatten().as_ref())?;
        self.add_stalled(&progress, &leases, newest);
        let best = ratings.iter().max_by(|one, other| one.1.elo.total_cmp(&other.1.elo)).map(|(&number, _)| number);
        self.alarms.extend(weaker(&ratings, best, progress.rated));
        let of_number = |number: Option<u32>| number.and_then(|number| ratings.get(&number)).map(rating);
        Ok(State {
            model,
            models: progress.models,
            idle_seconds: newest.map(|newest| ((self.now - newest).max(0) / 1000) as u64),
            games_per_hour: played.per_hour,
            models_per_hour: self.models_per_hour(model)?,
            steps_per_second,
            newest_rating: of_number(Some(progress.rated)),
            best_rating: of_number(best),
            stages,
            alarms: self.alarms,
        })
    }

    /// What was read; nothing, and an alarm, where the file itself cannot be used, since the rest of the run is of use.
    fn or_alarm<T>(&mut self, read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
        match read {
            Err(error) if error.is_skippable() => self.alarms.push(error.to_string()),
            read => return read.map(Some),
        }
        Ok(None)
    }

    /// The same with a remedy for damage. A file of another version is whole: its message says which program reads it.
    fn or_alarm_with<T>(&mut self, read: Result<T, StoreError>, remedy: &str) -> Result<Option<T>, StoreError> {
        match read {
            Err(error) if error.is_damage() => self.alarms.push(format!("{error}; {remedy}")),
            read => return self.or_alarm(read),
        }
        Ok(None)
    }

    /// The pairs that are played.
    fn matches(&self, claims: &[(i64, Claim)]) -> Vec<(String, String)> {
        let lasting = claims.iter().filter(|(made, _)| self.now - made < CLAIM_LASTS.as_millis() as i64);
        lasting.map(|(_, claim)| (claim.first.clone(), claim.second.clone())).collect()
    }

    /// When games, a model or a checkpoint were published last, or games of matches were claimed.
    fn last_published(
        &self,
        model: u32,
        played: &RecentGames,
        claims: &[(i64, Claim)],
    ) -> Result<Option<i64>, StoreError> {
        let published = self.run.models().published_at(model)?;
        let claimed = claims.iter().map(|(made, _)| *made).max();
        let checkpointed = self.run.checkpoints().last_written()?;
        Ok([played.last, published, claimed, checkpointed].into_iter().flatten().max())
    }

    /// What is played. Files that cannot be used are not counted.
    fn count_recent(&mut self, model: u32) -> Result<RecentGames, StoreError> {
        let now = self.now;
        let files = self.run.games().files_since(model.saturating_sub(1))?;
        self.counts.retain(|file, _| file.model + 1 >= model);
        let remedy = format!("`tengen audit {} --repair` moves it to quarantine", self.run.name());
        let (mut dated, mut ahead, before) = (Vec::new(), BTreeSet::new(), self.alarms.len());
        for file in files {
            let read = match self.counts.get(&file) {
                Some(&known) => Ok(known),
                None => self.count(&file),
            };
            // Moved to quarantine since it was listed.
            if matches!(read, Err(StoreError::NotFound { .. })) {
                continue;
            }
            let Some((count, imported)) = self.or_alarm_with(read, &remedy)? else { continue };
            let time = file.stem.time() as i64;
            if time > now + AHEAD {
                ahead.insert(file.stem.worker().to_owned());
            }
            dated.push((time, file.model, count, imported));
            self.counts.insert(file, (count, imported));
        }
        let named = before + NAMED_FILES;
        if let Some(more @ 1..) = self.alarms.len().checked_sub(named) {
            self.alarms.truncate(named);
            self.alarms.push(format!("{more} more files of games cannot be read"));
        }
        self.alarms.extend(from_the_future(&ahead));
        dated.sort_unstable();
        let of_newest = dated.iter().filter(|(_, of, ..)| *of == model).map(|&(_, _, count, _)| count as u64).sum();
        dated.retain(|(time, ..)| *time <= now + AHEAD);
        let played: Vec<(i64, usize)> =
            dated.iter().filter(|(.., imported)| !imported).map(|&(time, _, count, _)| (time, count)).collect();
        Ok(RecentGames { of_newest, per_hour: per_hour(&played, now), last: dated.last().map(|&(time, ..)| time) })
    }

    /// The games of a file, and whether they were imported in the last hour.
    fn count(&self, file: &FileRef) -> Result<(usize, bool), StoreError> {
        let games = self.run.games();
        let count = games.count(file)?;
        // Only model 0 has imported games, and older ones have no part in the rate.
        let may_be_imported = file.model == 0 && file.stem.time() as i64 >= self.now - HOUR;
        Ok((count, may_be_imported && games.summaries(file)?.iter().all(GameSummary::is_imported)))
    }

    /// Models per hour, while the last models are of the last day.
    fn models_per_hour(&self, newest: u32) -> Result<Option<f64>, StoreError> {
        let first = newest.saturating_sub(RECENT).max(1);
        if newest <= first {
            return Ok(None);
        }
        let [from, to] = [self.run.models().published_at(first)?, self.run.models().published_at(newest)?];
        let (Some(from), Some(to)) = (from, to) else { return Ok(None) };
        Ok((to > from && self.now - to < 24 * HOUR)
            .then(|| f64::from(newest - first) * HOUR as f64 / (to - from) as f64))
    }

    /// Steps per second while the newest model was trained. Adds the alarms that the trainer logged then.
    fn training(&mut self, model: u32) -> Result<Option<f64>, StoreError> {
        let names = self.run.logs().list()?;
        let is_of_model = |name: &&String| name.parse::<LogName>().is_ok_and(|log| log.generation == model);
        let Some(name) = names.iter().rfind(is_of_model) else {
            return Ok(None);
        };
        let mut curves = Curves::default();
        curves.read(&String::from_utf8_lossy(&self.run.logs().read(name)?));
        self.alarms.extend(curves.alarms.iter().map(|alarm| format!("training of model {model}: {}", alarm.text)));
        let trained = curves.values("train", "policy").filter_map(|(step, _, line)| Some((line.time?, step as f64)));
        let trained: Vec<(f64, f64)> = trained.collect();
        Ok(match (trained.first(), trained.last()) {
            (Some(first), Some(last)) if last.0 > first.0 => Some((last.1 - first.1) / (last.0 - first.0)),
            _ => None,
        })
    }

    /// The newest ratings of models of this run, as they are by themselves, by number.
    fn ratings(&mut self) -> Result<HashMap<u32, RatingRow>, StoreError> {
        let remedy = format!("`evaluator ratings --run {}` publishes them again", self.run.name());
        let rows = self.or_alarm_with(self.run.ratings().newest(), &remedy)?.flatten().unwrap_or_default();
        Ok(rows.into_iter().filter_map(|row| Some((own_model(self.run.name(), &row.player)?, row))).collect())
    }

    fn stages(&mut self, progress: &Progress, leases: &[HeldLease]) -> Result<Vec<Stage>, StoreError> {
        let mut stages = Vec::new();
        for (stage, activity) in progress.activities() {
            let processes = match stage {
                "selfplay" | "trainer" => Some(self.processes(stage, leases)?),
                _ => None,
            };
            stages.push(Stage { stage, activity, processes });
        }
        Ok(stages)
    }

    fn processes(&mut self, stage: &str, leases: &[HeldLease]) -> Result<Vec<Process>, StoreError> {
        let mut processes = Vec::new();
        for (nth, lease) in leases.iter().filter(|lease| lease.stage == stage).enumerate() {
            let worker = &lease.name;
            if lease.probed_since.is_some_and(|since| self.now - since > UNANSWERED) {
                self.alarms.push(format!("{stage} {worker} does not respond to a process that wants its name"));
            }
            let mut process = None;
            if nth < READ_LEASES {
                let holder = match self.run.leases().holder_of(lease) {
                    // It was released just now.
                    Ok(None) => continue,
                    // Which process of that version holds it is not known.
                    Err(StoreError::OtherVersion { .. }) => None,
                    holder => holder?,
                };
                if let Some(dead) = holder.as_ref().filter(|holder| holder.alive == Some(false)) {
                    self.alarms.push(format!("{stage} {worker} was killed ({}); restart it", dead.process));
                    continue;
                }
                process = holder.map(|holder| holder.process);
            }
            processes.push(Process { worker: worker.clone(), process });
        }
        Ok(processes)
    }

    /// Alarms of damaged files, and of the resign threshold.
    fn add_alarms(&mut self, progress: &Progress, shards: Option<&Manifest>) -> Result<(), StoreError> {
        let quarantined = self.run.quarantine().files()?.len();
        if quarantined > 0 {
            let run = &progress.run;
            self.alarms.push(format!("{quarantined} damaged files are in quarantine/; see `tengen audit {run}`"));
        }
        if let Some(shards) = shards.filter(|shards| !shards.rejected.is_empty()) {
            let (rejected, model) = (shards.rejected.len(), shards.generation);
            self.alarms.push(format!("{rejected} files of games could not be read for the shards of model {model}"));
        }
        if let Some(found) = self.run.resign().newest()? {
            if found.to_model + THRESHOLD_BEHIND < progress.model && self.config.resign.calibration_fraction > 0.0 {
                let (of, model) = (found.to_model, progress.model);
                self.alarms
                    .push(format!("the resign threshold is from games of model {of}, and the newest model is {model}"));
            }
            self.alarms.extend(wrong_resignations(&found));
        }
        Ok(())
    }

    /// An alarm where there are processes and work, and nothing was published for long.
    fn add_stalled(&mut self, progress: &Progress, leases: &[HeldLease], newest: Option<i64>) {
        let is_finished = progress.activities().iter().all(|(_, activity)| *activity == Activity::Finished);
        if !is_finished && !leases.is_empty() && newest.is_some_and(|newest| self.now - newest > STALLED) {
            let what = "games, models or checkpoints";
            self.alarms.push(format!("processes hold leases, and none has published {what} for half an hour"));
        }
    }
}

/// Winners would have resigned by the threshold in force, significantly more often than is wanted.
fn wrong_resignations(found: &ResignThreshold) -> Option<String> {
    let (low, _) = found.in_force_interval();
    if low <= WRONG_RESIGNATIONS.max(found.quantile.into()) {
        return None;
    }
    let share = 100.0 * found.in_force_rate();
    Some(format!("winners of {share:.0} % of the calibration games would have resigned by the threshold in force"))
}

/// Files of these workers have a later time than this machine: one of the clocks is wrong.
fn from_the_future(workers: &BTreeSet<String>) -> Option<String> {
    let first = workers.first()?;
    let others = match workers.len() - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Some(format!("games of {first}{others} are from the future; correct the clocks of workers, or of this machine"))
}

fn rating(row: &RatingRow) -> Rating {
    Rating { player: row.player.clone(), elo: row.elo, margin: row.margin() }
}

/// The newest rated model is significantly weaker than the best one.
fn weaker(ratings: &HashMap<u32, RatingRow>, best: Option<u32>, newest: u32) -> Option<String> {
    let models = ratings.len() as f64;
    let (best, newest) = (ratings.get(&best?)?, ratings.get(&newest)?);
    // The error of `elo` is nearly all that of the gap to the zero of the scale, which both share and their difference
    // does not have. Places of n models, each above the mean of the others, correlate by −1/(n − 1), where all are
    // known alike, and each error has a part of the others in it.
    let error = best.above_pool_error.hypot(newest.above_pool_error) * (1.0 - 1.0 / models).sqrt();
    let difference = best.elo - newest.elo;
    // The 99.9 % quantile of the normal distribution: the best of many is compared.
    (difference > 3.09 * error && difference > 0.0)
        .then(|| format!("{} is {difference:.0} Elo below {}", newest.player, best.player))
}

/// Games per hour from the publications of the last hour, oldest first: those of the oldest file were played before it.
fn per_hour(files: &[(i64, usize)], now: i64) -> Option<f64> {
    let recent = &files[files.partition_point(|&(time, _)| time < now - HOUR)..];
    let ((first, _), later) = recent.split_first()?;
    let games: usize = later.iter().map(|(_, count)| count).sum();
    (games > 0 && now > *first).then(|| games as f64 * HOUR as f64 / (now - first) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_counts_the_files_of_the_last_hour_after_the_first() {
        let files = [(0, 500), (HOUR, 10), (HOUR + HOUR / 2, 20), (2 * HOUR - 1, 30)];
        assert_eq!(per_hour(&files, 2 * HOUR), Some(50.0));
        assert_eq!(per_hour(&files, 2 * HOUR + HOUR / 2), Some(30.0));
        assert_eq!(per_hour(&files[..1], HOUR / 2), None, "one file tells no rate");
        assert_eq!(per_hour(&files, 9 * HOUR), None, "nothing in the last hour");
        assert_eq!(per_hour(&[], 0), None);
    }

    /// Of the games that a threshold comes from, its quantile is wrong, whatever the games under it show.
    #[test]
    fn resignations_are_wrong_by_the_games_under_a_threshold() {
        let found = |games, wrong, quantile| ResignThreshold {
            threshold: -0.9,
            quantile,
            games: 600,
            from_model: 1,
            to_model: 2,
            in_force_games: games,
            in_force_wrong: wrong,
            false_positive_rate: 0.05,
            rate_low: 0.04,
            rate_high: 0.07,
        };
        let said = "winners of 30 % of the calibration games would have resigned by the threshold in force";
        assert_eq!(wrong_resignations(&found(100, 30, 0.05)).as_deref(), Some(said));
        assert_eq!(wrong_resignations(&found(100, 12, 0.05)), None, "not significant");
        assert_eq!(wrong_resignations(&found(100, 30, 0.3)), None, "that is what is wanted");
        assert_eq!(wrong_resignations(&found(0, 0, 0.05)), None);
    }

    /// The errors of late models against `random` are nearly the same number, twenty times that of their difference.
    fn row(number: u32, elo: f64, above_pool_error: f64) -> (u32, RatingRow) {
        let player = format!("a-{number}");
        let row = RatingRow { player, elo, error: 430.0, above_pool: 0.0, above_pool_error, games: 9, points: 4.0 };
        (number, row)
    }

    #[test]
    fn margin_is_that_of_the_table_of_ratings() {
        let rating = rating(&row(80, 2851.0, 22.2).1);
        assert_eq!((rating.elo, rating.margin), (2851.0, record::statistics::margin(22.2)));
        assert_eq!(rating.to_string(), "a-80 2851 ± 44 Elo");
    }

    #[test]
    fn newest_model_is_weaker_only_beyond_the_error_of_the_difference() {
        let of = |elo, error| -> HashMap<u32, RatingRow> {
            let others = (1..=4).map(|number| row(number, 2000.0, 30.0));
            others.chain([row(5, 2500.0, 30.0), row(6, elo, error)]).collect()
        };
        assert_eq!(weaker(&of(2350.0, 22.0), Some(5), 6).unwrap(), "a-6 is 150 Elo below a-5");
        assert_eq!(weaker(&of(2400.0, 22.0), Some(5), 6), None);
        assert_eq!(weaker(&of(2350.0, 90.0), Some(5), 6), None);
        // Of two models each has the error of their difference.
        let two = |elo: f64| HashMap::from([row(1, 2500.0, 30.0), row(2, elo, 30.0)]);
        assert_eq!(weaker(&two(2420.0), Some(1), 2), None);
        assert_eq!(weaker(&two(2400.0), Some(1), 2).unwrap(), "a-2 is 100 Elo below a-1");
        assert_eq!(weaker(&HashMap::from([row(1, 2500.0, 0.0)]), Some(1), 1), None, "the only model");
    }
}
