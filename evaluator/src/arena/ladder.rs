//! The matches of `tengen run`: how its models become rated.
//!
//! [`Arena::measure`] plays the pairs of a new model and [`Arena::measure_last`] those of the finished run, each by a callback
//! that plays a meeting. Pairs that are chosen by what their games tell are kept in the store before they play, so that a run that
//! is killed anywhere continues with the same games. A [`Ladder`] is what is known of the models then.

use cli::Stop;
use config::{ModelId, Pairing, PlayerId};
use play::{Seed, game_seed};
use rand::SeedableRng;
use ratings::pairing::{About, InFlight, Question, Reason, Rule};
use ratings::{Ratings, Tally};
use store::Pairing as Planned;

use super::{Arena, draw_free};
use crate::EvaluatorError;

/// Plays a meeting of two players until they have played so many games against each other.
pub type Play<'a, E> = dyn FnMut(&mut Arena, [&PlayerId; 2], u64) -> Result<(), E> + 'a;

/// The rated models of a run, and what is known of them.
pub struct Ladder {
    tally: Tally,
    ratings: Ratings,
    /// By player: the number of a model that takes part.
    ages: Vec<Option<u32>>,
}

impl Arena {
    /// Plays what the configuration wants for a new model, unless it is played already.
    ///
    /// # Errors
    /// The store cannot be used, the results cannot be rated, or what `play` says.
    pub fn measure<E: From<EvaluatorError>>(&mut self, newest: u32, stop: &Stop, play: &mut Play<E>) -> Result<(), E> {
        let evaluate = &self.config.evaluate;
        let (every, pairs, games) = (evaluate.every, evaluate.pairs_per_model, evaluate.games_per_pair as u64);
        match evaluate.pairing {
            Pairing::Fibonacci => {
                for ancestor in ancestors(newest, every).take(pairs) {
                    let ids = [newest, ancestor].map(|number| PlayerId::from(self.numbered(number)));
                    play(self, [&ids[0], &ids[1]], games)?;
                }
                Ok(())
            }
            Pairing::Informed if self.hidden()?.contains(&newest) => Ok(()),
            Pairing::Informed if self.ladder(newest)?.models() < 2 => {
                let ids = [newest, 0].map(|number| PlayerId::from(self.numbered(number)));
                play(self, [&ids[0], &ids[1]], games)
            }
            Pairing::Informed => self.play_informed(newest, 0..pairs, None, stop, play),
        }
    }

    /// Plays what the configuration wants when the run has all its models, unless it is played already: the last one against
    /// `random` and the model half its age, and then the final pairs.
    ///
    /// # Errors
    /// As [`Arena::measure`].
    pub fn measure_last<E: From<EvaluatorError>>(
        &mut self,
        newest: u32,
        stop: &Stop,
        play: &mut Play<E>,
    ) -> Result<(), E> {
        for [one, other] in self.final_meetings(newest) {
            play(self, [&one, &other], self.config.cycle.final_games as u64)?;
        }
        let (first, count) = (self.config.evaluate.pairs_per_model, self.config.cycle.final_pairs);
        let margin = Some(f64::from(self.config.cycle.final_margin)).filter(|&margin| margin > 0.0);
        self.play_informed(newest, first..first + count, margin, stop, play)
    }

    /// The last model of a run against `random` and against the model half its age.
    pub fn final_meetings(&self, newest: u32) -> [[PlayerId; 2]; 2] {
        [0, newest / 2].map(|other| [newest, other].map(|number| PlayerId::from(self.numbered(number))))
    }

    /// Plays the pairs of these turns, each chosen by what the results before it leave unknown, until all margins are at most
    /// `margin`.
    fn play_informed<E: From<EvaluatorError>>(
        &mut self,
        newest: u32,
        turns: std::ops::Range<usize>,
        margin: Option<f64>,
        stop: &Stop,
        play: &mut Play<E>,
    ) -> Result<(), E> {
        for turn in turns {
            if stop.requested() {
                break;
            }
            let Some(pair) = self.planned(newest, turn, margin)? else { break };
            // Weights of a model that was retired since may be gone.
            let hidden = self.hidden()?;
            let ids = [&pair.first, &pair.second];
            if ids.iter().all(|id| self.number(id).is_none_or(|number| !hidden.contains(&number))) {
                play(self, ids, pair.games)?;
            }
        }
        Ok(())
    }

    /// The pair of a turn: the one that was chosen before, or a new one; `None` where there are not two models, or all that was
    /// asked is known.
    fn planned(&self, newest: u32, turn: usize, margin: Option<f64>) -> Result<Option<Planned>, EvaluatorError> {
        if let Some(known) = self.run.pairings().get(newest, turn)? {
            return Ok(Some(known));
        }
        let ladder = self.ladder(newest)?;
        if margin.is_some_and(|margin| ladder.margin() <= margin) {
            return Ok(None);
        }
        let games = self.config.evaluate.games_per_pair;
        // The turn and not what was played so far: what is chosen depends on results, and not on who else plays.
        let index = u64::from(newest) << 32 | turn as u64;
        let mut rng = Seed::seed_from_u64(game_seed(self.config.seed, "ladder", "pair", index));
        let Some((first, second, reason)) = ladder.choose(games, &mut rng) else { return Ok(None) };
        let (first, second) = (self.numbered(first).into(), self.numbered(second).into());
        tracing::debug!(%first, %second, "paired: {reason}");
        let played = self.score([&first, &second])?.games;
        let pair = Planned { first, second, games: played + games as u64 };
        Ok(Some(self.run.pairings().remember(newest, turn, &pair)?))
    }

    /// What is known of the models up to `newest` that have played, and of `newest`. Hidden models take no part.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub fn ladder(&self, newest: u32) -> Result<Ladder, EvaluatorError> {
        let (hidden, everybody) = (self.hidden()?, self.pool()?.tally([]));
        let played = self.ages(&everybody).into_iter().flatten().chain([newest]);
        let mut models: Vec<u32> = played.filter(|number| *number <= newest && !hidden.contains(number)).collect();
        models.sort_unstable();
        models.dedup();
        // By number, so that ratings do not depend on the order in which results came.
        let mut tally = Tally::new(models.iter().chain([&0]).map(|&number| self.numbered(number).to_string()));
        tally.extend(&everybody);
        let (ratings, _) = Ratings::of_runs(&tally, |prior| prior).map_err(|source| self.unrated(source))?;
        let ages = self.ages(&tally).into_iter().map(|age| age.filter(|age| models.binary_search(age).is_ok()));
        Ok(Ladder { ages: ages.collect(), tally, ratings })
    }

    /// The model of this number; `random` is number 0.
    fn numbered(&self, number: u32) -> ModelId {
        if number == 0 { ModelId::Random } else { self.run.name().model(number) }
    }

    /// The number of a player that is a model of this run.
    fn number(&self, id: &PlayerId) -> Option<u32> {
        crate::pool::model_number(self.run.name(), &id.to_string())
    }
}

impl Ladder {
    /// The models that take part.
    pub fn models(&self) -> usize {
        self.ages.iter().flatten().count()
    }

    /// The largest half-width of the 95 % intervals of all ratings, against the mean of the models, and of the newest model minus
    /// the oldest, in Elo.
    pub fn margin(&self) -> f64 {
        let by_age = self.by_age();
        let (Some(&oldest), Some(&newest)) = (by_age.first(), by_age.last()) else { return 0.0 };
        let above = self.ratings.above(&by_age);
        let places = by_age.iter().map(|&player| above[player].margin());
        places.chain([self.ratings.difference(newest, oldest).margin()]).fold(0.0, f64::max)
    }

    /// The two models, by number, whose games tell most of all ratings and of the newest model minus the oldest.
    fn choose(&self, games: usize, rng: &mut Seed) -> Option<(u32, u32, Reason)> {
        let takes_part = |one: usize, other: usize| self.ages[one].is_some() && self.ages[other].is_some();
        let cost = |one: usize, other: usize| if takes_part(one, other) { 1.0 } else { f64::INFINITY };
        let question = Question {
            ratings: &self.ratings,
            ages: &self.ages,
            in_flight: &InFlight::default(),
            games: u32::try_from(games).unwrap_or(u32::MAX),
            cost: &cost,
        };
        if self.models() < 2 {
            return None;
        }
        let choice = draw_free(&question, Rule::Informed(About::Ladder), &takes_part, rng)?;
        Some((self.ages[choice.first]?, self.ages[choice.second]?, choice.reason))
    }

    /// The models by their places among the players, oldest first.
    fn by_age(&self) -> Vec<usize> {
        let mut models: Vec<usize> =
            (0..self.tally.players().len()).filter(|&player| self.ages[player].is_some()).collect();
        models.sort_by_key(|&player| self.ages[player]);
        models
    }
}

/// The models that a new one meets, nearest first: of the models that are measured, those at distances 1, 2, 3, 5, 8, …; 0 is
/// `random`. Only measured models, because the others have met nobody.
fn ancestors(number: u32, every: u32) -> impl Iterator<Item = u32> {
    let before = number.div_ceil(every);
    ratings::pairing::fibonacci().map_while(move |distance| before.checked_sub(distance)).map(move |nth| nth * every)
}

#[cfg(test)]
mod tests;
