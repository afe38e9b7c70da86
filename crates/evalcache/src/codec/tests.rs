use go::{Game, Move, Size, Symmetry};
use proptest::prelude::*;

use super::*;
use crate::{Sample, Steps, fit};

/// A game of so many moves, each the first legal one from some place on.
fn game(size: Size, moves: &[u16]) -> Game {
    let mut game = Game::new(size);
    for &first in moves {
        let legal = (0..size.moves())
            .map(|k| Move::from_index(size, (usize::from(first) + k) % size.moves()).expect("a move"))
            .find(|&mv| game.is_legal(mv))
            .expect("the pass is legal");
        game.play(legal).expect("a legal move");
    }
    game
}

/// A policy as networks have them: powers, so that few moves have most of it.
fn policy(numbers: &[f32], size: Size) -> Vec<f32> {
    let raw: Vec<f32> = (0..size.moves()).map(|i| numbers[i % numbers.len()].powi(9) + 1e-9).collect();
    let sum: f32 = raw.iter().sum();
    raw.iter().map(|p| p / sum).collect()
}

prop_compose! {
    fn sample()(
        side in 2..=19_usize,
        moves in prop::collection::vec(0..362_u16, 0..60),
        numbers in prop::collection::vec(0.0_f32..1.0, 362),
        value in -1.0_f32..=1.0,
        symmetry in 0..8_usize,
    ) -> Sample {
        let size = Size::new(side).expect("a size");
        let view = View::new(&game(size, &moves), Symmetry::ALL[symmetry]);
        Sample { view, policy: policy(&numbers, size), value }
    }
}

/// Tables of some numbers, the same each time.
fn some_tables(steps: Steps) -> Tables {
    let mut state = 1_u32;
    let log_odds = (0..Tables::len(steps)).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 22) as i16 - 512
    });
    Tables::new(steps, log_odds.collect(), Box::new([[900; CLASSES]; crate::layout::FOUND]))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn decode_returns_the_steps_that_were_encoded(sample in sample()) {
        for tables in [Steps::S256, Steps::S2048].into_iter().flat_map(|steps| [some_tables(steps), Tables::flat(steps)]) {
            let count = tables.steps().count().expect("steps");
            let mut code = vec![1, 2, 3];
            prop_assert_eq!(tables.encode(&sample.view, &sample.policy, sample.value, &mut code), Some(()));
            prop_assert_eq!(&code[..3], &[1, 2, 3]);
            let mut decoded = vec![0.5; sample.policy.len()];
            let value = tables.decode(&sample.view, &code[3..], &mut decoded);
            prop_assert!((value - sample.value).abs() <= 0.51 / count as f32, "{value}");
            prop_assert!((decoded.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            // The moves with steps have what they were given, but for the share of those without.
            let mut steps = vec![0; decoded.len()];
            quantise(&sample.view, &sample.policy, count, &mut steps).expect("a policy");
            let largest = (0..steps.len()).max_by_key(|&i| steps[i]).expect("moves");
            for (i, &n) in steps.iter().enumerate().filter(|(_, n)| **n > 0) {
                let ratio = decoded[i] / decoded[largest] * f32::from(steps[largest]);
                prop_assert!((ratio - f32::from(n)).abs() < 1e-2, "{ratio} {n}");
            }
        }
    }

    #[test]
    fn exact_returns_every_bit(sample in sample(), bits in prop::collection::vec(any::<u32>(), 362)) {
        let tables = some_tables(Steps::Exact);
        let strange: Vec<f32> = bits[..sample.policy.len()].iter().map(|&bits| f32::from_bits(bits)).collect();
        for policy in [&sample.policy, &strange] {
            let mut code = Vec::new();
            tables.encode(&sample.view, policy, sample.value, &mut code).expect("any numbers");
            let mut decoded = vec![0.0; policy.len()];
            let value = tables.decode(&sample.view, &code, &mut decoded);
            prop_assert_eq!(value.to_bits(), sample.value.to_bits());
            let bits = |policy: &[f32]| policy.iter().map(|p| p.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&decoded), bits(policy));
        }
    }

    #[test]
    fn decode_takes_any_bytes(sample in sample(), code in prop::collection::vec(any::<u8>(), 0..80)) {
        for tables in Steps::ALL.map(some_tables) {
            let mut decoded = vec![0.0; sample.policy.len()];
            let value = tables.decode(&sample.view, &code, &mut decoded);
            if tables.steps() != Steps::Exact {
                prop_assert!((-1.0..=1.0).contains(&value));
                prop_assert!(decoded.iter().all(|p| (0.0..=1.0).contains(p)));
                prop_assert!((decoded.iter().sum::<f32>() - 1.0).abs() < 1e-4);
            }
        }
    }

    #[test]
    fn images_have_one_code(moves in prop::collection::vec(0..82_u16, 0..40), numbers in prop::collection::vec(0.0_f32..1.0, 82)) {
        let size = Size::new(9).expect("a size");
        let game = game(size, &moves);
        let policy = policy(&numbers, size);
        let tables = some_tables(Steps::S2048);
        let codes = Symmetry::ALL.map(|symmetry| {
            let mut image = Game::new(size);
            for &mv in game.moves() {
                image.play(symmetry.apply_move(size, mv)).expect("a legal move");
            }
            let mut turned = vec![0.0; size.moves()];
            symmetry.apply_values(size, &policy, &mut turned);
            let mut seen = vec![0.0; size.moves()];
            symmetry.inverse().apply_values(size, &turned, &mut seen);
            let mut code = Vec::new();
            tables.encode(&View::new(&image, symmetry.inverse()), &seen, 0.25, &mut code).expect("a policy");
            code
        });
        prop_assert!(codes.iter().all(|code| code == &codes[0]));
    }
}

/// Files depend on it: positions after 0 to 304 moves, and codes of any bytes, by the tables that come with the
/// program. New tables change their own numbers only; files keep the tables that they were written with.
#[test]
fn decoded_numbers_are_the_same_in_every_release() {
    let mut found = Vec::new();
    for (side, steps) in [9, 19].into_iter().flat_map(|side| Steps::ALL.map(|steps| (side, steps))) {
        let size = Size::new(side).expect("a size");
        let tables = Tables::built_in(size, steps);
        let (mut bits, mut decoded) = (Vec::new(), vec![0.0; size.moves()]);
        for count in 0..40_u16 {
            let moves: Vec<u16> = (0..count * count / 5).map(|k| k * (2 * count + 1) % 361).collect();
            let view = View::new(&game(size, &moves), Symmetry::ALL[usize::from(count % 8)]);
            let code: Vec<u8> = (0..3 * count).map(|k| ((u32::from(k + 99 * count) * 40_503) >> 7) as u8).collect();
            let value = tables.decode(&view, &code, &mut decoded);
            bits.extend(decoded.iter().chain([&value]).flat_map(|number| number.to_le_bytes()));
        }
        found.push(format!("{side} {steps} {:016x}", xxhash_rust::xxh3::xxh3_64(&bits)));
    }
    let expected = [
        "9 256 5c71a4d5fea7dc90",
        "9 2048 030aac3283dab4ba",
        "9 exact 39f09be6ed0d626b",
        "19 256 b5c8f48ff332b284",
        "19 2048 55846888fb31ccbc",
        "19 exact a430443e3b85bce0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn encode_refuses_what_is_no_evaluation() {
    let size = Size::MIN;
    let view = View::new(&Game::new(size), Symmetry::Identity);
    let tables = Tables::flat(Steps::S2048);
    let mut code = Vec::new();
    for (policy, value) in [([0.0; 5], 0.0), ([f32::NAN; 5], 0.0), ([0.2; 5], f32::NAN)] {
        assert_eq!(tables.encode(&view, &policy, value, &mut code), None);
    }
    // With every bit of every number, only the length can be wrong.
    let exact = Tables::flat(Steps::Exact);
    for tables in [&tables, &exact] {
        assert_eq!(tables.encode(&view, &[0.5; 4], 0.0, &mut code), None);
    }
    assert!(code.is_empty());
    assert_eq!(exact.encode(&view, &[f32::NAN; 5], f32::NAN, &mut code), Some(()));
}

/// Policies that like points beside the last move, so that there is something to fit.
#[test]
fn fitted_tables_make_codes_shorter() {
    let size = Size::new(9).expect("a size");
    let samples: Vec<Sample> = (0..400_u16)
        .map(|k| {
            let game = game(size, &[k * 7 % 81, k * 31 % 81, k * 13 % 81]);
            let view = View::new(&game, Symmetry::Identity);
            let last = view.recent[0].expect("a move");
            let raw: Vec<f32> = (0..82_usize)
                .map(|i| {
                    if i < 81 && (i / 9).abs_diff(last.0.into()) + (i % 9).abs_diff(last.1.into()) == 1 {
                        1.0
                    } else {
                        1e-6
                    }
                })
                .collect();
            let sum: f32 = raw.iter().sum();
            Sample { view, policy: raw.iter().map(|p| p / sum).collect(), value: 0.5 }
        })
        .collect();
    let (fitted, measured) = samples.split_at(300);
    let bytes = |tables: &Tables| crate::compression_steps::fidelity(measured, tables).bytes;
    let (flat, fit) = (bytes(&Tables::flat(Steps::S2048)), bytes(&fit(fitted, Steps::S2048)));
    assert!(fit < 0.3 * flat, "{fit} bytes, without a fit {flat}");
    let written = crate::compression_steps::measure(fitted, measured, Steps::S256, Some(&Tables::flat(Steps::S256)));
    assert_eq!(written.len(), 10);
    assert_eq!(written[0].bytes, 328.0);
    assert!(written[8].bytes < written[3].bytes, "{written:?}");
}

/// Flat policies have more in moves without steps than sharp ones have, whatever the position tells of those moves.
#[test]
fn moves_without_steps_share_what_policies_as_flat_as_this_one_have() {
    let size = Size::new(9).expect("a size");
    let sample = |k: u16| {
        let view = View::new(&game(size, &[k * 7 % 81, k * 31 % 81]), Symmetry::Identity);
        // Each move has a part of the probability of the one before, from some place on.
        let ratio = if k.is_multiple_of(2) { 0.9_f32 } else { 0.5 };
        let raw: Vec<f32> = (0..82_u16).map(|i| ratio.powi(i32::from((i + 13 * k) % 82)).max(1e-6)).collect();
        let sum: f32 = raw.iter().sum();
        Sample { view, policy: raw.iter().map(|p| p / sum).collect(), value: 0.5 }
    };
    let samples: Vec<Sample> = (0..600).map(sample).collect();
    let tables = fit(&samples[..500], Steps::S256);
    let mut sums = [(0.0, 0.0); 2];
    for (nth, Sample { view, policy, value }) in samples[500..].iter().enumerate() {
        let (mut code, mut decoded, mut steps) = (Vec::new(), vec![0.0; 82], vec![0; 82]);
        tables.encode(view, policy, *value, &mut code).expect("a policy");
        tables.decode(view, &code, &mut decoded);
        quantise(view, policy, 256, &mut steps).expect("a policy");
        let without: Vec<usize> = crate::steps::moves(view).filter(|&i| steps[i] == 0).collect();
        let below = |policy: &[f32]| without.iter().map(|&i| policy[i]).sum::<f32>();
        sums[nth % 2].0 += below(&decoded);
        sums[nth % 2].1 += below(policy);
    }
    let [flat, sharp] = sums.map(|(decoded, given)| decoded / given);
    assert!((0.8..1.25).contains(&flat) && (0.8..1.25).contains(&sharp), "flat {flat}, sharp {sharp}");
    assert!(sums[0].1 > 3.0 * sums[1].1, "{sums:?}");
}
