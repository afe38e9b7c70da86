//! What losses are, by hand and by their laws.

use tch::Kind;

use super::*;

/// Squared errors of a mixed target.
fn loss_config(value_weight: f32) -> LossConfig {
    LossConfig {
        value_weight,
        value_loss: ValueLoss::Squared,
        outcome_fraction: 0.75,
        ownership_weight: 0.5,
        score_weight: 0.25,
        opponent_policy_weight: 0.5,
    }
}

const LN2: f32 = std::f32::consts::LN_2;

/// The loss of outputs on a CPU.
fn loss(output: &TowerOutput, batch: &Columns<Vec<f32>>, loss_config: &LossConfig) -> Result<Loss, NetError> {
    let options = TensorOptions { device: tch::Device::Cpu, kind: Kind::Float };
    super::loss(output, &TargetTensors::new(batch, options)?, loss_config)
}

/// Two positions with three moves.
fn batch(policies: [f32; 6], values: [f32; 2]) -> Columns<Vec<f32>> {
    Columns {
        policies: policies.to_vec(),
        outcomes: values.to_vec(),
        searches: values.to_vec(),
        scores: vec![0.0; 2],
        scores_known: vec![0.0; 2],
        weights: vec![1.0; 2],
        ..Columns::default()
    }
}

fn output(logits: [f32; 6], values: [f32; 2]) -> TowerOutput {
    let leaf = |numbers: &[f32]| Tensor::from_slice(numbers).set_requires_grad(true);
    let logits = leaf(&logits).view([2, 3]).detach().set_requires_grad(true);
    plain(logits, leaf(&values))
}

/// Outputs of a network that has no other heads.
fn plain(logits: Tensor, values: Tensor) -> TowerOutput {
    let (value_logits, opponent_policy, ownership, scores) = (None, None, None, None);
    TowerOutput { logits, values, value_logits, opponent_policy, ownership, scores, statistics: Vec::new() }
}

fn close(a: f32, b: f32) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn loss_of_known_outputs_has_known_parts() {
    // Probabilities 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2.
    let output = output([LN2, 0.0, 0.0, 3.0, 3.0, 3.0 + LN2], [0.5, -0.25]);
    let batch = batch([1.0, 0.0, 0.0, 0.5, 0.5, 0.0], [1.0, -1.0]);
    let losses = loss(&output, &batch, &loss_config(2.0)).unwrap().read().unwrap().with_l2(0.125);
    assert!(close(losses.policy, (LN2 + 2.0 * LN2) / 2.0), "{losses:?}");
    assert!(close(losses.value, (0.25 + 0.5625) / 2.0), "{losses:?}");
    assert!(close(losses.total, 1.5 * LN2 + 2.0 * 0.40625 + 0.125), "{losses:?}");
    assert!(close(losses.accuracy, 0.5), "{losses:?}");
    assert!(close(losses.target_entropy, LN2 / 2.0), "{losses:?}");
    assert!(close(losses.output_entropy, 1.5 * LN2), "{losses:?}");
    assert!(close(losses.mean_value, 0.125), "{losses:?}");
}

#[test]
fn gradients_are_those_of_the_formulas() {
    let (target, values) = ([0.2, 0.3, 0.5, 1.0, 0.0, 0.0], [1.0, -1.0]);
    let output = output([0.3, -1.0, 0.7, 0.0, 2.0, -2.0], [0.5, -0.25]);
    let loss = loss(&output, &batch(target, values), &loss_config(0.5)).unwrap();
    let gradients = Tensor::run_backward(&[&loss.tensor], &[&output.logits, &output.values], false, false);
    // Mean over two rows: (p − π)/2 for the logits, 2·c·(v − t)/2 for the values.
    let probabilities = numbers(&output.logits.softmax(-1, Kind::Float)).unwrap();
    let found = numbers(&gradients[0]).unwrap();
    assert!(found.iter().zip(probabilities).zip(target).all(|((g, p), t)| close(*g, (p - t) / 2.0)), "{found:?}");
    let found = numbers(&gradients[1]).unwrap();
    assert!(close(found[0], 0.5 * (0.5 - 1.0)) && close(found[1], 0.5 * (-0.25 + 1.0)), "{found:?}");
}

/// A position with the weight 3 counts as three with the weight 1.
#[test]
fn weights_count_as_repetitions() {
    let (target, values) = ([0.2, 0.3, 0.5, 1.0, 0.0, 0.0], [1.0, -1.0]);
    let (logits, answered) = ([0.3, -1.0, 0.7, 0.0, 2.0, -2.0], [0.5, -0.25]);
    let of = |weights: &[f32], rows: &[usize]| {
        let pick = |all: &[f32], width: usize| -> Vec<f32> {
            rows.iter().flat_map(|row| all[row * width..(row + 1) * width].to_vec()).collect()
        };
        let logits = Tensor::from_slice(&pick(&logits, 3)).view([-1, 3]).set_requires_grad(true);
        let answered = Tensor::from_slice(&pick(&answered, 1)).set_requires_grad(true);
        let output = plain(logits, answered);
        let (policies, values) = (pick(&target, 3), pick(&values, 1));
        let weights = weights.to_vec();
        let batch = Columns { policies, outcomes: values.clone(), searches: values, weights, ..Columns::default() };
        let loss = loss(&output, &batch, &loss_config(0.5)).unwrap();
        let gradients = Tensor::run_backward(&[&loss.tensor], &[&output.logits], false, false);
        let gradient = numbers(&gradients[0].sum_dim_intlist(0, false, Kind::Float)).unwrap();
        (loss.read().unwrap(), gradient)
    };
    let (weighted, gradient) = of(&[3.0, 1.0], &[0, 1]);
    let (repeated, expected) = of(&[1.0; 4], &[0, 0, 0, 1]);
    for ((name, a), (_, b)) in weighted.named().into_iter().zip(repeated.named()) {
        assert!(close(a, b), "{name}: {a} {b}");
    }
    let (first, second) = (of(&[1.0], &[0]).0, of(&[1.0], &[1]).0);
    assert!(close(weighted.policy, (3.0 * first.policy + second.policy) / 4.0));
    assert!(gradient.iter().zip(&expected).all(|(a, b)| close(*a, *b)), "{gradient:?} {expected:?}");
    assert!((weighted.policy - of(&[1.0; 2], &[0, 1]).0.policy).abs() > 0.01, "and it matters");
}

#[test]
fn least_loss_is_the_entropy_of_the_target() {
    let target = [0.25, 0.25, 0.5, 0.7, 0.2, 0.1];
    let output = output(target.map(f32::ln), [1.0, -1.0]);
    let losses = loss(&output, &batch(target, [1.0, -1.0]), &loss_config(1.0)).unwrap().read().unwrap();
    assert!(close(losses.policy, losses.target_entropy) && close(losses.policy, losses.output_entropy));
    assert_eq!((losses.value, losses.accuracy), (0.0, 1.0));
}

/// What values cost, and its gradient.
fn value_cost(loss_config: &LossConfig, values: &[f32], outcomes: &[f32], searches: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let values = Tensor::from_slice(values).set_requires_grad(true);
    let cost = loss_config.value(&values, &Tensor::from_slice(outcomes), &Tensor::from_slice(searches)).unwrap();
    let gradients = Tensor::run_backward(&[cost.sum(Kind::Float)], &[&values], false, false);
    (numbers(&cost).unwrap(), numbers(&gradients[0]).unwrap())
}

fn all_close(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

const VALUES: [f32; 5] = [-0.9, -0.3, 0.0, 0.4, 0.8];
const OUTCOMES: [f32; 5] = [-1.0, 1.0, 0.0, -1.0, 1.0];
const SEARCHES: [f32; 5] = [-0.7, 0.2, 0.1, 0.3, -0.5];
const VALUE_LOSSES: [ValueLoss; 2] = [ValueLoss::Squared, ValueLoss::CrossEntropy];

#[test]
fn loss_is_minimal_at_the_target() {
    for value_loss in VALUE_LOSSES {
        let loss_config = LossConfig { value_loss, ..loss_config(1.0) };
        let (at_target, gradient) = value_cost(&loss_config, &SEARCHES, &SEARCHES, &SEARCHES);
        assert!(all_close(&at_target, &[0.0; 5]) && all_close(&gradient, &[0.0; 5]), "{value_loss:?} {at_target:?}");
        let (elsewhere, _) = value_cost(&loss_config, &VALUES, &SEARCHES, &SEARCHES);
        assert!(elsewhere.iter().all(|&cost| cost > 1e-4), "{value_loss:?} {elsewhere:?}");
    }
}

#[test]
fn value_target_interpolates_search_and_outcome() {
    for value_loss in VALUE_LOSSES {
        let cost = |outcome_fraction, outcomes: &[f32], searches: &[f32]| {
            let loss_config = LossConfig { value_loss, outcome_fraction, ..loss_config(1.0) };
            value_cost(&loss_config, &VALUES, outcomes, searches).1
        };
        let none = [0.0; 5];
        assert!(all_close(&cost(1.0, &OUTCOMES, &none), &cost(1.0, &OUTCOMES, &SEARCHES)));
        assert!(all_close(&cost(0.0, &none, &SEARCHES), &cost(0.0, &OUTCOMES, &SEARCHES)));
        assert!(!all_close(&cost(1.0, &OUTCOMES, &SEARCHES), &cost(0.0, &OUTCOMES, &SEARCHES)));
    }
}

#[test]
fn owners_and_scores_by_hand() {
    // Two positions on two points; the second position's area and score are not known.
    let mut batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0; 2]);
    batch.ownership = vec![1.0, 0.5, 0.0, 0.0];
    batch.ownership_known = vec![1.0, 0.0];
    batch.scores = vec![0.5, 9.0];
    batch.scores_known = vec![1.0, 0.0];
    let mut output = output([0.0; 6], [0.0; 2]);
    output.ownership = Some(Tensor::from_slice(&[0.0f32, 0.0, 5.0, 5.0]).view([2, 2]));
    output.scores = Some(Tensor::from_slice(&[0.0f32, 0.0]));
    let losses = loss(&output, &batch, &loss_config(0.0)).unwrap().read().unwrap();
    // ln 2 for a point of the mover at probability ½, 0 for a neutral one.
    assert!(close(losses.ownership, LN2 / 2.0) && close(losses.score, 0.125), "{losses:?}");
    assert_eq!((losses.ownership_known, losses.score_known, losses.opponent_policy_known), (1.0, 1.0, 0.0));
    assert!(close(losses.total, losses.policy + 0.5 * LN2 / 2.0 + 0.25 * 0.125), "{losses:?}");
    output.scores = Some(Tensor::from_slice(&[-2.5f32, 0.0]));
    assert!(close(loss(&output, &batch, &loss_config(0.0)).unwrap().read().unwrap().score, 2.5), "|3| − ½");
    batch.ownership_known = vec![0.0; 2];
    assert_eq!(loss(&output, &batch, &loss_config(0.0)).unwrap().read().unwrap().ownership, 0.0);
}

#[test]
fn chances_by_hand() {
    let chances = |numbers: [f32; 6]| Tensor::from_slice(&numbers).view([2, 3]);
    // Chances of ½, ¼, ¼ and of ¼, ½, ¼.
    let logits = chances([LN2, 0.0, 0.0, 0.0, LN2, 0.0]).set_requires_grad(true);
    let mut output = output([0.0; 6], [0.25, 0.0]);
    output.value_logits = Some(logits.shallow_clone());
    let loss_config = LossConfig { value_loss: ValueLoss::CrossEntropy, outcome_fraction: 1.0, ..loss_config(1.0) };
    // A win, and a draw.
    let batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0]);
    let loss = loss(&output, &batch, &loss_config).unwrap();
    assert!(close(loss.read().unwrap().value, LN2), "{:?}", loss.read());
    let gradients = Tensor::run_backward(&[&loss.tensor], &[&logits], false, false);
    let expected = [-0.25, 0.125, 0.125, 0.125, -0.25, 0.125];
    assert!(all_close(&numbers(&gradients[0]).unwrap(), &expected));
    // A search's 0.5 is ¾ and ¼; whatever a target is, it costs nothing itself.
    let search = two_ways(&Tensor::from_slice(&[0.5f32, -1.0])).unwrap();
    assert!(all_close(&numbers(&search).unwrap(), &[0.75, 0.0, 0.25, 0.0, 0.0, 1.0]));
    let itself = chances_cost(&(search.shallow_clone() + 1e-12).log(), &search).unwrap();
    assert!(all_close(&numbers(&itself).unwrap(), &[0.0; 2]));
}

#[test]
fn opponent_policy_by_hand() {
    // The first output is the second move; of the second position it is not known.
    let mut batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0; 2]);
    batch.opponent_moves = vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let mut output = output([0.0; 6], [0.0; 2]);
    output.opponent_policy = Some(Tensor::from_slice(&[0.0f32, LN2, 0.0, 9.0, 0.0, 0.0]).view([2, 3]));
    let losses = loss(&output, &batch, &loss_config(0.0)).unwrap().read().unwrap();
    assert!(close(losses.opponent_policy, LN2) && close(losses.total, losses.policy + 0.5 * LN2), "{losses:?}");
    batch.opponent_moves = Vec::new();
    assert_eq!(loss(&output, &batch, &loss_config(0.0)).unwrap().read().unwrap().opponent_policy, 0.0);
}

#[test]
fn confidence_and_errors_of_values() {
    let output = output([0.0; 6], [0.5, -0.25]);
    let batch = batch([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [1.0, 0.0]);
    let losses = loss(&output, &batch, &loss_config(1.0)).unwrap().read().unwrap();
    assert!(close(losses.value_confidence, 0.375) && close(losses.value_error, (0.25 + 0.0625) / 2.0), "{losses:?}");
    assert!(close(losses.constant_error, 0.25), "½ is the best constant: {losses:?}");
    assert_eq!(losses.top_three, 1.0, "of three moves");
}

#[test]
fn every_fact_has_a_field_of_its_own() {
    let facts: [f32; Losses::FACTS] = std::array::from_fn(|place| place as f32 + 1.0);
    let losses = Losses::of_facts(facts);
    assert_eq!(losses.l2, 0.0, "the penalty is none of them");
    let mut rest = losses;
    let found: Vec<f32> = ALL.iter().map(|(field, _)| std::mem::take(field(&mut rest))).collect();
    assert_eq!(found, facts);
    assert_eq!(size_of::<Losses>(), (Losses::FACTS + 1) * size_of::<f32>(), "no other field is left out");
}

#[test]
fn batches_count_by_their_weights() {
    let train = config::Preset::Minigo.config().train;
    let one = |policy| Losses { policy, ..Losses::default() };
    assert_eq!(Losses::mean(&train, &[(3.0, one(1.0)), (1.0, one(5.0))]).unwrap().policy, 2.0);
    assert_eq!(Losses::mean(&train, &[]), None);
}

#[test]
fn losses_of_targets_count_by_the_weights_of_positions_that_have_one() {
    let train = config::Train {
        value_weight: 2.0,
        ownership_weight: 0.5,
        score_weight: 0.25,
        opponent_policy_weight: 1.0,
        ..config::Preset::Minigo.config().train
    };
    let none = Losses { policy: 1.0, value: 0.5, l2: 0.25, ..Losses::default() };
    let both = Losses { ownership: 0.5, ownership_known: 1.0, score: 4.0, score_known: 2.0, ..none };
    let owners = Losses { ownership: 2.0, ownership_known: 3.0, ..none };
    let mean = |batches: &[(f64, Losses)]| Losses::mean(&train, batches).unwrap();
    let all = mean(&[(2.0, none), (2.0, both), (4.0, owners)]);
    assert_eq!((all.ownership, all.score, all.opponent_policy), (1.625, 4.0, 0.0));
    assert_eq!((all.ownership_known, all.score_known, all.opponent_policy_known), (4.0, 2.0, 0.0));
    assert_eq!(all.total, 1.0 + 2.0 * 0.5 + 0.5 * 1.625 + 0.25 * 4.0 + 0.25);
    assert_eq!(mean(&[(4.0, mean(&[(2.0, none), (2.0, both)])), (4.0, owners)]), all, "the mean of means");
    assert_eq!(mean(&[(2.0, none), (1.0, none)]).total, 2.25, "nothing has a target");
}
