//! What operators and servers write: configurations of a run, files of engines, names of models, players and files, and
//! responses of buckets.
#![no_main]

use config::{ModelId, ModelRef, PlayerRef, RunConfig, RunName};
use facts::search::GamesFile;
use gtp::engines::EngineSpecs;
use libfuzzer_sys::fuzz_target;
use store::{FileRef, LogName, Stem, errors_of_response};

fuzz_target!(|text: &str| {
    // An error is a result; what is read can be written and read again.
    if let Ok(config) = RunConfig::from_toml(text) {
        let written = config.to_toml();
        assert_eq!(RunConfig::from_toml(&written).expect("what was written can be read").digest(), config.digest());
    }
    let _engines = EngineSpecs::from_toml(text);
    names(text);
    let _errors = errors_of_response(text).map(|error| error.to_string());
});

fn names(text: &str) {
    if let Ok(run) = text.parse::<RunName>() {
        assert_eq!(run.to_string(), text);
    }
    if let Ok(model) = text.parse::<ModelId>() {
        assert_eq!(model.to_string().parse::<ModelId>().expect("what was written can be read"), model);
    }
    let _model = text.parse::<ModelRef>();
    let _player = text.parse::<PlayerRef>();
    if let Ok(stem) = text.parse::<Stem>() {
        assert_eq!(stem.to_string(), text);
    }
    if let Ok(file) = text.parse::<FileRef>() {
        assert_eq!(file.to_string(), text);
    }
    if let Ok(log) = text.parse::<LogName>() {
        assert_eq!(log.to_string(), text);
    }
    if let Some(place) = GamesFile::parse(text) {
        assert_eq!(GamesFile::parse(&place.to_string()), Some(place));
    }
}
