//! Messages between a page and the server: JSON over a WebSocket.
//!
//! The server keeps nothing of a page's game. Each request has the whole game, so a page resumes after a restart of the
//! server by sending its last request again. Players, vertices and reports are those of KataGo's analysis protocol.

mod reply;

use serde::{Deserialize, Serialize};

pub(crate) use reply::{
    AnalysisMessage, Content, LossMessage, MoveMessage, NodeMessage, PlaneMessage, PlanesMessage, PositionMessage,
    PredictionMessage, Reply, ScoreMessage, SgfMessage, TreeMessage,
};

/// Bytes of a message.
pub(crate) const LONGEST_MESSAGE: usize = (1 << 20) + (1 << 16);
/// Bytes of an SGF file in a message.
pub(crate) const LONGEST_SGF: usize = 1 << 20;
/// Moves of a game.
pub(crate) const MOST_MOVES: usize = 2_000;
/// Nodes of a game with variations.
pub(crate) const MOST_NODES: usize = 10_000;
/// Characters of the name of a model.
const LONGEST_MODEL: usize = 100;

/// A request. Its replies repeat the id.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// Chosen by the page.
    pub(crate) id: u32,
    /// What is requested.
    #[serde(rename = "do")]
    pub(crate) action: Action,
}

/// A message that is no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct RequestError {
    /// The id of the request, as far as it has one; else 0.
    pub(crate) id: u32,
    /// Why, for the person at the page.
    pub(crate) reason: String,
}

/// A requested action.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) enum Action {
    /// The first position of a new game.
    Start(Start),
    /// The last position of a game.
    Position { game: GameMessage },
    /// Analysis of the last position of a game.
    Analyze(Search),
    /// A move of a model in the last position of a game.
    Genmove(Genmove),
    /// Analysis of all positions of a game.
    Review(Search),
    /// The result of a game.
    Score(Score),
    /// The input planes of a model in the last position of a game.
    Planes(Seen),
    /// Ownership and score that a model predicts in the last position of a game.
    Predict(Seen),
    /// The text of an SGF file as a tree of moves.
    Open { sgf: String },
    /// A game with its known analysis as an SGF file.
    Save(Save),
    /// Stops the request of this id.
    Stop { id: u32 },
}

/// A new game.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Start {
    /// Side of the board.
    pub(crate) size: usize,
    /// Points added to White's area.
    pub(crate) komi: f32,
    /// Black's stones before the first move, which White then plays; 0 for none.
    #[serde(default)]
    pub(crate) handicap: usize,
}

/// A game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GameMessage {
    /// Side of the board.
    pub(crate) size: usize,
    /// Points added to White's area.
    pub(crate) komi: f32,
    /// Stones before the first move.
    #[serde(default)]
    pub(crate) initial_stones: Vec<Placed>,
    /// The player of the first move.
    #[serde(default)]
    pub(crate) initial_player: Player,
    /// The moves.
    #[serde(default)]
    pub(crate) moves: Vec<Placed>,
}

/// A player and a vertex, such as `["B", "D4"]` or `["W", "pass"]`.
pub(crate) type Placed = (Player, String);

/// A player as messages name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Player {
    /// Black.
    #[default]
    B,
    /// White.
    W,
}

/// Analysis of positions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// The game.
    pub(crate) game: GameMessage,
    /// The model, such as `v15-330`.
    pub(crate) model: String,
    /// Visits of each position.
    pub(crate) visits: u32,
}

/// A move of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Genmove {
    /// The game.
    pub(crate) game: GameMessage,
    /// The model.
    pub(crate) model: String,
    /// Visits at most.
    pub(crate) visits: u32,
    /// Seconds at most; without them the visits alone limit the search.
    #[serde(default)]
    pub(crate) seconds: Option<f32>,
    /// The expected outcome below which the model resigns, from −1 to 0; without it, it never does.
    #[serde(default)]
    pub(crate) resign: Option<f32>,
    /// Whether the search is as urgent as those of people: one waits for the move, or a clock runs. Other games between
    /// models yield to people.
    #[serde(default)]
    pub(crate) awaited: bool,
    /// Draws among good moves of the opening, so that games differ; without it the best move is played.
    #[serde(default)]
    pub(crate) draw: Option<u32>,
}

/// The result of a game.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Score {
    /// The game.
    pub(crate) game: GameMessage,
    /// The dead stones; without them a model estimates which are dead.
    #[serde(default)]
    pub(crate) dead: Option<Vec<String>>,
    /// A stone whose chain changes between dead and alive.
    #[serde(default)]
    pub(crate) toggle: Option<String>,
    /// The model.
    pub(crate) model: String,
}

/// The last position of a game as a model sees it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Seen {
    /// The game.
    pub(crate) game: GameMessage,
    /// The model.
    pub(crate) model: String,
}

/// A game to write as SGF.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Save {
    /// The game.
    pub(crate) game: GameMessage,
    /// The moves with all variations instead of those of the game; without them the game is written, and lines that are
    /// better.
    #[serde(default)]
    pub(crate) tree: Option<Vec<SavedMove>>,
    /// Comment on the game before its first move.
    #[serde(default)]
    pub(crate) comment: String,
    /// The model and the visits whose reports are written with it.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// The visits.
    #[serde(default)]
    pub(crate) visits: u32,
    /// Who plays Black.
    #[serde(default)]
    pub(crate) black: String,
    /// Who plays White.
    #[serde(default)]
    pub(crate) white: String,
    /// The ranks of Black and White.
    #[serde(default)]
    pub(crate) ranks: [String; 2],
    /// The date.
    #[serde(default)]
    pub(crate) date: String,
    /// The name of the rules; those of this server without it.
    #[serde(default)]
    pub(crate) rules: Option<String>,
    /// The result as SGF has it, such as `B+R`.
    #[serde(default)]
    pub(crate) result: String,
}

/// A move of a tree.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedMove {
    /// The index of the move before it; `None` for a first move. The first of the moves after another continues its
    /// line.
    #[serde(default)]
    pub(crate) parent: Option<usize>,
    /// The move.
    pub(crate) played: Placed,
    /// Comment on it.
    #[serde(default)]
    pub(crate) comment: String,
}

impl Save {
    fn check_tree(&self) -> Result<(), String> {
        match &self.tree {
            Some(_) if !self.game.moves.is_empty() => Err("a game has moves or a tree of moves, not both".to_owned()),
            Some(tree) if tree.len() > MOST_NODES => {
                Err(format!("the game has {} nodes; games of at most {MOST_NODES} nodes are saved", tree.len()))
            }
            _ => Ok(()),
        }
    }
}

/// What a message may have besides things that cannot be read.
#[derive(Deserialize)]
struct Identified {
    id: u32,
}

impl Request {
    /// Reads a request.
    ///
    /// # Errors
    /// The message is no request.
    pub(crate) fn parse(text: &str) -> Result<Request, RequestError> {
        let refuse = |id, reason: String| Err(RequestError { id, reason });
        if text.len() > LONGEST_MESSAGE {
            return refuse(0, format!("a message has more than {LONGEST_MESSAGE} bytes"));
        }
        let request: Request = match serde_json::from_str(text) {
            Ok(request) => request,
            Err(error) => {
                // What has an id is replied to by it: its page waits.
                let id = serde_json::from_str(text).map_or(0, |Identified { id }| id);
                return refuse(id, format!("not a request: {error}"));
            }
        };
        match request.action.check() {
            Ok(()) => Ok(request),
            Err(reason) => refuse(request.id, reason),
        }
    }
}

impl Action {
    /// Limits of lengths. What a game may be is checked when it is replayed.
    fn check(&self) -> Result<(), String> {
        let (game, model) = match self {
            Action::Position { game } => (Some(game), None),
            Action::Analyze(search) | Action::Review(search) => (Some(&search.game), Some(&search.model)),
            Action::Genmove(genmove) => (Some(&genmove.game), Some(&genmove.model)),
            Action::Score(score) => (Some(&score.game), Some(&score.model)),
            Action::Planes(seen) | Action::Predict(seen) => (Some(&seen.game), Some(&seen.model)),
            Action::Save(save) => (Some(&save.game), save.model.as_ref()),
            Action::Open { sgf } if sgf.len() > LONGEST_SGF => {
                return Err(format!("the file has {} bytes; files of at most {LONGEST_SGF} bytes are read", sgf.len()));
            }
            Action::Start(_) | Action::Open { .. } | Action::Stop { .. } => (None, None),
        };
        if let Some(moves) = game.map(|game| game.moves.len()).filter(|moves| *moves > MOST_MOVES) {
            return Err(format!("the game has {moves} moves; games of at most {MOST_MOVES} moves are analysed"));
        }
        if let Action::Save(save) = self {
            save.check_tree()?;
        }
        match model.filter(|model| model.len() > LONGEST_MODEL) {
            Some(_) => Err(format!("the name of the model has more than {LONGEST_MODEL} bytes")),
            None => Ok(()),
        }
    }
}

impl From<go::Color> for Player {
    fn from(color: go::Color) -> Player {
        match color {
            go::Color::Black => Player::B,
            go::Color::White => Player::W,
        }
    }
}

impl From<Player> for go::Color {
    fn from(player: Player) -> go::Color {
        match player {
            Player::B => go::Color::Black,
            Player::W => go::Color::White,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let RequestError { id, reason } = Request::parse(text).expect_err("no request");
        Content::Error(reason).to(id).text()
    }

    #[test]
    fn requests_have_the_fields_that_pages_send() {
        let text = r#"{"id": 7, "do": {"analyze": {"game": {"size": 9, "komi": 7, "initialStones": [["B", "C3"]],
            "initialPlayer": "W", "moves": [["W", "E5"], ["B", "pass"]]}, "model": "9x9-demo", "visits": 100}}}"#;
        let Ok(Request { id: 7, action: Action::Analyze(search) }) = Request::parse(text) else { panic!("not read") };
        assert_eq!((search.game.size, search.game.komi, search.visits), (9, 7.0, 100));
        assert_eq!(search.game.initial_player, Player::W);
        assert_eq!(search.game.moves[1], (Player::B, "pass".to_owned()));
        assert!(matches!(Request::parse(r#"{"id":1,"do":{"stop":{"id":7}}}"#), Ok(Request { id: 1, .. })));
    }

    #[test]
    fn invalid_request_gets_an_error() {
        assert!(error("").starts_with(r#"{"id":0,"error":"not a request: "#));
        assert!(error(r#"{"id":1,"do":{"fly":{}}}"#).contains("unknown variant"));
        assert!(error(r#"{"id":9,"do":{"stop":{"id":null}}}"#).starts_with(r#"{"id":9,"error":"not a request: "#));
        assert!(error(r#"{"id":1,"do":{"stop":{"id":7,"x":1}}}"#).contains("unknown field"));
        assert!(error(&" ".repeat(LONGEST_MESSAGE + 1)).contains("more than"));
    }

    #[test]
    fn long_games_files_and_names_are_refused_by_their_id() {
        let game = |moves: usize| {
            let moves = vec![r#"["B","pass"]"#; moves].join(",");
            format!(r#"{{"id":5,"do":{{"position":{{"game":{{"size":9,"komi":7,"moves":[{moves}]}}}}}}}}"#)
        };
        assert!(Request::parse(&game(MOST_MOVES)).is_ok());
        let reply = error(&game(MOST_MOVES + 1));
        assert!(reply.starts_with(r#"{"id":5,"error":"the game has 2001 moves"#), "{reply}");
        let file = |bytes: usize| format!(r#"{{"id":5,"do":{{"open":{{"sgf":"{}"}}}}}}"#, "a".repeat(bytes));
        assert!(Request::parse(&file(LONGEST_SGF)).is_ok());
        assert!(error(&file(LONGEST_SGF + 1)).contains("the file has 1048577 bytes"));
        let tree = |game: &str, nodes: usize| {
            let nodes = vec![r#"{"played":["B","pass"]}"#; nodes].join(",");
            format!(r#"{{"id":5,"do":{{"save":{{"game":{{"size":9,"komi":7{game}}},"tree":[{nodes}]}}}}}}"#)
        };
        assert!(Request::parse(&tree("", MOST_NODES)).is_ok());
        assert!(error(&tree("", MOST_NODES + 1)).contains("the game has 10001 nodes"));
        assert!(error(&tree(r#","moves":[["B","E5"]]"#, 1)).contains("not both"));
        let name = "v".repeat(LONGEST_MODEL + 1);
        let planes = format!(r#"{{"id":5,"do":{{"planes":{{"game":{{"size":9,"komi":7}},"model":"{name}"}}}}}}"#);
        assert!(error(&planes).contains("the name of the model"));
    }
}
