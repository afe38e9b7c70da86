//! `[loop]`: the extent of `tengen run`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MOST_GAMES_PER_PAIR;

/// The extent of `tengen run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Models after which the run is finished.
    #[schemars(range(min = 1))]
    pub models: u32,
    /// Games of each final match.
    ///
    /// The last model plays against `random` and against the model of half its number.
    #[schemars(range(max = MOST_GAMES_PER_PAIR), extend("multipleOf" = 2))]
    pub final_games: usize,
    /// Maximum further pairs at the end, by expected information.
    ///
    /// Where two neighbouring models differ by more than 400 Elo, a model between them joins the table first.
    pub final_pairs: usize,
    /// 95 % interval in Elo at which the final pairs stop; 0: play all.
    ///
    /// It holds for the rating of every model, against the mean of the others, and for the newest model minus the
    /// oldest.
    #[schemars(range(min = 0.0))]
    pub final_margin: f32,
}

#[cfg(test)]
mod tests {
    use crate::test::error;

    #[test]
    fn values_out_of_range_are_errors() {
        assert_eq!(error(&["loop.models=0"]), "loop.models is 0: must be at least 1");
        assert_eq!(error(&["loop.final_games=5"]), "loop.final_games is 5: must be a multiple of 2");
        let problem = "loop.final_games is 1000002: must be from 0 to 1000000";
        assert_eq!(error(&["loop.final_games=1000002"]), problem);
    }
}
