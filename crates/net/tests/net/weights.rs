//! Files of weights: what is written is read, and what is broken is named.

use std::collections::HashMap;

use net::{NetError, Weights};
use proptest::prelude::*;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::{examples, tiny};

fn file() -> Vec<u8> {
    Weights::random(tiny(), 1).to_bytes()
}

type Tensors = HashMap<String, (Dtype, Vec<usize>, Vec<u8>)>;

/// The file with its tensors and its line of metadata changed.
fn changed(change: impl FnOnce(&mut Tensors, &mut String)) -> Vec<u8> {
    let file = file();
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    let mut line = metadata.metadata().as_ref().unwrap()["tengen"].clone();
    let views = SafeTensors::deserialize(&file).unwrap();
    let own =
        |(name, view): (String, TensorView<'_>)| (name, (view.dtype(), view.shape().to_vec(), view.data().to_vec()));
    let mut tensors: Tensors = views.tensors().into_iter().map(own).collect();
    change(&mut tensors, &mut line);
    let views = tensors
        .iter()
        .map(|(name, (dtype, shape, data))| (name.clone(), TensorView::new(*dtype, shape.clone(), data).unwrap()));
    safetensors::serialize(views, Some(HashMap::from([("tengen".to_owned(), line)]))).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    Weights::from_bytes(bytes).unwrap_err().to_string()
}

#[test]
fn weights_survive_their_file() {
    let weights = Weights::random(tiny(), 3);
    assert_eq!(Weights::from_bytes(&weights.to_bytes()).unwrap(), weights);
    assert_eq!(weights.tensor("policy.dense.bias").unwrap().len(), 26);
    assert_eq!(weights.tensor("policy.dense"), None);
}

#[test]
fn equal_weights_make_equal_files() {
    assert_eq!(file(), file());
    assert_ne!(file(), Weights::random(tiny(), 2).to_bytes());
    // Changing them by hand changes nothing else, so the refusals below are for the reasons they state.
    assert_eq!(Weights::from_bytes(&changed(|_, _| ())).unwrap(), Weights::random(tiny(), 1));
}

#[test]
fn shape_stands_in_the_file() {
    let file = file();
    let text = String::from_utf8_lossy(&file[8..]);
    let line = r#"{\"format\":\"tengen-weights/2\",\"size\":5,\"blocks\":1,\"filters\":8,\"policy_planes\":2,\"value_planes\":1,\"value_hidden\":16,\"planes\":17}"#;
    assert!(text.contains(line), "{}", &text[..300]);
}

#[test]
fn tensor_that_is_wrong_is_named() {
    let wrong = |name: &str, tensor| changed(|tensors, _| drop(tensors.insert(name.to_owned(), tensor)));
    let floats = |numbers: &[f32]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    for (file, expected) in [
        (changed(|tensors, _| drop(tensors.remove("value.out.bias"))), "tensor value.out.bias is missing"),
        (
            wrong("extra", (Dtype::F32, vec![1], floats(&[0.0]))),
            "tensor extra does not belong to a network of 1 block of 8 filters on 5x5, heads of 2 and 1 planes, 16 hidden values",
        ),
        (
            wrong("value.out.bias", (Dtype::F32, vec![2], floats(&[0.0; 2]))),
            "tensor value.out.bias has dimensions [2], expected [1]",
        ),
        (wrong("value.out.bias", (Dtype::F16, vec![1], vec![0; 2])), "tensor value.out.bias holds F16, expected F32"),
        (wrong("value.out.bias", (Dtype::F32, vec![1], floats(&[f32::NAN]))), "tensor value.out.bias: number 0 is NaN"),
        (
            wrong("policy.norm.running_var", (Dtype::F32, vec![2], floats(&[-1.0, 1.0]))),
            "tensor policy.norm.running_var: number 0 is -1",
        ),
    ] {
        assert_eq!(refusal(&file), expected);
    }
}

#[test]
fn file_of_another_shape_names_a_tensor_and_both_dimensions() {
    let file = changed(|_, line| *line = line.replace("\"filters\":8", "\"filters\":9"));
    assert_eq!(refusal(&file), "tensor stem.conv.weight has dimensions [8, 17, 3, 3], expected [9, 17, 3, 3]");
}

#[test]
fn scales_of_another_network_are_refused() {
    let with = |layers: &[f32]| {
        let layers: Vec<String> = layers.iter().map(|&scale| format!("{:?}", [scale; 25])).collect();
        let scales = format!("\"planes\":17,\"scales\":[{}]", layers.join(","));
        changed(|_, line| *line = line.replace("\"planes\":17", &scales))
    };
    assert!(Weights::from_bytes(&with(&[1.0; 3])).unwrap().has_scales());
    let few = refusal(&with(&[1.0]));
    assert!(few.starts_with("calibration has scales of 1 layers, the network has 3; "), "{few}");
    let negative = refusal(&with(&[1.0, -1.0, 1.0]));
    assert!(negative.starts_with("layer 1 has no finite scales"), "{negative}");
}

#[test]
fn activations_without_scales_are_named() {
    let file = changed(|tensors, _| {
        let (.., data) = tensors.get_mut("stem.norm.bias").unwrap();
        data.chunks_exact_mut(4).for_each(|number| number.copy_from_slice(&3e38_f32.to_le_bytes()));
    });
    let error = Weights::from_bytes(&file).unwrap().calibrated(&examples(16), 1).unwrap_err();
    assert!(matches!(error, NetError::Cpu(cpu::CpuError::BadScales { layer: 1 })), "{error}");
}

#[test]
fn file_of_another_kind_says_so() {
    for (from, to, expected) in [
        ("weights/2", "weights/1", "the file is \"tengen-weights/1\", expected \"tengen-weights/2\""),
        ("\"planes\":17", "\"planes\":19", "a network for 19 planes of input, and positions have 16, 17, 18 or 31"),
        ("\"size\":5", "\"size\":20", "board size must be a whole number from 2 to 19, not 20"),
        ("\"blocks\":1", "\"blocks\":-1", "invalid value: integer `-1`"),
        ("\"blocks\":1", "\"blocks\":99999999999999", "blocks is 99999999999999: must be from 0 to 16384"),
        ("\"blocks\":1,", "", "missing field `blocks`"),
        ("{", "", "metadata \"tengen\""),
    ] {
        let error = refusal(&changed(|_, line| *line = line.replace(from, to)));
        assert!(error.contains(expected), "{error}");
    }
    let foreign = safetensors::serialize(Vec::<(String, TensorView<'_>)>::new(), None).unwrap();
    assert!(matches!(Weights::from_bytes(&foreign), Err(NetError::NoHeader)));
}

#[test]
fn file_cut_anywhere_is_refused() {
    let file = file();
    for length in (0..file.len()).step_by(97).chain([file.len() - 1]) {
        assert!(matches!(Weights::from_bytes(&file[..length]), Err(NetError::NotSafetensors(_))), "{length}");
    }
}

proptest! {
    #[test]
    fn weights_with_a_changed_byte_cause_no_panic(place in 0usize..4000, byte: u8) {
        let mut file = file();
        let place = place % file.len();
        file[place] = byte;
        let _ = Weights::from_bytes(&file);
    }
}
