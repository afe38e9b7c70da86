//! The response time of a server.

use std::time::Duration;

/// Smoothed round-trip time and its variation, as TCP has them for its retransmission timer (RFC 6298, section 2).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Latency {
    /// Seconds; `None` before the first response.
    smoothed: Option<f64>,
    variation: f64,
}

impl Latency {
    /// Notes the time that a response took.
    pub(crate) fn note(&mut self, time: Duration) {
        let time = time.as_secs_f64();
        match self.smoothed {
            None => (self.smoothed, self.variation) = (Some(time), time / 2.0),
            Some(smoothed) => {
                self.variation += ((smoothed - time).abs() - self.variation) / 4.0;
                self.smoothed = Some(smoothed + (time - smoothed) / 8.0);
            }
        }
    }

    /// Time after which a response is overdue: at least `floor`, and longer for a server that is slow.
    pub(crate) fn deadline(&self, floor: Duration) -> Duration {
        let expected = self.smoothed.map_or(0.0, |smoothed| smoothed + 4.0 * self.variation);
        floor.max(Duration::from_secs_f64(expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOOR: Duration = Duration::from_millis(250);

    #[test]
    fn deadline_of_a_fast_server_is_the_floor() {
        let mut latency = Latency::default();
        assert_eq!(latency.deadline(FLOOR), FLOOR);
        (0..100).for_each(|_| latency.note(Duration::from_millis(2)));
        assert_eq!(latency.deadline(FLOOR), FLOOR);
    }

    #[test]
    fn deadline_of_a_slow_server_exceeds_what_it_takes() {
        let mut latency = Latency::default();
        for millis in [900, 1000, 1100, 950, 1050] {
            latency.note(Duration::from_millis(millis));
            assert!(latency.deadline(FLOOR) > Duration::from_millis(1100), "{latency:?}");
        }
    }
}
