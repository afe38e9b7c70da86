//! Matches of models.

use std::cell::RefCell;

use mcts::Settings;
use play::{Budget, By, Match, MatchSpec, RandomModel, Side, Uniform};
use record::GameRecord;

use crate::{batched, config, play, sorted};

#[test]
fn pair_of_match_games_shares_its_opening_and_swaps_the_colours() {
    let config = config(&["evaluate.opening_moves=4"]);
    let settings = Settings::new(&config.search, &config.game);
    let by = |model| By::Model { model, settings, budget: Budget { visits: 20, leaves: 2 } };
    let side = |name: &str, model| Side { name: name.to_owned(), by: by(model) };
    let (first, second) = (side("uniform", 0), side("random", 1));
    let none = &mut |_: &MatchSpec, _| panic!("models are no external players");
    let game = |index| Match::new(MatchSpec::new(&(&config).into(), &first, &second, index), none);
    let (mut uniform, mut random) = (Uniform::new(), RandomModel::new());
    let records = play(&mut [&mut uniform, &mut random], 3, (0..6).map(game));
    let records = records.into_iter().map(|game| game.map(|game| game.record));
    let records = sorted(records.collect::<Result<_, _>>().expect("models do not break"));
    for pair in records.chunks(2) {
        let opening = |record: &GameRecord| record.turns[..4].iter().map(|turn| turn.mv).collect::<Vec<_>>();
        assert_eq!(opening(&pair[0]), opening(&pair[1]));
        assert_eq!((&pair[0].black[..], &pair[0].white[..]), ("uniform", "random"));
        assert_eq!((&pair[1].black[..], &pair[1].white[..]), ("random", "uniform"));
        assert!(pair.iter().all(|record| record.positions() == record.turns.len() - 4));
    }
    let openings: Vec<_> = records.iter().step_by(2).map(|r| r.turns[..4].to_vec()).collect();
    assert!(openings.windows(2).all(|two| two[0] != two[1]), "each pair has an opening of its own");
}

#[test]
fn two_models_with_games_enough_have_full_batches() {
    let config = config(&["evaluate.opening_moves=2", "search.leaves=1"]);
    let settings = Settings::new(&config.search, &config.game);
    let side = |name: &str, model| {
        let by = By::Model { model, settings, budget: Budget { visits: 8, leaves: 1 } };
        Side { name: name.to_owned(), by }
    };
    let none = &mut |_: &MatchSpec, _| panic!("models are no external players");
    let game = |index| Match::new(MatchSpec::new(&(&config).into(), &side("a", 0), &side("b", 1), index), none);
    let batches = RefCell::default();
    let (mut one, mut other) = (batched(8, &batches), batched(8, &batches));
    let games = play(&mut [&mut one, &mut other], 16, (0..400).map(game));
    assert_eq!(games.len(), 400);
    let batches = batches.borrow();
    assert!(batches.iter().all(|&size| size <= 8), "no batch has more than its places");
    let full = batches.iter().filter(|&&size| size == 8).count();
    assert!(full * 100 > batches.len() * 96, "{full} of {}: only the last games leave places", batches.len());
}
