//! The first games of `configs/tiny.toml` have the moves that they had, so that a change of games does not go
//! unnoticed.

use std::ops::ControlFlow;

use config::Preset;
use expect_test::{Expect, expect};
use mcts::Evaluator;
use net::{Device, Model, Precision, Shape, Weights};
use play::{RandomModel, Selfplay, SelfplaySpec};
use record::GameRecord;

/// The moves of the first games of a worker, a line each: the points of the 5x5 board are a to y, row by row, and z is
/// a pass.
fn check(name: &str, evaluator: &mut dyn Evaluator, expected: &Expect) {
    let config = Preset::Tiny.config();
    assert_eq!((config.seed, config.game.size), (1, 5));
    let config = config.at(0);
    let mut started = (0..4).map(|index| Selfplay::new(SelfplaySpec::new(&config, name, "0", index, None)));
    let mut games: Vec<GameRecord> = Vec::new();
    let (mut start, mut finish) = (|| started.next(), |game| games.push(game));
    play::run(&mut [evaluator], &mut Vec::new(), 4, &mut start, &mut finish, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    games.sort_by_key(|game| game.index);
    let letter = |game: &GameRecord, turn: usize| char::from(b'a' + game.turns[turn].mv.index(game.size) as u8);
    let line = |game: &GameRecord| (0..game.turns.len()).map(|turn| letter(game, turn)).collect::<String>() + "\n";
    expected.assert_eq(&games.iter().map(line).collect::<String>());
}

#[test]
fn games_of_the_random_model_have_known_moves() {
    check(
        "random",
        &mut RandomModel::new(),
        &expect![[r#"
            tvxdnuijboqcyhpgrmslwakuebvjfozutnqfvsyrxwp
            dxwmrncsbyvtjhiupoafzgqlkynog
            wmjsoraltbfnyqhpdvxg
            tnqlusobcjxiaehwzkrpgfzdbmhybago
        "#]],
    );
}

/// In int16, whose outputs have the same bits with every instruction set.
#[test]
fn games_of_a_network_have_known_moves() {
    let config = Preset::Tiny.config();
    let weights = Weights::synthetic(Shape::new(&config.game, &config.network), 1);
    let model = Model::new(&weights, Device::Cpu, Precision::Int16, config.selfplay.batch).unwrap();
    check(
        "made-up",
        &mut model.network(),
        &expect![[r#"
            xcqifodkeralwypjvsbmdgfnbuwqxthzeza
            inujsodhvqpwtxkcbmrlyafgxeiwsauftv
            atiumbvjhxqecrpdgswnfzz
            dpoinlbagwyfqmjcukevhxzst
        "#]],
    );
}
