//! Matches with external players.

use go::{Color, Game, Move, Size};
use mcts::Settings;
use play::{Budget, By, ExternalPlayer, ExternalPlayerError, Finish, Match, MatchSpec, Response, Side, Uniform, Void};
use record::{EndReason, GameRecord, Outcome};

use crate::{config, play};

/// Plays the first legal point until there are few left, then passes; at a turn of its own choice it does something
/// else.
#[derive(Clone, Debug)]
struct Scripted {
    /// Its response from the n-th on.
    later: Option<(usize, Result<Response, ExternalPlayerError>)>,
    score: Option<f32>,
    asked: usize,
    answer: Option<Result<Response, ExternalPlayerError>>,
    /// Polls for a response before there is one.
    delay: usize,
}

impl Scripted {
    fn new(later: Option<(usize, Result<Response, ExternalPlayerError>)>, score: Option<f32>) -> Scripted {
        Scripted { later, score, asked: 0, answer: None, delay: 0 }
    }
}

impl ExternalPlayer for Scripted {
    fn ask_move(&mut self, game: &Game) {
        assert!(self.answer.is_none(), "one question at a time");
        self.asked += 1;
        self.delay = self.asked % 4;
        let point = game.legal_points().first().filter(|_| game.position().empty_points().len() > 8);
        let reply = Ok(Response::Move(point.map_or(Move::Pass, Move::Play)));
        self.answer = Some(match &self.later {
            Some((turn, later)) if self.asked >= *turn => later.clone(),
            _ => reply,
        });
    }

    fn ask_score(&mut self, game: &Game) {
        assert!(game.passed_out() && self.answer.is_none());
        self.answer = Some(Ok(Response::Score(self.score)));
    }

    fn answer(&mut self) -> Option<Result<Response, ExternalPlayerError>> {
        self.delay = self.delay.saturating_sub(1);
        if self.delay > 0 { None } else { self.answer.take() }
    }
}

/// Games of `uniform` against an external player, who is Black in the even ones.
fn against(external: &Scripted, games: u64) -> Vec<Result<Finish, Void>> {
    let config = config(&["evaluate.opening_moves=2"]);
    let settings = Settings::new(&config.search, &config.game);
    let model = By::Model { model: 0, settings, budget: Budget { visits: 8, leaves: 1 } };
    let (externals, uniform) = (
        Side { name: "ExternalPlayer".to_owned(), by: By::ExternalPlayer },
        Side { name: "uniform".to_owned(), by: model },
    );
    let seat = &mut |_: &MatchSpec, _| -> Box<dyn ExternalPlayer> { Box::new(external.clone()) };
    let game = |index| Match::new(MatchSpec::new(&(&config).into(), &externals, &uniform, index), seat);
    play(&mut [&mut Uniform::new()], 3, (0..games).map(game))
}

#[test]
fn external_player_plays_to_the_end() {
    for game in against(&Scripted::new(None, None), 6) {
        let Finish { record, breach } = game.unwrap();
        assert_eq!(breach, None);
        let external = if record.index % 2 == 0 { Color::Black } else { Color::White };
        assert_eq!(if external == Color::Black { &record.black } else { &record.white }, "ExternalPlayer");
        assert!(record.replay().is_ok());
        for (turn, played) in record.turns.iter().enumerate().skip(2) {
            assert_eq!(played.is_searched(), GameRecord::to_move(turn) != external);
        }
    }
}

#[test]
fn external_player_that_breaks_the_rules_loses_and_one_that_fails_does_not() {
    let occupied = Ok(Response::Move(Move::from_index(Size::new(5).unwrap(), 0).unwrap()));
    let forfeit = Err(ExternalPlayerError::Forfeit("it refuses a legal move".to_owned()));
    let (illegal, refusal) = ("ExternalPlayer plays A5, which is not legal", "it refuses a legal move");
    for (later, end, expected) in [
        (occupied, EndReason::Forfeit, Some(illegal)),
        (forfeit, EndReason::Forfeit, Some(refusal)),
        (Ok(Response::Resign), EndReason::Resignation, None),
    ] {
        for game in against(&Scripted::new(Some((4, later)), None), 4) {
            let Finish { record, breach } = game.unwrap();
            assert_eq!(breach.as_deref(), expected);
            let external = if record.index % 2 == 0 { Color::Black } else { Color::White };
            assert_eq!((record.end, record.outcome), (end, Outcome::from(external.opponent())));
            assert_eq!(record.score, None);
        }
    }
    let broken = Err(ExternalPlayerError::Broken("it has ended".to_owned()));
    let mut voids: Vec<Void> =
        against(&Scripted::new(Some((2, broken)), None), 4).into_iter().map(Result::unwrap_err).collect();
    voids.sort_by_key(|void| void.index);
    let expected = |index| Void { index, reason: "it has ended".to_owned() };
    assert_eq!(voids, (0..4).map(expected).collect::<Vec<_>>());
}

#[test]
fn game_about_whose_winner_they_disagree_is_void() {
    let honest = against(&Scripted::new(None, None), 8);
    let sign = |record: &GameRecord| record.score.unwrap().signum();
    for score in [1.0, -1.0] {
        for (game, honest) in against(&Scripted::new(None, Some(score)), 8).iter().zip(&honest) {
            let honest = &honest.as_ref().unwrap().record;
            let disputed = honest.end == EndReason::Passes && sign(honest) != score;
            assert_eq!(game.is_err(), disputed, "{honest:?}");
        }
    }
    assert!(honest.iter().any(|game| game.as_ref().unwrap().record.end == EndReason::Passes));
}
