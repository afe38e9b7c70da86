//! Files to give away and to take over: round trips, and what is said of broken ones.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use go::Size;
use net::{FileKind, Inputs, NetError, Shape, Weights};
use proptest::prelude::*;
use record::synthetic;

use crate::{examples, kinds, tiny};

fn two_planes() -> Shape {
    Shape { inputs: Inputs::LeelaZero, ..tiny() }
}

fn leela_zero(shape: Shape) -> String {
    let (file, _) = FileKind::LeelaZero.write(&Weights::synthetic(shape, 1), &[]).unwrap();
    String::from_utf8(file).unwrap()
}

fn refusal(text: impl AsRef<[u8]>) -> String {
    FileKind::read(text.as_ref()).unwrap_err().to_string()
}

/// The file with one line replaced, counted from 1.
fn with_line(number: usize, line: &str) -> String {
    let text = leela_zero(tiny());
    let lines = text.lines().zip(1..).map(|(old, n)| if n == number { line } else { old });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn round_trip_through_every_kind_of_file_keeps_outputs() {
    let wide = Shape { policy_planes: 3, value_planes: 2, blocks: 3, size: Size::new(6).unwrap(), ..tiny() };
    for shape in [tiny(), two_planes(), wide, Shape { blocks: 0, ..tiny() }] {
        let weights = Weights::synthetic(shape, 7);
        for kind in FileKind::ALL {
            let (file, written) = kind.write(&weights, &[]).unwrap();
            let (found, back, read) = FileKind::read(&file).unwrap();
            assert_eq!(found, kind);
            assert_eq!(back.shape(), shape);
            // A few roundings of f32 over eight layers.
            assert!(written.policy < 1e-5 && written.value < 1e-5 && written.positions >= 12, "{kind}: {written}");
            assert!(read.policy < 1e-5 && read.value < 1e-5, "{kind}: {read}");
            assert_eq!(back == weights, kind == FileKind::Weights, "{kind}");
            // What has been there and back does not change any more, but for a last bit.
            let (again, _) = kind.write(&back, &[]).unwrap();
            let (_, twice, _) = FileKind::read(&again).unwrap();
            let name = "blocks.0.first.conv.weight";
            assert_eq!(twice.tensor(name), back.tensor(name), "{kind}");
        }
    }
}

#[test]
fn networks_of_other_kinds_come_back_folded_and_have_no_place_with_leela_zero() {
    for shape in kinds(tiny()) {
        let weights = Weights::synthetic(shape, 7);
        for kind in [FileKind::Weights, FileKind::Folded] {
            let (file, written) = kind.write(&weights, &examples(9)).unwrap();
            let (_, back, _) = FileKind::read(&file).unwrap();
            assert!(written.policy < 2e-5 && written.value < 2e-5, "{kind} {shape}: {written}");
            assert_eq!(back.shape(), if kind == FileKind::Folded { shape.in_play() } else { shape });
        }
        assert!(matches!(FileKind::LeelaZero.write(&weights, &[]), Err(NetError::NoPlace { .. })));
        assert!(!FileKind::LeelaZero.holds(shape) && FileKind::Folded.holds(shape));
    }
    // Other planes and other values are a hindrance.
    let plain = tiny();
    let policy_head = config::PolicyHead::Convolution;
    let (value_head, inputs) = (config::ValueHead::WinDrawLoss, Inputs::Features);
    for (shape, expected) in [
        (Shape { inputs, ..plain }, "network.inputs"),
        (Shape { policy_head, ..plain }, "network.policy_head"),
        (Shape { value_head, value_pooled: true, ..plain }, "network.value_head, network.value_pooled"),
        (Shape { se_channels: 4, ..plain }, "network.se_channels"),
        (Shape { blocks: 2, pooled_filters: 3, ..plain }, "network.pooled_filters"),
    ] {
        let error = FileKind::LeelaZero.write(&Weights::synthetic(shape, 7), &[]).unwrap_err();
        assert!(error.to_string().contains(&format!("no place for {expected}; ")), "{error}");
        assert!(!FileKind::LeelaZero.holds(shape), "{shape}");
    }
    for shape in [plain, Shape { inputs: Inputs::LeelaZero, ownership: true, ..plain }] {
        assert!(FileKind::LeelaZero.holds(shape), "{shape}");
    }
}

#[test]
fn given_positions_are_verified_beside_the_default_ones() {
    let weights = Weights::synthetic(tiny(), 7);
    let alone = FileKind::LeelaZero.write(&weights, &[]).unwrap().1.positions;
    let with = FileKind::LeelaZero.write(&weights, &examples(9)).unwrap().1.positions;
    assert_eq!(with, alone + 9);
    let other = synthetic::game("a", "b", 0, Size::new(9).unwrap(), 1).examples().unwrap();
    let error = FileKind::LeelaZero.write(&weights, &other).unwrap_err();
    assert!(matches!(error, NetError::OtherBoard { .. }), "{error}");
}

#[test]
fn lines_are_those_of_leela_zero() {
    let text = leela_zero(tiny());
    let counts: Vec<usize> = text.lines().map(|line| line.split(' ').count()).collect();
    let (stem, block) = ([18 * 8 * 9, 8, 8, 8], [8 * 8 * 9, 8, 8, 8]);
    let heads = [16, 2, 2, 2, 50 * 26, 26, 8, 1, 1, 1, 25 * 16, 16, 16, 1];
    assert_eq!(counts, [&[1][..], &stem, &block, &block, &heads].concat());
    // White's plane is the last of the 18, and a network of ours does not look at it.
    let kernel: Vec<&str> = text.lines().nth(1).unwrap().split(' ').take(18 * 9).collect();
    assert!(kernel[17 * 9..].iter().all(|&weight| weight == "0"));
    // The other planes: mine, then theirs; rows from below.
    let weights = Weights::synthetic(tiny(), 1);
    let (ours, scales) = (weights.tensor("stem.conv.weight").unwrap(), weights.tensor("stem.norm.weight").unwrap());
    for (plane, our_plane) in [(0, 0), (3, 6), (8, 1), (15, 15), (16, 16)] {
        for (row, column) in [(0, 0), (1, 2), (2, 1)] {
            let found: f32 = kernel[plane * 9 + row * 3 + column].parse().unwrap();
            let wanted = ours[our_plane * 9 + (2 - row) * 3 + column] * scales[0];
            assert!((found - wanted).abs() < 1e-6, "plane {plane}");
        }
    }
}

#[test]
fn gzipped_file_is_the_same() {
    let text = leela_zero(two_planes());
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let read = |bytes: &[u8]| FileKind::read(bytes).unwrap().1;
    assert_eq!(read(&packed), read(text.as_bytes()));
    assert!(refusal(&packed[..packed.len() / 2]).starts_with("not a whole gzip file: "));
}

/// Lengths of headers whose first bytes are a digit and a space.
#[test]
fn safetensors_whose_length_looks_like_text_are_weights() {
    let file = Weights::synthetic(tiny(), 1).to_bytes();
    let (length, rest) = file.split_at(8);
    let (header, tensors) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
    for length in [u64::from(u16::from_le_bytes(*b"0 ")), u64::from(u16::from_le_bytes(*b"8 "))] {
        let padding = vec![b' '; length as usize - header.len()];
        let file = [&length.to_le_bytes()[..], header, &padding, tensors].concat();
        let (kind, weights, _) = FileKind::read(&file).unwrap();
        assert_eq!((kind, weights), (FileKind::Weights, Weights::synthetic(tiny(), 1)), "{length} bytes");
    }
}

#[test]
fn windows_line_endings_are_accepted() {
    let text = leela_zero(tiny());
    let read = |text: &str| FileKind::read(text.as_bytes()).unwrap().1;
    assert_eq!(read(&text.replace('\n', "\r\n")), read(&text));
}

#[test]
fn broken_file_is_refused_by_line() {
    let text = leela_zero(tiny());
    assert_eq!(refusal(text.replacen('1', "2", 1)), "line 1: version \"2\", expected \"1\"");
    let whole = "a whole one has 19 lines, and 8 more per block";
    assert_eq!(refusal("1"), format!("line 1: truncated file: {whole}"));
    let cut: String = text.lines().take(20).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(refusal(cut), format!("line 20: truncated file: {whole}"));
    let [line, word] = ['\n', ' '].map(|end| text.trim_end().rfind(end).unwrap());
    for cut in [line, word] {
        assert_eq!(refusal(&text[..cut]), format!("line 26: truncated file: {whole}"));
    }
    assert_eq!(refusal(with_line(3, "0 0 x 0 0 0 0 0")), "line 3: number 3 is \"x\"");
    assert_eq!(refusal(with_line(3, "0 0 0 0 0 0 0 nan")), "line 3: number 8 is \"nan\"");
    assert_eq!(refusal(with_line(3, "1e99 0 0 0 0 0 0 0")), "line 3: number 1 is \"1e99\"");
    assert_eq!(refusal(with_line(4, "0 0 0")), "line 4: 3 means of stem, expected 8");
    assert_eq!(refusal(with_line(3, "0 0 0")), "line 2: 1296 weights of stem, expected 486");
    assert_eq!(refusal(with_line(3, "")), "line 3: filters is 0: must be from 1 to 16384");
    assert_eq!(refusal(with_line(9, "1 1 1 1 1 1 1 -1")), "line 9: variance 8 of blocks.0.first is -1");
    assert_eq!(refusal(with_line(19, "0 0 0")), "line 19: a policy of 3 moves, which no board from 2x2 to 19x19 has");
    // The policy of another board.
    assert_eq!(refusal(with_line(19, &["0"; 82].join(" "))), "line 18: 1300 weights of policy.dense, expected 13284");
}

#[test]
fn overflow_is_named() {
    let file = with_line(3, "3e38 0 0 0 0 0 0 0").replace("\r", "");
    let lines: Vec<&str> = file.lines().collect();
    let zeros = ["0"; 8].join(" ");
    let file = lines.iter().zip(1..).map(|(line, n)| if n == 5 { zeros.as_str() } else { line });
    let error = refusal(file.collect::<Vec<_>>().join("\n"));
    assert_eq!(error, "tensor stem.norm.bias: number 0 is inf");
}

#[test]
fn folded_file_vouches_for_its_numbers() {
    let (file, _) = FileKind::Folded.write(&Weights::synthetic(tiny(), 7), &[]).unwrap();
    let mut changed = file.clone();
    *changed.last_mut().unwrap() ^= 1;
    let error = FileKind::read(&changed).unwrap_err();
    assert!(matches!(error, NetError::OtherDigest { .. }), "{error}");
    let error = Weights::from_bytes(&file).unwrap_err();
    assert_eq!(error.to_string(), "the file is \"tengen-folded/2\", expected \"tengen-weights/2\"");
}

#[test]
fn file_of_no_kind_is_no_network() {
    let problem = "neither safetensors nor ONNX nor text of Leela Zero's, which begins with its version";
    for text in ["", "\n1\n", "nothing of the kind", "12345", "-1 2 3"] {
        assert_eq!(refusal(text), problem, "{text}");
    }
}

#[test]
fn kinds_read_and_print() {
    for kind in FileKind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    let error = "onnx".parse::<FileKind>().unwrap_err();
    assert_eq!(error.to_string(), "\"onnx\" is none of weights, folded, leela-zero");
}

proptest! {
    #[test]
    fn no_text_is_cause_for_panic(place in 0usize..30_000, byte: u8, length in 0usize..30_000) {
        let mut text = leela_zero(tiny()).into_bytes();
        let place = place % text.len();
        text[place] = byte;
        let _ = FileKind::read(&text);
        text.truncate(length);
        let _ = FileKind::read(&text);
    }
}
