//! Whether a model that has just been trained is well: alarms for faults that spoil a run in silence.
//!
//! The bounds are wide: no run that trained well reached one. Each alarm describes a failure that has happened: Minigo
//! trained 115 models without symmetries, with batch norms that did not fit, and on too few games again and again.

use std::fmt;

use config::Train;
use net::{Losses, TensorDiagnostics};
use store::SampleSummary;

use crate::example_stats::SearchGain;

/// Value error in training by that on the holdout, below which the network overfits.
const OVERFITTING: f32 = 0.5;
/// Spread of the values of one position between its symmetries, from 0 to 1, above which training on them fails.
const MOST_SPREAD: f32 = 0.25;
/// Part of its own length that a tensor may move in a step.
const UPDATE: f32 = 0.1;
/// Divergence of priors and search policies in nats, below which there is nothing to train: in two runs with little
/// weight on values top-1 accuracy stopped rising there, and rose again with more …
const LEARNED: f32 = 0.15;
/// … unless the searches themselves are nearly sure: nats of their policies.
const UNSURE: f32 = 2.0;
/// Divergence of search policies from their priors by the entropy of these, below which searches add nothing. A search
/// that returns its prior has 0 to 0.004, by the rounding of policies, however sure the network is. The 107 models of
/// two runs on 9x9 had 0.19 to 0.49 (`experiments/0097-run-to-80-models-avx2`,
/// `experiments/0101-one-run-on-two-cores`). While policies came to equal their targets in
/// `experiments/0032-9x9-hour-one-command`, 0.03 to 0.05 of the policy loss was above the targets, and 0.3 to 0.4
/// thereafter. The root noise of PUCT counts as something added, so there the alarm may stay silent.
const ADDED: f32 = 0.05;
/// Squared error of root values against outcomes above that of the network's values for the same positions, from which
/// searches spoil values. The models of those two runs had −0.06 to 0, with a deviation of 0.01 among those of 20
/// games. As it is no ratio, the small errors of decided positions do not raise the alarm.
const WORSE: f32 = 0.05;
/// Share of the examples with a target for ownership or score, below which their heads have too little to train on. The
/// games of each model had 0.21 to 1 with the usual tenth of calibration games, in the same two runs. As these are
/// longer than resigned games, their share is above a tenth then, whatever the others do.
const SCORED: f32 = 0.05;
/// Learning rate by that of the step before, above which it undoes what smaller steps have trained. The rates of all
/// presets fall. Runs that began from a model of another run had ten times its last rate, with a larger network
/// (`experiments/0051-95-percent-in-75-minutes`) or the same (`experiments/0055-32-visits-six-hours`). With the same
/// one, `trainer bootstrap` compares the two.
const JUMP: f32 = 3.0;
/// How often a new position may be sampled on average.
const SAMPLES: f64 = 16.0;

/// Statistics of a model and its training.
pub(crate) struct HealthChecks<'a> {
    pub(crate) train: &'a Train,
    /// The last batches that were trained on, before they were; `None` where this process trained on none.
    pub(crate) training: Option<&'a Losses>,
    /// What the validation set shows, where there is one.
    pub(crate) validation: Option<Validation>,
    pub(crate) sampled: &'a SampleSummary,
    pub(crate) diagnostics: Vec<TensorDiagnostics>,
    /// Share of the examples trained on with a target for ownership or score, where one of these heads is trained.
    pub(crate) scored: Option<f32>,
    /// The learning rates of the steps, from the one before the first on; none where the network has grown.
    pub(crate) rates: Vec<f32>,
}

/// What a model and its validation set have shown.
pub(crate) struct Validation {
    pub(crate) losses: Losses,
    /// By how much values differ between symmetries.
    pub(crate) spread: f32,
    /// What the searches added to the networks that they were made with.
    pub(crate) searches: Option<SearchGain>,
}

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Alarm {
    /// Training is far below holdout.
    Overfitting { training: f32, holdout: f32 },
    /// A constant would say more.
    WorseThanConstant { error: f32, constant: f32 },
    /// Symmetries are not understood.
    Spread { spread: f32 },
    /// Examples are not turned.
    RotationOff,
    /// A tensor is all zeros.
    Dead { tensor: String },
    /// A tensor moves too far.
    Unsteady { tensor: String, ratio: f32 },
    /// The same positions again and again.
    Stale { samples: f64 },
    /// The policy knows no doubt, or nothing else.
    Collapsed { entropy: f32, target: f32 },
    /// Searches hardly change the policy.
    NothingToTrain { distance: f32, target: f32 },
    /// Searches return the priors of a network, however well it is trained.
    SearchAddsNothing { surprise: f32, entropy: f32 },
    /// Nearly all games were resigned.
    FewScores { share: f32 },
    /// The learning rate rises steeply.
    RateJump { before: f32, rate: f32 },
    /// Searches spoil values.
    RootValueWorse { root: f32, network: f32 },
}

impl HealthChecks<'_> {
    /// The problem, if there is one.
    pub(crate) fn alarms(&self) -> Vec<Alarm> {
        let samples = self.sampled.reuse;
        let found = [
            (!self.train.augment_symmetries).then_some(Alarm::RotationOff),
            (samples > SAMPLES).then_some(Alarm::Stale { samples }),
            self.scored.filter(|&share| share < SCORED).map(|share| Alarm::FewScores { share }),
            Alarm::of_rates(&self.rates),
        ];
        let validation = self.validation.iter().flat_map(|validation| validation.alarms(self.training));
        found.into_iter().flatten().chain(validation).chain(self.of_tensors()).collect()
    }

    /// The problems of single tensors.
    fn of_tensors(&self) -> impl Iterator<Item = Alarm> {
        compared(self.train, &self.diagnostics).flat_map(|TensorDiagnostics { tensor, size, update_ratio }| {
            let dead = (*size == 0.0).then(|| Alarm::Dead { tensor: tensor.clone() });
            let unsteady =
                (*update_ratio > UPDATE).then(|| Alarm::Unsteady { tensor: tensor.clone(), ratio: *update_ratio });
            dead.into_iter().chain(unsteady)
        })
    }
}

/// The largest ratio of the norm of an update to that of its tensor, in the last step, among [`compared`] tensors.
pub(crate) fn largest_update(train: &Train, diagnostics: &[TensorDiagnostics]) -> f32 {
    compared(train, diagnostics).map(|vital| vital.update_ratio).fold(0.0, f32::max)
}

/// The tensors whose updates are compared with their norms: weights that are trained. Biases and shifts begin at 0,
/// where any step is infinitely large.
fn compared<'a>(train: &Train, diagnostics: &'a [TensorDiagnostics]) -> impl Iterator<Item = &'a TensorDiagnostics> {
    let is_weight = |tensor: &str| tensor.ends_with("weight") && !tensor.ends_with("norm.weight");
    diagnostics.iter().filter(move |vital| is_weight(&vital.tensor) && is_trained(train, &vital.tensor))
}

/// Whether a tensor has a gradient. An auxiliary head whose loss has no weight has none, and its last layer stays 0.
fn is_trained(train: &Train, tensor: &str) -> bool {
    let Train { ownership_weight, score_weight, opponent_policy_weight, .. } = *train;
    let heads = [
        ("ownership.", ownership_weight),
        ("value.score.", score_weight),
        ("opponent_policy.", opponent_policy_weight),
    ];
    !heads.iter().any(|&(head, weight)| weight == 0.0 && tensor.starts_with(head))
}

impl Validation {
    /// The problems that it shows of a model with these losses in training, where they are known.
    fn alarms(&self, training: Option<&Losses>) -> impl Iterator<Item = Alarm> {
        let Losses {
            policy,
            value_error: error,
            constant_error: constant,
            output_entropy: entropy,
            target_entropy: target,
            ..
        } = self.losses;
        let overfitted = training.map(|losses| losses.value_error).filter(|&training| training < OVERFITTING * error);
        let distance = policy - target;
        let nothing_to_train = distance < LEARNED && target > UNSURE;
        // Both would tell of the same searches.
        let unchanged = self.searches.filter(|gain| !nothing_to_train && gain.surprise < ADDED * gain.prior_entropy);
        let spoilt = self.searches.filter(|gain| gain.root_error > WORSE + gain.network_error);
        let found = [
            overfitted.map(|training| Alarm::Overfitting { training, holdout: error }),
            (error > constant).then_some(Alarm::WorseThanConstant { error, constant }),
            (self.spread > MOST_SPREAD).then_some(Alarm::Spread { spread: self.spread }),
            (entropy < target / 4.0).then_some(Alarm::Collapsed { entropy, target }),
            nothing_to_train.then_some(Alarm::NothingToTrain { distance, target }),
            unchanged.map(|gain| Alarm::SearchAddsNothing { surprise: gain.surprise, entropy: gain.prior_entropy }),
            spoilt.map(|gain| Alarm::RootValueWorse { root: gain.root_error, network: gain.network_error }),
        ];
        found.into_iter().flatten()
    }
}

impl Alarm {
    /// The first steep rise of the learning rates of steps, which follow each other.
    pub(crate) fn of_rates(rates: &[f32]) -> Option<Alarm> {
        let jump = rates.windows(2).find(|pair| pair[1] > JUMP * pair[0])?;
        Some(Alarm::RateJump { before: jump[0], rate: jump[1] })
    }

    /// A name for programs.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Alarm::Overfitting { .. } => "overfitting",
            Alarm::WorseThanConstant { .. } => "worse-than-constant",
            Alarm::Spread { .. } => "symmetry-spread",
            Alarm::RotationOff => "rotation-off",
            Alarm::Dead { .. } => "dead-tensor",
            Alarm::Unsteady { .. } => "unsteady-tensor",
            Alarm::Stale { .. } => "stale-data",
            Alarm::Collapsed { .. } => "policy-collapsed",
            Alarm::NothingToTrain { .. } => "nothing-to-train",
            Alarm::SearchAddsNothing { .. } => "search-adds-nothing",
            Alarm::FewScores { .. } => "few-scores",
            Alarm::RateJump { .. } => "learning-rate-jump",
            Alarm::RootValueWorse { .. } => "root-value-worse",
        }
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Alarm::Overfitting { training, holdout } => write!(
                f,
                "overfitting to game outcomes: value MSE is {training:.3} in training and {holdout:.3} in validation; a \
                 larger window or fewer samples per position help"
            ),
            Alarm::WorseThanConstant { error, constant } => {
                write!(f, "the value MSE is {error:.3}, and that of the best constant is {constant:.3}")
            }
            Alarm::Spread { spread } => {
                write!(f, "the value of a position changes by {spread:.2} under symmetries")
            }
            Alarm::RotationOff => f.write_str("train.augment_symmetries is off: no data augmentation"),
            Alarm::Dead { tensor } => write!(f, "{tensor} is all zeros"),
            Alarm::Unsteady { tensor, ratio } => {
                write!(
                    f,
                    "{tensor} changes by {:.0} % of its norm per step: the learning rate is too high",
                    100.0 * ratio
                )
            }
            Alarm::Stale { samples } => {
                write!(f, "each new position is sampled {samples:.1} times: self-play is too slow")
            }
            Alarm::Collapsed { entropy, target } => {
                write!(f, "policy collapse: its entropy is {entropy:.2} nats, that of the policy target {target:.2}")
            }
            Alarm::NothingToTrain { distance, target } => write!(
                f,
                "searches return the prior: KL divergence {distance:.2} nats, entropy of the policy target {target:.2}; more visits, or \
                 a larger search.gumbel_c_scale, help"
            ),
            Alarm::SearchAddsNothing { surprise, entropy } => write!(
                f,
                "searches add nothing to the policy: KL divergence {surprise:.3} nats from priors with an entropy of \
                 {entropy:.2}; more search.visits, fewer search.gumbel_moves, or a larger search.gumbel_c_scale, help"
            ),
            Alarm::FewScores { share } => write!(
                f,
                "{:.1} % of the examples have a target for ownership or score, which resigned games lack; \
                 a larger resign.calibration_fraction helps",
                100.0 * share
            ),
            Alarm::RateJump { before, rate } => write!(
                f,
                "the learning rate rises from {before} to {rate} in one step, which undoes the training at the lower \
                 rate; a train.learning_rate that falls helps"
            ),
            Alarm::RootValueWorse { root, network } => write!(
                f,
                "root values of searches predict outcomes worse than the network does: MSE {root:.3} against \
                 {network:.3}; more search.visits or fewer search.gumbel_moves help, and train.outcome_fraction = 1 \
                 keeps root values out of the targets"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses() -> Losses {
        let (output_entropy, target_entropy) = (2.5, 2.4);
        Losses {
            policy: 2.7,
            value_error: 0.6,
            constant_error: 0.99,
            output_entropy,
            target_entropy,
            ..Losses::default()
        }
    }

    fn vital(tensor: &str, size: f32, update_ratio: f32) -> TensorDiagnostics {
        TensorDiagnostics { tensor: tensor.to_owned(), size, update_ratio }
    }

    const GAIN: SearchGain = SearchGain { surprise: 0.65, prior_entropy: 2.0, root_error: 0.72, network_error: 0.75 };

    /// Statistics of a healthy network, as a base for tests.
    struct Known {
        train: Train,
        training: Option<Losses>,
        holdout: Losses,
        spread: f32,
        sampled: SampleSummary,
        diagnostics: Vec<TensorDiagnostics>,
        searches: Option<SearchGain>,
        scored: Option<f32>,
        rates: Vec<f32>,
        /// Whether games are held out.
        held: bool,
    }

    /// The names of the alarms after a change to a network that is well.
    fn alarms(change: impl FnOnce(&mut Known)) -> Vec<&'static str> {
        let mut known = Known {
            train: config::Preset::Minigo.config().train,
            training: Some(losses()),
            holdout: losses(),
            spread: 0.1,
            sampled: SampleSummary { reuse: 2.0, ..SampleSummary::default() },
            diagnostics: vec![vital("stem.conv.weight", 0.1, 0.01), vital("policy.dense.bias", 0.0, 0.0)],
            searches: Some(GAIN),
            scored: Some(0.25),
            rates: vec![0.05, 0.05, 0.02],
            held: true,
        };
        change(&mut known);
        let Known { train, training, holdout, spread, sampled, diagnostics, searches, scored, rates, held } = known;
        let validation = held.then_some(Validation { losses: holdout, spread, searches });
        let health = HealthChecks {
            train: &train,
            training: training.as_ref(),
            validation,
            sampled: &sampled,
            diagnostics,
            scored,
            rates,
        };
        let found = health.alarms();
        assert!(found.iter().all(|alarm| !alarm.to_string().is_empty()));
        found.iter().map(Alarm::name).collect()
    }

    #[test]
    fn network_that_is_well_raises_no_alarm() {
        assert_eq!(alarms(|_| {}), Vec::<&str>::new());
    }

    #[test]
    fn every_fault_raises_its_alarm_and_no_other() {
        let bad = |size, ratio| vital("blocks.0.first.conv.weight", size, ratio);
        assert_eq!(alarms(|known| known.train.augment_symmetries = false), ["rotation-off"]);
        let with = |value_error| alarms(|known| known.training = Some(Losses { value_error, ..losses() }));
        assert_eq!(with(0.31), Vec::<&str>::new(), "within the bound");
        assert_eq!(with(0.29), ["overfitting"]);
        assert_eq!(alarms(|known| known.training = None), Vec::<&str>::new(), "no batch was trained on");
        assert_eq!(alarms(|known| known.holdout.value_error = 1.1), ["worse-than-constant"]);
        assert_eq!(alarms(|known| known.holdout.output_entropy = 0.3), ["policy-collapsed"]);
        assert_eq!(alarms(|known| known.holdout.policy = 2.5), ["nothing-to-train"]);
        let sure = |known: &mut Known| (known.holdout.policy, known.holdout.target_entropy) = (0.8, 0.7);
        assert_eq!(alarms(sure), Vec::<&str>::new(), "a strong network agrees with searches that are sure");
        assert_eq!(alarms(|known| known.spread = 0.3), ["symmetry-spread"]);
        assert_eq!(alarms(|known| known.sampled.reuse = 40.0), ["stale-data"]);
        assert_eq!(alarms(|known| known.diagnostics.push(bad(0.0, 0.0))), ["dead-tensor"]);
        assert_eq!(alarms(|known| known.diagnostics.push(bad(0.1, 0.5))), ["unsteady-tensor"]);
    }

    #[test]
    fn largest_update_is_among_tensors_that_may_raise_the_alarm() {
        let train = Train { ownership_weight: 0.0, ..config::Preset::Minigo.config().train };
        let diagnostics = [
            vital("stem.conv.weight", 0.1, 0.02),
            vital("policy.dense.bias", 1e-6, 7.0),
            vital("stem.norm.weight", 1.0, 3.0),
            vital("ownership.conv.weight", 0.1, 5.0),
        ];
        assert_eq!(largest_update(&train, &diagnostics), 0.02);
    }

    #[test]
    fn faults_that_need_no_validation_set_raise_alarms_without_one() {
        let without = alarms(|known| {
            known.held = false;
            known.train.augment_symmetries = false;
            known.sampled.reuse = 40.0;
            (known.scored, known.rates) = (Some(0.0), vec![0.01, 0.1]);
            known.diagnostics.push(vital("stem.conv.weight", 0.0, 0.5));
            (known.training, known.spread) = (Some(Losses::default()), 0.3);
        });
        let expected =
            ["rotation-off", "stale-data", "few-scores", "learning-rate-jump", "dead-tensor", "unsteady-tensor"];
        assert_eq!(without, expected);
    }

    #[test]
    fn heads_whose_losses_have_no_weight_may_be_dead() {
        type SetWeight = fn(&mut Train, f32);
        let heads: [(&str, SetWeight); 3] = [
            ("ownership.conv.weight", |train, weight| train.ownership_weight = weight),
            ("value.score.weight", |train, weight| train.score_weight = weight),
            ("opponent_policy.dense.weight", |train, weight| train.opponent_policy_weight = weight),
        ];
        for (tensor, set) in heads {
            let with = |weight| {
                alarms(|known| {
                    set(&mut known.train, weight);
                    known.diagnostics.push(vital(tensor, 0.0, 0.0));
                })
            };
            assert_eq!(with(0.5), ["dead-tensor"], "{tensor}");
            assert_eq!(with(0.0), Vec::<&str>::new(), "{tensor}");
        }
    }

    #[test]
    fn searches_that_return_the_prior_raise_an_alarm_at_any_entropy() {
        let with = |surprise, prior_entropy| {
            alarms(|known| known.searches = Some(SearchGain { surprise, prior_entropy, ..GAIN }))
        };
        assert_eq!(with(0.1, 2.0), Vec::<&str>::new(), "at the bound");
        assert_eq!(with(0.099, 2.0), ["search-adds-nothing"]);
        assert_eq!(with(0.02, 0.3), Vec::<&str>::new(), "a network that is nearly sure");
        assert_eq!(with(0.01, 0.3), ["search-adds-nothing"]);
        assert_eq!(alarms(|known| known.searches = None), Vec::<&str>::new(), "few games");
        let both = alarms(|known| {
            known.holdout.policy = 2.5;
            known.searches = Some(SearchGain { surprise: 0.0, ..GAIN });
        });
        assert_eq!(both, ["nothing-to-train"], "one alarm for one fault");
    }

    #[test]
    fn examples_of_resigned_games_alone_raise_an_alarm() {
        let with = |scored| alarms(|known| known.scored = scored);
        assert_eq!(with(Some(0.05)), Vec::<&str>::new(), "at the bound");
        assert_eq!(with(Some(0.049)), ["few-scores"]);
        assert_eq!(with(None), Vec::<&str>::new(), "no head is trained, or few examples were");
    }

    #[test]
    fn learning_rate_that_jumps_raises_an_alarm() {
        let with = |rates: &[f32]| alarms(|known| known.rates = rates.to_vec());
        assert_eq!(with(&[0.25, 0.75]), Vec::<&str>::new(), "at the bound");
        assert_eq!(with(&[0.25, 0.25, 0.76, 0.76]), ["learning-rate-jump"]);
        assert_eq!(with(&[0.01, 0.02, 0.03, 0.04]), Vec::<&str>::new(), "a slow rise");
        assert_eq!(with(&[]), Vec::<&str>::new(), "a network that has grown");
    }

    #[test]
    fn root_values_that_are_worse_than_those_of_the_network_raise_an_alarm() {
        let with = |root_error, network_error| {
            alarms(|known| known.searches = Some(SearchGain { root_error, network_error, ..GAIN }))
        };
        assert_eq!(with(0.799, 0.75), Vec::<&str>::new(), "within the bound");
        assert_eq!(with(0.801, 0.75), ["root-value-worse"]);
        assert_eq!(with(0.04, 0.01), Vec::<&str>::new(), "decided positions");
    }
}
