//! The points of a set of any number of words.

use crate::point::Point;

/// The points in order of index.
#[derive(Clone, Debug)]
pub(crate) struct Iter<const W: usize> {
    words: [u64; W],
    word: usize,
}

impl<const W: usize> Iter<W> {
    pub(crate) const fn new(words: [u64; W]) -> Iter<W> {
        Iter { words, word: 0 }
    }

    /// Whether there are no more.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.words.iter().fold(0, |all, word| all | word) == 0
    }
}

impl<const W: usize> Iterator for Iter<W> {
    type Item = Point;

    #[inline]
    fn next(&mut self) -> Option<Point> {
        while self.word < W {
            let bits = self.words[self.word];
            if bits != 0 {
                self.words[self.word] = bits & (bits - 1);
                return Some(Point::at(self.word * 64 + bits.trailing_zeros() as usize));
            }
            self.word += 1;
        }
        None
    }
}
