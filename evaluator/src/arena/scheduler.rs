//! Which pair plays next where many evaluators work on a run: proposals and claims.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use config::{ModelId, PlayerId};
use gtp::engines::Engine;
use play::{GameRng, game_seed};
use rand::SeedableRng;
use ratings::PairResults;
use ratings::pairing::{self, InFlight, Knowledge, Objective, Reason};
use runtime::Stop;
use store::{CLAIM_LASTS, Claim, Run, StoreError};

use super::Arena;
use crate::{EvaluatorError, MatchProgress, RatedModel};

/// Games that the claim of a match names, since others read it each time. Further ones count once, though two may play
/// them.
const MOST_CLAIMED: usize = 1000;

/// Two players who should meet, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    /// One of them.
    pub first: PlayerId,
    /// The other.
    pub second: PlayerId,
    /// Why these two.
    pub reason: Reason,
    /// Games between them that others were playing when they were chosen.
    pub(super) in_flight: u32,
}

impl Arena {
    /// The most informative pair of the run's models, `random`, the programs of this place, and every player with
    /// results that can play here; `None` when there are not two. `watch` gets the newest model that has played.
    ///
    /// # Errors
    /// The store cannot be read, or the results cannot be rated.
    pub(crate) fn propose(
        &self,
        objective: Objective,
        watch: &mut dyn FnMut(RatedModel),
    ) -> Result<Option<Proposal>, EvaluatorError> {
        let pool = self.rated.pool()?;
        let paired = self.rated.paired_models()?;
        let models = paired.iter().cloned().chain([ModelId::Random]).map(PlayerId::from);
        let engines = self.resources.engines.engine.iter().map(|engine| PlayerId::Engine(engine.name.clone()));
        let results = pool.results(models.chain(engines).collect::<Vec<_>>());
        let ratings = self.rated.fit(&results, |prior| prior)?;
        let ages = self.rated.ages(&results);
        RatedModel::newest(&results, &ratings, &ages).into_iter().for_each(watch);
        // The games so far are part of the seed, so that the same knowledge gives another choice when something is new;
        // so is the worker, so that several at once share near-ties among them.
        let mut rng =
            GameRng::seed_from_u64(game_seed(self.config().seed, &self.resources.worker, "pair", pool.games() as u64));
        let games = u32::try_from(self.config().evaluate.games_per_pair).unwrap_or(u32::MAX);
        let in_flight = self.in_flight(&results)?;
        let players: Vec<Option<PlayerId>> = results.players().iter().map(|name| name.parse().ok()).collect();
        let can_play = |player: &Option<PlayerId>| player.as_ref().map_or(Ok(false), |id| self.can_play(id, &paired));
        let can_play = players.iter().map(can_play).collect::<Result<Vec<bool>, _>>()?;
        let seconds = |player: usize| self.duration_estimate.of(players[player].as_ref());
        // Pairs of other evaluators are skipped, as long as there is another pair.
        let here: Vec<usize> = (0..players.len()).filter(|&player| can_play[player]).collect();
        let all_are_playing =
            (1..here.len()).all(|one| here[..one].iter().all(|&other| in_flight.between(here[one], other) > 0));
        let without_result: Vec<[Option<usize>; 2]> = (self.without_result.iter())
            .map(|pair| pair.each_ref().map(|player| results.place(&player.to_string())))
            .collect();
        let is_free = |one: usize, other: usize| {
            let is_taken = in_flight.between(one, other) > 0 && !all_are_playing;
            let pairs = [[Some(one), Some(other)], [Some(other), Some(one)]];
            can_play[one] && can_play[other] && !is_taken && !without_result.iter().any(|pair| pairs.contains(pair))
        };
        let cost = |one: usize, other: usize| is_free(one, other).then(|| seconds(one) + seconds(other));
        let knowledge = Knowledge { ratings: &ratings, ages: &ages, in_flight: &in_flight, games, cost: &cost };
        let id = |player: usize| results.players()[player].parse().ok();
        Ok(pairing::pairs(&knowledge, objective, 1, &mut rng).pop().and_then(|choice| {
            let in_flight = in_flight.between(choice.first, choice.second);
            let (first, second) = id(choice.first).zip(id(choice.second))?;
            Some(Proposal { first, second, reason: choice.reason, in_flight })
        }))
    }

    /// Whether a player with results can play here. Some are programs of other machines, models of runs that were
    /// deleted, models of this run that are not `paired`, and models with a precision that inference servers do not
    /// have.
    fn can_play(&self, player: &PlayerId, paired: &[ModelId]) -> Result<bool, EvaluatorError> {
        Ok(match player {
            PlayerId::Engine(name) => Engine::is_available(name, &self.resources.engines),
            PlayerId::Model { settings, .. } if !self.resources.place.has_precision_of(settings) => false,
            PlayerId::Model { id: ModelId::Trained { run, number }, .. } if run != self.rated.run().name() => {
                let run = self.rated.models().run(run)?;
                run.models().exists(*number)? && !run.models().weights_are_deleted(*number)?
            }
            PlayerId::Model { id: id @ ModelId::Trained { .. }, .. } => paired.contains(id),
            PlayerId::Model { id: ModelId::Uniform | ModelId::Random, .. } => true,
        })
    }

    /// What other evaluators are playing now.
    fn in_flight(&self, results: &PairResults) -> Result<InFlight, EvaluatorError> {
        let mut in_flight = InFlight::default();
        for claim in self.rated.run().claims().list(CLAIM_LASTS)? {
            if let (Some(first), Some(second)) = (results.place(&claim.first), results.place(&claim.second)) {
                in_flight.add(first, second, u32::try_from(claim.numbers.len()).unwrap_or(u32::MAX));
            }
        }
        Ok(in_flight)
    }

    /// Lets a proposed pair play as many more games as the run wants, and lets other evaluators know. `None` when
    /// others have begun with this pair since it was proposed, which changes its information gain.
    ///
    /// # Errors
    /// As [`Arena::play_missing`].
    pub(crate) fn play_proposed(
        &mut self,
        proposal: &Proposal,
        stop: &Stop,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<Option<MatchProgress>, EvaluatorError> {
        let Proposal { first, second, .. } = proposal;
        let Some(claim) = self.claim(proposal)? else { return Ok(None) };
        let numbers = claim.numbers.clone();
        let claim = HeldClaim::new(self.rated.run(), &self.resources.worker, claim);
        self.play_claimed([first, second], numbers, claim, stop, watch).map(Some)
    }

    /// Lets two players play these games of their series, which are [missing](Arena::missing) and claimed meanwhile, so
    /// that other evaluators and observers know of them. They are played without a claim where another evaluator has
    /// one that begins with the same game: what both play counts once. Points are those of `one`.
    ///
    /// # Errors
    /// A player cannot be opened or fails, or the store refuses the results. Results that were published stay.
    pub(crate) fn play_missing(
        &mut self,
        [one, other]: [&PlayerId; 2],
        numbers: Vec<u64>,
        stop: &Stop,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<MatchProgress, EvaluatorError> {
        if one == other {
            return Err(EvaluatorError::Itself(one.to_string()));
        }
        if numbers.is_empty() {
            return Ok(MatchProgress::default());
        }
        let claimed = numbers.iter().take(MOST_CLAIMED).copied().collect();
        let claim = Claim { first: one.to_string(), second: other.to_string(), numbers: claimed };
        let (run, worker) = (self.rated.run(), &self.resources.worker);
        // One of this evaluator's name is of a process that was killed.
        let held = run.claims().renew(worker, &claim)?;
        let claim = HeldClaim { held, ..HeldClaim::new(run, worker, claim) };
        self.play_claimed([one, other], numbers, claim, stop, watch)
    }

    /// Plays games, and releases the claim on them.
    fn play_claimed(
        &mut self,
        pair: [&PlayerId; 2],
        numbers: Vec<u64>,
        mut claim: HeldClaim,
        stop: &Stop,
        watch: &mut dyn FnMut(MatchProgress),
    ) -> Result<MatchProgress, EvaluatorError> {
        let played = self.play(pair, numbers, stop, &mut |progress| {
            claim.renew_after(CLAIM_LASTS / 3);
            watch(progress);
        });
        let released = claim.release();
        // Why a match failed comes first: others wait for a claim that stays no longer than it lasts.
        let played = played?;
        released?;
        Ok(played)
    }

    /// Claims the next block of a pair's games of which some are neither played nor claimed; `None` when others have
    /// claimed games of this pair since it was proposed. Games that were void here as often as a game is begun are not
    /// claimed again: with nothing but them in its block, a match would have no result, and the same pair would be
    /// proposed next.
    pub(super) fn claim(&self, proposal: &Proposal) -> Result<Option<Claim>, EvaluatorError> {
        let [one, other] = [&proposal.first, &proposal.second];
        let (first, second) = (one.to_string(), other.to_string());
        let size = self.config().evaluate.games_per_pair as u64;
        // Of the claim of an evaluator of a later version no more is known than its first game.
        let mut refused: BTreeSet<u64> = BTreeSet::new();
        let exhausted = self.exhausted.get(&[one.min(other).clone(), one.max(other).clone()]);
        loop {
            let claims =
                self.rated.run().claims().list(CLAIM_LASTS)?.into_iter().filter(|claim| claim.is_of(&first, &second));
            let mut claimed: BTreeSet<u64> = claims.flat_map(|claim| claim.numbers).collect();
            if claimed.len() > proposal.in_flight as usize {
                return Ok(None);
            }
            claimed.extend(&refused);
            claimed.extend(exhausted.into_iter().flatten());
            // After the claims: the games of one that is released meanwhile are among the results.
            let played = self.rated.pool()?.played(one, other);
            let free = |number: &u64| !played.contains(number) && !claimed.contains(number);
            let first_free = (0..).find(free).expect("the games of a pair are fewer than all numbers");
            let block = first_free / size * size..(first_free / size + 1) * size;
            let claim = Claim { first: first.clone(), second: second.clone(), numbers: block.filter(free).collect() };
            if !self.rated.run().claims().acquire(&self.resources.worker, &claim)? {
                refused.extend(claim.numbers);
                continue;
            }
            // Another evaluator may have claimed, played and released them meanwhile.
            let played = self.rated.pool()?.played(one, other);
            if claim.numbers.iter().all(|number| !played.contains(number)) {
                return Ok(Some(claim));
            }
            self.rated.run().claims().release(&claim)?;
        }
    }
}

/// A claim while its games are played.
pub(super) struct HeldClaim {
    run: Run,
    worker: String,
    claim: Claim,
    since: Instant,
    /// Whether it is still this evaluator's, as far as the last renewal says.
    held: bool,
}

impl HeldClaim {
    /// A claim that was just made.
    pub(super) fn new(run: &Run, worker: &str, claim: Claim) -> HeldClaim {
        HeldClaim { run: run.clone(), worker: worker.to_owned(), claim, since: Instant::now(), held: true }
    }

    /// Renews it when it is so old: without that others would take slow games for those of a killed evaluator.
    pub(super) fn renew_after(&mut self, age: Duration) {
        if !self.held || self.since.elapsed() < age {
            return;
        }
        self.since = Instant::now();
        match self.run.claims().renew(&self.worker, &self.claim) {
            Ok(held) => self.held = held,
            Err(error) => tracing::warn!(%error, "claim not renewed; others may play the same games"),
        }
    }

    /// Releases it, unless it is another evaluator's: a third one would play the games that this one still plays.
    fn release(self) -> Result<(), StoreError> {
        if self.held { self.run.claims().release(&self.claim) } else { Ok(()) }
    }
}
