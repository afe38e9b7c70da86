//! Laws of planes and targets over random games.

use go::{Game, Move, Size, Symmetry};
use net::{Inputs, Targets};
use record::{GameRecord, Replay, synthetic};

fn games() -> impl Iterator<Item = GameRecord> {
    [2, 5, 9, 19].into_iter().flat_map(|side| {
        let size = Size::new(side).unwrap();
        (0..4).map(move |index| synthetic::game("made-1", "planes", index, size, 30))
    })
}

fn seen(game: &Game, symmetry: Symmetry) -> Vec<u8> {
    let mut numbers = vec![0; Inputs::History.len(game.size())];
    Inputs::History.of_game(game, 0.0, symmetry, &mut numbers);
    numbers
}

#[test]
fn playing_and_training_see_the_same() {
    let mut compared = 0;
    for record in games() {
        let examples = record.examples().unwrap();
        let mut examples = examples.iter().peekable();
        let mut game = Game::new(record.size);
        let mut replay = Replay::new(record.size);
        for (turn, played) in record.turns.iter().enumerate() {
            if let Some(example) = examples.next_if(|example| usize::from(example.turn) == turn) {
                let symmetry = Symmetry::ALL[turn % 8];
                let mut numbers = vec![0; Inputs::History.len(record.size)];
                Inputs::History.of_example(example, symmetry, &mut replay, &mut numbers).unwrap();
                assert_eq!(numbers, seen(&game, symmetry), "game {}, turn {turn}", record.id);
                compared += 1;
            }
            game.play(played.mv).unwrap();
        }
        assert!(examples.next().is_none());
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn planes_move_with_the_moves() {
    for record in games() {
        for symmetry in Symmetry::ALL {
            let (mut game, mut turned) = (Game::new(record.size), Game::new(record.size));
            for turn in &record.turns {
                game.play(turn.mv).unwrap();
                turned.play(symmetry.apply_move(record.size, turn.mv)).unwrap();
            }
            assert_eq!(seen(&game, symmetry), seen(&turned, Symmetry::Identity));
        }
    }
}

#[test]
fn policies_move_with_the_moves_and_sum_to_one() {
    let targets = Targets {
        choice_moves: 4,
        policy: config::PolicyTarget::SquashedSampled,
        policy_exponent: 0.9,
        ownership: false,
        opponent_policy: false,
    };
    for record in games() {
        let (size, examples) = (record.size, record.examples().unwrap());
        let (mut plain, mut turned) = (vec![0.0; size.moves()], vec![0.0; size.moves()]);
        for (i, example) in examples.iter().enumerate() {
            let symmetry = Symmetry::ALL[i % 8];
            targets.policy(example, Symmetry::Identity, &mut plain).unwrap();
            targets.policy(example, symmetry, &mut turned).unwrap();
            assert!((turned.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            for (index, &probability) in plain.iter().enumerate() {
                let mv = symmetry.apply_move(size, Move::from_index(size, index).unwrap());
                assert_eq!(turned[mv.index(size)], probability);
            }
        }
    }
}
