//! Finding games: newest first, a page at a time, without an index.
//!
//! A search reads files of games until it has a page or its time is over, and says where it stopped. So it needs no
//! memory for the games of a run, and a search for rare games is continued by its reader.

use std::collections::HashSet;
use std::fmt;
use std::ops::RangeInclusive;

use config::{ModelId, RunName, split_settings};
use go::{Move, Size, Symmetry};
use record::{EndReason, GameId, GameOutline, GameRecord, GameSummary, Outcome};
use store::{FileRef, Run, Stem, StoreError};

use crate::pool::players_model;

/// Where games come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Self-play.
    SelfPlay,
    /// Matches.
    Match,
}

/// What is searched for. Everything that is not given fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Where to search.
    pub kind: Kind,
    /// The number of the model that played; 0 is `random`. In matches either player may be of it, with any settings.
    pub model: Option<u32>,
    /// The name of a player, or what comes before its settings: `tiny-1` is `tiny-1+visits=8`, too, and not `tiny-10`.
    /// Every player where it is empty.
    pub player: String,
    /// Who won.
    pub outcome: Option<Outcome>,
    /// How the game ended.
    pub end: Option<EndReason>,
    /// How many moves it has.
    pub moves: RangeInclusive<u32>,
    /// Whether it is a calibration game.
    pub calibration: Option<bool>,
    /// Whether the resign threshold was reached, by resignation or in a calibration game.
    pub reached_threshold: Option<bool>,
    /// The first moves, or any that a symmetry makes of them.
    pub opening: Vec<Move>,
}

impl Search {
    /// Whether a game of a run fits.
    pub fn fits(&self, run: &RunName, game: &GameOutline) -> bool {
        let summary = &game.summary;
        self.outcome.is_none_or(|outcome| outcome == summary.outcome)
            && self.end.is_none_or(|end| end == summary.end)
            && self.calibration.is_none_or(|calibration| calibration == summary.calibration)
            && self.reached_threshold.is_none_or(|reached| reached == reaches_threshold(summary))
            && self.moves.contains(&game.moves)
            && (self.player.is_empty() || has_player(summary, |player| is_named(player, &self.player)))
            && self.model.filter(|_| self.kind == Kind::Match).is_none_or(|model| {
                has_player(summary, |player| match model {
                    0 => ModelId::built_in(split_settings(player).0) == Some(ModelId::Random),
                    model => players_model(run, player) == Some(model),
                })
            })
            && begins_with(game.size, &game.opening, &self.opening)
    }
}

fn has_player(game: &GameSummary, fits: impl Fn(&str) -> bool) -> bool {
    fits(&game.black) || fits(&game.white)
}

/// Whether a player has this name, with or without its settings.
pub fn is_named(player: &str, name: &str) -> bool {
    player == name || split_settings(player).0 == name
}

/// Whether a player reached the resign threshold: the game ended so, or would have without calibration.
fn reaches_threshold(game: &GameSummary) -> bool {
    game.end == EndReason::Resignation || game.would_resign_turn.is_some()
}

/// Whether moves begin with others, turned or mirrored.
fn begins_with(size: Size, moves: &[u16], wanted: &[Move]) -> bool {
    let same = |symmetry: &Symmetry| {
        let turned = wanted.iter().map(|&mv| symmetry.apply_move(size, mv).index(size));
        turned.eq(moves.iter().take(wanted.len()).map(|&mv| usize::from(mv)))
    };
    wanted.is_empty() || Symmetry::ALL.iter().any(same)
}

/// A file of games: of self-play, or of matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GamesFile {
    /// Of self-play by a model.
    SelfPlay(FileRef),
    /// Of matches.
    Match(Stem),
}

impl GamesFile {
    /// Reads what is written; `None` for a text that names no file of games.
    pub fn parse(text: &str) -> Option<GamesFile> {
        let mut parts = text.split('/');
        let file = match (parts.next()?, parts.next()?, parts.next()) {
            ("games", model, Some(stem)) => {
                GamesFile::SelfPlay(FileRef { model: model.parse().ok()?, stem: stem.parse().ok()? })
            }
            ("matches", stem, None) => GamesFile::Match(stem.parse().ok()?),
            _ => return None,
        };
        parts.next().is_none().then_some(file)
    }

    fn outlines(&self, run: &Run) -> Result<Vec<GameOutline>, StoreError> {
        match self {
            GamesFile::SelfPlay(file) => run.games().outlines(file),
            GamesFile::Match(stem) => run.matches().outlines(stem),
        }
    }

    /// The games of the file, with all their turns.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn games(&self, run: &Run) -> Result<Vec<GameRecord>, StoreError> {
        match self {
            GamesFile::SelfPlay(file) => run.games().read(file),
            GamesFile::Match(stem) => run.matches().read(stem),
        }
    }
}

impl fmt::Display for GamesFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GamesFile::SelfPlay(file) => write!(f, "games/{}/{}", file.model, file.stem),
            GamesFile::Match(stem) => write!(f, "matches/{stem}"),
        }
    }
}

/// A game, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Its file.
    pub file: GamesFile,
    /// Its row in the file.
    pub row: usize,
    /// What is known of it.
    pub outline: GameOutline,
}

/// What a search has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundGames {
    /// The games, newest first.
    pub games: Vec<Found>,
    /// Where the search continues: the file, and the rows of it that are left. `None` where everything was searched.
    pub next: Option<(GamesFile, usize)>,
    /// Games that were searched.
    pub searched: usize,
}

/// Searches from a place on for at most so many games, while `may_continue`. One file is read in any case: a search
/// whose time is over when the files are listed would be continued for ever. A game that is in several files is found
/// once, in the newest; a search that is continued does not know what was found before.
///
/// # Errors
/// A store that cannot be reached. Files that cannot be read are passed over.
pub fn search(
    run: &Run,
    search: &Search,
    from: Option<&(GamesFile, usize)>,
    most: usize,
    may_continue: &dyn Fn() -> bool,
) -> Result<FoundGames, StoreError> {
    let mut found = FoundGames::default();
    let mut known: HashSet<GameId> = HashSet::new();
    let mut has_read = false;
    for model in models(run, search, from)? {
        for file in files(run, search.kind, model)? {
            let is_first = from.is_some_and(|(first, _)| *first == file);
            if from.is_some_and(|(first, _)| is_newer(&file, first)) {
                continue;
            }
            let rows = from.filter(|_| is_first).map_or(usize::MAX, |(_, rows)| *rows);
            if found.games.len() >= most || (has_read && !may_continue()) {
                found.next = Some((file, rows));
                return Ok(found);
            }
            has_read = true;
            let outlines = match file.outlines(run) {
                Err(error) if error.is_skippable() => continue,
                outlines => outlines?,
            };
            for row in (0..rows.min(outlines.len())).rev() {
                if found.games.len() >= most {
                    found.next = Some((file, row + 1));
                    return Ok(found);
                }
                found.searched += 1;
                let outline = &outlines[row];
                if search.fits(run.name(), outline) && known.insert(outline.summary.id) {
                    found.games.push(Found { file: file.clone(), row, outline: outline.clone() });
                }
            }
        }
    }
    Ok(found)
}

/// The models to search, newest first; one that is none for matches.
fn models(run: &Run, search: &Search, from: Option<&(GamesFile, usize)>) -> Result<Vec<u32>, StoreError> {
    match (search.kind, search.model) {
        (Kind::Match, _) => Ok(vec![0]),
        (Kind::SelfPlay, Some(model)) => Ok(vec![model]),
        (Kind::SelfPlay, None) => {
            let mut models = run.games().models()?;
            if let Some((GamesFile::SelfPlay(file), _)) = from {
                models.retain(|&model| model <= file.model);
            }
            models.reverse();
            Ok(models)
        }
    }
}

/// The files to search, newest first.
fn files(run: &Run, kind: Kind, model: u32) -> Result<Vec<GamesFile>, StoreError> {
    Ok(match kind {
        Kind::Match => run.matches().files()?.into_iter().rev().map(GamesFile::Match).collect(),
        Kind::SelfPlay => run.games().files(model)?.into_iter().rev().map(GamesFile::SelfPlay).collect(),
    })
}

/// Whether a file comes before another one in a search.
fn is_newer(one: &GamesFile, other: &GamesFile) -> bool {
    match (one, other) {
        (GamesFile::SelfPlay(one), GamesFile::SelfPlay(other)) => one > other,
        (GamesFile::Match(one), GamesFile::Match(other)) => one > other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use record::synthetic;
    use store::Store;

    use super::*;

    fn run_with_games() -> Run {
        let run = Store::in_memory().unwrap().run(&"r".parse().unwrap());
        let size = Size::new(5).unwrap();
        for model in 0..3 {
            for file in 0..2 {
                let name = if model == 0 { "random".to_owned() } else { format!("r-{model}") };
                let games: Vec<_> =
                    (10 * file..10 * file + 10).map(|index| synthetic::game(&name, "w", index, size, 8)).collect();
                let stem = Stem::new("w", file).unwrap();
                run.games().publish_as(&FileRef { model, stem }, &games).unwrap();
            }
        }
        run
    }

    /// Every game of self-play.
    fn any() -> Search {
        Search {
            kind: Kind::SelfPlay,
            model: None,
            player: String::new(),
            outcome: None,
            end: None,
            moves: 0..=u32::MAX,
            calibration: None,
            reached_threshold: None,
            opening: Vec::new(),
        }
    }

    fn all(run: &Run, wanted: &Search, most: usize, may_continue: bool) -> (Vec<Found>, usize) {
        let (mut found, mut from, mut pages) = (Vec::new(), None, 0);
        loop {
            let page = search(run, wanted, from.as_ref(), most, &|| may_continue).unwrap();
            assert!(page.games.len() <= most);
            found.extend(page.games);
            pages += 1;
            assert!(pages < 100, "the search stands still");
            from = page.next;
            if from.is_none() {
                return (found, pages);
            }
        }
    }

    #[test]
    fn pages_together_have_every_game_once_newest_first() {
        let run = run_with_games();
        let (whole, _) = all(&run, &any(), usize::MAX, true);
        assert_eq!(whole.len(), 60);
        for most in [1, 7, 10, 59] {
            assert_eq!(all(&run, &any(), most, true).0, whole, "{most} a page");
            assert_eq!(all(&run, &any(), most, false).0, whole, "{most} a page, a file at a time");
        }
        assert_eq!(all(&run, &any(), usize::MAX, false), (whole.clone(), 6), "a file a page");
        let models: Vec<u32> = whole
            .iter()
            .map(|game| match &game.file {
                GamesFile::SelfPlay(file) => file.model,
                GamesFile::Match(_) => panic!("there are no matches"),
            })
            .collect();
        assert!(models.is_sorted_by(|one, other| one >= other));
    }

    #[test]
    fn search_without_games_or_time_keeps_its_place() {
        let run = run_with_games();
        let place = GamesFile::SelfPlay(FileRef { model: 1, stem: Stem::new("w", 1).unwrap() });
        let none = search(&run, &any(), Some(&(place.clone(), 4)), 0, &|| false).unwrap();
        assert_eq!((none.games.len(), none.searched, none.next), (0, 0, Some((place.clone(), 4))));
        let some = search(&run, &any(), Some(&(place, 4)), 9, &|| false).unwrap();
        let older = GamesFile::SelfPlay(FileRef { model: 1, stem: Stem::new("w", 0).unwrap() });
        assert_eq!((some.games.len(), some.searched, some.next), (4, 4, Some((older, usize::MAX))));
    }

    #[test]
    fn games_that_do_not_fit_are_not_found() {
        let run = run_with_games();
        let (whole, _) = all(&run, &any(), usize::MAX, true);
        let count = |wanted: &Search, fits: &dyn Fn(&GameOutline) -> bool| {
            let (found, _) = all(&run, wanted, 5, true);
            assert!(found.iter().all(|game| fits(&game.outline)), "{wanted:?}");
            assert_eq!(found.len(), whole.iter().filter(|game| fits(&game.outline)).count(), "{wanted:?}");
        };
        count(&Search { outcome: Some(Outcome::Black), ..any() }, &|game| game.summary.outcome == Outcome::Black);
        count(&Search { end: Some(EndReason::Resignation), ..any() }, &|game| {
            game.summary.end == EndReason::Resignation
        });
        count(&Search { calibration: Some(true), ..any() }, &|game| game.summary.calibration);
        count(&Search { reached_threshold: Some(true), ..any() }, &|game| reaches_threshold(&game.summary));
        count(&Search { moves: 15..=18, ..any() }, &|game| (15..=18).contains(&game.moves));
        count(&Search { player: "r-2".to_owned(), ..any() }, &|game| game.summary.black == "r-2");
    }

    #[test]
    fn game_of_two_files_is_found_once_in_the_newest() {
        let run = run_with_games();
        let size = Size::new(5).unwrap();
        let again: Vec<_> = (5..12).map(|index| synthetic::game("r-2", "w", index, size, 8)).collect();
        let newest = FileRef { model: 2, stem: Stem::new("w", 7).unwrap() };
        run.games().publish_as(&newest, &again).unwrap();
        let found = search(&run, &any(), None, usize::MAX, &|| true).unwrap();
        let ids: HashSet<_> = found.games.iter().map(|game| game.outline.summary.id).collect();
        assert_eq!((found.games.len(), ids.len(), found.searched), (60, 60, 67));
        let of_newest = found.games.iter().filter(|game| game.file == GamesFile::SelfPlay(newest.clone()));
        assert_eq!(of_newest.count(), 7);
    }

    #[test]
    fn match_games_are_found_by_whole_names_of_players() {
        let run = run_with_games();
        let size = Size::new(5).unwrap();
        let played =
            [("r-1", "r-2"), ("r-10", "r-3"), ("r-2+visits=8", "random"), ("GnuGo-1", "s-1"), ("r-3", "r-1+visits=8")];
        let games: Vec<_> = (0..)
            .zip(played)
            .map(|(index, (black, white))| {
                let game = synthetic::game(black, "e", index, size, 8);
                GameRecord { white: white.to_owned(), ..game }
            })
            .collect();
        run.matches().publish("e", &games).unwrap();
        let pairs = |wanted: Search| {
            let wanted = Search { kind: Kind::Match, ..wanted };
            let found = all(&run, &wanted, 2, true).0.into_iter().rev();
            found.map(|game| (game.outline.summary.black, game.outline.summary.white)).collect::<Vec<_>>()
        };
        let of =
            |places: &[usize]| places.iter().map(|&at| (played[at].0.into(), played[at].1.into())).collect::<Vec<_>>();
        for (model, places) in [(1, &[0, 4][..]), (2, &[0, 2]), (10, &[1]), (0, &[2]), (4, &[])] {
            assert_eq!(pairs(Search { model: Some(model), ..any() }), of(places), "model {model}");
        }
        for (player, places) in
            [("r-1", &[0, 4][..]), ("r-1+visits=8", &[4]), ("r-", &[]), ("GnuGo-1", &[3]), ("", &[0, 1, 2, 3, 4])]
        {
            assert_eq!(pairs(Search { player: player.to_owned(), ..any() }), of(places), "{player:?}");
        }
        let both = Search { model: Some(2), player: "random".to_owned(), ..any() };
        assert_eq!(pairs(both), of(&[2]));
    }

    #[test]
    fn openings_fit_in_all_symmetries() {
        let size = Size::new(5).unwrap();
        let moves = |text: &str| text.split(' ').map(|mv| Move::from_gtp(size, mv).unwrap()).collect::<Vec<_>>();
        let indices = |text: &str| moves(text).iter().map(|mv| mv.index(size) as u16).collect::<Vec<_>>();
        let played = indices("A1 B3 C3");
        for (wanted, fits) in [("A1", true), ("E5 D3", true), ("A5 B3", true), ("A1 C4", false), ("A1 B3 C3 D4", false)]
        {
            assert_eq!(begins_with(size, &played, &moves(wanted)), fits, "{wanted}");
        }
        assert!(begins_with(size, &[], &[]));
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        let file = GamesFile::SelfPlay(FileRef { model: 7, stem: Stem::new("w-1", 5).unwrap() });
        let of_match = GamesFile::Match(Stem::new("e", 9).unwrap());
        for place in [file, of_match] {
            assert_eq!(GamesFile::parse(&place.to_string()), Some(place));
        }
        for text in ["", "games/1", "games/x/w-0000000000005", "matches/../run.toml", "games/1/../2", "sgf/1/w-5"] {
            assert_eq!(GamesFile::parse(text), None, "{text}");
        }
    }
}
