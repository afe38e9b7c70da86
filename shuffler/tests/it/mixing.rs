//! That the mix is a mix.

use std::collections::BTreeMap;

use record::Example;

use crate::{a_run, config, in_folder, play, publish, read};

/// A sample of 4000 from some 600 games, and the positions it was taken from.
fn a_mix(seed: u64) -> (Vec<Example>, Vec<Example>) {
    let run = a_run();
    play(&run, 0, 0, 600);
    let seed = format!("seed={seed}");
    let settings = config(&["train.steps=40", "window.games=600", &seed]);
    let examples = read(&run, &publish(&run, &settings, 1).unwrap());
    let files = run.games().files(0).unwrap();
    let all = files.iter().flat_map(|file| run.examples().read(file).unwrap().to_examples()).collect();
    (examples, all)
}

fn count<K: Ord>(examples: &[Example], key: impl Fn(&Example) -> K) -> BTreeMap<K, f64> {
    let mut counts = BTreeMap::new();
    for example in examples {
        *counts.entry(key(example)).or_insert(0.0) += 1.0;
    }
    counts
}

/// Chi-square of sampled counts against the share of each class among all positions, as a number of standard deviations
/// from its mean: sampling without replacement from a share f of the positions shrinks it by 1 - f.
fn deviation<K: Ord>(sampled: &[Example], all: &[Example], key: impl Fn(&Example) -> K) -> f64 {
    let share = sampled.len() as f64 / all.len() as f64;
    let (sampled, all) = (count(sampled, &key), count(all, &key));
    let classes: Vec<(f64, f64)> =
        all.iter().map(|(class, n)| (sampled.get(class).copied().unwrap_or(0.0), n * share)).collect();
    let square: f64 = classes.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    let freedom = classes.len() as f64 - 1.0;
    (square / (1.0 - share) - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn games_and_turns_are_sampled_evenly() {
    let (examples, all) = a_mix(1);
    for (name, deviation) in [
        ("games", deviation(&examples, &all, |e| e.game)),
        ("turns", deviation(&examples, &all, |e| e.turn)),
        ("players", deviation(&examples, &all, |e| e.to_move == go::Color::Black)),
        ("outcomes", deviation(&examples, &all, |e| e.outcome)),
    ] {
        // Four standard deviations: more than that happens once in 15,000 samples.
        assert!(deviation.abs() < 4.0, "{name}: {deviation}");
    }
}

#[test]
fn neighbours_are_of_one_game_no_more_often_than_by_chance() {
    let (examples, _) = a_mix(2);
    let games = count(&examples, |e| e.game);
    let n = examples.len() as f64;
    let by_chance: f64 = games.values().map(|&k| k * (k - 1.0)).sum::<f64>() / n;
    for distance in [1, 2, 10, 100] {
        let same = examples.iter().zip(&examples[distance..]).filter(|(a, b)| a.game == b.game).count() as f64;
        // The number of such pairs is nearly Poisson.
        assert!((same - by_chance).abs() < 4.0 * by_chance.sqrt(), "{distance}: {same} against {by_chance}");
    }
}

#[test]
fn place_in_the_shards_is_independent_of_age_and_turn() {
    let (examples, all) = a_mix(3);
    let age: BTreeMap<_, _> = all.iter().enumerate().map(|(i, e)| ((e.game, e.turn), i as f64)).collect();
    let ages: Vec<f64> = examples.iter().map(|e| age[&(e.game, e.turn)]).collect();
    let turns: Vec<f64> = examples.iter().map(|e| f64::from(e.turn)).collect();
    let places: Vec<f64> = (0..examples.len()).map(|i| i as f64).collect();
    // A correlation of n independent pairs, of numbers or ranks, has a standard deviation of 1 / sqrt(n).
    let bound = 4.0 / (examples.len() as f64).sqrt();
    for others in [&ages, &turns] {
        assert!(correlation(&places, others).abs() < bound);
        assert!(correlation(&places, &ranks(others)).abs() < bound);
    }
}

/// The rank of each number; equals have the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut first = 0;
    for equals in order.chunk_by(|&a, &b| values[a] == values[b]) {
        equals.iter().for_each(|&i| ranks[i] = first as f64 + (equals.len() - 1) as f64 / 2.0);
        first += equals.len();
    }
    ranks
}

/// A whole run of five models as the trainer reads it: every sample, mixed by whatever options.
#[test]
fn shards_of_a_run_are_mixed_whatever_the_options() {
    let run = a_run();
    play(&run, 0, 0, 200);
    (1..5).for_each(|model| play(&run, model, 0, 200));
    let plain = ["selfplay.first_games=200", "selfplay.games=200", "window.games=600", "train.steps=30"];
    let options: [&[&str]; 2] = [&[], &["window.calibration_fraction=0.1"]];
    for options in options {
        let mut turns_and_places = (Vec::new(), Vec::new());
        for generation in 1..=5 {
            let manifest = publish(&run, &config(&[&plain[..], options].concat()), generation).unwrap();
            let examples = read(&run, &manifest);
            assert_eq!(examples.len(), 3000);
            same_game_neighbours(&examples, options);
            turns_and_places.0.extend(examples.iter().map(|e| f64::from(e.turn)));
            turns_and_places.1.extend((0..examples.len()).map(|i| i as f64));
        }
        // Spearman's rank correlation of n independent pairs has a standard deviation of 1 / sqrt(n - 1).
        let (turns, places) = turns_and_places;
        let rho = correlation(&ranks(&turns), &ranks(&places));
        assert!(rho.abs() < 4.0 / (turns.len() as f64).sqrt(), "{options:?}: {rho}");
        run.shards().prune(6).unwrap();
    }
}

/// Chi-square of how many games a block of 20 examples has from each, against what chance gives: two examples of a
/// block are of the same game as often as any two of the shards.
fn same_game_neighbours(examples: &[Example], options: &[&str]) {
    let n = examples.len() as f64;
    let by_chance: f64 = count(examples, |e| e.game).values().map(|k| k * (k - 1.0)).sum::<f64>() / (n * (n - 1.0));
    let blocks = examples.chunks_exact(20);
    let pairs = 190.0 * by_chance;
    let mut seen = [0.0; 5];
    let blocks_count = blocks.len() as f64;
    for block in blocks {
        let same: f64 = count(block, |e| e.game).values().map(|k| k * (k - 1.0) / 2.0).sum();
        seen[(same as usize).min(4)] += 1.0;
    }
    // The number of such pairs in a block is nearly Poisson.
    let mut expected = [0.0; 5];
    let mut poisson = (-pairs).exp();
    for (k, expected) in expected.iter_mut().take(4).enumerate() {
        *expected = blocks_count * poisson;
        poisson *= pairs / (k + 1) as f64;
    }
    expected[4] = blocks_count - expected[..4].iter().sum::<f64>();
    let classes: Vec<(f64, f64)> = merge_small(&seen, &expected);
    let square: f64 = classes.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    // Chi-square with up to 4 degrees of freedom is above 23.5 once in 10,000 times.
    assert!(square < 23.5, "{options:?}: {seen:?} against {expected:?}");
}

/// Puts classes together of which fewer than five are expected.
fn merge_small(seen: &[f64], expected: &[f64]) -> Vec<(f64, f64)> {
    let mut classes: Vec<(f64, f64)> = Vec::new();
    for (&seen, &expected) in seen.iter().zip(expected) {
        match classes.last_mut() {
            Some(last) if last.1 < 5.0 || expected < 5.0 => *last = (last.0 + seen, last.1 + expected),
            _ => classes.push((seen, expected)),
        }
    }
    classes
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let product =
        |x: &[f64], mx: f64, y: &[f64], my: f64| x.iter().zip(y).map(|(p, q)| (p - mx) * (q - my)).sum::<f64>();
    product(a, ma, b, mb) / (product(a, ma, a, ma) * product(b, mb, b, mb)).sqrt()
}

#[test]
fn same_store_gives_the_same_bytes() {
    let shards = || {
        let (folder, run) = in_folder();
        play(&run, 0, 0, 40);
        publish(&run, &config(&["train.steps=5"]), 1).unwrap();
        let folder = folder.path().join("r/shards/000001");
        ["part-0000.parquet", "manifest.toml"].map(|name| std::fs::read(folder.join(name)).unwrap())
    };
    assert_eq!(shards(), shards());
}

#[test]
fn seeds_and_generations_sample_differently() {
    let run = a_run();
    play(&run, 0, 0, 40);
    play(&run, 1, 0, 20);
    let sample = |seed: &str, generation| {
        let run = run.clone();
        let manifest = publish(&run, &config(&[seed, "window.games=20"]), generation).unwrap();
        let examples = read(&run, &manifest);
        run.shards().prune(generation + 1).unwrap();
        examples
    };
    assert_ne!(sample("seed=1", 1), sample("seed=2", 1));
    assert_eq!(sample("seed=1", 1), sample("seed=1", 1));
    assert_ne!(sample("seed=1", 1), sample("seed=1", 2));
}

#[test]
fn large_samples_come_in_parts() {
    let run = a_run();
    play(&run, 0, 0, 40);
    let settings = config(&["train.steps=400", "window.reuse_limit=1000"]);
    let manifest = publish(&run, &settings, 1).unwrap();
    let rows: Vec<usize> = manifest.parts.iter().map(|part| part.rows).collect();
    assert_eq!(rows, [16_384, 16_384, 7_232]);
    assert_eq!(read(&run, &manifest).len(), 40_000);
}
