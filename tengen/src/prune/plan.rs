//! What the policy deletes, and its deletion.

use std::fmt;
use std::ops::ControlFlow;

use config::{Keep, Retention, RunConfig};
use runtime::format;
use store::{DeletedFiles, Pruned, Run, StoreError, StoredFile};

use super::kinds::{self, Named};
use super::needed;
use super::policy::{Item, surplus};

/// What goes and what stays of each kind.
#[derive(Debug)]
pub(super) struct Plan {
    rows: Vec<Row>,
    games: Pruned,
    sgf: Named<(StoredFile, Option<u32>)>,
    weights: Named<u32>,
    shards: Named<u32>,
    checkpoints: Named<u64>,
    /// Checkpoints that stay.
    keep_checkpoints: usize,
    evaluations: Named<Vec<String>>,
    quarantine: Named<StoredFile>,
}

/// A line of the list.
#[derive(Debug)]
struct Row {
    /// What is counted.
    unit: &'static str,
    gone: Item,
    kept: Item,
    /// Why more is kept than the policy wants.
    note: Option<String>,
}

/// Chooses by the policy, and writes the list.
struct Chooser {
    now: i64,
    rows: Vec<Row>,
}

impl Chooser {
    /// The oldest of these, those that the policy does not keep; at least `least` of them stay.
    fn oldest<T>(&mut self, unit: &'static str, mut items: Named<T>, keep: Keep, least: usize) -> Named<T> {
        let values: Vec<Item> = items.iter().map(|(_, item)| *item).collect();
        let gone = surplus(&values, keep, self.now).min(values.len().saturating_sub(least));
        self.rows.push(Row { unit, gone: values[..gone].iter().sum(), kept: values[gone..].iter().sum(), note: None });
        items.truncate(gone);
        items
    }

    /// The games that go, by model: never those that are needed.
    fn games(&mut self, run: &Run, config: &RunConfig, keep: Keep) -> Result<Pruned, StoreError> {
        let (games, pruned) = (kinds::games(run)?, run.pruning().newest()?);
        let models = games.by_model();
        let values: Vec<Item> = models.iter().map(|(_, item)| *item).collect();
        let gone = surplus(&values, keep, self.now);
        let mut wanted = match (gone, models.get(gone)) {
            (0, _) => 0,
            (_, Some(&(model, _))) => model,
            (_, None) => models.last().map_or(0, |(model, _)| model + 1),
        };
        let mut notes = Vec::new();
        if wanted > pruned.games_before {
            let needed = needed::needed(run, config)?;
            if needed.model < wanted {
                notes.push(format!("those of models from {} on stay: {}", needed.model, needed.by));
                wanted = needed.model;
            }
        }
        let before = wanted.max(pruned.games_before);
        let first_archive = run.pruning().first_archive(before)?;
        let (gone, all): (Item, Item) = (games.before(before, first_archive), values.iter().sum());
        let old: u64 = models.iter().filter(|(model, _)| *model < before).map(|(_, item)| item.count).sum();
        if old > gone.count {
            notes.push(format!("{} of older models stay in archives with newer games", old - gone.count));
        }
        if games.damaged > 0 {
            let command = format!("`tengen audit {} --repair`", run.name());
            notes.push(format!("without games of damaged files, {} of them: see {command}", games.damaged));
        }
        let note = Some(notes.join("; ")).filter(|note| !note.is_empty());
        let kept = Item { count: all.count - gone.count, bytes: all.bytes.saturating_sub(gone.bytes), ..all };
        self.rows.push(Row { unit: "games", gone, kept, note });
        let new = needed::played(run, config, pruned.games_before..before)?;
        Ok(Pruned {
            games_before: before,
            games: pruned.games + new.games as u64,
            positions: pruned.positions + new.positions as u64,
            first_archive: first_archive.max(pruned.first_archive),
            ..pruned
        })
    }
}

impl Plan {
    /// What a policy deletes at a time in milliseconds since 1970.
    ///
    /// # Errors
    /// A store that cannot be reached, or an object of it that cannot be read.
    pub(super) fn make(run: &Run, config: &RunConfig, keep: Retention, now: i64) -> Result<Plan, StoreError> {
        let mut choose = Chooser { now, rows: Vec::new() };
        let games = choose.games(run, config, keep.games)?;
        let sgf = choose.oldest("files of SGF", kinds::sgf(run, &games)?, keep.sgf, 0);
        let weights = choose.oldest("retired models with weights", kinds::weights(run)?, keep.models, 0);
        let shards = choose.oldest("shards of published models", kinds::shards(run)?, keep.shards, 0);
        let checkpoints = kinds::checkpoints(run)?;
        let all = checkpoints.len();
        let checkpoints = choose.oldest("checkpoints", checkpoints, keep.checkpoints, 1);
        let evaluations = choose.oldest("models with cached evaluations", kinds::evaluations(run)?, keep.evalcache, 0);
        let quarantine = choose.oldest("files in quarantine", kinds::quarantine(run)?, keep.quarantine, 0);
        let keep_checkpoints = all - checkpoints.len();
        let rows = choose.rows;
        Ok(Plan { rows, games, sgf, weights, shards, checkpoints, keep_checkpoints, evaluations, quarantine })
    }

    /// Whether there is nothing to delete.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| row.gone.count == 0)
    }

    /// Deletes all of it, until `progress` breaks. The rest is in the next plan. `progress` is called between files
    /// with what is deleted so far.
    ///
    /// # Errors
    /// A store that cannot be used.
    pub(super) fn delete(
        &self,
        run: &Run,
        progress: &dyn Fn(DeletedFiles) -> ControlFlow<()>,
    ) -> Result<DeletedFiles, StoreError> {
        let mut deletion = Deletion { deleted: DeletedFiles::default(), progress };
        // A full store has no space for marks: what needs none is first, then SGF, which needs one for archives only.
        let quarantine: Vec<StoredFile> = self.quarantine.iter().map(|(file, _)| file.clone()).collect();
        if deletion.report().is_continue() {
            let done = run.pruning().prune_quarantine(&quarantine, &|done| deletion.report_after(done))?;
            deletion.add(done);
        }
        if let Some((last, _)) = self.shards.last().filter(|_| deletion.report().is_continue()) {
            run.shards().prune(last + 1)?;
            deletion.add(DeletedFiles { files: self.shards.len(), bytes: bytes(&self.shards) });
        }
        if !self.checkpoints.is_empty() && deletion.report().is_continue() {
            run.checkpoints().prune(self.keep_checkpoints)?;
            deletion.add(DeletedFiles { files: self.checkpoints.len(), bytes: bytes(&self.checkpoints) });
        }
        for (sets, item) in &self.evaluations {
            if deletion.report().is_break() {
                break;
            }
            let mut files = 0;
            for set in sets {
                let segments = run.store().evaluations(set, None)?;
                let numbers = segments.numbers()?;
                numbers.iter().try_for_each(|&number| segments.delete(number))?;
                files += numbers.len();
            }
            deletion.add(DeletedFiles { files, bytes: item.bytes });
        }
        let sgf: Vec<StoredFile> = self.sgf.iter().map(|((file, _), _)| file.clone()).collect();
        let archive = self.sgf.iter().filter_map(|((_, archive), _)| *archive).max();
        if deletion.report().is_continue() && !sgf.is_empty() {
            let first = archive.map_or(0, |number| number + 1);
            let done = run.pruning().prune_sgf(&sgf, first, &|done| deletion.report_after(done))?;
            deletion.add(done);
        }
        if self.games.games_before > 0 && deletion.report().is_continue() {
            let done = run.pruning().prune_games(&self.games, &|done| deletion.report_after(done))?;
            deletion.add(done);
        }
        for (number, item) in &self.weights {
            if deletion.report().is_break() {
                break;
            }
            run.models().delete_weights(*number)?;
            deletion.add(DeletedFiles { files: 1, bytes: item.bytes });
        }
        Ok(deletion.deleted)
    }
}

/// A deletion, kind after kind.
struct Deletion<'a> {
    /// What is deleted of the kinds before.
    deleted: DeletedFiles,
    progress: &'a dyn Fn(DeletedFiles) -> ControlFlow<()>,
}

impl Deletion<'_> {
    fn add(&mut self, done: DeletedFiles) {
        self.deleted = self.with(done);
    }

    fn with(&self, done: DeletedFiles) -> DeletedFiles {
        DeletedFiles { files: self.deleted.files + done.files, bytes: self.deleted.bytes + done.bytes }
    }

    /// Reports what is deleted; breaks where the deletion is to end.
    fn report(&self) -> ControlFlow<()> {
        (self.progress)(self.deleted)
    }

    /// The same where so much of a kind is deleted.
    fn report_after(&self, done: DeletedFiles) -> ControlFlow<()> {
        (self.progress)(self.with(done))
    }
}

fn bytes<T>(items: &Named<T>) -> u64 {
    items.iter().map(|(_, item)| item.bytes).sum()
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, Row { unit, gone, kept, note }) in self.rows.iter().enumerate() {
            let line = if nth == 0 { "" } else { "\n" };
            write!(
                f,
                "{line}{unit}: delete {}, {}; keep {}, {}",
                gone.count,
                format::bytes(gone.bytes),
                kept.count,
                format::bytes(kept.bytes)
            )?;
            note.iter().try_for_each(|note| write!(f, " ({note})"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::path::Path;

    use config::Preset;
    use store::{Checkpoint, Manifest, ModelMetadata, Store};

    use super::*;

    /// A set of evaluations that belongs to no model of the run.
    const OTHER: &str = "ffffffffffffffff";

    #[test]
    fn deletion_reports_each_file_and_ends_between_them() {
        let folder = tempfile::tempdir().unwrap();
        let run = Store::open(&folder.path().to_string_lossy()).unwrap().run(&"r".parse().unwrap());
        let game = "games/000000/w-0000000000001.parquet";
        for path in ["sgf/000001/a.sgf", "sgf/000001/b.sgf", "quarantine/c.parquet", "quarantine/d.parquet", game] {
            let at = folder.path().join("r").join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, [0; 10]).unwrap();
        }
        let delete = |most: usize| {
            let plan = Plan {
                rows: Vec::new(),
                games: Pruned { games_before: 1, ..Pruned::default() },
                sgf: kinds::sgf(&run, &Pruned::default()).unwrap(),
                weights: Vec::new(),
                shards: Vec::new(),
                checkpoints: Vec::new(),
                keep_checkpoints: 1,
                evaluations: Vec::new(),
                quarantine: kinds::quarantine(&run).unwrap(),
            };
            let reported = RefCell::new(Vec::new());
            let progress = |done: DeletedFiles| {
                reported.borrow_mut().push((done.files, done.bytes));
                if done.files >= most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let done = plan.delete(&run, &progress).unwrap();
            let mut reported = reported.into_inner();
            reported.dedup();
            (reported, done.files)
        };
        assert_eq!(delete(1), (vec![(0, 0), (1, 10)], 1));
        // One file of the quarantine and two of SGF are there, and games, whose mark a full store refuses.
        assert_eq!(delete(3), (vec![(0, 0), (1, 10), (2, 20), (3, 30)], 3));
        assert_eq!(run.pruning().newest().unwrap(), Pruned::default());
        assert_eq!(delete(9), (vec![(0, 0)], 1));
        assert_eq!(delete(9), (vec![(0, 0)], 0));
    }

    /// The set of evaluations of a model.
    fn set_of(run: &Run, number: u32) -> String {
        run.models().described(number).unwrap().1[..16].to_owned()
    }

    /// Six models, of which 1, 2, 3 and 5 are retired and 3 was a champion; shards of the newest and of the next; three
    /// checkpoints, since a trainer was killed before it deleted the first; evaluations of two models, and others.
    fn trained_run(folder: &Path) -> Run {
        let run = Store::open(&folder.to_string_lossy()).unwrap().run(&"tiny".parse().unwrap());
        for number in 1..=6_u32 {
            let step = 10 * u64::from(number);
            let metadata = ModelMetadata::new(run.name(), number, step, &Preset::Tiny.config());
            run.models().publish(&metadata, format!("weights {number}").into()).unwrap();
            run.checkpoints().publish(&Checkpoint { step, files: BTreeMap::new() }).unwrap();
        }
        let old = folder.join("tiny/checkpoints/000000000001");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(old.join("manifest.toml"), "step = 1\n[files]\n").unwrap();
        let why = BTreeMap::from([("by", "test")]);
        run.champions().put(3, &why).unwrap();
        [1, 2, 3, 5].into_iter().for_each(|number| run.retirements().retire(number, &why).unwrap());
        for generation in [6, 7] {
            run.shards().publish([], Manifest { generation, ..Manifest::default() }).unwrap();
        }
        for set in [set_of(&run, 1), set_of(&run, 6), OTHER.to_owned()] {
            run.store().evaluations(&set, None).unwrap().publish(&vec![0_u8; 8].into()).unwrap();
        }
        run
    }

    #[test]
    fn objects_that_training_needs_and_those_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let run = trained_run(folder.path());
        let prune = |keep: Retention| {
            let plan = Plan::make(&run, &Preset::Tiny.config(), keep, 0).unwrap();
            plan.delete(&run, &|_| ControlFlow::Continue(())).unwrap().files
        };
        let weights = || -> Vec<u32> { (1..=6).filter(|&number| run.models().has_weights(number).unwrap()).collect() };
        let segments = |set: &str| run.store().evaluations(set, None).unwrap().numbers().unwrap().len();
        let [none, one, two] = [0, 1, 2].map(Keep::Count);
        let keep = Retention { models: one, shards: none, checkpoints: two, evalcache: one, ..Retention::ALL };
        assert_eq!(prune(keep), 4, "one of each kind");
        assert_eq!(weights(), [2, 3, 4, 5, 6], "2 is kept by number");
        assert_eq!(run.shards().generations().unwrap(), [7], "no model was trained on them");
        assert_eq!(run.checkpoints().steps().unwrap(), [50, 60]);
        assert_eq!([set_of(&run, 1).as_str(), set_of(&run, 6).as_str(), OTHER].map(segments), [0, 1, 1]);
        assert_eq!(prune(Retention { models: none, checkpoints: none, ..Retention::ALL }), 2);
        assert_eq!(weights(), [3, 4, 5, 6], "3 was a champion, and 5 is the parent of the newest");
        assert_eq!(run.checkpoints().steps().unwrap(), [60], "a trainer continues from it");
    }
}
