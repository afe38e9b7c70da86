//! A run does not search alike from its first model to its last.

use crate::{ConfigError, Phase, RunConfig, Search};

impl Search {
    /// The search of a model, without phases; model 0 is `random`.
    pub fn at(&self, model: u32) -> Search {
        let mut search = Search { phases: Vec::new(), ..self.clone() };
        if let Some(phase) = self.phases.iter().rfind(|phase| phase.from_model <= model) {
            let Phase { visits, gumbel_moves, gumbel_c_scale, .. } = *phase;
            search = Search { visits, gumbel_moves, gumbel_c_scale, ..search };
        }
        search
    }
}

impl RunConfig {
    /// The configuration that a model plays by, without phases. It has the digest of the whole.
    pub fn at(&self, model: u32) -> RunConfig {
        RunConfig { search: self.search.at(model), whole: Some(self.digest()), ..self.clone() }
    }

    pub(crate) fn check_phases(&self) -> Result<(), ConfigError> {
        let phases = &self.search.phases;
        let models = || phases.iter().map(|phase| phase.from_model);
        let rise = models().zip(models().skip(1)).all(|(a, b)| a < b) && models().all(|model| model > 0);
        if !rise {
            let value = models().map(|model| model.to_string()).collect::<Vec<_>>().join(", ");
            return Err(ConfigError::Value {
                key: "search.phases",
                value,
                rule: "from_model must be above 0 and rise",
            });
        }
        phases.iter().try_for_each(|phase| self.at(phase.from_model).check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::template;

    fn config(phases: &str) -> Result<RunConfig, ConfigError> {
        RunConfig::from_toml_with(&template().to_toml(), &[format!("search.phases={phases}")])
    }

    #[test]
    fn a_model_is_searched_by_its_phase() {
        let phases = "[{from_model=3,visits=900,gumbel_moves=8,gumbel_c_scale=0.5},
             {from_model=5,visits=1000,gumbel_moves=32,gumbel_c_scale=1}]";
        let config = config(phases).unwrap();
        let of = |search: &Search| (search.visits, search.gumbel_moves, search.gumbel_c_scale);
        let found = [0, 2, 3, 4, 5, 99].map(|model| of(&config.at(model).search));
        let (first, second, third) = (of(&config.search), (900, 8, 0.5), (1000, 32, 1.0));
        assert_eq!(found, [first, first, second, second, third, third]);
        let third = config.at(3);
        assert_eq!((third.digest(), third.search.phases.len()), (config.digest(), 0));
        assert_ne!(config.digest(), template().digest());
        assert_eq!(RunConfig::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn phases_out_of_order_or_range_are_refused() {
        let error = |phases: &str| config(phases).unwrap_err().to_string();
        let one =
            |model: u32, visits: u32| format!("{{from_model={model},visits={visits},gumbel_moves=8,gumbel_c_scale=1}}");
        assert!(error(&format!("[{}]", one(0, 900))).contains("must be above 0 and rise"));
        assert!(error(&format!("[{},{}]", one(4, 900), one(4, 900))).contains("4, 4"));
        assert!(error(&format!("[{}]", one(4, 0))).contains("search.visits is 0"));
        assert!(error("[{from_model=1}]").contains("visits"));
    }
}
