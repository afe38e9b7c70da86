//! An open model with the configuration that it plays by.

use config::{ModelId, Preset, RunConfig, RunName};

use crate::{ModelError, ModelName, Models, Place, Searcher};

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
    ) -> Result<Player, ModelError> {
        match model {
            ModelName::Model(model) => {
                let id = models.resolve(model)?;
                let config = models.configuration(&id, run, &[])?;
                let searcher = Searcher::open(models, &config, &id, place, batch)?;
                Ok(Player { config, searcher, any_size: !matches!(id, ModelId::Trained { .. }) })
            }
            ModelName::File(path) => {
                let config = models.configuration(&ModelId::Uniform, run, &[])?;
                let searcher = Searcher::of_file(path, &config, place, batch)?;
                Ok(Player { config, searcher, any_size: false })
            }
        }
    }
}

impl Models {
    /// The configuration of the model's run, or of the run that is named, or the plain one, with some values changed; as its
    /// phase has it where the run has phases.
    ///
    /// # Errors
    /// There is no such run, or overrides that cannot be used.
    pub fn configuration(
        &self,
        id: &ModelId,
        named: Option<&RunName>,
        overrides: &[String],
    ) -> Result<RunConfig, ModelError> {
        let own = match id {
            ModelId::Trained { run, .. } => Some(run),
            ModelId::Uniform | ModelId::Random => named,
        };
        let text = match own {
            None => Preset::NineByNine.config().to_toml(),
            Some(name) => {
                let run = self.run(name)?;
                runtime::run_config(&run)?.of_model(id.number()).to_toml()
            }
        };
        Ok(RunConfig::from_toml_with(&text, overrides)?)
    }
}
