//! Which of a list of things a policy keeps.

use std::iter::Sum;

use config::Keep;

/// Something that may be deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// As it counts: games of a model, or 1.
    pub(super) count: u64,
    pub(super) bytes: u64,
    /// When it was published by the store's clock, in milliseconds since 1970. Of an archive by that of a worker: as
    /// the name of the newest of its files has it.
    pub(super) time: i64,
}

impl<'a> Sum<&'a Item> for Item {
    /// All of them together, as old as the newest.
    fn sum<I: Iterator<Item = &'a Item>>(items: I) -> Item {
        items.fold(Item::default(), |sum, item| Item {
            count: sum.count + item.count,
            bytes: sum.bytes + item.bytes,
            time: sum.time.max(item.time),
        })
    }
}

/// How many of these, from the first, the policy does not keep. They are in order of age, the oldest first, and go in
/// that order.
///
/// A number keeps at least so many; a size keeps at most so much.
pub(super) fn surplus(items: &[Item], keep: Keep, now: i64) -> usize {
    let kept = items.iter().rev();
    let kept = match keep {
        Keep::All => return 0,
        Keep::Count(wanted) => {
            let mut before = 0;
            kept.take_while(|item| {
                let missing = before < wanted;
                before += item.count;
                missing
            })
            .count()
        }
        Keep::Bytes(most) => {
            let mut sum = 0;
            kept.take_while(|item| {
                sum += item.bytes;
                sum <= most
            })
            .count()
        }
        Keep::Seconds(age) => {
            let oldest = now.saturating_sub_unsigned(age.saturating_mul(1000).min(i64::MAX as u64));
            // Of clocks that differ, one old time between younger ones is no reason to delete those before it only.
            return items.iter().position(|item| item.time >= oldest).unwrap_or(items.len());
        }
    };
    items.len() - kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn items() -> Vec<Item> {
        (0..5).map(|nth| Item { count: 10, bytes: 1 << 20, time: nth * HOUR }).collect()
    }

    #[test]
    fn newest_are_kept_by_number_size_and_age() {
        let gone = |keep: &str| surplus(&items(), keep.parse().unwrap(), 5 * HOUR);
        assert_eq!(gone("all"), 0);
        assert_eq!([gone("0"), gone("1"), gone("10"), gone("11"), gone("50"), gone("51")], [5, 4, 4, 3, 0, 0]);
        assert_eq!([gone("0MiB"), gone("1MiB"), gone("3MiB"), gone("9MiB")], [5, 4, 2, 0]);
        assert_eq!([gone("0h"), gone("1h"), gone("3h"), gone("9h"), gone("1w")], [5, 4, 2, 0, 0]);
        assert_eq!(surplus(&[], Keep::Count(3), 0), 0);
    }

    #[test]
    fn old_time_between_younger_ones_stays() {
        let times = [0, 4 * HOUR, 0, 5 * HOUR];
        let items = times.map(|time| Item { count: 1, bytes: 1, time });
        assert_eq!(surplus(&items, Keep::Seconds(7200), 5 * HOUR), 1);
        assert_eq!(surplus(&items, Keep::Seconds(u64::MAX), 5 * HOUR), 0);
    }
}
