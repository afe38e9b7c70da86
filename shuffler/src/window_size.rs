//! How large the window is.

use config::{Growth, Window, WindowLimit};

/// What a window holds at most, and what it holds already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowSize {
    pub(crate) limit: WindowLimit,
    used: Played,
}

/// All games of a run without the validation set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Games.
    pub games: usize,
    /// Positions in them.
    pub positions: usize,
}

/// The newest games or positions, in the order of the window, that no window from now on reaches behind, where so many
/// were played so far.
pub fn window_reach(settings: &Window, played: Played) -> WindowLimit {
    match settings.growth {
        // A slow window may grow faster than games arrive, and then reaches further back from model to model.
        Growth::None | Growth::Slow => settings.full(),
        // It grows by less than what arrives, since its slope is at most 1: its oldest game never gets older.
        Growth::PowerLaw => grown(settings, played),
    }
}

impl WindowSize {
    /// The size of the window of a generation, of a run that has played so much.
    pub(crate) fn of<E>(
        settings: &Window,
        generation: u32,
        played: impl FnOnce() -> Result<Played, E>,
    ) -> Result<WindowSize, E> {
        let limit = match settings.growth {
            Growth::None | Growth::Slow => settings.limit(generation - 1),
            Growth::PowerLaw => grown(settings, played()?),
        };
        Ok(WindowSize { limit, used: Played::default() })
    }

    pub(crate) fn is_full(&self) -> bool {
        self.limit.of(self.used.games, self.used.positions) >= self.limit.size()
    }

    /// Counts a game of so many positions.
    pub(crate) fn take(&mut self, positions: usize) {
        self.used.games += 1;
        self.used.positions += positions;
    }
}

/// The size of a window that grows by the power law, where so much was played.
fn grown(settings: &Window, played: Played) -> WindowLimit {
    let full = settings.full();
    full.at_most(power_law(settings, full.of(played.games, played.positions)))
}

/// W(n) = (n^e − m^e) / (e·m^(e − 1)) · k + m, and n up to m: KataGo, `python/shuffle.py`, whose defaults are m =
/// 250,000, e = 0.65 and k = 0.4.
fn power_law(settings: &Window, n: usize) -> usize {
    const EXPONENT: f64 = 0.65;
    const SLOPE: f64 = 0.4;
    let start = settings.growth_start;
    if n <= start {
        return n;
    }
    let [n, m] = [n, start].map(|count| count as f64);
    let power = n.powf(EXPONENT) - m.powf(EXPONENT);
    start + (power / (EXPONENT * m.powf(EXPONENT - 1.0)) * SLOPE) as usize
}

#[cfg(test)]
mod tests {
    use config::Preset;

    use super::*;

    fn settings(overrides: &[&str]) -> Window {
        let overrides: Vec<String> = overrides.iter().map(|text| format!("window.{text}")).collect();
        Preset::Minigo.with(&overrides).unwrap().window
    }

    fn limit(settings: &Window, generation: u32, games: usize, positions: usize) -> WindowLimit {
        WindowSize::of(settings, generation, || Ok::<_, ()>(Played { games, positions })).unwrap().limit
    }

    fn size(settings: &Window, generation: u32, games: usize) -> usize {
        limit(settings, generation, games, 0).size()
    }

    #[test]
    fn window_has_its_size_from_the_beginning() {
        assert_eq!(limit(&settings(&["games=70"]), 1, 5, 900), WindowLimit::Games(70));
        assert_eq!(limit(&settings(&["games=70", "positions=800"]), 9, 5, 900), WindowLimit::Positions(800));
    }

    /// min(500k, (n + 5) · 10k), with n the model before: Minigo.
    #[test]
    fn slow_growth_is_minigos() {
        let settings = settings(&["growth=slow"]);
        let sizes: Vec<usize> = [1, 2, 45, 46, 47, 1000].map(|generation| size(&settings, generation, 0)).to_vec();
        assert_eq!(sizes, [50_000, 60_000, 490_000, 500_000, 500_000, 500_000]);
    }

    /// The table of sizes that KataGo's documentation gives, with 250,000 rows at least.
    #[test]
    fn power_law_window_has_katagos_sizes() {
        let settings = settings(&["growth=power-law", "positions=100000000"]);
        for (rows, expected) in [
            (100, 100.0),
            (250_000, 250_000.0),
            (500_000, 338e3),
            (1_000_000, 475e3),
            (2_000_000, 691e3),
            (5_000_000, 1.17e6),
            (10_000_000, 1.79e6),
            (100_000_000, 7.65e6),
        ] {
            let found = limit(&settings, 3, 0, rows);
            let is_near = |size: usize| (size as f64 / expected - 1.0).abs() < 0.006;
            assert!(matches!(found, WindowLimit::Positions(size) if is_near(size)), "{rows}: {found:?}");
        }
    }

    /// What is behind the reach after some model is behind the windows of all later ones.
    #[test]
    fn window_never_grows_beyond_its_reach() {
        for growth in ["growth=none", "growth=slow", "growth=power-law"] {
            let settings = settings(&["games=700000", growth]);
            for now in (0..100).map(|model| model * 20_000) {
                let reach = window_reach(&settings, Played { games: now, positions: 0 }).size();
                for later in (now..4_000_000).step_by(20_000) {
                    let window = size(&settings, (later / 20_000) as u32 + 1, later);
                    assert!(window <= reach + (later - now), "{growth}: {window} of {later}, {reach} of {now}");
                }
            }
        }
    }

    /// By the formula: 1,500 + (10,000^0.65 − 1,500^0.65) / (0.65 · 1,500^−0.35) · 0.4, and so on.
    #[test]
    fn power_law_begins_at_its_start() {
        let settings = settings(&["growth=power-law", "growth_start=1500"]);
        let sizes = [1_000, 1_500, 10_000, 100_000].map(|games| size(&settings, 3, games));
        assert_eq!(sizes, [1_000, 1_500, 3_744, 14_727]);
    }

    #[test]
    fn power_law_starts_with_its_slope() {
        let settings = settings(&["growth=power-law"]);
        let (before, after) = (size(&settings, 3, 250_000), size(&settings, 3, 250_400));
        assert_eq!((before, after), (250_000, 250_159));
    }
}
