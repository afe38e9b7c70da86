//! The plan as a person reads it.

use std::fmt;
use std::time::Duration;

use runtime::format;
use serde::Serialize;

use super::forecast::{Forecast, Phase};
use super::strength;

/// The plan.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    pub(super) cpu: String,
    pub(super) threads: usize,
    pub(super) device: String,
    pub(super) precision: String,
    pub(super) memory_bytes: Option<u64>,
    pub(super) store: String,
    /// None for a folder that is not there yet.
    pub(super) store_request_seconds: Option<f64>,
    pub(super) hours: f64,
    /// The largest configuration that takes no longer.
    pub(super) fits: Option<String>,
    pub(super) forecasts: Vec<Forecast>,
    pub(super) strength_source: &'static str,
}

impl Report {
    /// The last forecast, and so the largest, that needs no more time and memory.
    pub(super) fn fitting(forecasts: &[Forecast], time: Duration, memory: Option<u64>) -> Option<String> {
        let fits = |forecast: &&Forecast| {
            forecast.seconds <= time.as_secs_f64() && memory.is_none_or(|memory| forecast.memory_bytes <= memory as f64)
        };
        forecasts.iter().rfind(fits).map(|forecast| forecast.configuration.clone())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { cpu, threads, device, precision, .. } = self;
        let memory = self.memory_bytes.map_or("unknown".to_owned(), format::bytes);
        writeln!(f, "machine  {cpu}, {threads} threads, {device} with {precision}, {memory} of memory")?;
        let requests = self.store_request_seconds.map_or("absent, taken as a fast folder".to_owned(), |request| {
            format!("{:.2} ms per request", 1000.0 * request)
        });
        writeln!(f, "store    {}: {requests}", self.store)?;
        let fits = self.fits.as_deref().unwrap_or("none of these");
        writeln!(f, "fits     {fits}, of {} hours; presets that were not run have no measured strength", self.hours)?;
        self.forecasts.iter().try_for_each(|forecast| write!(f, "\n{forecast}"))?;
        if self.forecasts.iter().any(|forecast| !forecast.strength.is_empty()) {
            let [best, middle, least] = strength::SEEDS;
            write!(
                f,
                "\nElo is relative to GNU Go 3.8 level 10, ± half of the 95 % interval, of one seed; three seeds of "
            )?;
            write!(f, "configs/9x9.toml made {best}, {middle} and {least} points in 100 games against it. ")?;
            write!(f, "Source: {}", self.strength_source)?;
        }
        Ok(())
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Forecast { configuration, seconds, memory_bytes, disk_bytes, .. } = self;
        let [memory, disk] = [*memory_bytes, *disk_bytes].map(|bytes| format::bytes(bytes as u64));
        writeln!(f, "{configuration}: {}, {memory} of memory, {disk} on disk", time(*seconds))?;
        self.phases.iter().try_for_each(|phase| writeln!(f, "  {phase}"))?;
        writeln!(f, "  matches: {}, {:.0} games", time(self.match_seconds), self.match_games)?;
        if self.strength.is_empty() {
            return writeln!(f, "  strength: not measured with this configuration");
        }
        if let Some(start) = &self.strength_start {
            let before = time(60.0 * start.minutes);
            writeln!(f, "  strength from {} on, whose training took {before} more in the experiment:", start.model)?;
        }
        self.strength.iter().try_for_each(|strength| {
            let after = time(strength.seconds);
            writeln!(
                f,
                "  model {} after {after}: {:+.0} ± {:.0} Elo",
                strength.model, strength.elo, strength.elo_margin
            )
        })
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Phase { first_model, last_model, blocks, filters, visits, .. } = self;
        match (first_model, last_model) {
            (0, 0) => write!(f, "games of random: ")?,
            (first, last) => write!(f, "models {first} to {last}, {blocks}x{filters}, {visits} visits: ")?,
        }
        let rest = time(self.shuffle_seconds + self.store_seconds);
        write!(
            f,
            "play {}, training {}, shuffler and store {rest}; ",
            time(self.play_seconds),
            time(self.train_seconds)
        )?;
        write!(f, "{:.0} positions/s, {:.0} evaluations/s ", self.positions_per_s, self.evaluations_per_s)?;
        write!(f, "of the network's {:.0}, {:.0} examples/s; ", self.network_evaluations_per_s, self.examples_per_s)?;
        write!(f, "one trainer for {:.1} workers", self.workers_per_trainer)
    }
}

fn time(seconds: f64) -> String {
    format::duration(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forecast(configuration: &str, seconds: f64, memory_bytes: f64) -> Forecast {
        Forecast {
            configuration: configuration.to_owned(),
            seconds,
            phases: Vec::new(),
            match_games: 0.0,
            match_seconds: 0.0,
            memory_bytes,
            disk_bytes: 0.0,
            strength_start: None,
            strength: Vec::new(),
        }
    }

    #[test]
    fn strength_says_what_the_run_begins_with() {
        let config = config::Preset::NineByNineLarger.config();
        let (strength_start, strength) = strength::of(&config, |model| 60.0 * f64::from(model));
        let text = Forecast { strength_start, strength, ..forecast("larger", 1.0, 1e6) }.to_string();
        let expected = "  strength from model 80 of configs/9x9.toml on, whose training took 11m 48s more in the experiment:\n  \
                        model 30 after 30m 00s: +436 ± 289 Elo\n";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn largest_configuration_within_time_and_memory_fits() {
        let all = [forecast("small", 10.0, 1e6), forecast("middle", 3000.0, 1e9), forecast("large", 1e6, 1e9)];
        let fitting = |hours: u64, memory| Report::fitting(&all, Duration::from_secs(hours * 3600), memory);
        assert_eq!(fitting(1, None).as_deref(), Some("middle"));
        assert_eq!(fitting(1000, Some(4_000_000_000)).as_deref(), Some("large"));
        assert_eq!(fitting(1000, Some(2_000_000)).as_deref(), Some("small"));
        assert_eq!(fitting(0, None), None);
    }
}
