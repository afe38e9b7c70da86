//! From what a person typed for a model to what it is and how it plays.

use cli::Blame;
use config::{ModelId, RunConfig, RunName};
use store::{Store, StoreError};

pub(crate) use trainer::models::{PLAIN, resolve, store_of};

/// The configuration of the model's run, or of the run that is named, or the plain one, with some values changed; as its
/// phase has it where the run has phases.
pub(crate) fn configuration(
    store: &Store,
    id: &ModelId,
    named: Option<&RunName>,
    overrides: &[String],
) -> anyhow::Result<RunConfig> {
    let own = match id {
        ModelId::Trained { run, .. } => Some(run),
        ModelId::Uniform | ModelId::Random => named,
    };
    let text = match own {
        None => PLAIN.to_owned(),
        Some(name) => {
            let missing = || StoreError::NotFound { path: format!("run {name} in {}", store.root()) };
            store.run(name).config()?.ok_or_else(missing)?.at(id.number()).to_toml()
        }
    };
    RunConfig::from_toml_with(&text, overrides).misconfigured()
}
