//! From the name of a model to its run and its id.

use std::sync::OnceLock;

use bytes::Bytes;
use config::{ModelId, ModelRef, RunName};
use store::{ModelMetadata, Run, Store};

use crate::{ModelError, demo};

/// The models that a name can mean: those of a store, and `9x9-demo`, which comes with the program.
///
/// A run of the store that is named `9x9-demo` takes precedence.
pub struct Models {
    store: Store,
    demo: OnceLock<Run>,
}

impl Models {
    /// The models of a store.
    pub fn new(store: Store) -> Models {
        Models { store, demo: OnceLock::new() }
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run of this name: the store's, or the demo's, which is in memory.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub fn run(&self, name: &RunName) -> Result<Run, ModelError> {
        if self.is_in_memory(name)? { self.demo_in_memory() } else { Ok(self.store.run(name)) }
    }

    /// The run of the demo, which is in memory; `None` where the store has a run of its name.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub fn demo(&self) -> Result<Option<Run>, ModelError> {
        if self.is_in_memory(&demo::run())? { self.demo_in_memory().map(Some) } else { Ok(None) }
    }

    fn demo_in_memory(&self) -> Result<Run, ModelError> {
        if let Some(known) = self.demo.get() {
            return Ok(known.clone());
        }
        let created = Store::in_memory()?.run(&demo::run());
        demo::publish(&created)?;
        Ok(self.demo.get_or_init(|| created).clone())
    }

    /// Puts the demo's run into the store if this is its name and the store has no run of it.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn store_demo(&self, name: &RunName) -> Result<(), ModelError> {
        if self.is_in_memory(name)? {
            demo::publish(&self.store.run(name))?;
        }
        Ok(())
    }

    /// Whether [`Models::run`] returns a run in memory, so that nothing written to it lasts.
    ///
    /// # Errors
    /// The store cannot be reached.
    pub fn is_in_memory(&self, name: &RunName) -> Result<bool, ModelError> {
        Ok(demo::is_named(name) && !self.store.run(name).exists()?)
    }

    /// The model that is meant: the one of this id, or the newest of this run.
    ///
    /// # Errors
    /// The run does not exist or has no model yet, or the store cannot be reached.
    pub fn resolve(&self, model: &ModelRef) -> Result<ModelId, ModelError> {
        let name = match model {
            ModelRef::Exact(id) => return Ok(id.clone()),
            ModelRef::Newest(name) => name,
        };
        let run = self.run(name)?;
        match run.models().newest()? {
            Some(number) => Ok(name.model(number)),
            None if run.exists()? => Err(ModelError::no_model(&run)),
            None => Err(ModelError::no_run(&run)),
        }
    }

    /// The run and the number of a model that has weights.
    ///
    /// # Errors
    /// As [`Models::resolve`]; the model is built in.
    pub fn trained(&self, model: &ModelRef) -> Result<(Run, u32), ModelError> {
        match self.resolve(model)? {
            ModelId::Trained { run, number } => Ok((self.run(&run)?, number)),
            built_in => Err(ModelError::BuiltIn { model: built_in }),
        }
    }

    /// The metadata and the weights of a model.
    ///
    /// # Errors
    /// There is no such model, its weights are damaged, or it is built in.
    pub fn published(&self, id: &ModelId) -> Result<(ModelMetadata, Bytes), ModelError> {
        let (run, number) = self.trained(&ModelRef::Exact(id.clone()))?;
        run.models().get(number).map_err(|error| ModelError::of_model(&run, id, error))
    }
}

#[cfg(test)]
mod tests {
    use config::Preset;
    use net::{Shape, Weights};

    use super::*;

    fn models() -> Models {
        let config = Preset::Tiny.config();
        let store = Store::in_memory().unwrap();
        let run = store.run(&"v1".parse().unwrap());
        run.create(&config).unwrap();
        let weights = Weights::synthetic(Shape::new(&config.game, &config.network), 1).to_bytes();
        for number in [1, 2] {
            let metadata = ModelMetadata::new(run.name(), number, 0, &config);
            run.models().publish(&metadata, weights.clone().into()).unwrap();
        }
        store.run(&"empty".parse().unwrap()).create(&config).unwrap();
        Models::new(store)
    }

    #[test]
    fn resolve_finds_models_of_the_store_built_ins_and_the_demo() {
        let models = models();
        for (typed, id) in [
            ("v1", "v1-2"),
            ("v1-1", "v1-1"),
            ("v1-7", "v1-7"),
            ("uniform", "uniform"),
            ("random", "random"),
            ("9x9-demo", "9x9-demo-1"),
        ] {
            assert_eq!(models.resolve(&typed.parse().unwrap()).unwrap().to_string(), id, "{typed}");
        }
    }

    #[test]
    fn errors_say_which_models_there_are() {
        let models = models();
        let message = |typed: &str| {
            let id = models.resolve(&typed.parse().unwrap());
            id.and_then(|id| models.published(&id)).unwrap_err().to_string()
        };
        for (typed, parts) in [
            ("v2", ["there is no run v2", "; known are empty, v1, uniform, random and 9x9-demo"]),
            ("empty", ["run empty has no model yet", "; wait for its first model"]),
            ("v1-7", ["there is no model v1-7", "; the newest of run v1 is v1-2"]),
            ("empty-7", ["there is no model empty-7", "; run empty has no model yet"]),
            ("v2-7", ["there is no model v2-7", "; there is no run v2"]),
            ("9x9-demo-2", ["there is no model 9x9-demo-2 in memory; ", "the newest of run 9x9-demo is 9x9-demo-1"]),
            ("uniform", ["uniform has no weights", "; name a trained model"]),
        ] {
            let message = message(typed);
            assert!(parts.iter().all(|part| message.contains(part)), "{typed}: {message}");
        }
    }

    #[test]
    fn demo_is_in_memory_until_the_store_has_a_run_of_its_name() {
        let models = models();
        let name = demo::run();
        assert!(models.run(&name).unwrap().models().exists(1).unwrap());
        assert!(models.demo().unwrap().unwrap().models().exists(1).unwrap());
        assert!(models.is_in_memory(&name).unwrap() && !models.store().run(&name).exists().unwrap());
        assert!(!models.is_in_memory(&"v1".parse().unwrap()).unwrap());
        models.store_demo(&name).unwrap();
        assert!(models.demo().unwrap().is_none());
        assert!(!models.is_in_memory(&name).unwrap() && models.store().run(&name).models().exists(1).unwrap());
        models.store_demo(&"v3".parse().unwrap()).unwrap();
        assert!(!models.store().run(&"v3".parse().unwrap()).exists().unwrap());
    }

    /// A process that is killed in between leaves the demo as it was, and the next one puts it into the store.
    #[test]
    fn run_of_the_demo_exists_once_its_model_does() {
        let (store, name) = (Store::in_memory().unwrap(), demo::run());
        let (run, models) = (store.run(&name), Models::new(store));
        let metadata = ModelMetadata::new(&name, 1, 0, &Preset::NineByNine.config());
        run.models().publish(&metadata, "other weights".into()).unwrap();
        assert!(models.store_demo(&name).is_err(), "its model cannot be published");
        assert!(!run.exists().unwrap() && models.is_in_memory(&name).unwrap());
    }
}
