//! Objectives of pairing, as rating differences whose variances matter.

use std::rc::Rc;

use crate::bradley_terry::Ratings;

/// The objective of a pairing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Which model is best.
    #[default]
    Best,
    /// All ratings.
    Curve,
    /// The newest model against its ancestors.
    Newest,
    /// The models against the players that are none.
    Anchors,
    /// Every model against the mean of the models, and the newest against the oldest.
    Ladder,
}

/// Players with weights that add up to 1.
pub(super) type Mean = Rc<[(usize, f64)]>;

/// A difference, and how much its variance matters; the weights of an objective add up to 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contrast {
    pub(super) weight: f64,
    pub(super) plus: usize,
    /// The subtrahend.
    pub(super) minus: Mean,
}

/// A candidate for the best model that is surely weaker than the one with the highest rating does not matter.
const HOPELESS: f64 = 1e-3;

/// Weight of the differences between neighbours, relative to the places in the pool, where the objective is all
/// ratings. Larger weights left the same error of places and a smaller one of steps (`experiments/0008-pairing-rules`).
const NEIGHBOURS: f64 = 1.5;

/// Weight of the newest model minus the oldest, relative to the places of all models together. Larger weights hardly
/// reduce the error of that difference and increase that of the worst place (`experiments/0059-match-schedule`).
const SPAN: f64 = 0.5;

/// The differences that an objective is about. An objective about players that are not in the pool becomes one about
/// all.
pub(super) fn contrasts(ratings: &Ratings, ages: &[Option<u32>], objective: Objective) -> Vec<Contrast> {
    let by_age = by_age(ages);
    let mut contrasts = match objective {
        Objective::Best => best(ratings, &by_age),
        Objective::Curve => Vec::new(),
        Objective::Newest => newest(ages, &by_age),
        Objective::Anchors => anchors(ages, &by_age),
        Objective::Ladder => ladder(&by_age),
    };
    if contrasts.is_empty() {
        contrasts = curve(ages.len(), &by_age);
    }
    let total: f64 = contrasts.iter().map(|contrast| contrast.weight).sum();
    contrasts.iter_mut().for_each(|contrast| contrast.weight /= total);
    contrasts
}

/// The players with an age, by it: the models of a run, oldest first.
pub fn by_age(ages: &[Option<u32>]) -> Vec<usize> {
    let mut models: Vec<usize> = (0..ages.len()).filter(|&player| ages[player].is_some()).collect();
    models.sort_by_key(|&player| ages[player]);
    models
}

/// Every model against the one with the highest rating, by the root of its chance to be better than that. The chance
/// itself would leave the rest of the top unknown, and finds the best one hardly sooner
/// (`experiments/0008-pairing-rules`).
fn best(ratings: &Ratings, models: &[usize]) -> Vec<Contrast> {
    let stronger = |&&a: &&usize, &&b: &&usize| ratings.rating(a).elo.total_cmp(&ratings.rating(b).elo);
    let Some(&top) = models.iter().max_by(stronger) else { return Vec::new() };
    let chances = models.iter().map(|&player| (player, ratings.superiority(player, top)));
    let rivals = chances.filter(|&(player, chance)| player != top && chance > HOPELESS);
    rivals.map(|(plus, chance)| Contrast { weight: chance.sqrt(), plus, minus: [(top, 1.0)].into() }).collect()
}

/// Every player against the mean of all, and every model against the one before it.
fn curve(players: usize, models: &[usize]) -> Vec<Contrast> {
    let all = even_mean(0..players);
    let places = (0..players).map(|plus| Contrast { weight: 1.0, plus, minus: all.clone() });
    let steps =
        models.windows(2).map(|two| Contrast { weight: NEIGHBOURS, plus: two[1], minus: [(two[0], 1.0)].into() });
    places.chain(steps).collect()
}

/// Every model against the mean of the models, and the newest against the oldest.
fn ladder(models: &[usize]) -> Vec<Contrast> {
    let [oldest, .., newest] = *models else { return Vec::new() };
    let all = even_mean(models.iter().copied());
    let places = models.iter().map(|&plus| Contrast { weight: 1.0, plus, minus: all.clone() });
    let weight = SPAN * models.len() as f64;
    places.chain([Contrast { weight, plus: newest, minus: [(oldest, 1.0)].into() }]).collect()
}

/// The newest model against those at Fibonacci's distances before it.
fn newest(ages: &[Option<u32>], models: &[usize]) -> Vec<Contrast> {
    let Some((&newest, older)) = models.split_last() else { return Vec::new() };
    let age = |player: usize| ages[player].unwrap_or(0);
    let ancestors = fibonacci().map_while(|distance| age(newest).checked_sub(distance));
    let mut nearest: Vec<usize> = ancestors
        .filter_map(|wanted| older.iter().copied().min_by_key(|&player| age(player).abs_diff(wanted)))
        .collect();
    nearest.dedup();
    nearest
        .into_iter()
        .map(|ancestor| Contrast { weight: 1.0, plus: newest, minus: [(ancestor, 1.0)].into() })
        .collect()
}

/// 1, 2, 3, 5, 8 and so on, as far as they can be counted.
pub fn fibonacci() -> impl Iterator<Item = u32> {
    std::iter::successors(Some((1_u32, 2_u32)), |&(a, b)| Some((b, a.checked_add(b)?))).map(|(a, _)| a)
}

/// Every model against the mean of the players that are none.
fn anchors(ages: &[Option<u32>], models: &[usize]) -> Vec<Contrast> {
    let anchors = even_mean((0..ages.len()).filter(|&player| ages[player].is_none()));
    if anchors.is_empty() {
        return Vec::new();
    }
    models.iter().map(|&plus| Contrast { weight: 1.0, plus, minus: anchors.clone() }).collect()
}

/// A mean in which all weigh the same.
fn even_mean(players: impl Iterator<Item = usize>) -> Mean {
    let players: Vec<usize> = players.collect();
    players.iter().map(|&player| (player, 1.0 / players.len() as f64)).collect()
}
