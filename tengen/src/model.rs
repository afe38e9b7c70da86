//! From what a person typed for a model to what it is and how it plays.

use cli::Blame;
use config::{ModelId, ModelRef, RunConfig, RunName};
use store::{Store, StoreError};

/// The configuration that a built-in model plays with where no run is named: that of the 9x9 run.
pub(crate) const PLAIN: &str = include_str!("../../configs/9x9.toml");

/// The model that is meant: the one that is named, or the newest of the run that is named.
pub(crate) fn resolve(store: &Store, model: &ModelRef) -> anyhow::Result<ModelId> {
    match model {
        ModelRef::Exact(id) => Ok(id.clone()),
        ModelRef::Newest(name) => {
            let newest = store.run(name).newest_model()?;
            newest
                .map(|number| name.model(number))
                .ok_or_else(|| anyhow::anyhow!("run {name} has no model yet"))
                .misconfigured()
        }
    }
}

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
