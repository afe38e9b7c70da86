//! `[search]`: the tree search.

use go::{MAX_MOVES, Scoring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{rising, rule};
use crate::{ConfigError, Game, MOST_MOVES, QInit};

/// The most that `search.visits` and other keys of visits may be. The search adds up 2^24 values without a drift.
pub const MOST_VISITS: u32 = 10_000_000;
/// The most that `search.leaves` may be.
pub const MOST_LEAVES: usize = 16;

/// The tree search; published with every model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// Visits per move below the root, inherited ones included.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub visits: u32,
    /// Schedule: other visits and Gumbel settings from a model number on.
    ///
    /// Overrides `visits`, `gumbel_moves` and `gumbel_c_scale`; `from_model` is above 0 and rises. Early models gain
    /// most from many short searches; longer ones pay once values are accurate.
    pub phases: Vec<Phase>,
    /// Selection rule.
    ///
    /// Keys of the other rule have no effect: `gumbel_*` with PUCT; with Gumbel `q_init*`, `fpu_reduction` and
    /// `c_puct_*`, and in self-play `noise_*`.
    pub algorithm: Algorithm,
    /// Value of an edge before its first visit (PUCT).
    pub q_init: QInit,
    /// Keep `q_init` in the mean as one virtual visit (Minigo).
    ///
    /// True: Q = (init + W)/(1 + N). False, first-play urgency: Q = W/N, and `q_init` while unvisited. False with
    /// `q_init = "parent"` is that of KataGo and Leela Chess Zero: a guess does not outweigh the first visits. PUCT
    /// with both, and `fpu_reduction` 0.2, was no better than Gumbel search in matches
    /// (`experiments/0111-tuned-puct-in-matches`). Not measured alone.
    pub q_init_stays: bool,
    /// First-play urgency reduction; KataGo: 0.2.
    ///
    /// An unvisited edge is worth this times the square root of the visited edges' prior less, but never less than a
    /// loss. 0 with `q_init_stays`. With `q_init = "parent"` it keeps hundreds of visits from spreading over all moves.
    /// `q_init_stays` says what was measured.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub fpu_reduction: f32,
    /// c_base of the exploration factor, in visits (PUCT).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub c_puct_base: f32,
    /// c_init of the exploration factor (PUCT).
    #[schemars(range(min = 0.0))]
    pub c_puct_init: f32,
    /// Moves considered at the root of a Gumbel search.
    ///
    /// Sampled without replacement from the prior in self-play. Elsewhere the most probable ones, at most half as many
    /// as there are visits to spend, or two: moves with one visit each would be compared by the network's values alone.
    /// Before that rule 16 visits for 4 moves were far stronger in matches than for 16
    /// (`experiments/0038-gumbel-moves-considered`). With it, 3 to 6 moves are about equal
    /// (`experiments/0115-searches-of-few-visits`). In self-play 8 moves are better than 4
    /// (`experiments/0120-considered-moves-after-growth`).
    #[schemars(range(min = 1, max = MAX_MOVES))]
    pub gumbel_moves: usize,
    /// c_visit of σ(q) = (c_visit + max N)·c_scale·q; paper: 50.
    ///
    /// σ weighs values against priors in a Gumbel search.
    #[schemars(range(min = 0.0))]
    pub gumbel_c_visit: f32,
    /// c_scale of σ, for values from 0 (loss) to 1 (win); paper: 1.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gumbel_c_scale: f32,
    /// Keep the subtree of the move played; its visits count.
    ///
    /// Worth it in play and self-play: inherited visits cost no evaluations. False gives each move `visits` evaluations
    /// of its own.
    pub reuse: bool,
    /// Leaves of one game per batch, separated by virtual losses.
    #[schemars(range(min = 1, max = MOST_LEAVES))]
    pub leaves: usize,
    /// No pass before this move unless no other move is legal.
    ///
    /// Early models that may pass end games at random, which makes their outcomes uninformative.
    /// Stones of the first position count as moves. GTP, analysis and browser consider the pass at any move.
    #[schemars(range(max = MOST_MOVES))]
    pub pass_from: usize,
    /// Prune moves inside pass-alive regions.
    ///
    /// They do not change the score. Needs `game.scoring = "pass-alive"`.
    /// Worth it from random weights: with `pass_from` values began to tell who wins (`experiments/0004-early-passes`).
    pub prune_pass_alive: bool,
    /// Adjudicate a pass that the opponent follows with a winning pass.
    ///
    /// A position after a pass is a win for the player to move where passing too wins the game, without search. Worth
    /// it from random weights: games do not end by a pass of the side that is behind (`experiments/0004-early-passes`).
    pub adjudicate_winning_pass: bool,
}

/// An entry of `search.phases`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Number of the first model of the phase.
    pub from_model: u32,
    /// As `search.visits`.
    #[schemars(range(min = 1, max = MOST_VISITS))]
    pub visits: u32,
    /// As `search.gumbel_moves`.
    #[schemars(range(min = 1, max = MAX_MOVES))]
    pub gumbel_moves: usize,
    /// As `search.gumbel_c_scale`.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gumbel_c_scale: f32,
}

impl Phase {
    /// The keys whose values an entry replaces.
    pub const KEYS: &[&str] = &["search.visits", "search.gumbel_moves", "search.gumbel_c_scale"];
}

/// Selection rule of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// AlphaZero: value plus an exploration bonus for a high prior and few visits, at every node.
    Puct,
    /// Gumbel AlphaZero (Danihelka et al. 2022): sequential halving of sampled moves at the root; below it visits in
    /// proportion to the improved policy. Improves the policy from 2 visits up.
    Gumbel,
}

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

    pub(crate) fn check(&self, game: &Game) -> Result<(), ConfigError> {
        let immediate = !self.q_init_stays || self.fpu_reduction == 0.0;
        rule(immediate, "search.fpu_reduction", self.fpu_reduction, "must be 0 with search.q_init_stays")?;
        rule(
            !self.prune_pass_alive || game.scoring == Scoring::PassAlive,
            "search.prune_pass_alive",
            self.prune_pass_alive,
            "needs game.scoring = \"pass-alive\"",
        )?;
        rising("search.phases", self.phases.iter().map(|phase| phase.from_model), 1)
    }
}

#[cfg(test)]
mod tests {
    use crate::test::{error, minigo};
    use crate::{RunConfig, Search};

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["search.visits=0"]), "search.visits is 0: must be from 1 to 10000000");
        assert_eq!(
            error(&["search.fpu_reduction=0.2"]),
            "search.fpu_reduction is 0.2: must be 0 with search.q_init_stays"
        );
        assert!(error(&["search.fpu_reduction=2.5"]).contains("must be from 0 to 2"));
        assert_eq!(error(&["search.c_puct_base=0"]), "search.c_puct_base is 0: must be above 0");
        assert_eq!(error(&["search.c_puct_init=-1"]), "search.c_puct_init is -1: must be at least 0");
        assert_eq!(error(&["search.gumbel_c_scale=inf"]), "search.gumbel_c_scale is inf: must be finite");
        assert!(error(&["search.gumbel_moves=0"]).contains("search.gumbel_moves is 0"));
        assert!(error(&["search.q_init=3"]).contains("penalty from 0 to 2"));
        assert!(error(&["search.leaves=17"]).contains("must be from 1 to 16"));
        assert_eq!(
            error(&["game.scoring=area"]),
            "search.prune_pass_alive is true: needs game.scoring = \"pass-alive\""
        );
    }

    fn phases(list: &str) -> String {
        format!("search.phases=[{list}]")
    }

    fn phase(from_model: u32, visits: u32) -> String {
        format!("{{from_model={from_model},visits={visits},gumbel_moves=8,gumbel_c_scale=0.5}}")
    }

    #[test]
    fn search_of_a_model_follows_its_phase() {
        let config = minigo(&[&phases(&format!("{},{}", phase(3, 900), phase(5, 1000)))]);
        let of = |search: &Search| (search.visits, search.gumbel_moves, search.gumbel_c_scale);
        let found = [0, 2, 3, 4, 5, 99].map(|model| of(&config.at(model).search));
        let (first, second, third) = (of(&config.search), (900, 8, 0.5), (1000, 8, 0.5));
        assert_eq!(found, [first, first, second, second, third, third]);
        let third = config.at(3);
        assert_eq!((third.digest, third.search.phases.len()), (config.digest(), 0));
        assert_ne!(config.digest(), minigo(&[]).digest());
        assert_eq!(RunConfig::from_toml(&config.to_toml()).unwrap(), config);
    }

    #[test]
    fn phases_out_of_order_or_range_are_errors() {
        assert!(error(&[&phases(&phase(0, 900))]).contains("from_model must rise, from 1 or later"));
        assert!(error(&[&phases(&format!("{0},{0}", phase(4, 900)))]).contains("search.phases is 4, 4"));
        let out_of_range = "search.phases[0].visits is 0: must be from 1 to 10000000";
        assert_eq!(error(&[&phases(&phase(4, 0))]), out_of_range);
        assert_eq!(
            error(&["selfplay.full_search_fraction=0.5", "selfplay.fast_visits=16", &phases(&phase(4, 8))]),
            "from model 4 on, by search.phases or train.grow: selfplay.fast_visits is 16: must be below search.visits \
             with selfplay.full_search_fraction below 1"
        );
        assert!(error(&[&phases("{from_model=1}")]).contains("visits"));
    }
}
