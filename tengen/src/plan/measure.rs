//! What is measured for the forecast of a configuration.

use std::time::{Duration, Instant};

use anyhow::bail;
use config::RunConfig;
use runtime::{ResourceArgs, Stop};
use store::{Probe, Store};

use super::spans::Span;
use crate::bench::machine::{self, Playing};

/// Positions of a window for the shuffler's measurement, at most.
const WINDOW: f64 = 100_000.0;

/// Rates of a machine for spans that are alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    pub(super) playing: Playing,
    pub(super) examples_per_s: f64,
}

/// Rates of a machine for a configuration.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// One for each span.
    pub(super) rates: Vec<Rates>,
    pub(super) shuffle_s_per_example: f64,
    /// Bytes of this process, at most.
    pub(super) memory: u64,
}

/// How many measurements [`measure`] makes.
pub(super) fn measurements(config: &RunConfig) -> usize {
    let spans = Span::all(config);
    (0..spans.len()).filter(|&i| !spans[..i].iter().any(|span| span.is_like(&spans[i]))).count()
}

/// Measures play and training of each span, for about `time` each. `noted` is called after each measurement.
pub(super) fn measure(
    config: &RunConfig,
    place: &ResourceArgs,
    time: Duration,
    stop: &Stop,
    noted: &mut dyn FnMut(),
) -> anyhow::Result<Measured> {
    let spans = Span::all(config);
    let (rates, memory) = machine::peak_of(|| {
        let mut rates: Vec<Rates> = Vec::new();
        for (i, span) in spans.iter().enumerate() {
            let known = spans[..i].iter().position(|before| before.is_like(span)).map(|like| rates[like]);
            rates.push(match known {
                Some(known) => known,
                None => of_span(span, place, time, stop).inspect(|_| noted())?,
            });
        }
        Ok(rates)
    })?;
    let window = spans.last().map_or(1.0, |span| window_positions(config, span));
    let shuffle_s_per_example = machine::shuffling(config, window.min(WINDOW) as u64)?;
    Ok(Measured { rates, shuffle_s_per_example, memory })
}

/// Positions of the window when it no longer grows, with games as long as those of the span.
fn window_positions(config: &RunConfig, span: &Span) -> f64 {
    let limit = config.window.full();
    let size = limit.size() as f64;
    limit.of(size * span.moves(), size)
}

fn of_span(span: &Span, place: &ResourceArgs, time: Duration, stop: &Stop) -> anyhow::Result<Rates> {
    if stop.requested() {
        bail!("stopped before all was measured");
    }
    let playing = playing(span, place, time, stop)?;
    Ok(Rates { playing, examples_per_s: machine::training(&span.config, place, time, stop)? })
}

/// Measures longer, twice as long each time, until there are positions: a slow machine may play none at first.
fn playing(span: &Span, place: &ResourceArgs, mut time: Duration, stop: &Stop) -> anyhow::Result<Playing> {
    loop {
        let playing = match span.first {
            0 => machine::random_playing(&span.config, place.threads(), time / 4, stop)?,
            _ => machine::playing(&span.config, place, time, stop)?,
        };
        if playing.positions_per_s > 0.0 {
            return Ok(playing);
        }
        if stop.requested() {
            bail!("stopped before a position was played");
        }
        time *= 2;
    }
}

/// Seconds of a request to the store: of the fastest of three probes. `None` for a folder that is not there.
pub(super) fn request_s(place: &str) -> anyhow::Result<Option<f64>> {
    if Store::is_absent_folder(place) {
        return Ok(None);
    }
    let store = Store::open(place)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..3 {
        let began = Instant::now();
        store.probe()?;
        fastest = fastest.min(began.elapsed().as_secs_f64());
    }
    Ok(Some(fastest / f64::from(Probe::REQUESTS)))
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    #[test]
    fn window_is_of_games_or_of_positions() {
        let positions = |set: &[&str]| {
            let config = Preset::NineByNine.with(set).unwrap();
            let spans = Span::all(&config);
            window_positions(&config, &spans[1])
        };
        assert_eq!(positions(&["window.games=2000"]), 2000.0 * 81.0);
        assert_eq!(positions(&["window.games=2000", "window.positions=20000"]), 20_000.0);
    }
}
