//! The run's store: everything that the programs of a run hand to each other. A [`Store`] is the object layer; a
//! [`Run`] hands out a repository for each kind of object.
//!
//! ```text
//! <store>/<run>/run.toml                                   the configuration
//!         models/000330/weights.safetensors, model.toml    a model
//!         games/000330/<worker>-<time>.parquet             games, one row each (record::games)
//!         examples/000330/<worker>-<time>.parquet          positions of these games (record::examples)
//!         holdout/000330/<worker>-<time>.parquet           positions of the validation set
//!         sgf/000330/<worker>-<time>.sgf                   readable games
//!         {games,examples,holdout,sgf}/archive/000001.…    many such files in one, and the games say which
//!         resign/<number>.toml                             a resignation threshold and what it comes from
//!         shards/000331/part-0000.parquet…, manifest.toml  what model 331 is trained on (record::examples)
//!         checkpoints/000000168960/…, manifest.toml        a trainer's state after so many steps
//!         logs/…                                           losses by step: JSON lines, and events for TensorBoard
//!         matches/<worker>-<time>.parquet                  results (record::games)
//!         ratings/<time>.parquet                           fitted ratings (record::ratings)
//!         engines/<name>.toml                              other programs that have played matches
//!         retired/000007.toml, 000007-1.toml               a model is retired, brought back, and so on
//!         pairings/000080-003.toml                         pairs that `tengen run` chose after a model
//!         champions/000019.toml                            models that passed a promotion test
//!         claims/<pair>-<number>.toml                       what evaluators are playing now
//!         leases/<stage>/<name>/000001.toml                which process works under a name
//!         config/<digest>.toml                             a copy of the initial configuration
//!         unfinished/000330/<worker>-<time>.parquet        handed-off games, and who has taken them
//!         live/<worker>-<time>.parquet                     a game as it is played, for viewers
//!         quarantine/<path>                                damaged files that were moved out of the way
//!         pruned/000001.toml                               which old games were deleted on request
//! <store>/evalcache/<set>/000001.segment                   evaluations of a model, by any process (crate evalcache)
//! ```
//!
//! What holds for all of it:
//!
//! 1. A file appears whole, under its final name, once, and is never changed. A process may be killed at any
//!    instruction: what it leaves behind is not listed and not read. Half-written files of a folder are deleted by
//!    [`Pruning::sweep`] and [`Evaluations::sweep`], whole examples without games by [`Pruning::prune_games`].
//! 2. Where several files belong together, one of them commits: the games for their examples, `model.toml` for the
//!    weights, a manifest for its parts. It comes last, and without it the others do not count. It names its parts with
//!    their hashes, so that two writers cannot spoil each other's.
//! 3. Publishing the same thing again is no error, so that a process may be started again or run twice; publishing
//!    another thing under a name that is taken is one.
//! 4. Only derived data are deleted, and on request weights of retired models ([`Models::delete_weights`]) and old
//!    games ([`Pruning`]): shards and checkpoints that newer ones replace; claims on matches in progress; leases;
//!    states of live games; unfinished games once they are finished and published; and files of games that have gone
//!    into an archive, each after a comparison with what the archive has. Damaged files of games are moved to
//!    `quarantine/`.
//! 5. Transient errors (a lost connection, a failing server) are retried with exponential back-off for half a minute
//!    after the first; then the caller gets the error. A request without a response fails after two minutes, and is
//!    retried once.
//! 6. Objects are checked when they are read, against hashes and schemas, and an error names the file.
//!
//! This is the only crate that knows Parquet, and object stores but for decorators in crate `testing`.

mod archive;
mod archives;
mod backoff;
mod champions;
mod checkpoints;
mod checksum;
mod claims;
mod classify;
mod compact;
mod configuration;
mod copies;
mod data_table;
mod error;
mod evaluation_table;
mod evaluations;
mod examples;
mod executor;
mod files;
mod folder;
mod games;
mod leases;
mod list;
mod live;
mod logs;
mod lookup;
mod marks;
mod matches;
mod metadata;
mod models;
mod names;
mod newest;
mod numbers;
mod open;
mod origin;
mod packing;
mod pairings;
mod parallel;
mod partial_read;
mod parts;
mod probe;
mod projection;
mod pruning;
mod quarantine;
mod ratings;
mod resign;
mod retirements;
mod retry;
mod run;
mod shards;
mod store;
mod stored;
mod sweep;
mod traffic;
mod unfinished;

pub use archives::Archives;
pub use backoff::Backoff;
pub use champions::Champions;
pub use checkpoints::{Checkpoint, Checkpoints};
#[cfg(any(test, feature = "testing"))]
pub use checksum::with_right_checksums;
pub use claims::{CLAIM_LASTS, Claim, Claims};
#[cfg(any(test, feature = "testing"))]
pub use classify::errors_of_response;
pub use compact::Compaction;
pub use data_table::{TableColumn, data_table};
pub use error::{Changes, StoreError};
pub use evaluation_table::{EvaluationRow, evaluation_table};
pub use evaluations::{Evaluations, SegmentFile};
pub use examples::Examples;
pub use files::FileRef;
pub use games::Games;
pub use leases::{HeldLease, Lease, LeaseHolder, LeaseName, Leases};
pub use live::LiveGames;
pub use logs::{LogName, Logs};
pub use marks::Pruned;
pub use matches::Matches;
pub use models::{ModelMetadata, Models};
pub use names::Stem;
pub use origin::{Source, SourceKind};
pub use pairings::{Pairing, Pairings};
pub use parts::Part;
pub use probe::Probe;
pub use projection::encode;
#[cfg(any(test, feature = "testing"))]
pub use projection::encode_uncompressed;
pub use pruning::{ArchiveContents, DeletedFiles, Pruning, StoredFile};
pub use quarantine::Quarantine;
pub use ratings::Ratings;
pub use record::RatingRow;
pub use resign::{ResignThreshold, ResignThresholds};
pub use retirements::Retirements;
pub use run::Run;
pub use shards::{AgeSummary, Manifest, Rejected, SampleSummary, ShardPart, Shards, WindowSummary};
pub use store::Store;
pub use stored::{FileKind, FileOwner};
pub use unfinished::{AcquiredGames, UnfinishedGames};
