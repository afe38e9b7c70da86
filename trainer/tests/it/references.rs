//! Human games that models are measured on.

use config::{Preset, RunConfig};
use go::Size;
use record::DeepPosition;
use runtime::Stop;
use trainer::{Reference, References, TrainerEvent};

use crate::beginnings::{COUNTED, collection};
use crate::logs::newest;
use crate::{TRAIN_DEVICE, config, publish_two, run, train_measured};

/// Twenty games between strong players on 19x19.
const SAMPLE: &[u8] = include_bytes!("../../../crates/go/tests/data/human-9d-sample.sgf");

/// The run's configuration, but for the board.
fn large() -> RunConfig {
    Preset::Tiny.with(&["game.size=19"]).unwrap()
}

#[test]
fn every_model_is_measured_on_the_same_positions() {
    let run = run();
    publish_two(&run);
    let reference = Reference::read(&config(), "games.sgf", &collection(100)).unwrap();
    assert_eq!((reference.games, reference.examples.len(), reference.left_out), (100, 800, 0));
    let references = References { human: Some(reference), deep: None };
    let mut seen = Vec::new();
    for _ in 0..2 {
        train_measured(&run, &config(), (TRAIN_DEVICE, &references), &Stop::never(), &mut |progress| {
            if let TrainerEvent::Human { generation, examples, losses, constant, .. } = progress {
                seen.push((generation, examples, losses, constant));
            }
        })
        .unwrap();
    }
    let [(1, 800, first, constant), (2, 800, second, again)] = seen[..] else { panic!("{seen:?}") };
    // Black wins every game.
    assert_eq!((constant, again), (0.0, 0.0));
    assert!(first != second && second.value_error > 0.0 && second.top_three >= second.accuracy, "{second:?}");
    let (line, curves) = newest(&run, "human");
    assert_eq!((line["generation"].as_u64(), line["examples"].as_f64()), (Some(2), Some(800.0)));
    for (key, value) in
        [("accuracy", second.accuracy), ("top_three", second.top_three), ("value_error", second.value_error)]
    {
        assert_eq!(line[key].as_f64().map(|number| number as f32), Some(value), "{key}");
        assert!(curves.contains(&format!("human/{key}")), "{key}");
    }
}

/// The value target of a game of people is its result, whatever the run mixes into the targets of its own games.
#[test]
fn values_are_compared_with_results() {
    let run = run();
    publish_two(&run);
    let reference = Reference::read(&config(), "games.sgf", &collection(20)).unwrap();
    let references = References { human: Some(reference), deep: None };
    train_measured(&run, &config(), (TRAIN_DEVICE, &references), &Stop::never(), &mut |_| ()).unwrap();
    let (line, _) = newest(&run, "human");
    let bins = line["calibration"].as_array().unwrap();
    let wins: f64 = bins.iter().filter_map(|bin| Some(bin["count"].as_f64()? * bin["outcome"].as_f64()?)).sum();
    // Black wins all games of eight moves, and is to move in half of the positions.
    assert!((wins - 80.0).abs() < 1e-3, "{wins}");
}

#[test]
fn which_positions_are_measured_follows_from_the_collection_alone() {
    let read = |config: &RunConfig| Reference::read(config, "sample.sgf", SAMPLE).unwrap();
    let reference = read(&large());
    // 4627 positions; every third, so that either side is to move.
    assert_eq!((reference.games, reference.examples.len()), (20, 1543));
    let other = RunConfig { seed: 99, ..large() };
    assert_ne!(large().digest(), other.digest());
    assert_eq!(read(&other).examples.len(), 1543);
}

#[test]
fn positions_have_the_area_of_their_game() {
    let reference = Reference::read(&config(), "a.sgf", COUNTED).unwrap();
    let areas: Vec<_> = reference.examples.iter().map(|example| example.area.unwrap()).collect();
    assert!(areas.len() == 3 && areas.iter().all(|area| (area.black.len(), area.white.len()) == (25, 0)), "{areas:?}");
}

#[test]
fn unusable_records_are_counted_and_a_collection_of_them_is_refused() {
    let read = |text: &[u8]| Reference::read(&config(), "a.sgf", text);
    let mixed = [&collection(3)[..], SAMPLE, b"(;SZ[5]KM[0.5]RE[B+R];B[aa", &collection(3)[..]].concat();
    let reference = read(&mixed).unwrap();
    assert_eq!((reference.games, reference.examples.len()), (3, 24));
    assert!(reference.left_out >= 21, "{}", reference.left_out);
    assert_eq!(
        read(SAMPLE).unwrap_err().to_string(),
        "a.sgf: no game to measure models on; unusable records: 20, the first because it is on 19x19, and the run on 5x5"
    );
    assert!(read(b"").unwrap_err().to_string().contains("no game to measure models on; unusable records: 1"));
    assert!(read(&[0x1f, 0x8b, 0]).unwrap_err().to_string().starts_with("a.sgf: not a whole gzip file"));
}

#[test]
fn every_model_is_measured_against_deep_searches() {
    let run = run();
    publish_two(&run);
    let size = Size::new(5).unwrap();
    let lines = [("C3", 0.5), ("B2", -0.25)]
        .map(|(mv, value)| format!(r#"{{"moves": [], "value": {value}, "visits": [["{mv}", 90], ["D4", 10]]}}"#));
    let positions = DeepPosition::read_all(&lines.join("\n"), size, config().game.komi).unwrap();
    let examples = positions.iter().zip(0..).map(|(position, number)| position.example(config().game.komi, number));
    let references = References { human: None, deep: Some(examples.collect()) };
    let mut seen = Vec::new();
    train_measured(&run, &config(), (TRAIN_DEVICE, &references), &Stop::never(), &mut |progress| {
        if let TrainerEvent::Deep { generation, examples, losses, by_stage, .. } = progress {
            seen.push((generation, examples, losses, by_stage));
        }
    })
    .unwrap();
    let [(1, 2, losses, [Some(early), None, None])] = seen[..] else { panic!("{seen:?}") };
    // One position, two values: the error is least for their mean, where it is the square of half their distance.
    let least = 0.375_f32.powi(2);
    let expected = least + (losses.mean_value - 0.125).powi(2);
    assert!((losses.value_error - expected).abs() < 1e-4, "{losses:?} and not {expected}");
    let (line, _) = newest(&run, "deep");
    let logged = line["value_error"].as_f64().unwrap();
    assert!((logged - f64::from(losses.value_error)).abs() < 1e-6 && line["examples"] == 2.0, "{line}");
    assert!((early - losses.value_error).abs() < 1e-6 && line["value_error_early"].is_f64(), "{early} in {line}");
    assert!(line["value_error_middle"].is_null() && line["value_error_late"].is_null(), "{line}");
}
