//! Configurations of a run, and names of models and players.
#![no_main]

use config::{ModelId, ModelRef, PlayerRef, RunConfig, RunName};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // An error is a result; what is read can be written and read again.
    if let Ok(config) = RunConfig::from_toml(text) {
        let written = config.to_toml();
        assert_eq!(RunConfig::from_toml(&written).expect("what was written can be read").digest(), config.digest());
    }
    if let Ok(run) = text.parse::<RunName>() {
        assert_eq!(run.to_string(), text);
    }
    if let Ok(model) = text.parse::<ModelId>() {
        assert_eq!(model.to_string().parse::<ModelId>().expect("what was written can be read"), model);
    }
    let _model = text.parse::<ModelRef>();
    let _player = text.parse::<PlayerRef>();
});
