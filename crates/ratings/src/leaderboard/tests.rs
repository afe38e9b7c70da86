use super::*;

/// `a>b` a win of Black, `a<b` a win of White, `a=b` a draw; Black is named first, and a number in front repeats.
fn results(games: &str) -> PairResults {
    use record::Outcome::{Black, Draw, White};
    let mut results = PairResults::default();
    for game in games.split_whitespace() {
        let (times, game) = game.split_at(game.find(|c: char| !c.is_ascii_digit()).expect("players"));
        let (outcome, sign) = [(Black, '>'), (White, '<'), (Draw, '=')]
            .into_iter()
            .find(|&(_, sign)| game.contains(sign))
            .expect("an outcome");
        let (black, white) = game.split_once(sign).expect("two players");
        (0..times.parse().unwrap_or(1)).for_each(|_| results.add(black, white, outcome));
    }
    results
}

fn alone(games: &str, first_move: bool) -> Leaderboard {
    Leaderboard::without_prior(&results(games), &[], first_move).expect("the games can be rated")
}

fn elo(leaderboard: &Leaderboard, player: usize) -> f64 {
    leaderboard.players[player].rating.expect("a finite rating").elo
}

#[test]
fn two_players_have_the_logarithm_of_their_odds() {
    let leaderboard = alone("30a>b 10a<b", false);
    let difference = ELO * 3.0_f64.ln();
    assert!((elo(&leaderboard, 0) - difference / 2.0).abs() < 1e-6);
    assert!((elo(&leaderboard, 1) + difference / 2.0).abs() < 1e-6);
    assert_eq!(leaderboard.first_move, None);
}

#[test]
fn perfect_score_has_a_bound_and_no_rating() {
    let leaderboard = alone("3a>b 2b>a 4c>a 4b<c 2a>d 1d<b", false);
    let [a, b, c, d] = [0, 1, 2, 3].map(|player| leaderboard.players[player]);
    assert_eq!((a.group, b.group), (0, 0));
    assert!(c.rating.is_none() && d.rating.is_none() && c.group != d.group && c.group > 0 && d.group > 0);
    // Four wins over each of two players: 7.5 of 8 points are expected at the bound.
    let Some(Bound::AtLeast(bound)) = c.bound else { panic!("{:?}", c.bound) };
    let expected = |player| 4.0 * Chances::of((bound - elo(&leaderboard, player)) / ELO, None).black;
    assert!((expected(0) + expected(1) - 7.5).abs() < 1e-6);
    assert!(matches!(d.bound, Some(Bound::AtMost(bound)) if bound < elo(&leaderboard, 1)));
    // The games of c and d do not bear on what is finite.
    assert!((elo(&leaderboard, 0) - elo(&alone("3a>b 2b>a", false), 0)).abs() < 1e-9);
}

#[test]
fn groups_that_never_met_have_scales_of_their_own() {
    let leaderboard = alone("3a>b 1b>a 1c>d 3d>c 1e>f", false);
    let groups: Vec<usize> = leaderboard.players.iter().map(|player| player.group).collect();
    assert_eq!(groups[0], groups[1]);
    assert_eq!(groups[2], groups[3]);
    assert!(groups[0] != groups[2] && groups[4] != groups[5]);
    assert!((elo(&leaderboard, 0) + elo(&leaderboard, 1)).abs() < 1e-9);
    assert!((elo(&leaderboard, 2) + elo(&leaderboard, 3)).abs() < 1e-9);
    // None of their opponents has a rating.
    assert_eq!((leaderboard.players[4].rating, leaderboard.players[4].bound), (None, None));
}

#[test]
fn anchors_hold_the_scale_and_connect() {
    let results = results("3a>b 1b>a 1c>d 3d>c");
    let anchors = [Anchor { player: 0, elo: 1800.0, sd: None }, Anchor { player: 2, elo: 1000.0, sd: None }];
    let leaderboard = Leaderboard::without_prior(&results, &anchors, false).expect("the games can be rated");
    let difference = ELO * 3.0_f64.ln();
    let expected = [1800.0, 1800.0 - difference, 1000.0, 1000.0 + difference];
    for (player, expected) in expected.into_iter().enumerate() {
        assert!((elo(&leaderboard, player) - expected).abs() < 1e-6);
        assert_eq!(leaderboard.players[player].group, 0);
    }
    let errors = [0, 1].map(|player| leaderboard.players[player].rating.expect("a rating").error);
    // One error against the anchor: 1/√(1/3 + 1/1)⁻¹ in natural units.
    assert!(errors[0] == 0.0 && (errors[1] - ELO * (1.0_f64 / 3.0 + 1.0).sqrt()).abs() < 1e-6);
}

#[test]
fn soft_anchor_brings_its_own_error() {
    let results = results("30a>b 30b>a");
    let anchors = [Anchor { player: 0, elo: 500.0, sd: Some(80.0) }];
    let leaderboard = Leaderboard::without_prior(&results, &anchors, false).expect("the games can be rated");
    let [a, b] = [0, 1].map(|player| leaderboard.players[player].rating.expect("a rating"));
    assert!((a.elo - 500.0).abs() < 1e-6 && (a.error - 80.0).abs() < 1e-6);
    let game = ELO * (4.0_f64 / 60.0).sqrt();
    assert!((b.elo - 500.0).abs() < 1e-6 && (b.error - f64::hypot(80.0, game)).abs() < 1e-6);
}

#[test]
fn first_move_advantage_needs_both_colours() {
    // Half the log odds ratio of the two colours.
    let leaderboard = alone("3a>b 1a<b 1b>a 1b<a", true);
    let first_move = leaderboard.first_move.expect("both colours were played");
    assert!((first_move.elo - ELO * 3.0_f64.ln() / 2.0).abs() < 1e-6);
}

#[test]
fn unbounded_first_move_advantage_is_omitted() {
    for games in [
        // One player is always Black.
        "3a>b 1a<b",
        // Black always wins.
        "2a>b 3b>a",
        // Each wins with Black against the next, and loses with Black to the one after.
        "a>b b>c c>a",
        // White always wins or draws.
        "a<b b<a b=c c<b",
    ] {
        let leaderboard = alone(games, true);
        assert_eq!(leaderboard.first_move, None, "{games}");
        assert!(leaderboard.players.iter().all(|player| player.rating.is_some_and(|r| r.elo.is_finite())), "{games}");
    }
    for games in ["a>b a<b b>a b<a", "2a>b a<b b>c b<c 3c>a c<a", "a=b b>a b<a"] {
        assert!(alone(games, true).first_move.is_some(), "{games}");
    }
}
