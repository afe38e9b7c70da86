//! The values of a graph of the pages for players as a file. The page has them; formats are written here only.

use axum::body::Bytes;
use axum::extract::Path;
use page::{Axis, Plot, Point, Series};
use serde::Deserialize;

use crate::PageError;
use crate::error::Page;
use crate::plots::format_of;

/// The graph of a page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Graph {
    curves: Vec<Curve>,
}

/// Chances of Black to win, from 0 to 1, by turn; some are not known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Curve {
    name: String,
    values: Vec<Option<f64>>,
}

/// `POST /play/values/{file}`, `values.json`, `.csv` or `.parquet`: the graph of the request as this file.
pub(super) async fn file(Path(file): Path<String>, body: Bytes) -> Page {
    written(&file, &body)
}

fn written(file: &str, body: &[u8]) -> Page {
    let (name, format) = format_of(file)?;
    if name != "values" {
        return Err(PageError::NotFound(format!("plot \"{name}\"; there is values")));
    }
    let graph: Graph = serde_json::from_slice(body).map_err(|error| PageError::Bad(format!("values: {error}")))?;
    Ok(format.response(&plot(graph), name))
}

/// Writes the graph of a request as a file of every format.
///
/// # Errors
/// Why it is no graph.
#[cfg(any(test, feature = "testing"))]
pub fn check_values(text: &str) -> Result<(), String> {
    for file in ["values.json", "values.csv", "values.parquet"] {
        written(file, text.as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn plot(graph: Graph) -> Plot {
    let known = |(turn, value): (usize, Option<f64>)| Some(Point::new(turn as f64, value?));
    let series = |Curve { name, values }: Curve| Series {
        name,
        points: values.into_iter().enumerate().filter_map(known).collect(),
        ..Series::default()
    };
    Plot {
        id: "values".to_owned(),
        title: "Values".to_owned(),
        x: Axis::new("move"),
        y: Axis::new("chance of Black to win"),
        series: graph.curves.into_iter().map(series).collect(),
        ..Plot::default()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::runtime::Runtime;

    use super::*;

    fn request(name: &str, body: &'static str) -> Result<String, String> {
        Runtime::new().unwrap().block_on(async {
            let response = file(Path(name.to_owned()), body.into()).await.map_err(|error| error.to_string())?;
            Ok(String::from_utf8_lossy(&response.into_body().collect().await.unwrap().to_bytes()).into_owned())
        })
    }

    #[test]
    fn known_values_are_rows_of_the_file() {
        let graph = r#"{"curves":[{"name":"v1-2","values":[0.5,null,0.25]},{"name":"v1-1","values":[]}]}"#;
        let csv = request("values.csv", graph).unwrap();
        assert!(csv.contains("v1-2,,0,0.5") && csv.contains("v1-2,,2,0.25") && csv.lines().count() == 3, "{csv}");
        assert!(request("values.parquet", graph).unwrap().starts_with("PAR1"));
    }

    #[test]
    fn requests_without_a_graph_are_refused() {
        assert!(request("values.csv", "{}").unwrap_err().contains("curves"));
        assert_eq!(check_values("{}"), request("values.csv", "{}").map(drop));
        assert_eq!(check_values(r#"{"curves":[]}"#), Ok(()));
        assert!(request("losses.csv", "{}").unwrap_err().contains("there is values"));
        assert!(request("values.txt", "{}").unwrap_err().contains(".parquet"));
    }
}
