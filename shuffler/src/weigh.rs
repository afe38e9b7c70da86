//! Drawing by weight: how often each position is taken when not all are alike.

use crate::random::Random;

/// What can be drawn: a weight and room for each position.
#[derive(Debug, Default)]
pub(crate) struct Urn {
    /// In proportion to which positions are drawn; not negative.
    pub(crate) weights: Vec<f32>,
    /// How often each may still be drawn; no bound where there is none.
    pub(crate) room: Option<Vec<u8>>,
}

/// A part of 2³² of an example.
const ONE: u64 = 1 << 32;

impl Urn {
    /// How many examples the positions of a kind have room for.
    pub(crate) fn room_of(&self, positions: &[u32]) -> usize {
        match &self.room {
            Some(room) => positions.iter().map(|&position| usize::from(room[position as usize])).sum(),
            None if positions.is_empty() => 0,
            None => usize::MAX,
        }
    }

    /// Draws `examples` of the positions and counts them: each as often as its share of the weights says, rounded up or
    /// down at random, and never more often than there is room for. What finds no room goes to the others.
    ///
    /// Systematic sampling (Madow 1949) in random order: so that positions that lie side by side in a game are not drawn in
    /// turns.
    pub(crate) fn draw(&self, mut positions: Vec<u32>, examples: usize, counts: &mut [u32], random: &mut Random) {
        if examples == 0 || positions.is_empty() {
            return;
        }
        random.shuffle(&mut positions);
        let scale = self.scale(&positions, examples);
        let mut sum = random.below(ONE as usize) as u64;
        let mut left = examples;
        for &position in &positions {
            let before = sum / ONE;
            sum += (self.expected(position, scale) * ONE as f64) as u64;
            let count = (sum / ONE - before) as usize;
            counts[position as usize] += count as u32;
            left -= count.min(left);
        }
        // What rounding has left, and what had room only where the weight is 0.
        while left > 0 {
            let before = left;
            for &position in &positions {
                let free =
                    self.room.as_ref().is_none_or(|room| counts[position as usize] < room[position as usize].into());
                if left > 0 && free {
                    counts[position as usize] += 1;
                    left -= 1;
                }
            }
            if left == before {
                return;
            }
        }
    }

    /// How often a position is to be drawn.
    fn expected(&self, position: u32, scale: f64) -> f64 {
        let wanted = f64::from(self.weights[position as usize]) * scale;
        self.room.as_ref().map_or(wanted, |room| wanted.min(room[position as usize].into()))
    }

    /// What weights are to be multiplied with, for the numbers to sum to `examples`: found anew each time that positions
    /// turn out to have no room for theirs, until none does.
    fn scale(&self, positions: &[u32], examples: usize) -> f64 {
        let mut scale = 0.0;
        let mut before = usize::MAX;
        loop {
            let (mut full, mut taken, mut weight) = (0, 0.0, 0.0);
            for &position in positions {
                let own = f64::from(self.weights[position as usize]);
                match self.room.as_ref().map(|room| f64::from(room[position as usize])) {
                    Some(room) if own * scale > room => {
                        full += 1;
                        taken += room;
                    }
                    _ => weight += own,
                }
            }
            if full == before || weight == 0.0 {
                return scale;
            }
            before = full;
            scale = (examples as f64 - taken).max(0.0) / weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(weights: &[f32], room: Option<&[u8]>, examples: usize, seed: u64) -> Vec<u32> {
        let urn = Urn { weights: weights.to_vec(), room: room.map(<[u8]>::to_vec) };
        let mut counts = vec![0; weights.len()];
        urn.draw((0..weights.len() as u32).collect(), examples, &mut counts, &mut Random::new(seed, 1));
        counts
    }

    #[test]
    fn everything_is_drawn_as_often_as_its_weight_says() {
        assert_eq!(drawn(&[1.0, 2.0, 0.0, 3.0], None, 12, 1), [2, 4, 0, 6]);
        let mut sums = [0; 4];
        for seed in 0..2000 {
            let counts = drawn(&[1.0, 2.0, 4.0, 3.0], None, 3, seed);
            assert_eq!(counts.iter().sum::<u32>(), 3);
            assert!(counts.iter().zip([1, 1, 2, 1]).all(|(&count, most)| count <= most), "{counts:?}");
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        // 3/10 of each weight; a standard deviation is at most 22.
        for (sum, expected) in sums.iter().zip([600, 1200, 2400, 1800]) {
            assert!(sum.abs_diff(expected) < 90, "{sums:?}");
        }
    }

    #[test]
    fn no_room_is_exceeded_and_what_is_over_goes_to_the_others() {
        assert_eq!(drawn(&[8.0, 1.0, 1.0], Some(&[2, 9, 9]), 10, 1), [2, 4, 4]);
        assert_eq!(drawn(&[8.0, 1.0, 1.0], Some(&[2, 0, 3]), 5, 1), [2, 0, 3]);
        // The only position with a weight is full.
        assert_eq!(drawn(&[1.0, 0.0], Some(&[2, 9]), 5, 1), [2, 3]);
        for seed in 0..200 {
            let room: Vec<u8> = (0..50).map(|i| i % 4).collect();
            let counts = drawn(&[1.0; 50], Some(&room), 60, seed);
            assert_eq!(counts.iter().sum::<u32>(), 60);
            assert!(counts.iter().zip(&room).all(|(&count, &room)| count <= room.into()));
        }
    }

    #[test]
    fn room_is_counted() {
        let urn = Urn { weights: vec![1.0; 3], room: Some(vec![2, 0, 5]) };
        assert_eq!((urn.room_of(&[0, 1, 2]), urn.room_of(&[1]), urn.room_of(&[])), (7, 0, 0));
        let endless = Urn { weights: vec![1.0; 3], room: None };
        assert_eq!((endless.room_of(&[0]), endless.room_of(&[])), (usize::MAX, 0));
    }

    #[test]
    fn neighbours_are_drawn_independently() {
        // Half of many alike: taken in order they would alternate.
        let counts = drawn(&[1.0; 10_000], None, 5_000, 3);
        let same = counts.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // Binomial, with a standard deviation of 50.
        assert!(same.abs_diff(5_000) < 250, "{same}");
    }
}
