//! Writes what the fuzz targets begin with: `seeds FOLDER` makes a folder of files for each target.

mod analysed;
mod run_seeds;
mod text_seeds;

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
use remote::{Answer, Batch, Encoding, ModelKey, PROTOCOL, Refusal};
use text_seeds::TEXTS;

/// A network, of which a folded file is made, too.
const WEIGHTS: &str = "crates/net/tests/data/5x5.safetensors";

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
    for (name, message) in replies() {
        put(&folder, "reply", name, &ServerMessage { message: Some(message) }.encode_to_vec())?;
    }
    for steps in Steps::ALL {
        let code = code(steps, &game);
        put(&folder, "segment", &steps.to_string(), &segment(steps, &code))?;
        put(&folder, "evaluation", &steps.to_string(), &code)?;
    }
    for (target, name, text) in TEXTS {
        put(&folder, target, name, text.as_bytes())?;
    }
    put(&folder, "book", "lines", book().as_bytes())?;
    put(&folder, "weights", "leela-zero", leela_zero().as_bytes())?;
    for (target, file) in [
        ("sgf", "tests/gtp/game.sgf"),
        ("sgf", "crates/go/tests/data/human-9d-sample.sgf"),
        ("configuration", "configs/base.toml"),
        ("configuration", "configs/tiny.toml"),
        ("configuration", "configs/engines/gnugo.toml"),
        ("weights", WEIGHTS),
    ] {
        put(&folder, target, &file.replace('/', "-"), &fs::read(repository.join(file))?)?;
    }
    let weights = Weights::from_bytes(&fs::read(repository.join(WEIGHTS))?).expect("the file is a network");
    put(&folder, "weights", "folded", &FileKind::folded(&weights).expect("its numbers are finite"))?;
    put(&folder, "sgf", "packed", &PACKED)?;
    for name in ["plain", "pooled", "features", "all"] {
        let weights = fs::read(repository.join(format!("crates/cpu/tests/data/{name}.safetensors")))?;
        let network = Description::from_safetensors(&weights).expect("the file is a network");
        put(&folder, "onnx", name, &onnx::write(&network))?;
    }
    run_seeds::write(&folder)?;
    put(&folder, "analysis_file", "lines", text_seeds::analysis().as_bytes())?;
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

fn replies() -> [(&'static str, server_message::Message); 4] {
    use server_message::Message as Reply;

    let refusal = Refusal::new(v1::Status::ResourceExhausted, "the queue is full");
    let welcome = v1::Welcome {
        protocol: PROTOCOL,
        server: "tengen".to_owned(),
        credit: 256,
        max_positions: 64,
        precision: "f32".to_owned(),
    };
    [
        ("output", Reply::Answer(Answer::output(3, vec![1; 26 * 4], vec![2; 4]).into())),
        ("refusal", Reply::Answer(Answer::refused(4, refusal).into())),
        ("welcome", Reply::Welcome(welcome)),
        ("credit", Reply::Credit(v1::Credit { credit: 128 })),
    ]
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
