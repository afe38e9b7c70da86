//! How much time there is.

use super::arguments::{Answer, done, number};
use crate::server::clock::{Clock, System};
use crate::server::parse::color;
use crate::server::{Failure, Session};

/// `time_settings MAIN PERIOD STONES`. A period without stones means that there is no limit, and one of no length that
/// there is only the main time.
pub(super) fn time_settings(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [main, period, stones] = *arguments else { return Err(Failure::Syntax) };
    let (main, period, stones) = (seconds(main)?, seconds(period)?, number(stones)?);
    session.clock = Clock::new(match (period, stones) {
        (0.0, _) => System::Absolute { main },
        (_, 0) => System::Unlimited,
        (period, stones) => System::Canadian { main, period, stones },
    });
    done()
}

/// KGS's: `none`, `absolute MAIN`, `byoyomi MAIN PERIOD PERIODS` or `canadian MAIN PERIOD STONES`.
pub(super) fn kgs_time_settings(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let system = match *arguments {
        ["none"] => System::Unlimited,
        ["absolute", main] => System::Absolute { main: seconds(main)? },
        ["canadian", main, period, stones] => match (seconds(main)?, seconds(period)?, number(stones)?) {
            (main, 0.0, _) | (main, _, 0) => System::Absolute { main },
            (main, period, stones) => System::Canadian { main, period, stones },
        },
        ["byoyomi", main, period, periods] => match (seconds(main)?, seconds(period)?, number(periods)?) {
            (main, 0.0, _) | (main, _, 0) => System::Absolute { main },
            (main, period, periods) => System::ByoYomi { main, period, periods },
        },
        _ => return Err(Failure::Syntax),
    };
    session.clock = Clock::new(system);
    done()
}

/// `time_left COLOR TIME STONES`. A clock that has run out may be below zero. On KGS the stones of byo-yomi are its
/// periods.
pub(super) fn time_left(session: &mut Session<'_>, arguments: &[&str]) -> Answer {
    let [player, time, stones] = *arguments else { return Err(Failure::Syntax) };
    let (color, time, stones) = (color(player)?, number::<f64>(time)?, number(stones)?);
    session.clock.set(color, bounded(time).ok_or(Failure::Syntax)?, stones);
    done()
}

fn seconds(text: &str) -> Result<f64, Failure> {
    bounded(number(text)?).filter(|&seconds| seconds >= 0.0).ok_or(Failure::Syntax)
}

/// At most a year, so that no clock overflows.
fn bounded(seconds: f64) -> Option<f64> {
    const YEAR: f64 = 31_536_000.0;
    seconds.is_finite().then(|| seconds.clamp(-YEAR, YEAR))
}
