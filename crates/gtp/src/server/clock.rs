//! How long to think about a move.

use std::time::{Duration, Instant};

use go::{Color, Game};

/// Seconds of each move that are reserved: for the way to the controller and back. [`Deadline`] reserves the last batch
/// of a device.
const LAG: f64 = 0.1;

/// How time is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum System {
    /// There is no clock.
    Unlimited,
    /// So many seconds for all moves.
    Absolute {
        /// Seconds.
        main: f64,
    },
    /// Then so many seconds for so many moves, again and again.
    Canadian {
        /// Seconds.
        main: f64,
        /// Seconds.
        period: f64,
        /// Moves, at least 1.
        stones: u32,
    },
    /// Then periods of so many seconds; only one that runs out is lost.
    ByoYomi {
        /// Seconds.
        main: f64,
        /// Seconds.
        period: f64,
        /// Periods, at least 1.
        periods: u32,
    },
}

/// The remaining time of a player.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Left {
    /// Seconds of the main time, or of the present period; below 0 when more was used than there was.
    time: f64,
    /// Moves to be made in them, or periods; 0 in the main time.
    stones: u32,
}

/// The clocks of both players.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clock {
    system: System,
    left: [Left; 2],
}

impl Clock {
    pub(super) fn new(system: System) -> Clock {
        let left = match system {
            System::Unlimited => Left { time: 0.0, stones: 0 },
            System::Canadian { main: 0.0, period, stones } => Left { time: period, stones },
            System::ByoYomi { main: 0.0, period, periods } => Left { time: period, stones: periods },
            System::Absolute { main } | System::Canadian { main, .. } | System::ByoYomi { main, .. } => {
                Left { time: main, stones: 0 }
            }
        };
        Clock { system, left: [left; 2] }
    }

    /// Both clocks as at the beginning of a game.
    pub(super) fn restart(&mut self) {
        *self = Clock::new(self.system);
    }

    /// Puts a clock right, as the controller has it.
    pub(super) fn set(&mut self, color: Color, time: f64, stones: u32) {
        self.left[color.index()] = Left { time, stones };
    }

    /// The time for a move in this position; `None` when it does not matter.
    ///
    /// Main time is shared out as if half of the empty points were still to be played by this player, and one more
    /// for each line of the board at the end; unused time is added to later moves. Overtime is used up.
    pub(super) fn budget(&self, color: Color, game: &Game) -> Option<Duration> {
        let Left { time, stones } = self.left[color.index()];
        let moves = (game.position().empty_points().len() / 2).max(game.size().side()) as f64;
        let share = time / moves;
        let seconds = match (self.system, stones) {
            (System::Unlimited, _) => return None,
            (System::Absolute { .. }, _) => share,
            // At the end of the main time overtime begins, which need not be spared.
            (System::Canadian { period, stones, .. }, 0) => share.max(period / f64::from(stones)),
            (System::ByoYomi { period, .. }, 0) => share.max(period.min(time)),
            (System::Canadian { .. }, stones) => time / f64::from(stones),
            (System::ByoYomi { .. }, _) => time,
        };
        Some(Duration::from_secs_f64((seconds - LAG).max(0.0)))
    }

    /// Takes the time of a move off a clock, for controllers that do not send `time_left`.
    pub(super) fn spend(&mut self, color: Color, time: Duration) {
        let left = &mut self.left[color.index()];
        let spent = Left { time: left.time - time.as_secs_f64(), ..*left };
        *left = match (self.system, spent) {
            (System::Canadian { period, stones, .. }, Left { time, stones: 0 }) if time < 0.0 => {
                refilled(Left { time: time + period, stones: stones - 1 }, period, stones)
            }
            (System::Canadian { period, stones, .. }, Left { time, stones: due }) if due > 0 => {
                refilled(Left { time, stones: due - 1 }, period, stones)
            }
            (System::ByoYomi { period, periods, .. }, Left { time, stones: 0 }) if time < 0.0 => {
                Left { time: period, stones: periods }
            }
            (System::ByoYomi { period, .. }, Left { time, stones }) if stones > 0 => {
                Left { time: period, stones: if time < 0.0 { (stones - 1).max(1) } else { stones } }
            }
            (_, spent) => spent,
        };
    }
}

/// When a search must be over. Batches of a device are not interrupted, so none begins that may end later; those of
/// inference servers are abandoned.
pub(super) struct Deadline {
    until: Instant,
    last: Option<Instant>,
    /// The longest time between two calls.
    longest: Duration,
}

impl Deadline {
    pub(super) fn new(until: Instant) -> Deadline {
        Deadline { until, last: None, longest: Duration::ZERO }
    }

    /// Whether it is too late for a batch, if that takes as long as the longest so far. To be called before each, and
    /// while one is waited for.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        if let Some(last) = self.last.replace(now) {
            self.longest = self.longest.max(now.saturating_duration_since(last));
        }
        now + self.longest >= self.until
    }
}

/// A period in which all moves are made is followed by another.
fn refilled(left: Left, period: f64, stones: u32) -> Left {
    if left.stones == 0 { Left { time: period, stones } } else { left }
}

#[cfg(test)]
mod tests {
    use go::{Move, Size};

    use super::*;

    fn game() -> Game {
        Game::new(Size::new(9).expect("a size"))
    }

    /// Seconds for the next move of Black.
    fn seconds(clock: &Clock) -> Option<f64> {
        clock.budget(Color::Black, &game()).map(|time| time.as_secs_f64())
    }

    fn check(clock: &Clock, expected: f64) {
        let found = seconds(clock).expect("there is a clock");
        assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
    }

    #[test]
    fn without_a_clock_time_does_not_matter() {
        assert_eq!(seconds(&Clock::new(System::Unlimited)), None);
    }

    #[test]
    fn main_time_is_shared_out_and_never_runs_out() {
        let mut clock = Clock::new(System::Absolute { main: 300.0 });
        check(&clock, 300.0 / 40.0 - LAG);
        let mut game = game();
        for index in 0..79 {
            let time = clock.budget(game.to_move(), &game).expect("there is a clock");
            clock.spend(game.to_move(), time + Duration::from_secs_f64(LAG));
            let points = game.legal_points();
            game.play(points.iter().nth(index % points.len()).map_or(Move::Pass, Move::Play)).expect("it is legal");
        }
        assert!(clock.left.iter().all(|left| left.time > 0.0 && left.time < 150.0), "{clock:?}");
        clock.set(Color::Black, -3.0, 0);
        check(&clock, 0.0);
        clock.restart();
        check(&clock, 300.0 / 40.0 - LAG);
    }

    #[test]
    fn search_begins_no_batch_that_may_end_too_late() {
        let began = Instant::now();
        let at = |seconds| began + Duration::from_secs(seconds);
        let mut deadline = Deadline::new(at(10));
        // Batches of 1, 3, 2 and 1 seconds. Another one of 3 would end at 10.
        assert_eq!([0, 1, 4, 6, 7].map(|seconds| deadline.is_over(at(seconds))), [false, false, false, false, true]);
        assert!(Deadline::new(began).is_over(began));
    }

    #[test]
    fn canadian_overtime_is_for_so_many_moves() {
        let mut clock = Clock::new(System::Canadian { main: 8.0, period: 30.0, stones: 3 });
        check(&clock, 10.0 - LAG);
        for left in [(28.0, 2), (18.0, 1), (30.0, 3), (20.0, 2)] {
            clock.spend(Color::Black, Duration::from_secs(10));
            assert_eq!((clock.left[0].time, clock.left[0].stones), left);
        }
        check(&clock, 10.0 - LAG);
        clock.set(Color::Black, 6.0, 3);
        check(&clock, 2.0 - LAG);
        check(&Clock::new(System::Canadian { main: 0.0, period: 5.0, stones: 1 }), 5.0 - LAG);
    }

    #[test]
    fn byo_yomi_is_for_each_move() {
        let mut clock = Clock::new(System::ByoYomi { main: 60.0, period: 10.0, periods: 5 });
        check(&clock, 10.0 - LAG);
        clock.spend(Color::Black, Duration::from_secs(55));
        check(&clock, 5.0 - LAG);
        clock.spend(Color::Black, Duration::from_secs(6));
        assert_eq!(clock.left[0], Left { time: 10.0, stones: 5 });
        clock.spend(Color::Black, Duration::from_secs(9));
        assert_eq!(clock.left[0], Left { time: 10.0, stones: 5 });
        clock.spend(Color::Black, Duration::from_secs(11));
        assert_eq!(clock.left[0], Left { time: 10.0, stones: 4 });
        check(&clock, 10.0 - LAG);
        assert_eq!(clock.left[1], Left { time: 60.0, stones: 0 });
    }
}
