//! Configurations that are compiled into the programs.

use std::path::Path;

use crate::{ConfigError, RunConfig};

/// A shipped configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// `base.toml`, which the others extend.
    Base,
    /// `9x9.toml`: 9x9 from random play on a small machine.
    NineByNine,
    /// `9x9-larger.toml`: 9x9 with a larger tower, from the last model of `9x9.toml`.
    NineByNineLarger,
    /// `9x9-further.toml`: 9x9 with longer searches, from a model of `9x9-larger.toml`.
    NineByNineFurther,
    /// `9x9-gpu.toml`: 9x9 from random play on one GPU.
    NineByNineGpu,
    /// `19x19-gpu.toml`: 19x19 from random play on GPUs.
    NineteenByNineteenGpu,
    /// `tiny.toml`: 5x5 in a minute.
    Tiny,
    /// `minigo/base.toml`: Minigo's settings on 19x19 where it published them.
    Minigo,
}

/// The files by their paths in `configs/`.
const FILES: [(&str, &str); 8] = [
    ("base.toml", include_str!("../../../configs/base.toml")),
    ("9x9.toml", include_str!("../../../configs/9x9.toml")),
    ("9x9-larger.toml", include_str!("../../../configs/9x9-larger.toml")),
    ("9x9-further.toml", include_str!("../../../configs/9x9-further.toml")),
    ("9x9-gpu.toml", include_str!("../../../configs/9x9-gpu.toml")),
    ("19x19-gpu.toml", include_str!("../../../configs/19x19-gpu.toml")),
    ("tiny.toml", include_str!("../../../configs/tiny.toml")),
    ("minigo/base.toml", include_str!("../../../configs/minigo/base.toml")),
];

impl Preset {
    /// The path in `configs/`.
    pub fn path(self) -> &'static str {
        match self {
            Preset::Base => "base.toml",
            Preset::NineByNine => "9x9.toml",
            Preset::NineByNineLarger => "9x9-larger.toml",
            Preset::NineByNineFurther => "9x9-further.toml",
            Preset::NineByNineGpu => "9x9-gpu.toml",
            Preset::NineteenByNineteenGpu => "19x19-gpu.toml",
            Preset::Tiny => "tiny.toml",
            Preset::Minigo => "minigo/base.toml",
        }
    }

    /// The configuration as shipped.
    pub fn config(self) -> RunConfig {
        self.with(&[] as &[&str]).expect("a test reads every preset")
    }

    /// The configuration with overrides of the form `section.key=value`.
    ///
    /// # Errors
    /// As [`RunConfig::from_toml_with`].
    pub fn with(self, overrides: &[impl AsRef<str>]) -> Result<RunConfig, ConfigError> {
        RunConfig::load(Path::new(self.path()), overrides, |path| {
            let file = FILES.iter().find(|(name, _)| Path::new(name) == path);
            file.map(|(_, text)| (*text).to_owned()).ok_or("not compiled in")
        })
        .map_err(|error| match error {
            ConfigError::In { problem, .. } | ConfigError::Overrides { problem, .. } => *problem,
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_complete_and_have_their_files() {
        let presets = [
            (Preset::Base, "base.toml"),
            (Preset::NineByNine, "9x9.toml"),
            (Preset::NineByNineLarger, "9x9-larger.toml"),
            (Preset::NineByNineFurther, "9x9-further.toml"),
            (Preset::NineByNineGpu, "9x9-gpu.toml"),
            (Preset::NineteenByNineteenGpu, "19x19-gpu.toml"),
            (Preset::Tiny, "tiny.toml"),
            (Preset::Minigo, "minigo/base.toml"),
        ];
        for (preset, path) in presets {
            assert_eq!(preset.path(), path);
            assert!(preset.with(&[] as &[&str]).is_ok(), "{preset:?}");
        }
    }
}
