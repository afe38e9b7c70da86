//! From the name of a model to the model and its configuration.

use config::{ModelId, ModelRef, Preset, RunConfig, RunName};
use models::Models;
use store::Store;

/// Which model is studied.
#[derive(clap::Args, Debug)]
pub struct ModelArgs {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), uniform or random
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// Run whose settings a built-in model uses [default: those of configs/9x9.toml]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
}

impl ModelArgs {
    /// The models of a store, and the one that is meant.
    pub(crate) fn find(&self, store: &str) -> anyhow::Result<(Models, ModelId)> {
        let models = Models::new(Store::open(store)?);
        let id = models.resolve(&self.model)?;
        Ok((models, id))
    }

    /// The [`configuration`] that it is studied with.
    pub(crate) fn configuration(
        &self,
        models: &Models,
        id: &ModelId,
        overrides: &[String],
    ) -> anyhow::Result<RunConfig> {
        configuration(models, id, self.run.as_ref(), overrides)
    }
}

/// The configuration of the model's run, or of the run that is named, or the plain one, with some values changed; as its
/// phase has it where the run has phases.
pub fn configuration(
    models: &Models,
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
            let run = models.run(name)?;
            runtime::run_config(&run)?.of_model(id.number()).to_toml()
        }
    };
    Ok(RunConfig::from_toml_with(&text, overrides)?)
}
