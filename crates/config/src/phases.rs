//! A run does not search alike from its first model to its last, nor need its network stay the same.

use crate::{ConfigError, Grow, Inputs, Network, Phase, RunConfig, Search, Train};

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
    /// The network of a model, as large as it has grown by then.
    pub fn network_of(&self, model: u32) -> Network {
        let grown = self.train.grow.iter().rfind(|grow| grow.from_model <= model);
        grown.map_or(self.network, |&Grow { blocks, filters, inputs, .. }| Network {
            blocks,
            filters,
            inputs,
            ..self.network
        })
    }

    /// The configuration that a model plays by, without phases. It has the digest of the whole.
    pub fn at(&self, model: u32) -> RunConfig {
        RunConfig {
            network: self.network_of(model),
            search: self.search.at(model),
            train: Train { grow: Vec::new(), ..self.train.clone() },
            whole: Some(self.digest()),
            ..self.clone()
        }
    }

    pub(crate) fn check_phases(&self) -> Result<(), ConfigError> {
        let searches: Vec<u32> = self.search.phases.iter().map(|phase| phase.from_model).collect();
        rising("search.phases", &searches, 1, "from_model must be above 0 and rise")?;
        let networks: Vec<u32> = self.train.grow.iter().map(|grow| grow.from_model).collect();
        rising("train.grow", &networks, 2, "from_model must be above 1 and rise")?;
        networks.iter().try_for_each(|&model| self.check_growth(model))?;
        searches.into_iter().chain(networks).try_for_each(|model| self.at(model).check())
    }

    /// That the network of a model has all that the one before it has.
    fn check_growth(&self, model: u32) -> Result<(), ConfigError> {
        let (small, large) = (self.network_of(model - 1), self.network_of(model));
        let tells_more = (small.inputs, large.inputs) == (Inputs::Features, Inputs::Tactics);
        let grows = small.blocks <= large.blocks
            && small.filters <= large.filters
            && (small.inputs == large.inputs || tells_more);
        if grows {
            return Ok(());
        }
        let named = |network: Network| format!("{}x{} {:?}", network.blocks, network.filters, network.inputs);
        Err(ConfigError::Value {
            key: "train.grow",
            value: format!("{} after {}", named(large), named(small)).to_lowercase(),
            rule: "blocks and filters must not become fewer, and inputs stay, or become \"tactics\" after \"features\"",
        })
    }
}

fn rising(key: &'static str, models: &[u32], least: u32, rule: &'static str) -> Result<(), ConfigError> {
    if models.iter().all(|&model| model >= least) && models.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let value = models.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    Err(ConfigError::Value { key, value, rule })
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

    fn growing(grow: &str) -> Result<RunConfig, ConfigError> {
        let changes = ["network.inputs=features", "network.blocks=2", "network.filters=16"].map(str::to_owned);
        RunConfig::from_toml_with(&template().to_toml(), &[&changes[..], &[format!("train.grow={grow}")]].concat())
    }

    #[test]
    fn a_network_grows_before_its_model() {
        let config = growing(
            "[{from_model=3,blocks=2,filters=16,inputs='tactics'},{from_model=5,blocks=4,filters=32,inputs='tactics'}]",
        )
        .unwrap();
        let of = |network: Network| (network.blocks, network.filters, network.inputs);
        let first = (2, 16, Inputs::Features);
        let (second, third) = ((2, 16, Inputs::Tactics), (4, 32, Inputs::Tactics));
        let found = [0, 1, 2, 3, 4, 5, 99].map(|model| of(config.network_of(model)));
        assert_eq!(found, [first, first, first, second, second, third, third]);
        let fifth = config.at(5);
        assert_eq!((of(fifth.network), fifth.train.grow.len(), fifth.digest()), (third, 0, config.digest()));
        assert_ne!(config.digest(), growing("[]").unwrap().digest());
        assert_eq!(RunConfig::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn networks_that_shrink_or_change_are_refused() {
        let error = |grow: &str| growing(grow).unwrap_err().to_string();
        let one = |model: u32, blocks: usize, filters: usize, inputs: &str| {
            format!("{{from_model={model},blocks={blocks},filters={filters},inputs='{inputs}'}}")
        };
        assert!(error(&format!("[{}]", one(1, 4, 32, "features"))).contains("must be above 1 and rise"));
        assert!(error(&format!("[{0},{0}]", one(4, 4, 32, "features"))).contains("4, 4"));
        for shrinks in [one(4, 1, 32, "features"), one(4, 2, 15, "features"), one(4, 2, 16, "history")] {
            assert!(error(&format!("[{shrinks}]")).contains("must not become fewer"), "{shrinks}");
        }
        let back = format!("[{},{}]", one(4, 2, 16, "tactics"), one(5, 2, 16, "features"));
        assert!(error(&back).contains("2x16 features after 2x16 tactics"), "{}", error(&back));
        assert!(error(&format!("[{}]", one(4, 2, 5000, "features"))).contains("network.filters is 5000"));
    }
}
