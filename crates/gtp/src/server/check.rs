//! Sessions without a controller, for tests and the fuzz target of commands.

use std::sync::{LazyLock, mpsc};

use config::Preset;
use go::{Game, Scoring, Size};
use mcts::{Avoid, Search, Settings};
use play::{Uniform, generator};
use runtime::{Line, Lines, Stop};

use super::serve::{LONGEST_LINE, serve};
use super::{Decision, EngineOptions, EnginePlayer, Player, PlayerError, Session, Setup, Task, Watch};

/// Visits of a search: a few, so that there are moves to show.
const VISITS: u32 = 4;

/// Those of a preset, which takes longer to read than most sessions.
static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let config = Preset::NineByNine.config();
    Settings::new(&config.search, &config.game)
});

/// The model `uniform` without its playouts, which take longer than everything else.
struct WithoutPlayouts(EnginePlayer);

impl Player for WithoutPlayouts {
    fn genmove(&mut self, task: &Task<'_>, watch: &mut Watch<'_>) -> Result<Decision, PlayerError> {
        self.0.genmove(task, watch)
    }

    fn think(&mut self, game: &Game, komi: f32, avoid: &[Avoid], watch: &mut Watch<'_>) -> Result<(), PlayerError> {
        self.0.think(game, komi, avoid, watch)
    }

    fn seen(&self, see: &mut dyn FnMut(&Search)) {
        self.0.seen(see);
    }

    fn play_on(&mut self, game: &Game, _: f32) -> Result<Vec<Game>, PlayerError> {
        Ok(vec![game.clone()])
    }

    fn new_game(&mut self) {
        self.0.new_game();
    }

    fn reseed(&mut self, seed: u64) {
        self.0.reseed(seed);
    }
}

/// Serves lines that have all arrived, on a board of 9x9 at first; returns the responses.
pub fn converse(input: &[u8]) -> String {
    let options =
        EngineOptions { settings: *SETTINGS, leaves: 1, visits: VISITS, visits_are_maximum: true, resign: None };
    let mut player = WithoutPlayouts(EnginePlayer::new(Box::new(Uniform::new()), options, generator(1)));
    let setup = Setup {
        size: Size::new(9).expect("9 is a size"),
        any_size: true,
        komi: 7.0,
        scoring: Scoring::PassAlive,
        name: "Tengen".to_owned(),
        version: "0".to_owned(),
        visits: VISITS,
        ponder: false,
    };
    let (sender, lines) = mpsc::channel();
    Line::all(input, LONGEST_LINE).try_for_each(|line| sender.send(line)).expect("the receiver is there");
    drop(sender);
    let mut output = Vec::new();
    let served = serve(Lines::of(lines, Stop::never()), &mut output, &mut Session::new(setup, &mut player));
    served.expect("memory can be read and written");
    String::from_utf8(output).expect("responses are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_session_has_one_response() {
        let lines = [
            "1 boardsize 5",
            "2 genmove b",
            "3 kata-analyze w 1",
            "4 final_status_list alive",
            "5 tengen-visits",
            "6 nonsense",
            "7 quit",
        ];
        let output = converse(lines.join("\n").as_bytes());
        let found: Vec<&str> = output.split("\n\n").filter(|response| !response.is_empty()).collect();
        assert_eq!(found.len(), lines.len(), "{output}");
        let played = found[1].strip_prefix("=2 ");
        assert_eq!(found[3].strip_prefix("=4 "), played, "the stone that was played lives");
        assert_eq!((found[0], found[5], found[6]), ("=1", "?6 unknown command", "=7"));
    }
}
