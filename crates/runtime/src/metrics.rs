//! The metrics of all processes, each with its name, its labels and its meaning.
//!
//! A number is noted where progress is reported anyway, some times a second; nothing is noted for each visit. Before
//! [`crate::ServiceArgs::start`] has opened a port, notes go nowhere.

use crate::unix_millis;

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
    /// What notes are made with where they are frequent: to find a metric by its name allocates.
    pub fn handle(self) -> metrics::Counter {
        metrics::counter!(self.0.name)
    }

    /// So many more.
    pub fn add(self, more: u64) {
        metrics::counter!(self.0.name).increment(more);
    }

    /// So many more for one value of its label.
    pub fn add_for(self, value_of_label: &str, more: u64) {
        metrics::counter!(self.0.name, self.0.label_with(value_of_label)).increment(more);
    }
}

impl About {
    /// The only label, with a value.
    fn label_with(&self, value: &str) -> Vec<metrics::Label> {
        vec![metrics::Label::new(
            self.label.expect("a metric without a label is set without a value of it"),
            value.to_owned(),
        )]
    }
}

impl Gauge {
    /// What notes are made with where they are frequent, or say how much more it is.
    pub fn handle(self) -> metrics::Gauge {
        metrics::gauge!(self.0.name)
    }

    /// Sets the gauge.
    pub fn set(self, value: impl Into<f64>) {
        metrics::gauge!(self.0.name).set(value.into());
    }

    /// It is there, and 0 unless it was set.
    pub fn show(self) {
        metrics::gauge!(self.0.name).increment(0.0);
    }

    /// Sets the gauge for one value of its label.
    pub fn set_for(self, value_of_label: &str, value: impl Into<f64>) {
        metrics::gauge!(self.0.name, self.0.label_with(value_of_label)).set(value.into());
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
        self.set_to_time(unix_millis());
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
    Gauge START = "process_start_time_seconds": "Start time of the process, Unix time";
    Gauge MEMORY = "process_resident_memory_bytes": "Resident memory";
    Gauge IDLE = "tengen_idle_seconds": "Time since the last progress; /healthz compares it with --stalled-after";

    Gauge DEVICE = "tengen_device_info" ["device, precision, instruction_set, cpu_instruction_set, libtorch"]: "1; the labels are device (cpu or cuda:N), precision, instruction set in use, largest one of the CPU, and version of libtorch";

    Counter STORE_REQUESTS = "tengen_store_requests_total" ["operation"]: "Requests to the store, retries included: get, put, list, head, delete";
    Counter STORE_RETRIES = "tengen_store_retries_total" ["operation"]: "Requests that were retried after a transient error";
    Counter STORE_ERRORS = "tengen_store_errors_total" ["operation"]: "Requests that failed after all retries, because the store was unreachable or refused";
    Gauge STORE_REFUSES = "tengen_store_refuses_writes": "1 after the store has refused a write: full, read-only or not permitted. The process exits with code 5 a minute later";
    Counter STORE_QUARANTINED = "tengen_store_quarantined_files_total": "Damaged files moved to quarantine/, with the other files of their set";
    Counter STORE_READ = "tengen_store_read_bytes_total": "Bytes read from the store";
    Counter STORE_WRITTEN = "tengen_store_written_bytes_total": "Bytes written to the store";

    Counter EVALCACHE_HITS = "tengen_evalcache_hits_total": "Evaluations found in the stored cache (--evalcache)";
    Counter EVALCACHE_MISSES = "tengen_evalcache_misses_total": "Evaluations that the stored cache (--evalcache) lacked";
    Counter EVALCACHE_WRITTEN = "tengen_evalcache_written_bytes_total": "Bytes of segments that were published to the stored cache, those of merged segments included";
    Counter EVALCACHE_ERRORS = "tengen_evalcache_errors_total": "Lookups in damaged blocks or unreadable segments of the stored cache, which count as misses, and publications, lists and merges of segments that failed";
    Gauge EVALCACHE_EVALUATIONS = "tengen_evalcache_evaluations": "Evaluations in open segments of the stored cache, those in several segments counted several times";
    Gauge EVALCACHE_BYTES = "tengen_evalcache_bytes": "Bytes of open segments of the stored cache";

    Counter GAMES = "tengen_games_total": "Self-play games finished";
    Counter GAMES_DISCARDED = "tengen_games_discarded_total": "Self-play games in progress that were discarded on shutdown";
    Counter GAMES_HANDED_OFF = "tengen_games_handed_off_total": "Self-play games in progress that were handed off on shutdown";
    Counter GAMES_RESUMED = "tengen_games_resumed_total": "Self-play games of another process that this one resumed";
    Gauge GAMES_UNPUBLISHED = "tengen_games_unpublished": "Finished self-play games that are not published yet";
    Counter POSITIONS = "tengen_positions_total": "Moves in finished self-play games";
    Counter VISITS = "tengen_visits_total": "Visits of finished self-play games, inherited ones included";
    Counter EVALUATIONS = "tengen_evaluations_total": "Positions evaluated by the network in self-play";
    Counter MEMORY_CACHE_HITS = "tengen_memory_cache_hits_total": "Evaluations of self-play that were ready when submitted: found in memory (--cache-mib) or in the stored cache (--evalcache)";
    Counter BATCH_SLOTS = "tengen_batch_slots_total": "Slots of self-play batches, used or not; evaluations / slots is the batch fill";
    Counter BATCHES = "tengen_batches_total": "Batches evaluated in self-play";
    Counter NETWORK_WAIT = "tengen_network_wait_microseconds_total": "Time that self-play threads waited for batches, in microseconds; divided by the batches: latency, queueing on the device included";
    Gauge MODEL = "tengen_model_number": "Number of the model that self-play uses; 0: random";
    Gauge MODEL_SINCE = "tengen_model_opened_timestamp_seconds": "Time when self-play opened this model, Unix time";
    Gauge RESIGN_IN_FORCE = "tengen_resign_threshold_in_force": "Resign threshold of new games, as root value; absent while resignation is off";

    Gauge INFERENCE_UP = "tengen_inference_client_server_up" ["server"]: "State of an inference server as this client sees it: 1 up, 0.5 suspect, 0 down";
    Gauge INFERENCE_OUTSTANDING = "tengen_inference_client_outstanding_positions" ["server"]: "Positions that the server has not evaluated yet";
    Counter INFERENCE_CLIENT_BATCHES = "tengen_inference_client_batches_total" ["server"]: "Batches that the server evaluated";
    Counter INFERENCE_RESENT = "tengen_inference_client_resent_batches_total" ["server"]: "Batches that were sent to the server and then elsewhere, because it failed or was late";
    Counter INFERENCE_LATE = "tengen_inference_client_late_responses_total" ["server"]: "Responses that were dropped, because the batch was done";
    Counter INFERENCE_LOCAL = "tengen_inference_client_local_batches_total": "Batches that the network of this process evaluated, because all servers were down";

    Gauge RESIGN_THRESHOLD = "tengen_resign_threshold": "Newest resign threshold, as root value of the player to move: -1 to 0";
    Gauge RESIGN_FALSE_POSITIVES = "tengen_resign_false_positive_ratio": "Fraction of the calibration games whose winner would have resigned by the threshold in force; 0 before there is one";
    Gauge RESIGN_FALSE_POSITIVES_LOW = "tengen_resign_false_positive_low_ratio": "Lower end of the 95 % interval of that fraction";
    Gauge RESIGN_QUANTILE = "tengen_resign_quantile": "Fraction that the threshold is chosen for: resign.quantile";
    Gauge RESIGN_GAMES = "tengen_resign_calibration_games": "Calibration games behind the threshold";
    Gauge RESIGN_MODEL = "tengen_resign_model_number": "Number of the newest model among these games";
    Gauge RESIGN_TIME = "tengen_resign_computed_timestamp_seconds": "Time of the last computation of the threshold, Unix time";
    Gauge NEWEST_GAMES = "tengen_newest_games_timestamp_seconds": "Time of the newest file of self-play games, Unix time";
    Gauge NEWEST_HOLDOUT = "tengen_newest_holdout_timestamp_seconds": "Time of the newest file of the validation set, Unix time; 0 before the first";
    Gauge GAMES_WANTED = "tengen_games_wanted": "Games of the newest model that the next shards need";
    Gauge GAMES_AVAILABLE = "tengen_games_available": "Games of the newest model that are published";
    Gauge SHARDS = "tengen_shards_generation": "Number of the model that the newest shards are for";
    Gauge SHARDS_TIME = "tengen_shards_published_timestamp_seconds": "Time when this process published shards, Unix time";
    Gauge SHARDS_EXAMPLES = "tengen_shards_examples": "Examples in the newest shards";
    Gauge WINDOW_GAMES = "tengen_window_games": "Games in the window of the newest shards";
    Gauge WINDOW_POSITIONS = "tengen_window_positions": "Positions in that window";
    Gauge REUSE = "tengen_reuse": "Examples sampled per new position: the reuse of a position over its life";
    Gauge SHARDS_REJECTED = "tengen_shards_rejected_files": "Unreadable files that the newest shards omit";

    Counter STEPS = "tengen_train_steps_total": "Optimiser steps of this process";
    Counter EXAMPLES = "tengen_train_examples_total": "Examples trained on by this process";
    Gauge STEP = "tengen_train_step": "Optimiser steps since the start of the run";
    Gauge TRAIN_LOSS = "tengen_train_loss" ["part"]: "Loss of the last batch: policy (nats), value, ownership, score, opponent_policy (nats), l2, total; ownership, score and opponent_policy are 0 without these heads";
    Gauge HOLDOUT_LOSS = "tengen_holdout_loss" ["part"]: "Loss of the newest model on the validation set: policy (nats), value, ownership, score, opponent_policy (nats), l2, total";
    Gauge HOLDOUT_ACCURACY = "tengen_holdout_accuracy_ratio": "Top-1 accuracy on the validation set, against the move of the search";
    Gauge HOLDOUT_CALIBRATION = "tengen_holdout_calibration_error_ratio": "Expected calibration error of the value on the validation set, over ten bins: 0 to 1";
    Gauge HUMAN_VALUE_ERROR = "tengen_human_value_error": "Value MSE of the newest model on human games: 0 to 4; only with --eval-sgf, and while bootstrapping";
    Gauge HUMAN_ACCURACY = "tengen_human_accuracy_ratio": "Top-1 accuracy on human games; only with --eval-sgf, and while bootstrapping";
    Gauge HUMAN_TOP_THREE = "tengen_human_top_three_ratio": "Top-3 accuracy on human games; only with --eval-sgf, and while bootstrapping";
    Gauge DEEP_VALUE_ERROR = "tengen_deep_value_error": "Value MSE of the newest model against deep searches: 0 to 4; only with --eval-positions";
    Gauge DEEP_ACCURACY = "tengen_deep_accuracy_ratio": "Share of these positions whose most probable move is that of the search; only with --eval-positions";
    Gauge LEARNING_RATE = "tengen_learning_rate": "Learning rate of the last step";
    Gauge TRAIN_AUGMENTATION = "tengen_train_augmentation_enabled": "Data augmentation by symmetries: 1 on, 0 off";
    Gauge NEWEST_MODEL = "tengen_newest_model_number": "Number of the newest published model; 0 before the first";
    Gauge NEWEST_MODEL_TIME = "tengen_model_published_timestamp_seconds": "Time when this process published a model, Unix time; its start time before that";
    Gauge TRAIN_WAITING = "tengen_train_waiting_seconds": "Time that training has waited for shards; 0 while it trains";

    Counter PAIRS = "tengen_pairs_total": "Pairs of players that were chosen and played";
    Counter MATCH_GAMES = "tengen_match_games_total": "Match games finished";
    Counter MATCH_VOID = "tengen_match_void_games_total": "Void match games, to be replayed";
    Counter MATCH_EVALUATIONS = "tengen_match_evaluations_total": "Positions evaluated by the network in matches";
    Gauge RATED_MODEL = "tengen_rated_model_number": "Number of the newest rated model";
    Gauge RATED_ELO = "tengen_rated_model_elo": "Rating of the newest rated model, in Elo above the anchor";
    Gauge RATED_ERROR = "tengen_rated_model_error_elo": "Standard error of that rating in Elo, against the mean of the run's other models; of an only model, against that of the other players";

    Counter INFERENCE_POSITIONS = "tengen_inference_positions_total": "Positions that the inference server has evaluated";
    Counter INFERENCE_INTERACTIVE = "tengen_inference_interactive_positions_total": "Positions among them of people and matches";
    Counter INFERENCE_BATCHES = "tengen_inference_batches_total": "Batches on the device of the inference server";
    Counter INFERENCE_SLOTS = "tengen_inference_batch_slots_total": "Slots of these batches, used or not: --batch for each, even if the device computes fewer rows; positions / slots is the batch fill";
    Counter INFERENCE_BATCH_REQUESTS = "tengen_inference_batch_requests_total": "Requests, or parts of them, in these batches";
    Counter INFERENCE_WAIT = "tengen_inference_wait_microseconds_total": "Time from arrival of a request to its batch, summed over the requests of all batches, in microseconds";
    Counter INFERENCE_BUSY = "tengen_inference_busy_microseconds_total": "Time that threads of the inference server evaluated batches, in microseconds";
    Gauge INFERENCE_QUEUE = "tengen_inference_queue_positions": "Positions that wait for the device";
    Gauge INFERENCE_QUEUE_AGE = "tengen_inference_queue_age_seconds": "Waiting time of the oldest position";
    Counter INFERENCE_EXPIRED = "tengen_inference_expired_total": "Positions that were dropped unevaluated because their deadline had passed";
    Counter INFERENCE_REJECTED = "tengen_inference_rejected_total": "Positions that were rejected because the queue was full";
    Counter INFERENCE_ERRORS = "tengen_inference_errors_total": "Batches that failed on the device";
    Counter INFERENCE_CONNECTIONS = "tengen_inference_connections_total": "Connections that were accepted";
    Counter INFERENCE_UNAUTHENTICATED = "tengen_inference_unauthenticated_total": "Calls without the right token";
    Gauge INFERENCE_STREAMS = "tengen_inference_streams": "Streams and calls under way";
    Gauge INFERENCE_CREDIT = "tengen_inference_credit_positions": "Outstanding positions that each stream may have";
    Gauge INFERENCE_MODELS = "tengen_inference_models": "Models in memory";
    Gauge INFERENCE_MODEL_BYTES = "tengen_inference_model_bytes": "Estimated memory of these models";
    Counter INFERENCE_LOADS = "tengen_inference_model_loads_total": "Models that were loaded";
    Counter INFERENCE_LOAD_FAILURES = "tengen_inference_model_load_failures_total": "Models that could not be loaded";
    Counter INFERENCE_EVICTIONS = "tengen_inference_model_evictions_total": "Models that were evicted for others";
}

/// The reference of all metrics, as Markdown: docs/METRICS.md.
#[cfg(test)]
fn page() -> String {
    let mut page = "\
# Metrics

Prometheus metrics of `/metrics`, which `--metrics-addr` or `TENGEN_METRICS_ADDR` serves. Every metric has the label
`program`, and `run` if the process works on a run. Each entry has the kind, the other labels and the meaning.
This page is generated: `UPDATE_EXPECT=1 cargo test -p runtime --lib metrics` rewrites it.

A process serves the metrics of its own work; some appear with their first event. `tengen run` serves those of
self-play, shuffler, trainer and evaluator, except `tengen_pairs_total`; its `tengen_games_available` and
`tengen_games_wanted` are those of the newest shards. Counters start at 0 with each process.

"
    .to_owned();
    for About { name, kind, label, help } in ALL {
        let labels = label.map(|labels| format!("; labels {labels}")).unwrap_or_default();
        page += &item(&format!("- `{name}` ({}{labels}): {help}", kind.to_lowercase()));
    }
    page
}

/// An item of a list in Markdown, with lines that end before column 120.
#[cfg(test)]
fn item(text: &str) -> String {
    let (mut item, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        if column + 1 + word.len() > 118 {
            item += "\n  ";
            column = 2;
        } else if column > 0 {
            item.push(' ');
            column += 1;
        }
        item += word;
        column += word.len();
    }
    item + "\n"
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
    fn reference_is_what_the_programs_say() {
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
