//! What a monitor may know of a process: every metric there is, with its name, its labels and its meaning.
//!
//! A number is noted where progress is reported anyway, some times a second; nothing is noted for each visit. Before
//! [`crate::ServiceArgs::start`] has opened a port, notes go nowhere.

use crate::health;

/// A metric that only grows, from the start of the process.
#[derive(Clone, Copy, Debug)]
pub struct Counter(About);

/// A metric that goes up and down.
#[derive(Clone, Copy, Debug)]
pub struct Gauge(About);

/// What there is to know of a metric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) label: Option<&'static str>,
    pub(crate) help: &'static str,
}

impl Counter {
    /// So many more.
    pub fn add(self, more: u64) {
        metrics::counter!(self.0.name).increment(more);
    }
}

impl Gauge {
    /// It is so much now.
    pub fn set(self, value: impl Into<f64>) {
        metrics::gauge!(self.0.name).set(value.into());
    }

    /// It is there, and 0 unless it was set.
    pub fn show(self) {
        metrics::gauge!(self.0.name).increment(0.0);
    }

    /// It is so much now for one value of its label.
    pub fn set_of(self, value_of_label: &'static str, value: impl Into<f64>) {
        let label = self.0.label.expect("the metric has a label");
        metrics::gauge!(self.0.name, label => value_of_label).set(value.into());
    }

    /// It is 1 with these values of its labels, which say what is to be known.
    pub fn inform(self, labels: &[(&'static str, &str)]) {
        let names: Vec<&str> = labels.iter().map(|(name, _)| *name).collect();
        debug_assert_eq!(self.0.label, Some(names.join(", ")).as_deref(), "the labels are those of the reference");
        let labels: Vec<metrics::Label> =
            labels.iter().map(|&(name, value)| metrics::Label::new(name, value.to_owned())).collect();
        metrics::gauge!(self.0.name, labels).set(1.0);
    }

    /// It happened now: seconds since 1970.
    pub fn set_to_now(self) {
        self.set(health::now());
    }

    /// It happened so many milliseconds after the beginning of 1970.
    pub fn set_to_time(self, milliseconds: u64) {
        self.set(milliseconds as f64 / 1000.0);
    }
}

/// Makes constants of metrics, and a list of them.
macro_rules! metrics {
    ($($kind:ident $constant:ident = $name:literal $([$label:literal])?: $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: $kind = $kind(About {
            name: $name,
            kind: stringify!($kind),
            label: { let label: &[&'static str] = &[$($label)?]; if label.is_empty() { None } else { Some(label[0]) } },
            help: $help,
        });)*
        /// Every metric there is.
        pub(crate) const ALL: &[About] = &[$($constant.0),*];
    };
}

metrics! {
    Gauge START = "process_start_time_seconds": "When the process began, in seconds since 1970";
    Gauge MEMORY = "process_resident_memory_bytes": "Memory that the process occupies";
    Gauge IDLE = "tengen_idle_seconds": "Time since the work last got on; /healthz looks at it too";

    Gauge DEVICE = "tengen_device_info" ["device, precision, instruction_set, cpu_instruction_set, libtorch"]: "1; the labels say what networks compute with: cpu or cuda:N; int16, f32 or bf16; the instruction set that is used on the CPU and the largest that oneDNN knows of it; the version of libtorch";

    Counter STORE_REQUESTS = "tengen_store_requests_total" ["operation"]: "Requests to the store, tries after the first included: get, put, list, head, delete";
    Counter STORE_RETRIES = "tengen_store_retries_total" ["operation"]: "Requests that failed for something passing and were made again";
    Counter STORE_ERRORS = "tengen_store_errors_total" ["operation"]: "Requests that were given up because the store was out of reach or refused";
    Gauge STORE_REFUSES = "tengen_store_refuses_writes": "1 once the store has refused a write because it is full, read-only or not this process's to write; the process ends a minute later with exit code 5";
    Counter STORE_QUARANTINED = "tengen_store_quarantined_files_total": "Files moved to the run's folder quarantine/ because they are damaged, with what was published with them";
    Counter STORE_READ = "tengen_store_read_bytes_total": "Bytes read from the store";
    Counter STORE_WRITTEN = "tengen_store_written_bytes_total": "Bytes published in the store";

    Counter GAMES = "tengen_games_total": "Self-play games finished";
    Counter GAMES_ABANDONED = "tengen_games_abandoned_total": "Self-play games in progress that were discarded on shutdown";
    Counter GAMES_HANDED_OFF = "tengen_games_handed_off_total": "Self-play games in progress that were handed off on shutdown";
    Counter GAMES_RESUMED = "tengen_games_resumed_total": "Self-play games of another process that this one resumed";
    Gauge GAMES_UNPUBLISHED = "tengen_games_unpublished": "Finished self-play games that wait for others to share a file with";
    Counter POSITIONS = "tengen_positions_total": "Moves in finished self-play games";
    Counter VISITS = "tengen_visits_total": "Visits by which the moves of finished self-play games were chosen, those inherited from the search before included";
    Counter EVALUATIONS = "tengen_evaluations_total": "Positions evaluated by a model in self-play";
    Counter CACHE_HITS = "tengen_evaluation_cache_hits_total": "Positions in self-play whose evaluation was in the cache";
    Counter BATCH_SLOTS = "tengen_batch_slots_total": "Slots of the batches of self-play, used or not; evaluations / slots is how full batches are";
    Counter BATCHES = "tengen_batches_total": "Batches of positions evaluated in self-play";
    Counter NETWORK_WAIT = "tengen_network_wait_microseconds_total": "How long the threads of self-play waited for these batches, all together, in microseconds: waits by batches is what a batch takes, the batches of other threads included that the device takes first";
    Gauge MODEL = "tengen_model_number": "Number of the model that self-play uses; 0 is random";
    Gauge MODEL_SINCE = "tengen_model_opened_timestamp_seconds": "When self-play began to use it, in seconds since 1970";
    Gauge RESIGN_IN_FORCE = "tengen_resign_threshold_in_force": "Root value below which the games that begin now are resigned; absent while nobody resigns";

    Gauge RESIGN_THRESHOLD = "tengen_resign_threshold": "Newest resignation threshold, as root value for the mover: -1 to 0";
    Gauge RESIGN_FALSE_POSITIVES = "tengen_resign_false_positive_ratio": "Share of the calibration games behind the threshold that their winner would have resigned";
    Gauge RESIGN_GAMES = "tengen_resign_calibration_games": "Calibration games that the threshold comes from";
    Gauge RESIGN_MODEL = "tengen_resign_model_number": "Number of the newest model that played one of them";
    Gauge RESIGN_TIME = "tengen_resign_computed_timestamp_seconds": "When the threshold was last computed from all games that were there, in seconds since 1970";
    Gauge NEWEST_GAMES = "tengen_newest_games_timestamp_seconds": "When the newest file of self-play games was written, in seconds since 1970";
    Gauge NEWEST_HOLDOUT = "tengen_newest_holdout_timestamp_seconds": "When the newest file of positions set aside for validation was written, in seconds since 1970; 0 before the first";
    Gauge GAMES_WANTED = "tengen_games_wanted": "Games of the newest model that the next shards wait for, those that are there included";
    Gauge GAMES_THERE = "tengen_games_available": "Those of them that are there";
    Gauge SHARDS = "tengen_shards_generation": "Number of the model that the newest shards are for";
    Gauge SHARDS_TIME = "tengen_shards_published_timestamp_seconds": "When this process published shards, in seconds since 1970";
    Gauge SHARDS_EXAMPLES = "tengen_shards_examples": "Examples in the newest shards";
    Gauge WINDOW_GAMES = "tengen_window_games": "Games in the window that the newest shards were drawn from";
    Gauge WINDOW_POSITIONS = "tengen_window_positions": "Positions in that window";
    Gauge SAMPLES_PER_NEW_POSITION = "tengen_samples_per_new_position": "Examples drawn for each new position: how often a position is learned from in its life";
    Gauge SHARDS_REJECTED = "tengen_shards_rejected_files": "Files that could not be read and were left out of the newest shards";

    Counter STEPS = "tengen_train_steps_total": "Batches that were learned from";
    Counter EXAMPLES = "tengen_train_examples_total": "Examples that were learned from";
    Gauge STEP = "tengen_train_step": "Optimiser steps since the start of the run";
    Gauge TRAIN_LOSS = "tengen_train_loss" ["part"]: "What the last batch cost before it was learned from: policy (nats), value, ownership, score, l2, total; ownership and score are 0 where they are not learned";
    Gauge HOLDOUT_LOSS = "tengen_holdout_loss" ["part"]: "What positions that are never learned from cost the newest model: policy (nats), value, ownership, score, l2, total";
    Gauge HOLDOUT_ACCURACY = "tengen_holdout_accuracy_ratio": "Share of them whose most probable move is the search's";
    Gauge HOLDOUT_CALIBRATION = "tengen_holdout_calibration_error_ratio": "By how much the share of them that is won differs from what the values say, on average over ten bins: expected calibration error, 0 to 1";
    Gauge HUMAN_VALUE_ERROR = "tengen_human_value_error": "Squared error of the newest model's values on human games, against their results: 0 to 4; only where --eval-sgf names games";
    Gauge HUMAN_ACCURACY = "tengen_human_accuracy_ratio": "Share of their positions whose most probable move is the one that was played";
    Gauge HUMAN_TOP_THREE = "tengen_human_top_three_ratio": "Share of them whose three most probable moves hold the one that was played";
    Gauge LEARNING_RATE = "tengen_learning_rate": "Learning rate of the next step";
    Gauge ROTATE = "tengen_train_augmentation_enabled": "Whether training turns and mirrors its examples: 1 or 0";
    Gauge NEWEST_MODEL = "tengen_newest_model_number": "Number of the newest published model; 0 before the first";
    Gauge NEWEST_MODEL_TIME = "tengen_model_published_timestamp_seconds": "When this process published a model, in seconds since 1970; before, when it began";
    Gauge TRAIN_WAITING = "tengen_train_waiting_seconds": "How long training has waited for its shards; 0 while it learns";

    Counter PAIRS = "tengen_pairs_total": "Pairs of players that were chosen and met";
    Counter MATCH_GAMES = "tengen_match_games_total": "Match games finished";
    Counter MATCH_VOID = "tengen_match_void_games_total": "Match games that came to nothing";
    Counter MATCH_EVALUATIONS = "tengen_match_evaluations_total": "Positions evaluated by models in matches";
    Gauge RATED_MODEL = "tengen_rated_model_number": "Number of the newest model that has a rating";
    Gauge RATED_ELO = "tengen_rated_model_elo": "Its rating, in Elo";
    Gauge RATED_ERROR = "tengen_rated_model_error_elo": "Standard error of that rating, in Elo";
}

/// The reference of all metrics, as Markdown: docs/METRICS.md.
#[cfg(test)]
fn page() -> String {
    let mut page = "\
# Metrics

What `/metrics` says, in Prometheus' text format, wherever a program is given `--metrics-addr` or `TENGEN_METRICS_ADDR`. Every
metric has the labels `program` and, where there is one, `run`. A test writes this page anew: `UPDATE_EXPECT=1 cargo test -p
runtime --lib metrics`.

A program has only the metrics of its work; `tengen run` has all but those of waiting. Counters begin at 0 with each process.

| metric | kind | labels | meaning |
|---|---|---|---|
"
    .to_owned();
    for About { name, kind, label, help } in ALL {
        let kind = kind.to_lowercase();
        page += &format!("| `{name}` | {kind} | {} | {help} |\n", label.unwrap_or_default());
    }
    page
}

/// Tells the recorder what each metric means.
pub(crate) fn describe() {
    for about in ALL {
        match about.kind {
            "Counter" => metrics::describe_counter!(about.name, about.help),
            _ => metrics::describe_gauge!(about.name, about.help),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_is_what_the_programs_say() {
        expect_test::expect_file!["../../../docs/METRICS.md"].assert_eq(&page());
    }

    #[test]
    fn names_say_what_is_counted_and_in_which_unit() {
        let mut names: Vec<&str> = ALL.iter().map(|about| about.name).collect();
        for about in ALL {
            let total = about.name.ends_with("_total");
            assert_eq!(total, about.kind == "Counter", "{}", about.name);
            assert!(about.name.starts_with("tengen_") || about.name.starts_with("process_"), "{}", about.name);
            assert!(!about.help.contains('|') && about.help.len() > 10, "{}", about.name);
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len(), "no name twice");
    }
}
