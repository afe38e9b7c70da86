//! Opening trees: which moves games begin with, turned and mirrored into one.

use std::collections::BTreeMap;

use go::{Color, Move, Size, Symmetry};
use record::GameOutline;
use store::{FileRef, Run, StoreError};

use crate::corners::Corners;

/// First moves of games as a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Openings {
    /// Games that were counted.
    pub games: u64,
    /// What the games play in corners.
    pub corners: Corners,
    /// Games by their first moves, of every length up to [`Openings::DEPTH`]. Of all symmetric beginnings, one stands
    /// for all.
    lines: BTreeMap<Vec<u16>, Line>,
}

/// Games with the same first moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// The games.
    pub games: u64,
    /// Points that Black made in them; a draw is half a point.
    pub black_points: f64,
}

impl Openings {
    /// Moves of a line.
    pub const DEPTH: usize = 6;

    /// The openings of the games of these files, oldest first: of the newest files, each as a whole, until there are so
    /// many games. Imported games are no games of a model.
    ///
    /// # Errors
    /// A store that cannot be reached. Files that cannot be read are passed over.
    pub fn of_files(run: &Run, files: &[FileRef], enough: u64) -> Result<Openings, StoreError> {
        let mut openings = Openings::default();
        for file in files.iter().rev() {
            match run.games().outlines(file) {
                Err(error) if error.is_skippable() => {}
                outlines => {
                    let played = outlines?.into_iter().filter(|game| !game.summary.is_imported());
                    played.for_each(|game| openings.add(&game));
                }
            }
            if openings.games >= enough {
                break;
            }
        }
        Ok(openings)
    }

    /// Counts a game.
    pub fn add(&mut self, game: &GameOutline) {
        self.games += 1;
        self.corners.add(game.size, &game.opening);
        let points = game.summary.outcome.points(Color::Black);
        for length in 1..=game.opening.len().min(Openings::DEPTH) {
            let line = self.lines.entry(canonical(game.size, &game.opening[..length])).or_default();
            line.games += 1;
            line.black_points += points;
        }
    }

    /// The moves after a line, the most frequent first.
    pub fn after(&self, line: &[u16]) -> Vec<(&[u16], Line)> {
        let mut next: Vec<(&[u16], Line)> = self
            .lines
            .iter()
            .filter(|(moves, _)| moves.len() == line.len() + 1 && moves.starts_with(line))
            .map(|(moves, found)| (moves.as_slice(), *found))
            .collect();
        next.sort_by(|(one, of_one), (other, of_other)| of_other.games.cmp(&of_one.games).then(one.cmp(other)));
        next
    }

    /// Games with this line; none for one that was not played.
    pub fn line(&self, moves: &[u16]) -> Line {
        self.lines.get(moves).copied().unwrap_or_default()
    }
}

/// Of all symmetric sequences of moves the first. A beginning of it is the first of its own, so that lines are a tree.
pub fn canonical(size: Size, moves: &[u16]) -> Vec<u16> {
    let turned = |symmetry: &Symmetry| {
        let permutation = symmetry.permutation(size);
        moves.iter().map(|&mv| permutation[usize::from(mv)]).collect::<Vec<u16>>()
    };
    Symmetry::ALL.iter().map(turned).min().unwrap_or_default()
}

/// Moves as people read them.
pub fn text(size: Size, moves: &[u16]) -> String {
    let names = moves.iter().filter_map(|&mv| Some(Move::from_index(size, mv.into())?.to_gtp(size)));
    names.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use record::{HUMAN, games, synthetic};
    use store::{Stem, Store};

    use super::*;

    fn outlines(count: u64) -> Vec<GameOutline> {
        let size = Size::new(5).unwrap();
        let played: Vec<_> = (0..count).map(|index| synthetic::game("a-1", "w", index, size, 8)).collect();
        GameOutline::from_batch(&games::to_batch(&played)).unwrap()
    }

    #[test]
    fn beginnings_of_canonical_lines_are_canonical() {
        for game in outlines(50) {
            let whole = canonical(game.size, &game.opening);
            for length in 0..=whole.len() {
                assert_eq!(canonical(game.size, &game.opening[..length]), whole[..length]);
            }
            for symmetry in Symmetry::ALL {
                let turned: Vec<u16> =
                    game.opening.iter().map(|&mv| symmetry.permutation(game.size)[usize::from(mv)]).collect();
                assert_eq!(canonical(game.size, &turned), whole);
            }
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"r".parse().unwrap());
        let files = [1, 2].map(|time| FileRef { model: 0, stem: Stem::new("w", time).unwrap() });
        for (file, first) in files.iter().zip([0, 10]) {
            let game = |index| synthetic::game("random", "w", index, Size::new(5).unwrap(), 8);
            run.games().publish_as(file, &(first..first + 10).map(game).collect::<Vec<_>>()).unwrap();
        }
        assert_eq!(Openings::of_files(&run, &files, 100).unwrap().games, 20);
        assert_eq!([1, 10, 11].map(|enough| Openings::of_files(&run, &files, enough).unwrap().games), [10, 10, 20]);
        let path = folder.path().join(format!("r/games/{}.parquet", files[1]));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        assert_eq!(Openings::of_files(&run, &files, 100).unwrap().games, 10);
    }

    #[test]
    fn imported_games_are_no_games_of_random() {
        let folder = tempfile::tempdir().unwrap();
        let run = Store::open(folder.path().to_str().unwrap()).unwrap().run(&"r".parse().unwrap());
        let file = FileRef { model: 0, stem: Stem::new("w", 1).unwrap() };
        let game = |index| synthetic::game("random", "w", index, Size::new(5).unwrap(), 8);
        let mut games: Vec<_> = (0..12).map(game).collect();
        for game in &mut games[..7] {
            (game.black, game.white) = (HUMAN.to_owned(), HUMAN.to_owned());
        }
        run.games().publish_as(&file, &games).unwrap();
        assert_eq!(Openings::of_files(&run, &[file], 100).unwrap().games, 5);
    }

    #[test]
    fn children_of_a_line_sum_to_it() {
        let mut openings = Openings::default();
        outlines(300).iter().for_each(|game| openings.add(game));
        let first = openings.after(&[]);
        assert_eq!(first.iter().map(|(_, line)| line.games).sum::<u64>(), 300);
        // A 5x5 board has six points that no symmetry makes of each other, and the pass.
        assert!(first.len() <= 7 && first.is_sorted_by(|(_, one), (_, other)| one.games >= other.games));
        let (moves, line) = first[0];
        assert_eq!(openings.after(moves).iter().map(|(_, next)| next.games).sum::<u64>(), line.games);
        assert_eq!(openings.line(moves), line);
        assert_eq!(text(Size::new(5).unwrap(), &[0]), "A5");
        assert_eq!(text(Size::new(5).unwrap(), &[25]), "pass");
    }
}
