//! Random numbers for hashing boards, the same on every machine and in every release.

use crate::color::Color;
use crate::point::Point;
use crate::size::{MAX_AREA, Size};
use crate::symmetry::Symmetry;

/// The key of a stone: the hash of a board is the exclusive or of the keys of its stones.
pub(crate) const fn key(color: Color, point: Point) -> u64 {
    KEYS[color.index()][point.index()]
}

static KEYS: [[u64; MAX_AREA]; 2] = {
    let mut keys = [[0; MAX_AREA]; 2];
    // The ASCII letters "Tengen".
    let mut state = 0x5465_6e67_656e;
    let mut i = 0;
    while i < 2 * MAX_AREA {
        (state, keys[i / MAX_AREA][i % MAX_AREA]) = splitmix64(state);
        i += 1;
    }
    keys
};

/// The keys of a stone and of its images, in the order of [`Symmetry::ALL`].
pub(crate) fn image_keys(size: Size, color: Color, point: Point) -> &'static [u64; 8] {
    &IMAGE_KEYS[size.first_index() + point.index()][color.index()]
}

/// By point and colour, the points of smaller boards first. A table, since every stone of every example is hashed; to
/// look each image up took 57 instructions a stone.
static IMAGE_KEYS: [[[u64; 8]; 2]; Size::ALL_POINTS] = {
    let mut keys = [[[0; 8]; 2]; Size::ALL_POINTS];
    let mut side = Size::MIN.side();
    while let Ok(size) = Size::new(side) {
        let mut i = 0;
        while i < 8 * size.area() {
            let (point, image) = (i / 8, i % 8);
            let at = Symmetry::ALL[image].point(size, Point::at(point));
            keys[size.first_index() + point][Color::Black.index()][image] = key(Color::Black, at);
            keys[size.first_index() + point][Color::White.index()][image] = key(Color::White, at);
            i += 1;
        }
        side += 1;
    }
    keys
};

/// The next state and output of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014; constants of Vigna's reference implementation).
const fn splitmix64(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_keys_are_the_keys_of_the_images() {
        for (size, color) in Size::all().flat_map(|size| Color::BOTH.map(|color| (size, color))) {
            for point in (0..size.area()).map(Point::at) {
                let images = Symmetry::ALL.map(|symmetry| key(color, symmetry.point(size, point)));
                assert_eq!(image_keys(size, color, point), &images, "{point:?} of {size}");
            }
        }
    }

    #[test]
    fn splitmix64_matches_the_reference_implementation() {
        let mut state = 1_234_567;
        let mut output = [0; 3];
        for value in &mut output {
            (state, *value) = splitmix64(state);
        }
        assert_eq!(output, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }
}
