//! Ratings for any table of results, wherever it comes from.

mod options;
mod report;
mod results;

use exit_class::{Classified, ExitClass};
use ratings::{
    Anchor, Belief, Diagnostic, Estimate, GoodnessOfFit, Leaderboard, PairResults, Prior, RatingError, Ratings,
    Residual, diagnostics, goodness_of_fit,
};

pub(crate) use options::MOST_ELO;
pub use options::{AnchorChoice, PriorChoice};
pub use report::{Fit, Rated, RatingReport};
pub use results::{Results, ResultsError, read};

/// The probability below which a misfit is no accident.
const SUSPICIOUS: f64 = 0.001;

/// How results are to be rated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The prior.
    pub prior: PriorChoice,
    /// Whether the colours are taken to be equal.
    pub no_first_move: bool,
    /// Players with ratings from elsewhere.
    pub anchors: Vec<AnchorChoice>,
}

/// Why a table was not rated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RateError {
    /// The table cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// An anchor has not played.
    #[error("the anchor {0} is no player of these games")]
    NoAnchor(String),
    /// One player is to have two ratings.
    #[error("{0} is an anchor twice")]
    AnchorTwice(String),
    /// The arithmetic came to no end.
    #[error(transparent)]
    Rating(#[from] RatingError),
}

impl Classified for RateError {
    fn class(&self) -> ExitClass {
        ExitClass::Configuration
    }
}

/// Rates a table of results, as [`read`] takes it.
///
/// # Errors
/// A table that cannot be read, or an anchor that is not in it.
pub fn rate(table: &str, request: &Request) -> Result<RatingReport, RateError> {
    let Results { results, repeated } = read(table)?;
    let anchors = anchors(&results, &request.anchors)?;
    let first_move = !request.no_first_move;
    let mut warnings = Vec::new();
    if repeated > 0 {
        warnings.push(format!("{repeated} lines repeat a game; each game counts once"));
    }
    let mut step = None;
    // With normal strengths only colours that decide every game leave the first move without a bound.
    let total = results.total();
    let is_bounded = total.black + total.draws > 0 && total.white + total.draws > 0;
    let belief = if first_move && is_bounded { Belief::Free } else { Belief::Zero };
    let requested =
        |prior: Prior| Prior { first_move: belief, draws: Prior::none(&results).draws, ..prior.anchored(&anchors) };
    let leaderboard = match request.prior {
        PriorChoice::None => Leaderboard::without_prior(&results, &anchors, first_move)?,
        PriorChoice::Gauss(sd) => Leaderboard::with_prior(&results, &requested(Prior::normal(&results, sd)))?,
        PriorChoice::Walk(Some(step)) => Leaderboard::with_prior(&results, &requested(Prior::walk(&results, step)))?,
        PriorChoice::Walk(None) => {
            let (ratings, found) = Ratings::of_runs(&results, requested)?;
            step = Some(found);
            Leaderboard::on_one_scale(ratings, &requested(Prior::walk(&results, found)))
        }
    };
    warnings.extend(diagnostics(&results).iter().map(|doubt| warning(doubt, request.prior)));
    if first_move && leaderboard.first_move.is_none() && total.games() > 0 {
        warnings.push("first-move advantage is undetermined; 0 is assumed".to_owned());
    }
    let of_group = |player: usize| leaderboard.players[player].group;
    let comparable = results.filtered(|black, white| of_group(black) == of_group(white));
    let goodness_of_fit = goodness_of_fit(&comparable, &leaderboard.ratings);
    warnings.extend(goodness_of_fit.as_ref().and_then(|goodness_of_fit| suspicion(&results, goodness_of_fit)));
    Ok(RatingReport {
        against: against(request, &leaderboard),
        prior: request.prior.to_string(),
        step,
        games: total.games(),
        draws: total.draws,
        ratings: report::rated(&results, &leaderboard),
        first_move: leaderboard.first_move,
        ln_nu: leaderboard.ratings.draws(),
        link: link(&leaderboard, &anchors),
        goodness_of_fit: goodness_of_fit.as_ref().map(Fit::from),
        warnings,
    })
}

/// What ratings are against.
fn against(request: &Request, leaderboard: &Leaderboard) -> &'static str {
    match (request.anchors.is_empty(), leaderboard.players.iter().any(|player| player.group > 0)) {
        (false, false) => "the anchors",
        (false, true) => "the anchors in group 0, the mean of the group in others",
        (true, false) => "the mean of the pool",
        (true, true) => "the mean of the group",
    }
}

pub(crate) fn anchors(results: &PairResults, wanted: &[AnchorChoice]) -> Result<Vec<Anchor>, RateError> {
    let mut anchors: Vec<Anchor> = Vec::new();
    for AnchorChoice { player: name, elo, sd } in wanted {
        let player = results.place(name).ok_or_else(|| RateError::NoAnchor(name.clone()))?;
        if anchors.iter().any(|anchor| anchor.player == player) {
            return Err(RateError::AnchorTwice(name.clone()));
        }
        anchors.push(Anchor { player, elo: *elo, sd: *sd });
    }
    Ok(anchors)
}

/// A doubt, and what it does to the numbers.
fn warning(doubt: &Diagnostic, prior: PriorChoice) -> String {
    let consequence = match (doubt, prior) {
        (Diagnostic::Idle(_), _) => "",
        (Diagnostic::Apart(_), PriorChoice::None) => "; without a prior each group has a scale of its own",
        (_, PriorChoice::None) => "; without a prior no finite rating relates them to the others",
        _ => "; the prior fills the gap",
    };
    format!("{doubt}{consequence}")
}

/// The warning about results that one number for each player does not explain.
pub(crate) fn suspicion(results: &PairResults, goodness_of_fit: &GoodnessOfFit) -> Option<String> {
    let worst = goodness_of_fit.residuals.first()?;
    let [first, second] = [worst.first, worst.second].map(|player| &results.players()[player]);
    let Residual { points, games, expected, .. } = worst;
    (goodness_of_fit.p < SUSPICIOUS).then(|| {
        format!(
            "one number for each player does not explain these results (p = {:.1e}): {first} made {points} points in \
             {games} games against {second} where {expected:.1} were to be expected",
            goodness_of_fit.p
        )
    })
}

/// How well the anchors hold those whom they are to measure: the mean of the others on the anchors' scale, with its
/// error.
fn link(leaderboard: &Leaderboard, anchors: &[Anchor]) -> Option<Estimate> {
    let measured: Vec<usize> = (0..leaderboard.players.len())
        .filter(|&player| {
            leaderboard.players[player].group == 0 && anchors.iter().all(|anchor| anchor.player != player)
        })
        .collect();
    let share = 1.0 / measured.len() as f64;
    let weight = |player| if measured.contains(&player) { share } else { 0.0 };
    (!anchors.is_empty() && !measured.is_empty()).then(|| leaderboard.ratings.contrast(weight))
}

#[cfg(test)]
mod tests;
