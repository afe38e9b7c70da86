//! From the name of a model to the model and its configuration.

use config::{RunConfig, RunName};
use models::{ModelError, ModelName, ModelSource, Models, Searcher};
use runtime::ResourceArgs;
use store::Store;

use crate::StudyError;
use crate::batched_search::BATCH;

/// The model that is studied, and how.
#[derive(clap::Args, Debug)]
pub(crate) struct ModelArgs {
    /// Model: v15-330, v15 for the newest of run v15, 9x9-demo (built in), a file of weights, uniform or random
    #[arg(long, env = "TENGEN_MODEL", value_name = "MODEL|FILE")]
    model: ModelName,
    /// Run whose settings a file, uniform or random uses [default: those of configs/9x9.toml, on the board size of the
    /// file]
    #[arg(long, env = "TENGEN_RUN", value_name = "NAME")]
    run: Option<RunName>,
    /// Override a key of the configuration, such as search.c_puct_init=2; may be repeated
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
    pub(crate) fn find(&self, store: &str) -> Result<(Models, ModelSource), StudyError> {
        let models = Models::new(Store::open_or_empty(store)?);
        let model = models.find(&self.model)?;
        model.check_run(self.run.as_ref());
        Ok((models, model))
    }

    /// The [configuration](Models::configuration) of its run.
    pub(crate) fn own_configuration(&self, models: &Models, model: &ModelSource) -> Result<RunConfig, StudyError> {
        Ok(models.configuration(model, self.run.as_ref(), &[])?)
    }

    /// The [configuration](Models::configuration) that it is studied with: `given` values, and those of the command
    /// line for other keys. The study sets the `own` keys later, so that these are refused, too.
    pub(crate) fn configuration(
        &self,
        models: &Models,
        model: &ModelSource,
        given: &[String],
        own: &[&str],
    ) -> Result<RunConfig, StudyError> {
        let is_own = |name: &str| own.contains(&name) || given.iter().any(|given| key(given) == name);
        if let Some(set) = self.overrides.iter().find(|set| is_own(key(set))) {
            return Err(StudyError::OwnKey(set.clone()));
        }
        Ok(models.configuration(model, self.run.as_ref(), &[given, &self.overrides].concat())?)
    }

    /// Opens a model on the device.
    pub(crate) fn open(
        &self,
        models: &Models,
        config: &RunConfig,
        model: &ModelSource,
    ) -> Result<Searcher, StudyError> {
        let device: net::Device = self.resources.device().parse().map_err(ModelError::from)?;
        Ok(Searcher::open(models, config, model, &device.into(), BATCH)?)
    }
}

/// The key of an override.
fn key(set: &str) -> &str {
    set.split('=').next().unwrap_or_default().trim()
}
