use config::{Game, Network};
use net::{Shape, Weights};
use serde_json::Value;

use super::*;

/// A small network of made-up weights.
fn weights(filters: usize, seed: u64) -> Weights {
    let config = config::manual::template();
    let network = Network { blocks: 1, filters, value_hidden: 4, ..config.network };
    Weights::synthetic(Shape::new(&Game { size: 5, ..config.game }, &network).unwrap(), seed)
}

fn subject(name: &str, bytes: &[u8]) -> Subject {
    Subject { name: name.to_owned(), listing: read(name, bytes).unwrap(), bytes: bytes.len(), card: None, first: None }
}

/// The page of a network, and its facts.
fn page(one: &Subject, other: Option<&Subject>) -> (String, Value) {
    let page = PAGE.of(&Facts::gather(one, other).unwrap());
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    let facts = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    (page, facts)
}

#[test]
fn every_tensor_has_its_row() {
    let weights = weights(4, 1);
    let (page, facts) = page(&subject("</script>", &weights.to_bytes()), None);
    let rows = facts["tensors"].as_array().unwrap();
    assert_eq!(rows.len(), read("x", &weights.to_bytes()).unwrap().tensors.len());
    let total: u64 = rows.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    let learned = facts["model"]["parameters"].as_u64().unwrap();
    assert!(total > learned && learned > 100, "{total} {learned}");
    let norm: f64 =
        weights.tensor("stem.conv.weight").unwrap().iter().map(|&w| f64::from(w).powi(2)).sum::<f64>().sqrt();
    assert!((rows[0]["norm"].as_f64().unwrap() / norm - 1.0).abs() < 1e-3);
    assert_eq!(facts["stem"]["kernels"].as_array().unwrap().len(), 4 * 17 * 9);
    assert_eq!(facts["stem"]["planes"].as_array().unwrap().len(), 17);
    assert_eq!(facts["norms"].as_array().unwrap().len(), 5);
    assert_eq!(page.matches("<script").count(), 2);
    for outside in ["src=", "@import", "url(", "fetch(", "href=\"http", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn planes_are_named_for_what_the_network_sees() {
    for (inputs, count, first, last) in [
        (net::Inputs::History, 17, "mover’s stones now", "Black to move"),
        (net::Inputs::Features, 16, "mover’s stones", "komi for the mover"),
        (net::Inputs::Tactics, 31, "mover’s stones", "opponent’s pass-alive"),
    ] {
        let weights = Weights::synthetic(Shape { inputs, ..weights(4, 1).shape() }, 1);
        let (_, facts) = page(&subject("x", &weights.to_bytes()), None);
        let planes: Vec<_> =
            facts["stem"]["planes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!((planes.len(), planes[0], planes[count - 1]), (count, first, last));
        assert_eq!(facts["stem"]["kernels"].as_array().unwrap().len(), 4 * count * 9);
    }
}

/// The numbers of a tensor in a file, and the file with others in their place.
fn changed(weights: &Weights, tensor: &str, numbers: &[f32]) -> Vec<u8> {
    let bytes = |numbers: &[f32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let old = bytes(weights.tensor(tensor).unwrap());
    let mut file = weights.to_bytes();
    let at = file.windows(old.len()).position(|part| part == old).unwrap();
    file[at..at + old.len()].copy_from_slice(&bytes(numbers));
    file
}

#[test]
fn dead_channels_are_found() {
    let weights = weights(4, 1);
    let dead = |file: &[u8]| {
        let facts = Facts::gather(&subject("x", file), None).unwrap();
        facts.norms.iter().map(|norm| norm.dead.clone()).collect::<Vec<_>>()
    };
    assert!(dead(&weights.to_bytes()).iter().all(Vec::is_empty));
    let scales = changed(&weights, "stem.norm.weight", &[1.0, 0.005, -0.005, -1.0]);
    assert_eq!(dead(&scales)[0], [1, 2]);
    let variances = changed(&weights, "blocks.0.first.norm.running_var", &[1e-6, 1.0, 1.0, 1e-4]);
    assert_eq!(dead(&variances)[1], [0]);
}

#[test]
fn a_network_that_went_wrong_has_a_page_too() {
    let weights = weights(4, 1);
    let mut numbers = weights.tensor("stem.conv.weight").unwrap().to_vec();
    numbers[0] = f32::NAN;
    numbers[5] = f32::NEG_INFINITY;
    let (_, facts) = page(&subject("x", &changed(&weights, "stem.conv.weight", &numbers)), None);
    let row = &facts["tensors"][0];
    assert_eq!((row["nan"].as_u64(), row["infinite"].as_u64()), (Some(1), Some(1)));
    assert!(row["mean"].is_f64() && facts["stem"]["kernels"][0].is_null());
    let all = changed(&weights, "stem.norm.running_var", &[f32::NAN; 4]);
    let (_, facts) = page(&subject("x", &all), None);
    assert!(facts["norms"][0]["variance"][0].is_null() && facts["norms"][0]["dead"][0].is_null());
}

#[test]
fn two_networks_are_compared_where_they_are_alike() {
    let [one, two, wide] =
        [weights(4, 1), weights(4, 2), weights(6, 1)].map(|weights| subject("x", &weights.to_bytes()));
    let compared = |facts: &Facts| facts.tensors.iter().filter(|tensor| tensor.against.is_some()).count();
    let facts = Facts::gather(&one, Some(&two)).unwrap();
    assert_eq!((compared(&facts), facts.notes.len()), (facts.tensors.len(), 0));
    let difference = facts.tensors[0].against.as_ref().unwrap().difference.unwrap();
    // Independent numbers of the same spread are √2 of their length apart.
    assert!((difference - 2f64.sqrt()).abs() < 0.15, "{difference}");
    let same = Facts::gather(&one, Some(&one)).unwrap();
    assert!(same.tensors.iter().all(|tensor| tensor.against.as_ref().unwrap().equal));
    let other = Facts::gather(&one, Some(&wide)).unwrap();
    assert_eq!(compared(&other) + other.notes.len(), other.tensors.len());
    assert!(other.to_string().contains("not compared: stem.conv.weight is [4, 17, 3, 3] here and [6, 17, 3, 3] there"));
}
