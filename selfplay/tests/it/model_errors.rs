//! Models that cannot be opened.

use std::fs;

use config::ModelId;
use exit_class::{Classified, ExitClass};
use models::{Model, ModelError};
use net::Device;

use crate::a_run;
use crate::handoff::trained;

fn open(run: &store::Run, name: &str) -> Result<Model, ModelError> {
    let id: ModelId = name.parse().unwrap();
    Model::open(run, &id, &Device::Cpu.into(), 8)
}

#[test]
fn open_missing_model_is_an_error_that_names_it() {
    let (_folder, run) = a_run();
    let Err(error) = open(&run, "tiny-7") else { panic!("there is no model") };
    assert!(matches!(error, ModelError::Missing { .. }) && error.class() == ExitClass::Configuration, "{error:?}");
    assert!(error.to_string().starts_with("there is no model tiny-7 in "), "{error}");
}

#[test]
fn open_damaged_weights_is_an_error_of_the_store() {
    let (folder, run) = a_run();
    trained(&run, 1);
    fs::write(folder.path().join("tiny/models/000001/weights.safetensors"), "x").unwrap();
    let Err(error) = open(&run, "tiny-1") else { panic!("the weights are damaged") };
    assert!(matches!(error, ModelError::Store(_)), "{error:?}");
    assert!(error.to_string().contains("weights.safetensors is damaged"), "{error}");
}

#[test]
fn open_builtin_model_needs_no_store() {
    let (_folder, run) = a_run();
    assert!(matches!(open(&run, "uniform"), Ok(Model::Uniform)));
    assert!(matches!(open(&run, "random"), Ok(Model::Random)));
}
