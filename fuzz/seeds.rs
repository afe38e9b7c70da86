//! Writes what the fuzz targets begin with: `seeds FOLDER` makes a folder of files for each target.

mod run_seeds;

use std::fs;
use std::path::{Path, PathBuf};

use analysis::Origin;
use analysis::book::{BookHeader, BookKey, BookMove, Entry};
use cpu::Description;
use evalcache::segment::{KomiCoding, Set, Symmetries, write};
use evalcache::{Key, Steps, Tables, View};
use go::{Game, Move, Size, Symmetry};
use net::{FileKind, Inputs, Shape, Weights};
use prost::Message;
use remote::proto::kserve::{ModelInferRequest, model_infer_request::InferInputTensor};
use remote::proto::v1::{self, ClientMessage, ServerMessage, client_message, server_message};
use remote::{Answer, Batch, Encoding, ModelKey, Refusal};

/// A gzipped collection of three games, the second of which has no end.
const PACKED: [u8; 46] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xd3, 0xb0, 0x0e, 0x8e, 0x8a, 0xb6, 0x8c, 0xb5, 0x76,
    0x8a, 0x4e, 0x4c, 0x8c, 0xd5, 0xe4, 0xd2, 0x80, 0x70, 0x61, 0xb4, 0x75, 0x78, 0x74, 0x52, 0x12, 0x50, 0x18, 0x00,
    0x94, 0x41, 0xa2, 0x44, 0x26, 0x00, 0x00, 0x00,
];

fn main() -> std::io::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).expect("the usage is: seeds FOLDER"));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("fuzz is in the repository");
    let game = game();
    for inputs in [Inputs::History, Inputs::Features, Inputs::Tactics] {
        let name = inputs.to_string();
        put(&folder, "batch", &name, &client(inputs, &game).encode_to_vec())?;
        put(&folder, "kserve", &name, &request(inputs, &game).encode_to_vec())?;
    }
    for (name, answer) in answers() {
        let message = ServerMessage { message: Some(server_message::Message::Answer(answer.into())) };
        put(&folder, "reply", name, &message.encode_to_vec())?;
    }
    for steps in Steps::ALL {
        let code = code(steps, &game);
        put(&folder, "segment", &steps.to_string(), &segment(steps, &code))?;
        put(&folder, "evaluation", &steps.to_string(), &code)?;
    }
    for (name, message) in [
        ("start", r#"{"id":1,"do":{"start":{"size":9,"komi":0.5,"handicap":2}}}"#),
        ("analyze", r#"{"id":2,"do":{"analyze":{"game":{"size":9,"komi":7,"initialStones":[["B","C3"]],"initialPlayer":"W","moves":[["W","E5"],["B","pass"]]},"model":"9x9-demo","visits":100}}}"#),
        ("open", r#"{"id":3,"do":{"open":{"sgf":"(;SZ[3];B[bb](;W[aa];B[ab])(;W[cc]C[a]))"}}}"#),
        ("score", r#"{"id":4,"do":{"score":{"game":{"size":9,"komi":7},"dead":["E5"],"model":"v1-2"}}}"#),
        ("genmove", r#"{"id":5,"do":{"genmove":{"game":{"size":9,"komi":7},"model":"v1-2","visits":9,"seconds":1.5,"resign":-0.9,"awaited":true,"draw":7}}}"#),
        ("position", r#"{"id":6,"do":{"position":{"game":{"size":3,"komi":7,"moves":[["B","B2"],["W","pass"]]}}}}"#),
        ("planes", r#"{"id":7,"do":{"planes":{"game":{"size":9,"komi":7},"model":"v1-2"}}}"#),
        ("predict", r#"{"id":8,"do":{"predict":{"game":{"size":9,"komi":7,"moves":[["B","E5"]]},"model":"9x9-demo"}}}"#),
        ("save", r#"{"id":9,"do":{"save":{"game":{"size":9,"komi":7,"moves":[["B","E5"]]},"model":"v1-2","visits":9,"black":"a","result":"B+R"}}}"#),
        ("save-tree", r#"{"id":10,"do":{"save":{"game":{"size":3,"komi":7},"comment":"a","tree":[{"played":["B","B2"]},{"parent":0,"played":["W","A1"],"comment":"b"},{"parent":0,"played":["W","pass"]}]}}}"#),
        ("stop", r#"{"id":11,"do":{"stop":{"id":3}}}"#),
    ] {
        put(&folder, "page_message", name, message.as_bytes())?;
    }
    let query = r#"{"id":"a","rules":"tromp-taylor","komi":7,"boardXSize":9,"boardYSize":9,"initialStones":[["B","C3"]],"moves":[["W","E5"],["B","pass"]],"analyzeTurns":[0,2],"priorities":[1,2],"maxVisits":9,"includePolicy":true,"includePVVisits":true,"reportDuringSearchEvery":0.5,"avoidMoves":[{"player":"B","moves":["D4"],"untilDepth":2}],"overrideSettings":{"maxTime":1.5,"reportAnalysisWinratesAs":"WHITE"}}"#;
    put(&folder, "analysis_query", "analyse", query.as_bytes())?;
    put(&folder, "analysis_query", "stop", br#"{"id":"b","action":"terminate","terminateId":"a","turnNumbers":[0]}"#)?;
    let csv = b"game_id,black,white,result\n1,a,b,B\n2,\"b, or c\",a,W\n3,a,b,D\n3,a,b,D\n";
    put(&folder, "result_csv", "table", csv)?;
    put(&folder, "book", "lines", book().as_bytes())?;
    put(&folder, "weights", "leela-zero", leela_zero().as_bytes())?;
    let deep = r#"{"size": 9, "komi": 7, "moves": ["e5", "g7"], "value": -0.25, "visits": [["c4", 300], ["pass", 1]]}"#;
    put(&folder, "deep_positions", "line", deep.as_bytes())?;
    put(&folder, "input_line", "gtp", b"1 boardsize 9\nclear_board # comment\nplay b D4\n\tgenmove w\nquit\n")?;
    for (target, file) in [
        ("sgf", "tests/gtp/game.sgf"),
        ("sgf", "crates/go/tests/data/human-9d-sample.sgf"),
        ("configuration", "configs/base.toml"),
        ("configuration", "configs/tiny.toml"),
        ("weights", "crates/net/tests/data/5x5.safetensors"),
    ] {
        put(&folder, target, &file.replace('/', "-"), &fs::read(repository.join(file))?)?;
    }
    put(&folder, "sgf", "packed", &PACKED)?;
    for name in ["plain", "pooled", "features", "all"] {
        let weights = fs::read(repository.join(format!("crates/cpu/tests/data/{name}.safetensors")))?;
        let network = Description::from_safetensors(&weights).expect("the file is a network");
        put(&folder, "onnx", name, &onnx::write(&network))?;
    }
    run_seeds::write(&folder)?;
    put(&folder, "configuration", "model", b"v15-330")?;
    put(&folder, "weights", "small", &Weights::synthetic(Shape::plain(game.size()), 1).to_bytes())
}

fn put(folder: &Path, target: &str, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let folder = folder.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

/// A game on 5x5 with a few stones.
fn game() -> Game {
    let size = Size::new(5).expect("5 is a size");
    let mut game = Game::new(size);
    for index in [12, 7, 11, 6, 13] {
        game.play(Move::from_index(size, index).expect("the board has the move")).expect("the move is legal");
    }
    game
}

/// A book of the empty board and one move.
fn book() -> String {
    let size = Size::new(5).expect("5 is a size");
    let header = serde_json::to_string(&BookHeader::new(Origin::of("v15-330"), size, 7.0));
    let mut game = Game::new(size);
    let mut lines = vec![header.expect("plain fields are JSON")];
    for (visits, next) in [(90, "C3"), (40, "B3")] {
        let (symmetry, key) = BookKey::new(&game);
        let mv = Move::from_gtp(size, next).expect("the board has the vertex");
        let turned = symmetry.apply_move(size, mv).to_gtp(size);
        let to_move = if game.turn() == 0 { "B" } else { "W" }.to_owned();
        let moves = vec![BookMove { r#move: turned, prior: 0.5, visits: visits / 2, value: 0.25 }];
        let entry = Entry { key, to_move, visits, value: 0.125, full: false, moves };
        lines.push(serde_json::to_string(&entry).expect("plain fields are JSON"));
        game.play(mv).expect("the move is legal");
    }
    lines.join("\n") + "\n"
}

/// A network of one block for 5x5 in Leela Zero's text: convolutions of four lines, and dense layers of two.
fn leela_zero() -> String {
    let (area, filters, hidden) = (25, 8, 16);
    let convolution = |inputs: usize, outputs: usize| vec![inputs * outputs, outputs, outputs, outputs];
    let dense = |inputs: usize, outputs: usize| vec![inputs * outputs, outputs];
    let lengths = [
        convolution(18 * 9, filters),
        convolution(filters * 9, filters),
        convolution(filters * 9, filters),
        convolution(filters, 2),
        dense(2 * area, area + 1),
        convolution(filters, 1),
        dense(area, hidden),
        dense(hidden, 1),
    ];
    let lines = lengths.iter().flatten().map(|&length| vec!["0.125"; length].join(" "));
    let text = format!("1\n{}\n", lines.collect::<Vec<_>>().join("\n"));
    FileKind::read(text.as_bytes()).expect("the file is a network");
    text
}

fn planes(inputs: Inputs, game: &Game) -> Vec<u8> {
    let mut planes = vec![0; inputs.len(game.size())];
    inputs.of_game(game, 7.0, Symmetry::Identity, &mut planes);
    planes
}

fn client(inputs: Inputs, game: &Game) -> ClientMessage {
    let model = ModelKey { run: "v15".parse().expect("letters are a name"), number: 330, digest: None };
    let packing = inputs.packing(game.size());
    let batch = Batch::pack(7, model, &packing, &planes(inputs, game).repeat(3), Encoding::F16);
    ClientMessage { message: Some(client_message::Message::Batch(batch.into())) }
}

fn request(inputs: Inputs, game: &Game) -> ModelInferRequest {
    let side = game.size().side() as i64;
    let planes = planes(inputs, game);
    let count = (planes.len() / game.size().area()) as i64;
    let tensor = InferInputTensor {
        name: "planes".to_owned(),
        datatype: "UINT8".to_owned(),
        shape: vec![1, count, side, side],
        ..InferInputTensor::default()
    };
    ModelInferRequest {
        model_name: "v15-330".to_owned(),
        inputs: vec![tensor],
        raw_input_contents: vec![planes.into()],
        ..ModelInferRequest::default()
    }
}

fn answers() -> [(&'static str, Answer); 2] {
    let refusal = Refusal::new(v1::Status::ResourceExhausted, "the queue is full");
    [("output", Answer::output(3, vec![1; 26 * 4], vec![2; 4])), ("refusal", Answer::refused(4, refusal))]
}

fn code(steps: Steps, game: &Game) -> Vec<u8> {
    let moves = game.size().moves();
    let mut code = Vec::new();
    let view = View::new(game, Symmetry::Identity);
    let policy = vec![1.0 / moves as f32; moves];
    Tables::flat(steps).encode(&view, &policy, 0.25, &mut code).expect("the policy is one of the position");
    code
}

fn segment(steps: Steps, code: &[u8]) -> Vec<u8> {
    let size = Size::new(5).expect("5 is a size");
    let set = Set { model: [7; 32], size, komi: KomiCoding::Seen, symmetries: Symmetries::Canonical, steps };
    let entries: Vec<(Key, &[u8])> = (1..60_u128).map(|nth| (Key::from_bits(nth << 70), code)).collect();
    write(set, &Tables::flat(steps), &[3], &entries).expect("the keys ascend")
}
