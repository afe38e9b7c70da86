//! Edges before and after their first visit, on 2x2, where C(1) = C(2) = 2.500 and sqrt(max(1, N − 1)) = 1.

use mcts::{FirstPlay, Search, Selected, Settings};

use crate::common::{PARENT, empty, expand_root, flat, leaf};

const POLICY: [f32; 5] = [0.6, 0.4, 0.0, 0.0, 0.0];

fn begun(first_play: FirstPlay) -> Search {
    let mut search = empty(2, Settings { first_play, ..PARENT });
    expand_root(&mut search, &POLICY, 0.0);
    search
}

/// The first move of the second walk, when the first one went to move 0 and found `black`.
fn second(first_play: FirstPlay, black: f32) -> usize {
    let mut search = begun(first_play);
    let (first, path) = leaf(&mut search);
    assert_eq!(path, [0]);
    flat(&mut search, first, black);
    leaf(&mut search).1[0]
}

#[test]
fn virtual_visit_stays_and_urgency_does_not() {
    // Move 0 is worth (0 + 0.4 + 1.5)/2 = 0.95 with the virtual visit and 0.4 + 0.75 without; move 1 is worth 1.
    assert_eq!(second(FirstPlay::VirtualVisit, 0.4), 1);
    assert_eq!(second(FirstPlay::Urgency { reduction: 0.0 }, 0.4), 0);
}

#[test]
fn urgency_is_reduced_by_what_was_followed() {
    // Move 0 is worth −0.1 + 0.75 = 0.65; move 1 is worth 1, less 0.5·sqrt(0.6) = 0.387.
    assert_eq!(second(FirstPlay::Urgency { reduction: 0.0 }, -0.1), 1);
    assert_eq!(second(FirstPlay::Urgency { reduction: 0.5 }, -0.1), 0);
}

#[test]
fn edge_whose_first_visit_waits_is_urgent_less_its_virtual_losses() {
    let mut search = begun(FirstPlay::Urgency { reduction: 0.0 });
    let (first, path) = leaf(&mut search);
    assert_eq!(path, [0]);
    // Move 0: 0 − 1 + 1.5 = 0.5; move 1: 1.
    let (second, path) = leaf(&mut search);
    assert_eq!(path, [1]);
    // Move 0: 0.5; move 1: 0 − 1 + 1 = 0; the others have no prior.
    assert_eq!(search.select(&mut |_| panic!("a waiting leaf is not shown again")), Selected::Pending);
    flat(&mut search, first, 0.25);
    flat(&mut search, second, -0.25);
    let found: Vec<(u32, f32)> = search.root_moves().iter().map(|mv| (mv.visits, mv.value.black())).collect();
    assert_eq!(found, [(1, 0.25), (1, -0.25)]);
}

/// White wants what Black does not: the urgency of its edges falls from its own point of view.
#[test]
fn urgency_is_the_movers() {
    let after = |reduction| {
        let mut search = empty(2, Settings { first_play: FirstPlay::Urgency { reduction }, ..PARENT });
        search.advance(go::Move::Pass).unwrap();
        expand_root(&mut search, &POLICY, 0.0);
        let (first, _) = leaf(&mut search);
        flat(&mut search, first, 0.1);
        leaf(&mut search).1[0]
    };
    assert_eq!([after(0.0), after(0.5)], [1, 0]);
}
