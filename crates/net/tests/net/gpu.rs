//! A GPU beside the CPU: the same outputs and the same training within the rounding of its numbers.
//!
//! Where no GPU works the tests are skipped, and the skip is recorded. Bits differ between devices, and on a GPU
//! between batches of other sizes, so that everything here is compared within a tolerance.

use std::ops::ControlFlow;
use std::sync::Mutex;

use config::Preset;
use go::{Game, Size, Symmetry};
use mcts::{Draw, Evaluator, Request};
use net::{Device, Inputs, Losses, Model, NetError, Precision, Shape, TrainDevice, Trainer, Weights};
use play::{Selfplay, SelfplaySpec};
use record::{Example, GameRecord};

use crate::network::games_on;
use crate::{TRAIN_DEVICE, examples, kinds, tiny, train_config};

const GPU: Device = Device::Cuda(0);
const GPU_F32: TrainDevice = TrainDevice { device: GPU, precision: Precision::F32, threads: 4 };

/// Whether there is a GPU; a skip is recorded where there is none.
fn has_gpu() -> bool {
    let found = Device::Auto.is_gpu();
    if !found {
        testing::unsupported("a GPU");
    }
    found
}

/// Shapes of every kind, with channels that are multiples of eight and with others.
fn shapes() -> Vec<Shape> {
    let nine = Shape { size: Size::new(9).unwrap(), filters: 32, blocks: 3, value_hidden: 32, ..tiny() };
    let large = Shape { size: Size::new(19).unwrap(), inputs: Inputs::Tactics, filters: 64, ..nine };
    let odd = Shape { filters: 6, inputs: Inputs::LeelaZero, ..nine };
    [vec![tiny(), nine, large, odd], kinds(nine).to_vec(), kinds(odd).to_vec()].concat()
}

/// Policies, and the value for Black after each.
fn outputs(model: &Model, games: &[Game]) -> Vec<Vec<f32>> {
    let mut network = model.network();
    let submit = |(index, game): (usize, &Game)| {
        let draw = Draw::PLAIN.seen_in(Symmetry::ALL[index % 8]);
        network.submit(Request { game, komi: 6.5, draw })
    };
    let tickets: Vec<_> = games.iter().enumerate().map(submit).collect();
    network.flush().unwrap();
    let read = |ticket| {
        let evaluation = network.get(ticket);
        evaluation.policy.iter().copied().chain([evaluation.value.black()]).collect()
    };
    tickets.into_iter().map(read).collect()
}

/// The greatest difference of an output from another.
fn difference(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().flatten().zip(b.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn gpu_evaluates_as_the_cpu_does() {
    if !has_gpu() {
        return;
    }
    for shape in shapes() {
        let (weights, games) = (Weights::synthetic(shape, 3), games_on(shape.size, 100));
        let model = |device, precision| Model::new(&weights, device, precision, 32).unwrap();
        let expected = outputs(&model(Device::Cpu, Precision::F32), &games);
        for (precision, tolerance) in [(Precision::F32, 2e-4), (Precision::Bf16, 0.06), (Precision::Auto, 0.06)] {
            let found = difference(&expected, &outputs(&model(GPU, precision), &games));
            println!("{shape}: {precision} differs by {found:.1e}");
            assert!(found < tolerance, "{shape}: {precision} differs by {found}");
        }
    }
}

/// Games of self-play on 9x9 with the weights of the demo, by their index.
fn selfplay_games(device: Device, games: u64) -> Vec<GameRecord> {
    const DEMO: &[u8] = include_bytes!("../../../../demo/9x9-demo.safetensors");
    let config = Preset::NineByNine.with(&["search.visits=16", "search.phases=[]"]).unwrap();
    let model = Model::open(DEMO, device, Precision::F32, 64).unwrap();
    let mut network = model.network();
    let mut indices = 0..games;
    let mut records = Vec::new();
    let mut start = || Some(Selfplay::new(SelfplaySpec::new(&config.at(0), "demo", "w", indices.next()?, None)));
    let mut finish = |record| records.push(record);
    play::run(&mut [&mut network], &mut Vec::new(), 64, &mut start, &mut finish, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    records.sort_by_key(|record: &GameRecord| record.index);
    records
}

/// Whole games, which go apart for good where a last bit decides a move once.
#[test]
fn gpu_plays_the_games_of_the_cpu_in_f32() {
    if !has_gpu() {
        return;
    }
    let (expected, found) = (selfplay_games(Device::Cpu, 32), selfplay_games(GPU, 32));
    let (mut moves, mut same, mut whole, mut worst) = (0, 0, 0, 0.0_f32);
    for (expected, found) in expected.iter().zip(&found) {
        let turns = || expected.turns.iter().zip(&found.turns);
        let together = turns().take_while(|(expected, found)| expected.mv == found.mv).count();
        let apart = turns().take(together).map(|(a, b)| (a.root_value - b.root_value).abs());
        worst = apart.fold(worst, f32::max);
        (moves, same) = (moves + expected.turns.len(), same + together);
        whole += usize::from(together == expected.turns.len() && together == found.turns.len());
    }
    println!(
        "{whole} of 32 games and {same} of {moves} moves are the same; values of the same moves differ by {worst:.1e}"
    );
    assert!(whole >= 16, "{whole} of 32 games are the same, move for move");
    assert!(same * 4 >= moves * 3, "{same} of {moves} moves come before a game goes apart");
}

/// Threads that share batches get what a thread alone gets.
#[test]
fn threads_share_batches() {
    if !has_gpu() {
        return;
    }
    let shape = Shape { size: Size::new(9).unwrap(), filters: 32, ..tiny() };
    let (weights, games) = (Weights::synthetic(shape, 3), games_on(shape.size, 300));
    let model = Model::new(&weights, GPU, Precision::Bf16, 16).unwrap();
    let expected = outputs(&model, &games);
    let worst = Mutex::new(0.0_f32);
    std::thread::scope(|scope| {
        for thread in 0..12 {
            let (model, games, expected, worst) = (&model, &games, &expected, &worst);
            scope.spawn(move || {
                for round in 0..10 {
                    let from = (thread * 17 + round * 5) % 250;
                    let until = from + 1 + (thread * 7 + round) % 50;
                    let found = difference(&expected[from..until], &{
                        // The symmetry goes by the index.
                        let all = outputs(model, &games[..until]);
                        all[from..].to_vec()
                    });
                    let mut worst = worst.lock().unwrap();
                    *worst = worst.max(found);
                }
            });
        }
    });
    let worst = worst.into_inner().unwrap();
    println!("other batches differ by {worst:.1e}");
    assert!(worst < 0.03, "{worst}");
    let counts = model.queue_counts()[0];
    assert!(counts.positions > counts.batches * 16, "threads filled batches together: {counts:?}");
}

#[test]
fn batch_that_does_not_fit_is_refused_with_one_that_does() {
    if !has_gpu() {
        return;
    }
    let shape = Shape { size: Size::new(19).unwrap(), filters: 512, ..tiny() };
    let error = Model::new(&Weights::random(shape, 1), GPU, Precision::Bf16, 1 << 20).err().unwrap();
    println!("{error}");
    let NetError::OutOfMemory { batch, fits: Some(fits) } = error else { panic!("{error}") };
    assert!(batch == 1 << 20 && (64..batch).contains(&fits));
}

/// Twenty steps, by their losses, and the weights after them.
fn trained(device: TrainDevice, norm_batch: usize) -> (Vec<Losses>, Weights) {
    let mut train_config = train_config(0.02);
    (train_config.train.norm_batch, train_config.train.l2) = (norm_batch, 1e-4);
    train_config.train.augment_symmetries = true;
    let mut trainer = Trainer::new(&Weights::synthetic(tiny(), 11), 0, train_config, device).unwrap();
    let examples = examples(20 * 128);
    let preparation = trainer.preparation();
    let losses = examples.chunks(128).enumerate().map(|(step, batch)| {
        let batch = preparation.prepare(step as u64, batch.to_vec()).unwrap();
        trainer.step_prepared(&batch).unwrap()
    });
    (losses.collect(), trainer.weights().unwrap())
}

#[test]
fn gpu_trains_as_the_cpu_does() {
    if !has_gpu() {
        return;
    }
    let mut last = Vec::new();
    for norm_batch in [64, 0] {
        let (expected, on_cpu) = trained(TRAIN_DEVICE, norm_batch);
        let (found, on_gpu) = trained(GPU_F32, norm_batch);
        let totals = |losses: &[Losses]| losses.iter().map(|losses| losses.total).collect::<Vec<_>>();
        println!("losses on a CPU {:?}, on a GPU {:?}", totals(&expected), totals(&found));
        assert!(expected.iter().zip(&found).all(|(expected, found)| (expected.total - found.total).abs() < 5e-3));
        let games = games_on(tiny().size, 100);
        let played =
            |weights: &Weights| outputs(&Model::new(weights, Device::Cpu, Precision::F32, 32).unwrap(), &games);
        let apart = difference(&played(&on_cpu), &played(&on_gpu));
        println!("batch norms of {norm_batch}: the trained networks differ by {apart:.1e}");
        assert!(apart < 0.02, "{apart}");
        last.push(found.last().unwrap().total);
    }
    assert!((last[0] - last[1]).abs() > 1e-5, "how many examples a batch norm sees makes a difference: {last:?}");
    // In bf16 losses are those of f32 within its rounding.
    let bf16 = TrainDevice { precision: Precision::Bf16, ..GPU_F32 };
    let (expected, found) = (trained(TRAIN_DEVICE, 0).0, trained(bf16, 0).0);
    let apart = expected.iter().zip(&found).map(|(a, b)| (a.total - b.total).abs()).fold(0.0, f32::max);
    println!("losses in bf16 differ by {apart:.1e}");
    assert!(apart < 0.05, "{apart}");
}

/// Losses of some steps of a trainer.
fn steps(trainer: &mut Trainer, batches: &[&[Example]]) -> Vec<f32> {
    batches.iter().map(|batch| trainer.step(batch).unwrap().total).collect()
}

/// A checkpoint of a GPU resumes on a GPU, within its rounding: kernels that add in any order make no two runs equal.
#[test]
fn training_resumes_on_a_gpu() {
    if !has_gpu() {
        return;
    }
    let batches = examples(6 * 64);
    let batches: Vec<&[Example]> = batches.chunks(64).collect();
    let begin = |device| Trainer::new(&Weights::synthetic(tiny(), 11), 0, train_config(0.02), device).unwrap();
    let expected = steps(&mut begin(TRAIN_DEVICE), &batches);
    let whole = steps(&mut begin(GPU_F32), &batches);
    let mut first = begin(GPU_F32);
    let mut found = steps(&mut first, &batches[..3]);
    let checkpoint = first.checkpoint("made up").unwrap();
    let mut second = Trainer::restore(&checkpoint, tiny(), "made up", train_config(0.02), GPU_F32).unwrap();
    found.extend(steps(&mut second, &batches[3..]));
    println!("losses on a CPU {expected:?}, on a GPU {whole:?}, resumed {found:?}");
    for ((expected, whole), found) in expected.iter().zip(&whole).zip(&found) {
        assert!((expected - whole).abs() < 2e-3 && (whole - found).abs() < 2e-3);
    }
    assert_eq!(second.steps(), 6);
}
