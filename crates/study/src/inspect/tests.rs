use config::{Game, Network};
use net::{Shape, Weights};
use serde_json::Value;

use super::subject::read;
use super::*;

/// A small network of made-up weights.
fn weights(filters: usize, seed: u64) -> Weights {
    let config = config::Preset::Minigo.config();
    let network = Network { blocks: 1, filters, value_hidden: 4, ..config.network };
    Weights::synthetic(Shape::new(&Game { size: 5, ..config.game }, &network), seed)
}

fn subject(name: &str, bytes: &[u8]) -> Subject {
    Subject {
        name: name.to_owned(),
        listing: read(name, bytes).unwrap(),
        bytes: bytes.len(),
        metadata: None,
        first: None,
    }
}

/// The page of a network, and its facts.
fn page(one: &Subject, other: Option<&Subject>) -> (String, Value) {
    let page = Inspection::of_network(Facts::gather(one, other).unwrap()).page();
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
    let trainable = facts["model"]["parameters"].as_u64().unwrap();
    assert!(total > trainable && trainable > 100, "{total} {trainable}");
    let norm: f64 =
        weights.tensor("stem.conv.weight").unwrap().iter().map(|&w| f64::from(w).powi(2)).sum::<f64>().sqrt();
    assert!((rows[0]["norm"].as_f64().unwrap() / norm - 1.0).abs() < 1e-3);
    assert_eq!(facts["stem"]["kernels"].as_array().unwrap().len(), 4 * 17 * 9);
    assert_eq!(facts["stem"]["planes"].as_array().unwrap().len(), 17);
    assert_eq!(facts["norms"].as_array().unwrap().len(), 5);
    // A multiply-add is two of these operations.
    assert_eq!(facts["model"]["operations"].as_u64(), Some(weights.shape().operations()));
    assert!(page.contains("<span>multiplications and additions per position</span>"), "{page}");
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
fn network_that_went_wrong_has_a_page_too() {
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

/// The page of several networks, and its facts.
fn series(networks: &[(&str, Vec<u8>)]) -> (Series, String, Value) {
    let open = |place: usize| Ok(subject(networks[place].0, &networks[place].1));
    let series = Series::gather(networks.len(), &open).unwrap();
    let page = Inspection::of_series(Series::gather(networks.len(), &open).unwrap()).page();
    let (_, rest) = page.split_once("id=\"facts\">").unwrap();
    let facts = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    (series, page, facts)
}

#[test]
fn several_networks_stand_side_by_side() {
    let files: Vec<Vec<u8>> = (1..=3).map(|seed| weights(4, seed).to_bytes()).collect();
    let networks: Vec<(&str, Vec<u8>)> = ["a-1", "a-2", "a-3"].into_iter().zip(files).collect();
    let (series, page, facts) = series(&networks);
    assert_eq!((series.ends(), series.networks.len()), (["a-1", "a-3"], 3));
    assert_eq!(series.tensors.len(), read("x", &networks[0].1).unwrap().tensors.len());
    for row in &series.tensors {
        let (low, high) = row.range.unwrap();
        assert!(low < high, "{}", row.name);
        for (cell, place) in row.cells.iter().flatten().zip(0..) {
            let count: usize = cell.counts.iter().sum();
            let listing = read("x", &networks[place].1).unwrap();
            assert_eq!(count, listing.tensor(&row.name).unwrap().numbers.len(), "all numbers are in a bar");
            assert_eq!(cell.change.is_some(), place > 0, "{}", row.name);
        }
        assert_eq!(row.cells.iter().flatten().count(), 3);
    }
    // Independent numbers of the same spread are √2 of their length apart.
    let stem = series.tensors.iter().find(|row| row.name == "stem.conv.weight").unwrap();
    assert!((stem.cells[1].as_ref().unwrap().change.unwrap() - 2f64.sqrt()).abs() < 0.15);
    assert!(series.networks[0].change.is_none() && series.networks[2].change.unwrap() > 0.1);
    assert_eq!(facts["networks"][2]["card"]["name"], "a-3");
    assert_eq!(facts["tensors"].as_array().unwrap().len(), series.tensors.len());
    assert_eq!(page.matches("<script").count(), 2);
    for outside in ["src=", "@import", "url(", "fetch(", "href=\"http", "<link"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn series_of_a_grown_network_has_empty_cells_for_missing_blocks() {
    let small = weights(4, 1);
    let deep = Weights::synthetic(Shape { blocks: 2, ..small.shape() }, 1);
    let wide = weights(6, 1);
    let (series, ..) = series(&[("r-1", small.to_bytes()), ("r-2", deep.to_bytes()), ("r-3", wide.to_bytes())]);
    let row = |name: &str| series.tensors.iter().find(|row| row.name == name).unwrap();
    let second = row("blocks.1.first.conv.weight");
    assert_eq!(second.cells.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, false]);
    let stem = row("stem.conv.weight");
    assert!(stem.cells[1].as_ref().unwrap().change.is_some(), "blocks do not change the stem's dimensions");
    assert!(stem.cells[2].as_ref().unwrap().change.is_none(), "another number of filters");
}

#[test]
fn outlier_does_not_hide_the_others() {
    let weights = weights(8, 1);
    let mut numbers = weights.tensor("stem.conv.weight").unwrap().to_vec();
    numbers[0] = 1e6;
    numbers[1] = f32::NAN;
    let broken = changed(&weights, "stem.conv.weight", &numbers);
    let variances = changed(&weights, "stem.norm.running_var", &[1e-6, 1.0, 1e-7, 1.0, 1.0, 1.0, 1.0, 1.0]);
    let (series, _, facts) = series(&[("r-1", weights.to_bytes()), ("r-2", broken), ("r-3", variances)]);
    let row = |name: &str| series.tensors.iter().find(|row| row.name == name).unwrap();
    assert!(row("stem.conv.weight").range.unwrap().1 < 10.0);
    assert_eq!(facts["networks"][1]["broken"], 1);
    let dead: Vec<_> = series.networks.iter().map(|network| network.dead).collect();
    assert_eq!(dead, [0, 0, 2]);
    let cells = &row("stem.norm.running_var").cells;
    assert_eq!(cells.iter().map(|cell| cell.as_ref().unwrap().dead).collect::<Vec<_>>(), [Some(0), Some(0), Some(2)]);
}

#[test]
fn pages_are_whole_without_scripts() {
    let [one, two] = [weights(4, 1), weights(4, 2)].map(|weights| subject("</script>", &weights.to_bytes()));
    let found = Inspection::of_network(Facts::gather(&one, Some(&two)).unwrap());
    let body = found.body(&|name| maud::html! { a href=(name) {} }).into_string();
    let tensors = one.listing.tensors.len();
    assert!(body.contains("<td><code>stem<wbr>.conv<wbr>.weight</code></td><td>4×17×3×3</td><td><svg"), "{body}");
    // Rows and heads of both tables, two histograms each, and a picture of each plane.
    assert_eq!(body.matches("<tr>").count(), tensors + 5 + 2);
    assert_eq!((body.matches("class=\"other\"").count(), body.matches("data-kernels").count()), (tensors, 17));
    assert!(found.tables().iter().all(|name| body.contains(&format!("href=\"{name}\""))), "{body}");
    assert!(!body.contains("<script") && !body.contains("NaN<") && !body.contains("inf"), "{body}");
}

#[test]
fn tables_have_every_number_of_a_page() {
    let (weights, bytes) = (weights(4, 1), weights(4, 1).to_bytes());
    let one = Inspection::of_network(Facts::gather(&subject("x-1", &bytes), None).unwrap());
    let rows =
        |found: &Inspection| found.tables().iter().map(|name| found.table(name).unwrap().rows()).collect::<Vec<_>>();
    let tensors = read("x", &bytes).unwrap().tensors;
    let channels: usize =
        tensors.iter().filter(|tensor| tensor.name.ends_with("running_var")).map(|tensor| tensor.numbers.len()).sum();
    assert_eq!(rows(&one), [tensors.len(), 32 * tensors.len(), 4 * 17 * 9, channels]);
    let kernel = one.table("kernels").unwrap().json()[17 * 9 + 1].clone();
    assert_eq!(
        (&kernel["plane"], &kernel["filter"], &kernel["column"]),
        (&"mover’s stones now".into(), &1.0.into(), &1.0.into())
    );
    let weight = f64::from(weights.tensor("stem.conv.weight").unwrap()[17 * 9 + 1]);
    assert_eq!(kernel["weight"].as_f64(), Some(weight), "and not the step of a picture");
    let open = |place: usize| Ok(subject(["x-1", "x-2"][place], &bytes));
    let several = Inspection::of_series(Series::gather(2, &open).unwrap());
    assert_eq!(rows(&several), [2, 2 * tensors.len(), 2 * 24 * tensors.len()]);
    assert!(one.table("networks").is_none() && several.table("kernels").is_none());
}
