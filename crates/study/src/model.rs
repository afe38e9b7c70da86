//! From the name of a model to the model and its configuration.

use config::{ModelId, ModelRef, Preset, RunConfig, RunName};
use models::{ModelError, ModelName, Models, Place, Searcher};
use runtime::ResourceArgs;
use store::Store;

use crate::StudyError;
use crate::batched_search::BATCH;

/// The model that is studied, and how.
#[derive(clap::Args, Debug)]
pub struct ModelArgs {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), uniform or random
    #[arg(long, env = "TENGEN_MODEL")]
    model: ModelRef,
    /// Run whose settings a built-in model uses [default: those of configs/9x9.toml]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Override a key of the configuration, such as search.leaves=8; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Print JSON objects instead of the table
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
}

impl ModelArgs {
    /// The models of a store, and the one that is meant.
    pub(crate) fn find(&self, store: &str) -> Result<(Models, ModelId), StudyError> {
        let models = Models::new(Store::open(store)?);
        let id = models.resolve(&self.model)?;
        Ok((models, id))
    }

    /// The [`configuration`] of its run.
    pub(crate) fn own_configuration(&self, models: &Models, id: &ModelId) -> Result<RunConfig, StudyError> {
        configuration(models, id, self.run.as_ref(), &[])
    }

    /// The [`configuration`] that it is studied with: `given` values, and those of the command line.
    pub(crate) fn configuration(
        &self,
        models: &Models,
        id: &ModelId,
        given: &[String],
    ) -> Result<RunConfig, StudyError> {
        configuration(models, id, self.run.as_ref(), &[given, &self.overrides].concat())
    }

    /// Opens a model on the device.
    pub(crate) fn open(&self, models: &Models, config: &RunConfig, id: &ModelId) -> Result<Searcher, StudyError> {
        let device: net::Device = self.resources.device.parse().map_err(ModelError::from)?;
        Ok(Searcher::open(models, config, id, &device.into(), BATCH)?)
    }
}

/// An open model with the configuration of its run.
pub struct Player {
    /// The configuration.
    pub config: RunConfig,
    /// The model with its search settings.
    pub searcher: Searcher,
    /// Whether it plays on boards of any size, as built-in models do.
    pub any_size: bool,
}

impl Player {
    /// Opens a model of a store or of a file, for batches of so many positions. A file or a built-in model plays by the rules
    /// of the run that is named.
    ///
    /// # Errors
    /// A model or a configuration that cannot be used, or a device that fails.
    pub fn open(
        models: &Models,
        model: &ModelName,
        run: Option<&RunName>,
        place: &Place,
        batch: usize,
    ) -> Result<Player, StudyError> {
        match model {
            ModelName::Model(model) => {
                let id = models.resolve(model)?;
                let config = configuration(models, &id, run, &[])?;
                let searcher = Searcher::open(models, &config, &id, place, batch)?;
                Ok(Player { config, searcher, any_size: !matches!(id, ModelId::Trained { .. }) })
            }
            ModelName::File(path) => {
                let config = configuration(models, &ModelId::Uniform, run, &[])?;
                let searcher = Searcher::of_file(path, &config, place, batch)?;
                Ok(Player { config, searcher, any_size: false })
            }
        }
    }
}

/// The configuration of the model's run, or of the run that is named, or the plain one, with some values changed; as its
/// phase has it where the run has phases.
pub fn configuration(
    models: &Models,
    id: &ModelId,
    named: Option<&RunName>,
    overrides: &[String],
) -> Result<RunConfig, StudyError> {
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
