//! Rules of the whole file: those of its sections, and those between them.

use crate::{ConfigError, Inputs, Network, RunConfig, bounds};

impl RunConfig {
    /// Checks every value against its range and those that it depends on.
    ///
    /// # Errors
    /// Names the first key whose value is out of range, and the range.
    pub fn check(&self) -> Result<(), ConfigError> {
        bounds::check(&self.table())?;
        self.game.check()?;
        self.search.check(&self.game)?;
        self.selfplay.check(&self.search)?;
        self.resign.check()?;
        self.evaluate.check(&self.search, &self.game)?;
        self.window.check()?;
        self.train.check()?;
        self.train.grow.iter().try_for_each(|grow| self.check_growth(grow.from_model))?;
        let phases = self.search.phases.iter().map(|phase| phase.from_model);
        let of_model = |model| {
            let scheduled = |problem| ConfigError::Scheduled { model, problem: Box::new(problem) };
            self.of_model(model).check().map_err(scheduled)
        };
        phases.chain(self.train.grow.iter().map(|grow| grow.from_model)).try_for_each(of_model)
    }

    /// A grown network has all that the one before it has.
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
            key: "train.grow".into(),
            value: format!("{} after {}", named(large), named(small)).to_lowercase().into(),
            rule: "blocks and filters must not shrink; inputs must stay, or become \"tactics\" after \"features\""
                .into(),
        })
    }
}
