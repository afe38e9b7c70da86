//! Output of a network in play.

use go::{Color, Game, Move, Point, Size, Symmetry};
use mcts::{Draw, Evaluation, Evaluator, Request, Ticket};
use net::{Device, Model, NetError, Network, Precision, Shape, Weights};
use record::synthetic;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::{kinds, precisions, tiny};

const SEED: u64 = 3;

fn network(precision: Precision, batch: usize) -> Network {
    Network::open(&weights(tiny()), Device::Cpu, precision, batch).unwrap()
}

fn weights(shape: Shape) -> Vec<u8> {
    Weights::synthetic(shape, SEED).to_bytes()
}

pub(crate) fn games(count: usize) -> Vec<Game> {
    games_on(tiny().size, count)
}

/// Random games, each stopped somewhere.
pub(crate) fn games_on(size: Size, count: usize) -> Vec<Game> {
    let game = |index| {
        let record = synthetic::game("made-1", "network", index, size, 9);
        let mut game = Game::new(record.size);
        record.turns.iter().take(index as usize % record.turns.len()).for_each(|turn| game.play(turn.mv).unwrap());
        game
    };
    (0..count as u64).map(game).collect()
}

fn draw(symmetry: Symmetry) -> Draw {
    Draw::new(symmetry.index() as u64)
}

/// The bits of every output: the policy, and the value for Black last.
pub(crate) fn answers(network: &mut Network, positions: &[(&Game, Symmetry)]) -> Vec<Vec<u32>> {
    let submitted: Vec<Ticket> =
        positions.iter().map(|(game, symmetry)| submit(network, game, 7.0, draw(*symmetry))).collect();
    network.flush().unwrap();
    submitted.into_iter().map(|ticket| bits(network.get(ticket))).collect()
}

fn submit(network: &mut Network, game: &Game, komi: f32, draw: Draw) -> Ticket {
    network.submit(Request { game, komi, draw })
}

/// Submits games as they are, and evaluates them.
fn evaluated(network: &mut Network, games: &[Game]) -> Vec<Ticket> {
    let tickets = games.iter().map(|game| submit(network, game, 7.0, Draw::PLAIN)).collect();
    network.flush().unwrap();
    tickets
}

fn bits(answer: Evaluation<'_>) -> Vec<u32> {
    answer.policy.iter().chain([&answer.value.black()]).map(|x| x.to_bits()).collect()
}

#[test]
fn output_is_a_distribution_and_a_value() {
    for precision in precisions() {
        let mut network = network(precision, 4);
        let games = games(10);
        for ticket in evaluated(&mut network, &games) {
            let answer = network.get(ticket);
            assert_eq!(answer.policy.len(), 26);
            assert!((answer.policy.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(answer.policy.iter().all(|&p| p > 0.0) && answer.value.black().abs() < 1.0);
        }
    }
}

#[test]
fn output_is_independent_of_row_and_batch() {
    let wide = Shape {
        blocks: 2,
        filters: 64,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 64,
        ..Shape::plain(Size::new(9).unwrap())
    };
    let shapes = [[tiny(), wide], kinds(tiny())].concat();
    let both = precisions();
    for (precision, &shape) in both.iter().flat_map(|&precision| shapes.iter().map(move |shape| (precision, shape))) {
        let games = games_on(shape.size, 24);
        let positions: Vec<_> = games.iter().enumerate().map(|(i, game)| (game, Symmetry::ALL[i % 8])).collect();
        let mut network = Network::open(&weights(shape), Device::Cpu, precision, 8).unwrap();
        let together = answers(&mut network, &positions);
        let reversed: Vec<_> = positions.iter().rev().copied().collect();
        let backwards: Vec<_> = answers(&mut network, &reversed).into_iter().rev().collect();
        assert_eq!(together, backwards);
        for (position, expected) in positions.iter().zip(&together) {
            assert_eq!(&answers(&mut network, &[*position])[0], expected);
        }
        let crowded = answers(&mut network, &[&[positions[3]; 11], &positions[..1]].concat());
        assert!(crowded[..11].iter().all(|answer| answer == &together[3]) && crowded[11] == together[0]);
    }
}

#[test]
fn equal_positions_have_equal_outputs_in_batches_of_any_size() {
    let shape = Shape {
        blocks: 1,
        filters: 32,
        policy_planes: 2,
        value_planes: 1,
        value_hidden: 64,
        ..Shape::plain(Size::new(9).unwrap())
    };
    let game = &games_on(shape.size, 20)[19];
    for (seed, batch) in [1, 2, 3, 5, 7, 10, 14, 15, 18, 21].into_iter().enumerate() {
        for precision in precisions() {
            let model = Model::new(&Weights::synthetic(shape, seed as u64), Device::Cpu, precision, batch).unwrap();
            let answers = answers(&mut model.network(), &vec![(game, Symmetry::Flip); batch]);
            assert!(answers.iter().all(|answer| answer == &answers[0]), "batch of {batch}, {precision}");
        }
    }
}

#[test]
fn output_is_independent_of_the_number_of_positions() {
    let wide = |side, filters| Shape {
        blocks: 2,
        filters,
        policy_planes: 4,
        value_planes: 4,
        value_hidden: 64,
        ..Shape::plain(Size::new(side).unwrap())
    };
    let plain = [tiny(), wide(9, 32), wide(9, 48), wide(13, 16), wide(19, 16)];
    let both = precisions();
    for shape in plain.into_iter().chain(kinds(wide(9, 32))) {
        let games = games_on(shape.size, 64);
        let positions: Vec<_> = games.iter().enumerate().map(|(i, game)| (game, Symmetry::ALL[i % 8])).collect();
        for (precision, batch) in both.iter().flat_map(|&precision| [(precision, 64), (precision, 21)]) {
            let mut network = Network::open(&weights(shape), Device::Cpu, precision, batch).unwrap();
            let expected = answers(&mut network, &positions);
            for count in [1, 2, 3, 5, 9, 15, 17, 33, 63] {
                let few = answers(&mut network, &positions[..count]);
                assert_eq!(few, expected[..count], "{count} in batches of {batch}, {precision:?}, {shape}");
            }
        }
    }
}

/// Widths that are multiples of what a vector register holds and widths that are not, of the tower, of the heads and of
/// what is pooled, on boards of several sizes; a row at every place, and in batches of other sizes.
#[test]
fn rows_are_independent_for_every_width() {
    for (nth, filters) in [1, 8, 12, 20, 48].into_iter().enumerate() {
        let (policy_planes, value_planes) = [(2, 1), (1, 1), (4, 4), (3, 2), (8, 1)][nth];
        let (value_hidden, side) = ([16, 64, 7, 33][nth % 4], [9, 5, 7][nth % 3]);
        let size = Size::new(side).unwrap();
        let plain = Shape { blocks: 2, filters, policy_planes, value_planes, value_hidden, ..Shape::plain(size) };
        for shape in [[plain].as_slice(), &kinds(plain)].concat() {
            precisions().into_iter().for_each(|precision| rows_are_independent(shape, precision));
        }
    }
}

fn rows_are_independent(shape: Shape, precision: Precision) {
    let mut network = Model::new(&Weights::synthetic(shape, SEED), Device::Cpu, precision, 17).unwrap().network();
    let games = games_on(shape.size, 17);
    let positions: Vec<_> = games.iter().enumerate().map(|(i, game)| (game, Symmetry::ALL[i % 8])).collect();
    let expected = answers(&mut network, &positions);
    for count in [1, 3, 4, 7, 13, 16] {
        let found = answers(&mut network, &positions[..count]);
        assert_eq!(found, expected[..count], "the first {count} of {shape}, {precision}");
        let turned = [&positions[count..], &positions[..count]].concat();
        let found = answers(&mut network, &turned);
        assert_eq!(found, [&expected[count..], &expected[..count]].concat(), "from {count} on, {shape}, {precision}");
    }
}

#[test]
fn bf16_works_or_is_refused() {
    match Model::new(&Weights::synthetic(tiny(), SEED), Device::Cpu, Precision::Bf16, 4) {
        Ok(model) => drop(answers(&mut model.network(), &[(&Game::new(tiny().size), Symmetry::Identity)])),
        Err(error) => {
            assert!(matches!(error, NetError::NoBf16 { .. }) && error.is_of_the_device(), "{error}");
            // Whatever the processor, nothing has to be requested.
            network(Precision::Auto, 4);
        }
    }
}

#[test]
fn initial_weights_give_a_flat_policy_and_value_0() {
    let model = Model::new(&Weights::random(tiny(), SEED), Device::Cpu, Precision::Auto, 4).unwrap();
    let mut network = model.network();
    for ticket in evaluated(&mut network, &games(4)) {
        let answer = network.get(ticket);
        assert!(answer.policy.iter().all(|p| (p - 1.0 / 26.0).abs() < 1e-6));
        assert_eq!(answer.value.black(), 0.0);
    }
}

#[test]
fn threads_share_a_model_and_compute_alike() {
    let weights = Weights::synthetic(tiny(), SEED).to_bytes();
    let model = Model::open(&weights, Device::Cpu, Precision::Auto, 8).unwrap();
    let games = games(20);
    let positions: Vec<_> = games.iter().map(|game| (game, Symmetry::Identity)).collect();
    let answer = || answers(&mut model.network(), &positions);
    let all: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(answer)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(all.iter().all(|one| one == &all[0]));
}

#[test]
fn output_through_a_symmetry_is_that_of_the_turned_game_turned_back() {
    let size = tiny().size;
    for shape in [[tiny()].as_slice(), &kinds(tiny())].concat() {
        an_answer_turns(&mut Network::open(&weights(shape), Device::Cpu, Precision::F32, 8).unwrap(), size);
    }
}

fn an_answer_turns(network: &mut Network, size: Size) {
    for record in (0..5).map(|index| synthetic::game("made-1", "turned", index, size, 9)) {
        for symmetry in Symmetry::ALL {
            let (mut game, mut turned) = (Game::new(size), Game::new(size));
            for turn in record.turns.iter().take(9) {
                game.play(turn.mv).unwrap();
                turned.play(symmetry.apply_move(size, turn.mv)).unwrap();
            }
            let answers = answers(network, &[(&game, symmetry), (&turned, Symmetry::Identity)]);
            let mut expected = vec![0; size.moves()];
            symmetry.inverse().apply_values(size, &answers[1][..size.moves()], &mut expected);
            assert_eq!(answers[0][..size.moves()], expected);
            assert_eq!(answers[0].last(), answers[1].last());
        }
    }
}

/// Planes of stones, liberties and the own komi do not determine the colour.
#[test]
fn network_of_features_does_not_know_colours() {
    let [_, shape] = kinds(tiny());
    let mut network = Network::open(&weights(shape), Device::Cpu, Precision::F32, 8).unwrap();
    for black in games(20) {
        let swapped = go::Stones { black: black.position().stones().white, white: black.position().stones().black };
        let alone = |stones: &go::Stones, to_move| {
            Game::from_position(go::Position::from_stones(shape.size, stones, to_move).unwrap())
        };
        let mover = black.to_move();
        let (one, other) = (alone(black.position().stones(), mover), alone(&swapped, mover.opponent()));
        let tickets = [(&one, 7.5), (&other, -7.5), (&other, 7.5)]
            .map(|(game, komi)| submit(&mut network, game, komi, Draw::PLAIN));
        network.flush().unwrap();
        let value = |index: usize, to_move| network.get(tickets[index]).value.mover(to_move);
        assert_eq!(network.get(tickets[0]).policy, network.get(tickets[1]).policy);
        assert_eq!(value(0, mover), value(1, mover.opponent()));
        assert_ne!(value(1, mover.opponent()), value(2, mover.opponent()), "komi matters");
    }
}

#[test]
fn value_is_turned_round_for_white() {
    let size = tiny().size;
    let point = |index| Move::Play(Point::from_index(size, index).unwrap());
    let mut network = network(Precision::F32, 2);
    // Stones of the mover and of its opponent are seen alike whatever their colours, so with the last plane made
    // blind the mover of either position has the same value.
    let (mut black, mut white) = (Game::new(size), Game::new(size));
    black.set_to_move(Color::White);
    black.play(point(3)).unwrap();
    white.play(point(3)).unwrap();
    assert_eq!((black.to_move(), white.to_move()), (Color::Black, Color::White));
    let values = |network: &mut Network| {
        let tickets = [&black, &white].map(|game| submit(network, game, 7.0, Draw::PLAIN));
        network.flush().unwrap();
        [network.get(tickets[0]).value.mover(Color::Black), network.get(tickets[1]).value.mover(Color::White)]
    };
    let [as_black, as_white] = values(&mut network);
    assert_ne!(as_black, as_white);
    let [as_black, as_white] = values(&mut color_blind());
    assert!(as_black != 0.0);
    assert_eq!(as_black, as_white);
}

/// A network that does not look at whose turn it is.
fn color_blind() -> Network {
    let file = Weights::synthetic(tiny(), SEED).to_bytes();
    let views = SafeTensors::deserialize(&file).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    let mut stem = views.tensor("stem.conv.weight").unwrap().data().to_vec();
    stem.chunks_exact_mut(17 * 9 * 4).for_each(|kernel| kernel[16 * 9 * 4..].fill(0));
    let blind = TensorView::new(Dtype::F32, vec![8, 17, 3, 3], &stem).unwrap();
    let tensors = views.tensors().into_iter().filter(|(name, _)| name != "stem.conv.weight");
    let tensors = tensors.chain([("stem.conv.weight".to_owned(), blind)]);
    let file = safetensors::serialize(tensors, metadata.metadata().clone()).unwrap();
    Network::open(&file, Device::Cpu, Precision::F32, 2).unwrap()
}

#[test]
fn earlier_outputs_stay_until_the_next_evaluation() {
    let mut network = network(Precision::Auto, 2);
    let games = games(6);
    let tickets = evaluated(&mut network, &games);
    let before = network.get(tickets[5]).policy.to_vec();
    let next = submit(&mut network, &games[0], 7.0, Draw::PLAIN);
    assert_eq!(network.get(tickets[5]).policy, before);
    network.flush().unwrap();
    assert_eq!(network.get(next).policy.len(), 26);
}

#[test]
fn game_on_another_board_is_an_error_and_no_more() {
    let mut network = network(Precision::F32, 2);
    let game = Game::new(tiny().size);
    let _ = submit(&mut network, &game, 7.0, Draw::PLAIN);
    let _ = submit(&mut network, &Game::new(Size::new(9).unwrap()), 7.0, Draw::PLAIN);
    let error = network.flush().unwrap_err();
    assert_eq!(error.to_string(), "a position on 9x9 for a network of 5x5");
    let ticket = submit(&mut network, &game, 7.0, Draw::PLAIN);
    network.flush().unwrap();
    assert_eq!(network.get(ticket).policy.len(), 26);
}
