//! From what a person typed for a model to what it is and how it plays.

use config::{ModelId, ModelRef, Preset, RunConfig, RunName};
use store::{Store, StoreError};

pub(crate) use trainer::models::{resolve, store_of};

/// Which model is studied.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model: v15-330, or v15 for the newest of run v15; or a built-in one, uniform or random
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// The run whose settings a built-in model plays by [default: those of configs/9x9.toml]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
}

impl ModelArgs {
    /// The store that has the model, and which of its models it is.
    pub(crate) fn find(&self, store: &str) -> anyhow::Result<(Store, ModelId)> {
        let store = store_of(store, &self.model)?;
        let id = resolve(&store, &self.model)?;
        Ok((store, id))
    }

    /// The [`configuration`] that it is studied with.
    pub(crate) fn configuration(&self, store: &Store, id: &ModelId, overrides: &[String]) -> anyhow::Result<RunConfig> {
        configuration(store, id, self.run.as_ref(), overrides)
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
        None => Preset::NineByNine.config().to_toml(),
        Some(name) => {
            let missing = || StoreError::NotFound { path: format!("run {name} in {}", store.root()) };
            store.run(name).config()?.ok_or_else(missing)?.at(id.number()).to_toml()
        }
    };
    Ok(RunConfig::from_toml_with(&text, overrides)?)
}
