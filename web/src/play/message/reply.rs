//! Replies of the server.

use std::sync::Arc;

use analysis::Report;
use serde::{Serialize, Serializer};

use super::{GameMessage, Placed, Player};

/// A reply.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reply {
    /// The id of the request; 0 for a message that is no request.
    pub(crate) id: u32,
    /// What is replied.
    #[serde(flatten)]
    pub(crate) content: Content,
}

/// The content of a reply.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Content {
    /// A game, for `start`.
    Game(GameMessage),
    /// The position for which the other replies are.
    Position(PositionMessage),
    /// The request waits for others: so many searches begin before its own.
    Queued(usize),
    /// A report of a position, the last one or a partial one.
    Analysis(AnalysisMessage),
    /// A move of the model.
    Move(MoveMessage),
    /// All positions of a game have reports: the moves by what they lost.
    Losses(Vec<LossMessage>),
    /// A score.
    Score(ScoreMessage),
    /// Input planes.
    Planes(PlanesMessage),
    /// Ownership and score.
    Prediction(PredictionMessage),
    /// An SGF file as a tree.
    Tree(TreeMessage),
    /// An SGF file.
    Sgf(SgfMessage),
    /// The request failed.
    Error(String),
}

/// A position.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PositionMessage {
    /// A character a point, row by row from the top: `.`, `X` for Black or `O` for White.
    pub(crate) board: String,
    /// The player to move.
    pub(crate) to_move: Player,
    /// Stones that Black has captured, and White.
    pub(crate) captures: [usize; 2],
    /// Empty points where the player to move may not play.
    pub(crate) forbidden: Vec<String>,
    /// Whether the game is over.
    pub(crate) over: bool,
}

/// A report of a position.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AnalysisMessage {
    /// Whether the analysis was known before.
    pub(crate) known: bool,
    /// The report, from Black's perspective.
    #[serde(serialize_with = "shared")]
    pub(crate) report: Arc<Report>,
}

/// A move of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MoveMessage {
    /// The vertex; `resign` for a resignation.
    pub(crate) vertex: String,
    /// Black's chance to win after the search, from 0 to 1; `None` without a search.
    pub(crate) winrate: Option<f64>,
    /// The position after the move.
    pub(crate) position: PositionMessage,
}

/// A move and what it lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LossMessage {
    /// Moves before it.
    pub(crate) turn: usize,
    /// How much smaller the player's chance to win is after it.
    pub(crate) loss: f64,
    /// The best move instead; `None` when it was played.
    pub(crate) best: Option<String>,
}

/// A score.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScoreMessage {
    /// Dead stones.
    pub(crate) dead: Vec<String>,
    /// A character a point: `.`, `X` or `O` for its owner.
    pub(crate) area: String,
    /// Points of Black and of White, komi included.
    pub(crate) points: [f32; 2],
    /// The result as SGF has it, such as `W+2.5`.
    pub(crate) result: String,
}

/// Input planes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlanesMessage {
    /// The name of the set.
    pub(crate) inputs: String,
    /// The planes.
    pub(crate) planes: Vec<PlaneMessage>,
}

/// An input plane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PlaneMessage {
    /// What it shows.
    pub(crate) name: String,
    /// A number a point, row by row from the top.
    pub(crate) values: Vec<u8>,
}

/// What the auxiliary heads of a network say of a position, from Black's perspective.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PredictionMessage {
    /// A number a point, row by row from the top: from −1, White's, to 1, Black's; `None` without that head.
    pub(crate) ownership: Option<Vec<f32>>,
    /// Points by which Black leads, after komi; `None` without that head.
    pub(crate) score_lead: Option<f32>,
}

/// The moves of an SGF file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TreeMessage {
    /// The game without moves.
    pub(crate) game: GameMessage,
    /// Whether the file says komi.
    pub(crate) says_komi: bool,
    /// Who plays Black, and White.
    pub(crate) players: [String; 2],
    /// Their ranks.
    pub(crate) ranks: [String; 2],
    /// The date.
    pub(crate) date: String,
    /// The name of the rules.
    pub(crate) rules: String,
    /// The result as the file has it.
    pub(crate) result: String,
    /// Comment on the game before its first move.
    pub(crate) comment: String,
    /// The nodes, each after its parent; the first children make the main line.
    pub(crate) nodes: Vec<NodeMessage>,
    /// What was left out, as sentences.
    pub(crate) notices: Vec<String>,
}

/// A move of a tree.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NodeMessage {
    /// The index of the node before it; `None` for the position before the first move.
    pub(crate) parent: Option<usize>,
    /// The move.
    pub(crate) played: Placed,
    /// Stones that it captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) captured: Vec<String>,
    /// Comment on it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) comment: String,
}

/// An SGF file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SgfMessage {
    /// Its text.
    pub(crate) text: String,
    /// Positions whose analysis it has.
    pub(crate) analysed: usize,
}

fn shared<S: Serializer>(report: &Arc<Report>, serializer: S) -> Result<S::Ok, S::Error> {
    report.serialize(serializer)
}

impl Content {
    /// The reply to the request with this id.
    pub(crate) fn to(self, id: u32) -> Reply {
        Reply { id, content: self }
    }
}

impl Reply {
    /// Its text.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string(self).expect("every key of a reply is a string")
    }
}
