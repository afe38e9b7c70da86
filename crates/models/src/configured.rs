//! An open model with the configuration that it plays by.

use config::{ModelId, Preset, RunConfig, RunName};

use crate::{ModelError, ModelName, ModelSource, Models, Place, Searcher};

/// An open model with the configuration of its run.
pub struct ConfiguredModel {
    /// The configuration.
    pub config: RunConfig,
    /// The model with its search settings.
    pub searcher: Searcher,
    /// Whether it plays on boards of any size, as built-in models do.
    pub any_size: bool,
}

impl ConfiguredModel {
    /// Opens a model of a store or of a file, for batches of so many positions. A file or a built-in model plays by the
    /// rules of the run that is named.
    ///
    /// # Errors
    /// A model or a configuration that cannot be used, or a device that fails.
    pub fn open(
        models: &Models,
        model: &ModelName,
        run: Option<&RunName>,
        place: &Place,
        batch: usize,
    ) -> Result<ConfiguredModel, ModelError> {
        let model = models.find(model)?;
        model.check_run(run);
        let config = models.configuration(&model, run, &[])?;
        let searcher = Searcher::open(models, &config, &model, place, batch)?;
        Ok(ConfiguredModel { config, searcher, any_size: model.is_built_in() })
    }
}

impl Models {
    /// The configuration of the model's run, or of the run that is named, or the plain one, with some values changed;
    /// as its phase has it where the run has phases. The plain one of a file is for its board.
    ///
    /// # Errors
    /// There is no such run, or overrides that cannot be used.
    pub fn configuration(
        &self,
        model: &ModelSource,
        named: Option<&RunName>,
        overrides: &[String],
    ) -> Result<RunConfig, ModelError> {
        let (own, number) = match model {
            ModelSource::Id(ModelId::Trained { run, number }) => (Some(run), *number),
            ModelSource::Id(ModelId::Uniform | ModelId::Random) | ModelSource::File(_) => (named, 0),
        };
        let config = match (own, model) {
            (Some(name), _) => runtime::run_config(&self.run(name)?)?.of_model(number),
            (None, ModelSource::Id(_)) => Preset::NineByNine.config(),
            (None, ModelSource::File(file)) => {
                Preset::NineByNine.with(&[format!("game.size={}", file.shape().size.side())])?
            }
        };
        Ok(RunConfig::from_toml_with(&config.to_toml(), overrides)?)
    }
}

#[cfg(test)]
mod tests {
    use go::Size;
    use net::{Device, Shape, Weights};
    use store::Store;

    use super::*;

    #[test]
    fn file_plays_on_its_board_by_the_rules_of_the_named_run() {
        let store = Store::in_memory().unwrap();
        let config = Preset::Tiny.config();
        let run: RunName = "v1".parse().unwrap();
        store.run(&run).create(&config).unwrap();
        let models = Models::new(store);
        let folder = tempfile::tempdir().unwrap();
        let open = |side: usize, run: Option<&RunName>| {
            let path = folder.path().join(format!("{side}.safetensors"));
            let shape = Shape { blocks: 1, filters: 8, ..Shape::plain(Size::new(side).unwrap()) };
            std::fs::write(&path, Weights::synthetic(shape, 1).to_bytes()).unwrap();
            ConfiguredModel::open(&models, &ModelName::File(path), run, &Device::Cpu.into(), 8)
                .map(|model| (model.config.game.size, model.config.game.komi, model.any_size))
        };
        assert_eq!(open(7, None).unwrap(), (7, Preset::NineByNine.config().game.komi, false));
        assert_eq!(open(5, Some(&run)).unwrap(), (5, config.game.komi, false));
        assert!(matches!(open(7, Some(&run)), Err(ModelError::OtherBoard { found: 7, wanted: 5, .. })));
    }
}
